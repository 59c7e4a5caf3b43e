// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakJSON
package import TweakRecords
internal import TweakSystem

/// A file of remote values, which an agent on this host writes for one application and whose processes follow.
///
///     { "from": "https://flags.example/features.json", "loaded": "2026-11-22T17:00:00Z",
///       "values": { "Features": { "search": { "enabled": false } } },
///       "reasons": { "Features/search/enabled": "only-os-versions asks for 11 or 12; this is 13" } }
///
/// Only `values` is required, nested by category, collection and name like an overrides file. `kills` and `killReasons`
/// are the same for values above all others but those of a session. Unknown members are ignored.
package struct ProvidedFile: Hashable, Sendable {
    /// The source of the values.
    package var from: String?
    /// The time of the last successful load, in the format of RFC 3339.
    package var loaded: String?
    /// The time of the last attempt to load.
    package var checked: String?
    /// The version of the values, if the source has one.
    package var version: Int?
    /// The reason why there are no newer values.
    package var problem: String?
    /// The members of ``problem``, for the next agent; empty in files of 1.0.0-beta.1.
    package var failure: JSONObject = [:]
    /// The values.
    package var values = OverridesDocument()
    /// The reason for the value of a tweak, by its name as text.
    package var reasons: JSONObject = [:]
    /// The values that stand above all others but those of a session.
    package var kills = OverridesDocument()
    /// The reasons for ``kills``.
    package var killReasons: JSONObject = [:]

    /// Creates an empty file.
    package init() {}

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes, with at most 100 nested objects.
    ///   - path: The path for error messages.
    /// - Throws: ``OverridesError/corrupt(path:reason:)``, with the place.
    package init(json: [UInt8], path: String) throws(OverridesError) {
        let root = try OverridesDocument.object(json: json, path: path)
        let place = JSONPlace<OverridesError>(path: path)
        func object(_ name: String) throws(OverridesError) -> JSONObject? {
            guard let value = root[name] else { return nil }
            return try place.inside(name).object(value)
        }
        func text(_ name: String) throws(OverridesError) -> String? {
            guard let value = root[name], value != .null else { return nil }
            return try place.inside(name).text(value)
        }
        guard let values = try object("values") else {
            throw .corrupt(path: path, reason: "\"values\" is missing: an object")
        }
        self.values.root = values
        try self.values.checkNesting(path)
        reasons = try object("reasons") ?? [:]
        kills.root = try object("kills") ?? [:]
        try kills.checkNesting(path)
        killReasons = try object("killReasons") ?? [:]
        (from, loaded) = (try text("from"), try text("loaded"))
        (checked, problem) = (try text("checked"), try text("problem"))
        if case .object(let failure)? = root["failure"] { self.failure = failure }
        if case .scalar(.integer(let number))? = root["version"] { version = Int(exactly: number) }
    }

    /// The values of a provider that reads the file.
    package func values(of source: TweakSource) -> OverridesDocument { source == .kill ? kills : values }

    /// The reason for the value that a provider has for a tweak, or `nil`.
    package func reason(for key: TweakKey, of source: TweakSource = .remote) -> String? {
        let reasons = source == .kill ? killReasons : reasons
        return if case .scalar(.string(let reason))? = reasons[key.description] { reason } else { nil }
    }

    /// The name of the file that a provider reads: kills are in the one of the fleet.
    package static func name(for source: TweakSource) -> String {
        "\(source == .kill ? .fleet : source).json"
    }
}

/// The directories of files with remote values.
package enum ProvidedFolders {
    /// The environment variable with a colon-separated list of directories to use instead.
    package static let variable = "TWEAKS_PROVIDED"
    /// The directory of the system's agent.
    package static let system = "/var/lib/tweaks"

    /// The directories, highest precedence first.
    ///
    /// - Parameter isPrivileged: Whether the process has more rights than its user, so that the environment and the
    ///   home directory are ignored.
    package static func all(isPrivileged: Bool) -> [String] {
        guard !isPrivileged else { return [system] }
        if let list = environment(variable) {
            return list.split(separator: ":").map(String.init).filter(isAbsolute)
        }
        return [own, system].compactMap { $0 }
    }

    /// The directory of the user's agent, by the XDG Base Directory Specification, which requires to ignore relative
    /// paths; `nil` without a home directory.
    package static var own: String? {
        if let path = environment("XDG_STATE_HOME"), isAbsolute(path) { return path + "/tweaks" }
        return environment("HOME").flatMap { isAbsolute($0) ? $0 + "/.local/state/tweaks" : nil }
    }

    /// By bytes: every process calls this at its start, and Characters need pages of tables.
    private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }
}
