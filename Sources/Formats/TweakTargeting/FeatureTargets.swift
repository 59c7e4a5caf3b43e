// SPDX-License-Identifier: BSD-3-Clause
package import TweakFormats
package import TweakJSON
package import TweakRecords

/// Features targeted at hosts and programs, in the format of CGFFeaturette:
///
///     { "features": [ { "key": "facebook-login", "enabled": true, "only-os-versions": ["12", "debian 13"],
///                       "only-device-family": ["phone"], "percentage": 10, "salt": "autumn" } ] }
///
/// A feature is on where it is `enabled` and all its filters match. A filter with a list matches if any entry does, or
/// if the list is empty. An unknown filter never matches.
package struct FeatureTargets: Hashable, Sendable {
    /// The features, in the order of the file.
    package let features: [FeatureTarget]
    /// Messages about likely mistakes in the file, each once.
    package let problems: [String]
    /// Features that are repeated or named as tweaks are.
    private let wrongKeys: [FormatError]
    /// The mistakes because of which features are not switched as the file says, with their places: unknown filters, and
    /// keys that stand for no or another feature.
    package var mistakes: [FormatError] { features.flatMap(\.unknownFilters) + wrongKeys }

    /// Parses the array of features in a file.
    ///
    /// - Parameters:
    ///   - value: The value of `features`.
    ///   - path: The path for error messages.
    /// - Throws: ``FormatError`` if the array is malformed.
    init(_ value: JSONValue, path: String) throws(FormatError) {
        let place = Place(path: path, names: ["features"])
        var features: [FeatureTarget] = []
        var known = Set<ByteText>()
        var wrongKeys: [FormatError] = []
        var unknown: [(filter: String, features: [String])] = []
        let all = try place.array(value, "an array of features") { (place, value) throws(FormatError) in
            try FeatureTarget(value, place)
        }
        for (index, feature) in all.enumerated() {
            guard known.insert(ByteText(feature.key)).inserted else {
                wrongKeys.append(
                    place.inside("\(index)").invalid("\"\(feature.key)\" is repeated; the first counts"))
                continue
            }
            let levels = feature.key.split(separator: "/").map(String.init)
            if levels.count > 1, lowercased(levels[0]) == lowercased(PlacedFeature.category) {
                wrongKeys.append(
                    place.inside("\(index)").inside("key").invalid(
                        "\"\(feature.key)\" is the name of a tweak; the key of the feature is \"\(levels[1])\""
                    ))
            }
            features.append(feature)
            for filter in feature.unknownNames {
                if let known = unknown.firstIndex(where: { $0.filter.hasSameBytes(as: filter) }) {
                    unknown[known].features.append(feature.key)
                } else {
                    unknown.append((filter, [feature.key]))
                }
            }
        }
        self.features = features
        self.wrongKeys = wrongKeys
        self.problems =
            wrongKeys.map { "\($0)" }
            + unknown.map { filter, features in
                "\(path): the filter \"\(filter)\" is not known, so these features are off: "
                    + features.joined(separator: ", ") + didYouMean(FeatureTarget.members.nearest(to: filter))
            }
    }
}

/// The state of a feature for a set of facts, and the reason.
package struct FeatureDecision: Hashable, Sendable {
    /// The key in the file.
    package let feature: String
    /// Whether it is on.
    package let isOn: Bool
    /// The reason, in words.
    package let reason: String

    /// The feature's tweak.
    package var key: TweakKey { PlacedFeature.key(of: [feature]) }
}

