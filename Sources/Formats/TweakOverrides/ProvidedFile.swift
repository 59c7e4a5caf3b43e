internal import Glibc
package import TweakJSON
package import TweakRecords
internal import TweakSystem

/// A file with values from afar, which an agent on this host writes for one application and which its processes follow.
///
///     { "from": "https://flags.example/features.json", "loaded": "2026-11-22T17:00:00Z",
///       "values": { "Features": { "search": { "enabled": false } } },
///       "reasons": { "Features/search/enabled": "only-os-versions asks for 11 or 12; this is 13" } }
///
/// Only `values` is required, nested by category, collection and name as an overrides file is. Members that are not known
/// are ignored.
package struct ProvidedFile: Hashable, Sendable {
    /// Where the agent has the values from.
    package var from: String?
    /// When it last got values that it believed, as RFC 3339 has times.
    package var loaded: String?
    /// When it last asked, with or without success.
    package var checked: String?
    /// The version of the values, if their source has one.
    package var version: Int?
    /// Why there is nothing newer.
    package var problem: String?
    /// The values.
    package var values = OverridesDocument()
    /// Why a tweak has the value that it has, by the text form of its name.
    package var reasons: JSONObject = [:]

    /// Makes a file with nothing in it.
    package init() {}

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes, at most 100 objects inside each other.
    ///   - path: Where they are from, for the messages of errors.
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
        (from, loaded) = (try text("from"), try text("loaded"))
        (checked, problem) = (try text("checked"), try text("problem"))
        if case .scalar(.integer(let number))? = root["version"] { version = Int(exactly: number) }
    }

    /// Why a tweak has the value that it has; `nil` if the file does not say.
    package func reason(for key: TweakKey) -> String? {
        if case .scalar(.string(let reason))? = reasons[key.description] { reason } else { nil }
    }
}

/// Where files with values from afar are.
package enum ProvidedFolders {
    /// The colon-separated list of folders in the environment that counts instead of the usual ones.
    package static let variable = "TWEAKS_PROVIDED"
    /// The one that an agent of the system writes into.
    package static let system = "/var/lib/tweaks"

    /// The folders, the one that counts first at the front.
    ///
    /// - Parameter isPrivileged: Whether the process has more rights than its user, so that the environment and the
    ///   home directory do not count.
    package static func all(isPrivileged: Bool) -> [String] {
        guard !isPrivileged else { return [system] }
        if let list = environment(variable) {
            return list.split(separator: ":").map(String.init).filter(isAbsolute)
        }
        return [own, system].compactMap { $0 }
    }

    /// The folder that an agent of the user writes into, by the XDG Base Directory Specification, which says to ignore
    /// relative paths; `nil` if there is no home directory.
    package static var own: String? {
        if let path = environment("XDG_STATE_HOME"), isAbsolute(path) { return path + "/tweaks" }
        return environment("HOME").flatMap { isAbsolute($0) ? $0 + "/.local/state/tweaks" : nil }
    }

    /// Of bytes: every process asks when it starts, and what Characters are takes pages of tables.
    private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }
}
