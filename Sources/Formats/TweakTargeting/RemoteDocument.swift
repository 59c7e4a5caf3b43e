// SPDX-License-Identifier: BSD-3-Clause
package import TweakFormats
internal import TweakJSON
package import TweakOverrides
internal import TweakRecords

/// A server's document for many hosts: targeted features, or values for all.
///
/// A document whose member `features` is an array has the format of ``FeatureTargets``. Otherwise it is nested by
/// category, collection and name, like an overrides file. In both, an integer `version` is the version of the document.
package struct RemoteDocument: Hashable, Sendable {
    /// The content of a document.
    package enum Content: Hashable, Sendable {
        /// Features, each on for some hosts.
        case features(FeatureTargets)
        /// Values of tweaks, for all hosts.
        case values(OverridesDocument)
    }

    /// The content.
    package let content: Content
    /// The version, or `nil`. CGFFeaturette's `"version": "1.0"` is that of the format, and is ignored.
    package let version: Int?
    /// The reason why a text in `version` that looks like a version is none.
    private let versionProblem: String?
    /// The flags, if an OFREP service has evaluated the values.
    package let flags: EvaluatedFlags?

    /// The maximum size of a document: 16 MiB, as for other files.
    package static let largestSize = KeptFile.largestSize

    /// Parses a document.
    ///
    /// - Parameters:
    ///   - json: The bytes.
    ///   - path: The path for error messages.
    /// - Throws: ``FormatError`` with the place.
    package init(json: [UInt8], path: String) throws(FormatError) {
        let value = try JSONParser.value(of: json, at: path, largestSize: Self.largestSize)
        let place = Place(path: path)
        var root = try place.object(value)
        flags = nil
        let features = root["features"].flatMap { if case .array = $0 { $0 } else { nil } }
        (version, versionProblem) = try Self.version(root["version"], isOfFeatures: features != nil, place)
        if let features {
            content = .features(try FeatureTargets(features, path: path))
            return
        }
        if version != nil { root["version"] = nil }
        content = .values(try Self.values(root, place))
    }

    /// Creates a document from the flags that a service has evaluated for this host.
    package init(_ flags: EvaluatedFlags) {
        (content, version, self.flags) = (.values(flags.values), flags.version, flags)
        versionProblem = nil
    }

    /// Reads the member `version`. Ignoring an invalid number would let an older file replace a newer one.
    private static func version(
        _ value: JSONValue?, isOfFeatures: Bool, _ place: Place
    ) throws(FormatError) -> (Int?, problem: String?) {
        let place = place.inside("version")
        let expectation = "an integer up to \(Int.max)"
        switch value {
        case nil: return (nil, nil)
        case .scalar(.integer(let number))?:
            if let number = Int(exactly: number) { return (number, nil) }
        case .scalar(.double)?: break
        // In the other kind of file it is a category.
        case _? where !isOfFeatures: return (nil, nil)
        case .scalar(.string(let text))?:
            guard Int128(text) != nil else { return (nil, nil) }
            let problem = place.unexpected(.scalar(.string(text)), expectation)
            return (nil, "\(problem); so the file has no version")
        default: break
        }
        throw place.unexpected(value, expectation)
    }

    private static func values(_ root: JSONObject, _ place: Place) throws(FormatError) -> OverridesDocument {
        var document = OverridesDocument()
        for (category, collections) in root {
            let place = place.inside(category.text)
            for (collection, names) in try place.object(collections, "a category, an object,") {
                let place = place.inside(collection.text)
                for (name, value) in try place.object(names, "a collection, an object,") {
                    guard let value = value.tweakValue else {
                        throw place.inside(name.text).unexpected(value, "true, false, a number or text")
                    }
                    document.set(value, for: TweakKey(category.text, collection.text, name.text))
                }
            }
        }
        return document
    }

    /// Messages about likely mistakes, each once.
    package var problems: [String] {
        let others =
            if case .features(let features) = content { features.problems } else { flags?.problems ?? [] }
        return (versionProblem.map { [$0] } ?? []) + others
    }

    /// The values for a host and a program, and for features their reasons.
    package func provided(for facts: HostFacts) -> ProvidedFile {
        var file = ProvidedFile()
        file.version = version
        switch content {
        case .features(let targets):
            for feature in targets.features {
                let decision = feature.decision(for: facts)
                file.set(.bool(decision.isOn), for: decision.key, because: decision.reason)
            }
        case .values(let values):
            file.values = values
            for (key, reason) in flags?.reasons ?? [:] {
                file.reasons[key.description] = .scalar(.string(reason))
            }
        }
        return file
    }
}
