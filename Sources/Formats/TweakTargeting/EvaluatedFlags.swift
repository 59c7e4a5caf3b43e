// SPDX-License-Identifier: BSD-3-Clause
package import TweakFormats
internal import TweakJSON
package import TweakOverrides
package import TweakRecords

/// The result of an OFREP service's evaluation for one context.
///
/// A flag without a value stands for the default in code, so it is ignored. An invalid flag does not affect others.
///
/// Source: OFREP 0.3, `bulkEvaluationSuccess` in the OpenAPI document.
package struct EvaluatedFlags: Hashable, Sendable {
    /// The values, by the tweaks of the flags.
    package private(set) var values = OverridesDocument()
    /// The service's reasons for values.
    package private(set) var reasons: [TweakKey: String] = [:]
    /// Messages about invalid flags, each once.
    package private(set) var problems: [String] = []
    /// The URLs of event streams that announce changes. A URL may contain a secret.
    package let streams: [String]
    /// The member `version` of the metadata if it is an integer.
    package let version: Int?

    /// The limit of messages, to keep the journal readable.
    private static let mostProblems = 10
    private static let mostStreams = 4

    /// Parses a response.
    ///
    /// - Parameters:
    ///   - json: The bytes.
    ///   - path: The path for error messages.
    ///   - names: The mapping of flags to tweaks.
    /// - Throws: ``FormatError`` if the response is malformed.
    package init(json: [UInt8], path: String, names: FlagNames) throws(FormatError) {
        let value = try JSONParser.value(of: json, at: path)
        let place = Place(path: path)
        let root = try place.object(value)
        guard case .array(let flags)? = root["flags"] else {
            throw place.inside("flags").unexpected(root["flags"], "an array of flags")
        }
        streams = Self.streams(root["eventStreams"])
        version =
            if case .object(let metadata)? = root["metadata"],
                case .scalar(.integer(let number))? = metadata["version"]
            {
                Int(exactly: number)
            } else {
                nil
            }
        var (named, unnamed): ([Flag], [String]) = ([], [])
        for (index, flag) in flags.enumerated() {
            guard case .object(let members) = flag, let key = members.text("key") else {
                problems.append("flag \(index) of the answer has no key")
                continue
            }
            let name = String(key.prefix(200))
            if let code = members.text("errorCode") {
                let details = members.text("errorDetails").map { ": \($0.prefix(200))" } ?? ""
                problems.append("flag \(name): \(code.prefix(40))\(details)")
                continue
            }
            guard let value = members["value"], value != .null else { continue }
            let isObject = if case .object = value { true } else { false }
            guard let levels = names.levels(of: key), isObject || levels.count == 3 else {
                unnamed.append(name)
                continue
            }
            named.append(Flag(name: name, levels: levels, value: value, reason: Self.reason(members)))
        }
        // The service's order is meaningless: a flag for one tweak takes precedence over one for several.
        named.sort { ($0.levels.count, $0.name) < ($1.levels.count, $1.name) }
        for flag in named { add(flag.value, flag.levels, flag) }
        problems.sort()
        if problems.count > Self.mostProblems {
            let more = problems.count - Self.mostProblems
            problems = problems.prefix(Self.mostProblems) + ["and \(more) more flags are wrong"]
        }
        if !unnamed.isEmpty {
            let first = unnamed.sorted().prefix(3).joined(separator: ", ")
            problems.append(
                "\(unnamed.count) flags are skipped, because they are not named like tweaks: \(first)"
                    + (unnamed.count > 3 ? ", …" : ""))
        }
    }

    private struct Flag {
        let name: String
        let levels: [String]
        let value: JSONValue
        let reason: String?
    }

    /// Adds a value, or all values in an object.
    private mutating func add(_ value: JSONValue, _ levels: [String], _ flag: Flag) {
        switch value {
        case .null: break
        case .object(let members) where levels.count < 3:
            for (name, value) in members { add(value, levels + [name.text], flag) }
        case .scalar(let scalar) where levels.count == 3:
            let key = TweakKey(levels[0], levels[1], levels[2])
            values.set(scalar, for: key)
            reasons[key] = flag.reason
        default:
            problems.append(
                "flag \(flag.name): \(value.summary.prefix(80)) is at \(levels.joined(separator: "/").prefix(200)), but "
                    + (levels.count < 3 ? "an object" : "true, false, a number or text") + " is expected")
        }
    }

    private static func reason(_ members: JSONObject) -> String? {
        let parts = [
            members.text("reason").map { String($0.prefix(40)) },
            members.text("variant").map { "variant \($0.prefix(80))" },
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Clients ignore streams of unknown types.
    private static func streams(_ value: JSONValue?) -> [String] {
        guard case .array(let all)? = value else { return [] }
        let addresses = all.compactMap { stream -> String? in
            guard case .object(let members) = stream, members.text("type") == "sse" else { return nil }
            if let url = members.text("url") { return url }
            guard case .object(let endpoint)? = members["endpoint"], let uri = endpoint.text("requestUri")
            else {
                return nil
            }
            return (endpoint.text("origin") ?? "") + uri
        }
        return Array(addresses.prefix(mostStreams))
    }
}

/// The mapping of flags to tweaks.
package struct FlagNames: Hashable, Sendable {
    private let levels: [ByteText: [String]]

    /// Flags have the names of tweaks.
    package init() { levels = [:] }

    /// Some flags have other names.
    ///
    /// - Parameter names: For the key of a flag, the name of a tweak, or the first levels of several.
    /// - Throws: The key whose name is invalid.
    package init(_ names: [(key: String, name: String)]) throws(WrongName) {
        var levels: [ByteText: [String]] = [:]
        for (key, name) in names {
            guard let parsed = Self.slashed(name) else { throw WrongName(key: key, name: name) }
            levels[ByteText(key)] = parsed
        }
        self.levels = levels
    }

    package struct WrongName: Error {
        package let key, name: String
    }

    /// The category, collection and name for a key: all three, or the first ones for an object.
    ///
    /// - Returns: `nil` unless the form is `Category/Collection/Name`, or has dots if there is no slash.
    package func levels(of key: String) -> [String]? {
        if let known = levels[ByteText(key)] { return known }
        if key.utf8.contains(UInt8(ascii: "/")) { return Self.slashed(key) }
        let parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return parts.count <= 3 && !parts.contains("") ? parts : nil
    }

    private static func slashed(_ text: String) -> [String]? {
        let count = text.utf8.count { $0 == UInt8(ascii: "/") } + 1
        guard 1...3 ~= count, let key = TweakKey(String(repeating: "/", count: 3 - count) + text) else {
            return nil
        }
        let levels = [key.category, key.collection, key.name].suffix(count)
        return levels.contains("") ? nil : Array(levels)
    }
}

extension JSONObject {
    fileprivate func text(_ name: String) -> String? {
        if case .scalar(.string(let text))? = self[name] { text } else { nil }
    }
}