/// A feature in such a file.
package struct FeatureTarget: Hashable, Sendable {
    /// The key in the file.
    package let key: String
    /// Whether it is on where its filters match; `false` if not set, as in CGFFeaturette.
    package let isEnabled: Bool
    private let filters: [Filter]
    private let place: Place

    private struct Filter: Hashable, Sendable {
        /// The name in the file.
        let name: String
        let rule: Rule
    }

    private enum Rule: Hashable {
        /// One of the entries matches the fact. An empty list matches everything.
        case list(Kind, [String])
        case minimum(Fact, String)
        case maximum(Fact, String)
        case percentage(Double, salt: String)
        case unknown
    }

    /// The comparison of list entries with a fact.
    private enum Kind: Hashable {
        /// `12`, `debian` or `debian 12`.
        case system
        /// By whole components, from the start.
        case components(Fact)
        /// By the whole text, with the wildcards `*` and `?`.
        case pattern(Fact)
        case family
        case architecture
    }

    private static let lists: KeyValuePairs<String, Kind> = [
        "only-os-versions": .system, "only-os": .system, "only-device": .components(.device),
        "only-device-family": .family, "only-kernel": .components(.kernel),
        "only-architecture": .architecture,
        "only-host": .pattern(.host), "only-application": .pattern(.application),
        "only-application-versions": .components(.applicationVersion),
    ]
    private static let bounds: KeyValuePairs<String, Fact> = [
        "minimum-os-version": .osVersion, "maximum-os-version": .osVersion, "minimum-kernel": .kernel,
        "maximum-kernel": .kernel, "minimum-application-version": .applicationVersion,
        "maximum-application-version": .applicationVersion,
    ]
    private static let percentage = "percentage"
    /// All filter names.
    private static let known = lists.map(\.key) + bounds.map(\.key) + [percentage]
    /// All members of a feature except its key.
    fileprivate static let members = known + ["salt", "enabled", "description"]

    fileprivate init(_ value: JSONValue, _ place: Place) throws(FormatError) {
        var members = try place.object(value, "a feature, an object")
        guard let name = members.removeValue(forKey: "key") else {
            throw place.invalid("\"key\" is missing: text")
        }
        key = try place.inside("key").textWithoutNUL(name)
        guard !key.isEmpty else { throw place.inside("key").invalid("the text is empty") }
        isEnabled =
            try members.removeValue(forKey: "enabled").map { (value) throws(FormatError) in
                try place.inside("enabled").flag(value)
            } ?? false
        members["description"] = nil
        let salt = try members.removeValue(forKey: "salt").map { (value) throws(FormatError) in
            try place.inside("salt").textWithoutNUL(value)
        }
        var filters: [Filter] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            let name = name.text
            let rule = try Self.rule(name, value, salt: salt ?? "", place.inside(name))
            filters.append(Filter(name: name, rule: rule))
        }
        (self.filters, self.place) = (filters, place)
    }

    /// Parses filters outside of a feature, which are on where all of them match.
    ///
    /// - Parameters:
    ///   - filters: The members of a feature except its key.
    ///   - key: The key for the position in a percentage rollout.
    ///   - path: The path for error messages.
    /// - Throws: ``FormatError`` with the place.
    package init(filters: JSONObject, key: String, path: String) throws(FormatError) {
        let place = Place(path: path, names: ["for"])
        for name in ["key", "enabled"] where filters[name] != nil {
            throw place.inside(name).invalid("only filters are expected")
        }
        var members = filters
        members["key"] = .scalar(.string(key))
        members["enabled"] = .scalar(true)
        try self.init(.object(members), place)
    }

    private static func rule(
        _ name: String, _ value: JSONValue, salt: String, _ place: Place
    ) throws(FormatError) -> Rule {
        if let kind = lists.first(where: { $0.key == name })?.value {
            let entries = try place.array(value, "an array of texts") { (place, entry) throws(FormatError) in
                try place.textWithoutNUL(entry)
            }
            return .list(kind, entries)
        }
        if let fact = bounds.first(where: { $0.key == name })?.value {
            let version = try place.textWithoutNUL(value)
            guard !Version(version).components.isEmpty else {
                throw place.invalid("\"\(version)\" is not a version")
            }
            return name.hasPrefix("minimum") ? .minimum(fact, version) : .maximum(fact, version)
        }
        guard name == Self.percentage else { return .unknown }
        let percentage = try place.number(value, 0...100, "a number from 0 to 100")
        return .percentage(percentage, salt: salt)
    }

    /// The names of unknown filters.
    fileprivate var unknownNames: [String] { filters.filter { $0.rule == .unknown }.map(\.name) }

    /// The unknown filters, with their places and the allowed names.
    package var unknownFilters: [FormatError] {
        unknownNames.map { name in
            place.inside(name).invalid(
                "no such filter; allowed: \(Self.known.joined(separator: ", "))"
                    + didYouMean(Self.members.nearest(to: name)))
        }
    }

    // MARK: Evaluation

    /// Evaluates the feature for a host and a program.
    package func decision(for facts: HostFacts) -> FeatureDecision {
        func decision(_ isOn: Bool, _ reason: String) -> FeatureDecision {
            FeatureDecision(feature: key, isOn: isOn, reason: reason)
        }
        guard isEnabled else { return decision(false, "the file has it off") }
        var passed: [String] = []
        for filter in filters {
            let (applies, words) = result(of: filter, facts)
            guard applies else { return decision(false, words) }
            passed.append(words)
        }
        return decision(true, passed.isEmpty ? "the file has it on for all" : passed.joined(separator: "; "))
    }

    private func result(of filter: Filter, _ facts: HostFacts) -> (applies: Bool, words: String) {
        switch filter.rule {
        case .unknown: return (false, "the filter \(filter.name) is not known")
        case .list(let kind, let entries):
            guard !entries.isEmpty else { return (true, "\(filter.name) is empty") }
            let wanted = "\(filter.name) asks for \(Self.alternatives(entries))"
            guard let actual = Self.text(kind, facts) else {
                return (false, "\(wanted); this host's is unknown")
            }
            return (
                entries.contains { Self.takes(kind, $0, actual, facts) }, "\(wanted); this is \(actual)"
            )
        case .minimum(let fact, let bound):
            return compare("\(filter.name) asks for \(bound) or later", facts[fact], bound) { $0 != .earlier }
        case .maximum(let fact, let bound):
            return compare("\(filter.name) asks for \(bound) or earlier", facts[fact], bound) { $0 != .later }
        case .percentage(let percentage, let salt):
            guard let machine = facts[.machine] ?? facts[.host] else {
                return (false, "percentage needs a machine id or a host name, and neither is known")
            }
            let position = RolloutPosition(machine: machine, key: key, salt: salt)
            // Truncated, not rounded, so that a position just below the percentage does not look equal to it.
            let tenths = Int(position.percent * 10)
            let wanted = Int(exactly: percentage).map { "\($0)" } ?? "\(percentage)"
            return (
                position.isBelow(percentage),
                "percentage is \(wanted); this host is at \(tenths / 10).\(tenths % 10)"
            )
        }
    }

    private func compare(
        _ wanted: String, _ actual: String?, _ bound: String, _ isAllowed: (Version.Order) -> Bool
    ) -> (applies: Bool, words: String) {
        guard let actual else { return (false, "\(wanted); this host's is unknown") }
        return (isAllowed(Version(actual).order(of: Version(bound))), "\(wanted); this is \(actual)")
    }

    /// `11, 12 or 13`, or the first of many.
    private static func alternatives(_ entries: [String]) -> String {
        if entries.count > 6 {
            return entries.prefix(5).joined(separator: ", ") + " or one of \(entries.count - 5) others"
        }
        guard let last = entries.last, entries.count > 1 else { return entries.first ?? "" }
        return entries.dropLast().joined(separator: ", ") + " or " + last
    }

    /// The host's or program's property to compare with a list.
    private static func text(_ kind: Kind, _ facts: HostFacts) -> String? {
        switch kind {
        case .system:
            let texts = [facts[.os], facts[.osVersion]].compactMap { $0 }
            return texts.isEmpty ? nil : texts.joined(separator: " ")
        case .components(let fact), .pattern(let fact): return facts[fact]
        case .family: return facts[.deviceFamily]
        case .architecture: return facts[.architecture]
        }
    }

    private static func takes(_ kind: Kind, _ entry: String, _ actual: String, _ facts: HostFacts) -> Bool {
        switch kind {
        case .system: return takesSystem(entry, facts)
        case .components: return takesComponents(entry, actual)
        case .pattern: return matches(actual, pattern: entry)
        case .family: return family(entry) == family(actual)
        case .architecture: return architecture(entry) == architecture(actual)
        }
    }

    private static func takesComponents(_ entry: String, _ actual: String) -> Bool {
        isPattern(entry) ? matches(actual, pattern: entry) : Version(entry).takes(Version(actual))
    }

    /// An entry is a version, the name of a system, or both separated by a space.
    private static func takesSystem(_ entry: String, _ facts: HostFacts) -> Bool {
        func takesVersion(_ entry: String) -> Bool {
            facts[.osVersion].map { takesComponents(entry, $0) } ?? false
        }
        if let first = entry.utf8.first,
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= first || first == UInt8(ascii: "*")
        {
            return takesVersion(entry)
        }
        let parts = entry.split(separator: " ", maxSplits: 1).map(String.init)
        guard let name = parts.first, let system = facts[.os], matches(system, pattern: name) else {
            return false
        }
        return parts.count < 2 || takesVersion(parts[1])
    }

    private static func family(_ text: String) -> String {
        let name = lowercased(text)
        return DeviceFamily(alias: name)?.rawValue ?? name
    }

    /// The name in `uname -m` for any name of an architecture.
    private static func architecture(_ text: String) -> String {
        switch lowercased(text) {
        case "amd64", "x86-64": "x86_64"
        case "arm64": "aarch64"
        case "i386", "i486", "i586", "x86": "i686"
        case let name: name
        }
    }
}

/// A place in a file from a server.
typealias Place = JSONPlace<FormatError>
