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
        let versionMistake: FormatError?
        (version, versionMistake) = try Self.version(root["version"], isOfFeatures: features != nil, place)
        if let features {
            content = .features(try FeatureTargets(features, path: path))
            let categories = Self.categories(root, place)
            ownMistakes =
                (versionMistake.map { [$0] } ?? [])
                + categories.map { name in
                    place.inside(name).invalid("it is ignored, because the file has an array of features")
                }
                + Self.mistyped(root, besides: categories, place)
            misspelled = []
            return
        }
        if version != nil { root["version"] = nil }
        let values = try Self.values(root, place)
        (content, ownMistakes) = (.values(values), Self.mistakes(in: values, place))
        misspelled = root.keys.map(\.text).filter(Self.isMisspelled).sorted().map { name in
            let reason =
                "an array of features is expected here; values of features are in the category "
                + "\"\(PlacedFeature.category)\""
            return Misspelled(category: name, error: place.inside(name).invalid(reason))
        }
    }

    /// Creates a document from the flags that a service has evaluated for this host.
    package init(_ flags: EvaluatedFlags) {
        (content, version, self.flags) = (.values(flags.values), flags.version, flags)
        (ownMistakes, misspelled) = ([], [])
    }

    // MARK: - Mistakes

    /// The likely mistakes outside of the features.
    private let ownMistakes: [FormatError]

    /// A category of values that is named almost as that of features. Features in it would switch nothing.
    private struct Misspelled: Hashable {
        let category: String
        let error: FormatError
    }

    private let misspelled: [Misspelled]

    private static func isMisspelled(_ category: String) -> Bool {
        category != PlacedFeature.category
            && lowercased(category) == lowercased(PlacedFeature.category)
    }

    /// Mistakes because of which some of the content has no effect, although its form is right.
    ///
    /// - Parameter categories: The categories of the program, which may be named almost as that of features.
    package func mistakes(besides categories: Set<String> = []) -> [FormatError] {
        let others = misspelled.filter { !categories.contains($0.category) }.map(\.error) + ownMistakes
        if case .features(let features) = content { return features.mistakes + others }
        return others
    }

    /// The members that are categories of values, which a file of features does not have.
    private static func categories(_ root: JSONObject, _ place: Place) -> [String] {
        root.compactMap { name, value in
            guard case .object = value else { return nil }
            return (try? values([name: value], place))?.isEmpty == false ? name.text : nil
        }.sorted()
    }

    /// The members of a file of features that are named almost as those with an effect are. Others are for people.
    private static func mistyped(
        _ root: JSONObject, besides categories: [String], _ place: Place
    ) -> [FormatError] {
        let members = ["features", "version"]
        return root.keys.map(\.text).sorted().compactMap { name in
            let meant = members.nearest(to: name)
            guard !meant.isEmpty, !(members + categories).contains(name) else { return nil }
            return place.inside(name).invalid("it is ignored" + didYouMean(meant))
        }
    }

    private static func mistakes(in values: OverridesDocument, _ place: Place) -> [FormatError] {
        values.keys.sorted().compactMap { key in
            guard key.category.hasSameBytes(as: PlacedFeature.category) else { return nil }
            let place = place.inside(key.category).inside(key.collection).inside(key.name)
            let isSwitch = PlacedFeature.key(of: [key.collection]) == key
            switch values.value(of: key) {
            case .bool? where !isSwitch && switchSpellings.contains(lowercased(key.name)):
                return place.invalid("the switch of a feature is named \"enabled\"")
            case let value? where isSwitch && value.naturalType != .bool:
                return place.unexpected(.scalar(value), "true or false")
            default: return nil
            }
        }
    }

    /// Names that somebody means the switch of a feature by.
    private static let switchSpellings = ["enabled", "enable", "isenabled"]

    /// Reads the member `version`. Ignoring an invalid number would let an older file replace a newer one.
    private static func version(
        _ value: JSONValue?, isOfFeatures: Bool, _ place: Place
    ) throws(FormatError) -> (Int?, mistake: FormatError?) {
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
            return (
                nil,
                place.invalid(
                    "got \"\(text)\", expected \(expectation); so the file has no version")
            )
        default: break
        }
        throw place.unexpected(value, expectation)
    }

    private static func values(_ root: JSONObject, _ place: Place) throws(FormatError) -> OverridesDocument {
        var document = OverridesDocument()
        for (category, collections) in root {
            let place = place.inside(category.text)
            for (collection, names) in try place.object(collections, "a category, an object") {
                let place = place.inside(collection.text)
                for (name, value) in try place.object(names, "a collection, an object") {
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
        return others + (misspelled.map(\.error) + ownMistakes).map { "\($0)" }
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
