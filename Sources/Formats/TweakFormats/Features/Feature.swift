// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

/// A feature that can be switched on and off, and its parts.
package struct Feature: Hashable, Sendable {
    /// The name in files.
    package var name: String
    /// Whether it is on by default.
    package var isEnabled: Bool
    /// A description for people.
    package var description: String?
    /// Its parts, sorted by name. A part counts as on only if the feature is.
    package var parts: [Feature]

    /// Creates a feature.
    package init(name: String, isEnabled: Bool, description: String? = nil, parts: [Feature] = []) {
        self.name = name
        self.isEnabled = isEnabled
        self.description = description
        self.parts = parts
    }
}

/// A feature, its place among all others, and its tweak.
///
/// Features are tweaks of the category `Features`. A top-level feature is a collection, whose tweak `enabled` is its
/// switch. The tweaks of its parts are in the same collection, each named after the part; those of nested parts have
/// all names, separated by slashes. So the tweaks of `awesome`, its part `sound` and its part `stereo` are
///
///     Features/awesome/enabled
///     Features/awesome/sound
///     Features/awesome/sound%2Fstereo
///
/// A slash in the name of a part is `%2F` there, and a percent sign `%25`, and no part is called `enabled`. So two
/// features never share a tweak. The variable of a feature of JustTweak is `Features/feature/variable`.
package struct PlacedFeature: Hashable, Sendable {
    /// The category of the tweaks of all features.
    package static let category = "Features"

    /// The names of the enclosing features, outermost first, and its own.
    package let path: [String]
    /// Whether its own switch is on by default.
    package let isEnabled: Bool
    /// A description for people.
    package let description: String?
    /// Its name in a flat list of all features, as in `Features.plist`.
    ///
    /// It is its own name, unless another feature has the same name, or it contains a slash or a percent sign. Then it
    /// is the path, separated by slashes, with `%2F` for a slash and `%25` for a percent sign.
    package let flatName: String

    /// The feature's tweak.
    package var key: TweakKey { Self.key(of: path) }

    /// The tweak of a feature by its ``path``.
    package static func key(of path: some Collection<String>) -> TweakKey {
        let name = path.count == 1 ? "enabled" : joined(path.dropFirst())
        return TweakKey(category, path.first ?? "", name)
    }

    static func joined(_ path: some Sequence<String>) -> String {
        path.map(TweakKey.escape).joined(separator: "/")
    }
}

/// All features of a program.
package struct FeatureSet: Hashable, Sendable {
    /// The top-level features, sorted by name.
    package let features: [Feature]
    /// All features, each before its parts, siblings sorted by name.
    package let all: [PlacedFeature]

    /// Creates a set of top-level features; if several have the same name, the first counts.
    package init(_ features: [Feature]) {
        self.features = Self.sorted(features)
        var paths: [(path: [String], feature: Feature)] = []
        Self.place(self.features, in: [], &paths)
        var counts: [ByteText: Int] = [:]
        for (_, feature) in paths { counts[ByteText(feature.name), default: 0] += 1 }
        all = paths.map { path, feature in
            let isPlain = counts[ByteText(feature.name)] == 1 && TweakKey.escape(feature.name) == feature.name
            return PlacedFeature(
                path: path, isEnabled: feature.isEnabled, description: feature.description,
                flatName: isPlain ? feature.name : PlacedFeature.joined(path))
        }
    }

    /// Reads a file of features: a property list if its name says so, otherwise JSON with environments.
    ///
    /// - Throws: ``FormatError`` if the file is malformed.
    package init(file bytes: [UInt8], path: String, environment: String) throws(FormatError) {
        self =
            path.hasSuffix(".plist")
            ? try FeatureSet(plist: bytes, path: path)
            : try FeaturesFile(json: bytes, path: path).features(in: environment)
    }

    /// The maximum number of features of a program.
    static let mostFeatures = 20_000

    /// The error for too many features, or `nil`.
    static func problem(ofCount count: Int) -> String? {
        count <= mostFeatures ? nil : "there are \(count) features; at most \(mostFeatures) are read"
    }

    private static func sorted(_ features: [Feature]) -> [Feature] {
        // Those from a file are sorted.
        if zip(features, features.dropFirst()).allSatisfy({ $0.name.bytesPrecede($1.name) }),
            features.allSatisfy({ $0.parts.isEmpty })
        {
            return features
        }
        var names: Set<ByteText> = []
        return
            features.filter { names.insert(ByteText($0.name)).inserted }
            .sorted { $0.name.bytesPrecede($1.name) }
            .map {
                Feature(
                    name: $0.name, isEnabled: $0.isEnabled, description: $0.description,
                    parts: sorted($0.parts))
            }
    }

    private static func place(
        _ features: [Feature], in outer: [String], _ paths: inout [(path: [String], feature: Feature)]
    ) {
        for feature in features {
            let path = outer + [feature.name]
            paths.append((path, feature))
            place(feature.parts, in: path, &paths)
        }
    }
}

/// `Features.plist` of FlipTheSwitch: for each feature, by its flat name, `enabled` and, if it has one, `description`.
extension FeatureSet {
    /// Reads a list. All features are top-level ones, because the list does not contain their hierarchy.
    ///
    /// - Parameters:
    ///   - plist: The bytes, XML or binary.
    ///   - path: The path for error messages.
    /// - Throws: ``FormatError`` if the list is malformed.
    package init(plist: [UInt8], path: String) throws(FormatError) {
        let entries = try PropertyList(plist, path: path).dictionary(path: path)
        if let problem = Self.problem(ofCount: entries.count) {
            throw .malformed(path: path, reason: problem)
        }
        var features: [Feature] = []
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
            func failure(_ member: String?, _ value: PropertyList?, _ expectation: String) -> FormatError {
                .invalid(
                    path: path, place: [name.text] + (member.map { [$0] } ?? []),
                    reason: "got \(value?.summary ?? "nothing"), expected \(expectation)")
            }
            guard case .dictionary(let members) = entry else { throw failure(nil, entry, "a dictionary") }
            guard case .scalar(.bool(let isEnabled))? = members["enabled"] else {
                throw failure("enabled", members["enabled"], "true or false")
            }
            var feature = Feature(name: name.text, isEnabled: isEnabled)
            if let description = members["description"] {
                guard case .scalar(.string(let text)) = description else {
                    throw failure("description", description, "text")
                }
                feature.description = text
            }
            features.append(feature)
        }
        self.init(features)
    }

    /// The list as XML, sorted by name.
    package var plist: [UInt8] {
        var entries: [ByteText: WrittenPropertyList] = [:]
        for feature in all {
            var entry: [ByteText: WrittenPropertyList] = ["enabled": .flag(feature.isEnabled)]
            entry["description"] = feature.description.map { .text($0) }
            // Flat names are unique.
            entries[ByteText(feature.flatName)] = .dictionary(entry)
        }
        return WrittenPropertyList.dictionary(entries).xml
    }
}
