// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A file `features.json`: features by environment. An environment may inherit from another.
///
///     {
///       "default": { "awesome": { "enabled": true, "description": "…", "sound": { "enabled": true } } },
///       "beta": { "inherits_from": "default", "awesome": { "sound": { "enabled": false } } }
///     }
///
/// A feature has `enabled` and may have `description`; every other member is a part of it. An environment is merged key
/// by key over the inherited one, so it only contains the differences. The format is that of FlipTheSwitch.
package struct FeaturesFile: Sendable {
    /// The properties that one environment sets for a feature.
    private struct Definition {
        var isEnabled: Bool?
        var description: String?
        var parts: [ByteText: Definition] = [:]

        func merged(over inherited: Definition) -> Definition {
            Definition(
                isEnabled: isEnabled ?? inherited.isEnabled,
                description: description ?? inherited.description,
                parts: Self.merged(parts, over: inherited.parts))
        }

        static func merged(
            _ definitions: [ByteText: Definition], over inherited: [ByteText: Definition]
        ) -> [ByteText: Definition] {
            definitions.reduce(into: inherited) { merged, definition in
                let (name, own) = definition
                merged[name] = merged[name].map { own.merged(over: $0) } ?? own
            }
        }
    }

    private struct Environment {
        var parent: String?
        var features: [ByteText: Definition] = [:]
    }

    private static let parentKey = "inherits_from"

    /// The file's path.
    package let path: String
    private var environmentsByName: [ByteText: Environment] = [:]

    /// The names of the environments, sorted.
    package var environments: [String] { environmentsByName.keys.sorted().map { $0.text } }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes, with at most 100 nested objects.
    ///   - path: The path for error messages.
    /// - Throws: ``FormatError`` if the file is malformed, or an environment inherits from an unknown one or from
    ///   itself.
    package init(json: [UInt8], path: String) throws(FormatError) {
        self.path = path
        environmentsByName = try PlacedParser.read(json, path: path) { (file) throws(FormatError) in
            var environments: [ByteText: Environment] = [:]
            try file.members("an object of environments") { (file, name) throws(FormatError) in
                environments[ByteText(name)] = try Self.environment(&file)
            }
            return environments
        }
        try checkInheritance()
    }

    private static func environment(_ file: inout PlacedParser) throws(FormatError) -> Environment {
        var environment = Environment()
        try file.members("an environment, an object") { (file, name) throws(FormatError) in
            if name == parentKey {
                environment.parent = try file.text()
            } else {
                environment.features[ByteText(try file.name)] = try definition(&file)
            }
        }
        return environment
    }

    private static func definition(_ file: inout PlacedParser) throws(FormatError) -> Definition {
        var definition = Definition()
        try file.members("a feature, an object") { (file, name) throws(FormatError) in
            switch name {
            case "enabled": definition.isEnabled = try file.flag()
            case "description": definition.description = try file.text()
            default: definition.parts[ByteText(try file.name)] = try Self.definition(&file)
            }
        }
        return definition
    }

    /// Throws unless the inheritance of every environment ends.
    private func checkInheritance() throws(FormatError) {
        var checked: Set<ByteText> = []
        for name in environments {
            var chain: [String] = []
            var inChain: Set<ByteText> = []
            var current = name
            while !checked.contains(ByteText(current)) {
                if !inChain.insert(ByteText(current)).inserted,
                    let start = chain.firstIndex(where: { $0.hasSameBytes(as: current) })
                {
                    throw invalid(
                        current,
                        "it inherits from itself: "
                            + (chain[start...] + [current]).joined(separator: " → "))
                }
                chain.append(current)
                guard let parent = environmentsByName[ByteText(current)]?.parent else { break }
                guard environmentsByName[ByteText(parent)] != nil else {
                    throw invalid(
                        current,
                        "unknown environment \"\(parent)\"; there are \(environments.joined(separator: ", "))"
                    )
                }
                current = parent
            }
            checked.formUnion(chain.lazy.map { ByteText($0) })
        }
    }

    private func invalid(_ environment: String, _ reason: String) -> FormatError {
        .invalid(path: path, place: [environment, Self.parentKey], reason: reason)
    }

    /// The features of an environment, including inherited ones.
    ///
    /// - Throws: ``FormatError`` if there is no such environment, or `enabled` is missing for one of its features.
    package func features(in environment: String) throws(FormatError) -> FeatureSet {
        var features: [ByteText: Definition] = [:]
        var current: String? = environment
        while let name = current {
            guard let environment = environmentsByName[ByteText(name)] else {
                throw .noEnvironment(name, path: path, choices: environments)
            }
            features = Definition.merged(features, over: environment.features)
            current = environment.parent
        }
        let set = FeatureSet(try Self.features(features, place: [environment], path: path))
        if let problem = FeatureSet.problem(ofCount: set.all.count) {
            throw .malformed(path: path, reason: "in \"\(environment)\" \(problem)")
        }
        return set
    }

    private static func features(
        _ definitions: [ByteText: Definition], place: [String], path: String
    ) throws(FormatError) -> [Feature] {
        var features: [Feature] = []
        for (name, definition) in definitions.sorted(by: { $0.key < $1.key }) {
            let place = place + [name.text]
            guard let isEnabled = definition.isEnabled else {
                throw .invalid(
                    path: path, place: place,
                    reason: "\"enabled\" is missing: true or false, here or in an inherited environment")
            }
            features.append(
                Feature(
                    name: name.text, isEnabled: isEnabled, description: definition.description,
                    parts: try Self.features(definition.parts, place: place, path: path)))
        }
        return features
    }
}
