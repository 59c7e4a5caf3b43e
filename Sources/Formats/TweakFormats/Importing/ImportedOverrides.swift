internal import TweakJSON
public import TweakRecords

/// The values that a person has set in an older system, as overrides of tweaks.
///
/// They are read from
///
/// - the user's defaults of a program, a property list or the same as JSON: keys that begin with the
///   ``OlderSystem/keyPrefix`` of a system. Facebook Tweaks has category, collection and name there, with hyphens
///   between them, and archives some values, such as colours;
/// - what Facebook Tweaks exports: a keyed archive of an `FBTweakStore`, of which those tweaks count that have a current
///   value;
/// - JSON with objects for category and collection and values by name.
public struct ImportedOverrides: Hashable, Sendable {
    /// A value to set.
    public struct Override: Hashable, Sendable {
        /// The tweak.
        public let key: TweakKey
        /// The value, as far as it is known without the tweak: its type may still be another.
        public let value: TweakValue
        /// What the file calls it.
        public let entry: String
    }

    /// Something in the file that is meant for a tweak, and could not be taken over.
    public struct Problem: Hashable, Sendable {
        /// What the file calls it.
        public let entry: String
        /// Why not, and what helps.
        public let reason: String
    }

    /// What can be set, sorted by tweak; each tweak once.
    public let overrides: [Override]
    /// What was left out, sorted by name. Entries of others in the user's defaults are not a problem.
    public let problems: [Problem]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - path: Where it is from, for the messages of errors.
    ///   - systems: Whose values are read.
    ///   - known: The tweaks of the program, which tell what a name with several hyphens means, in which feature a part
    ///     is, and to which features a variable of JustTweak belongs. Those of a ``FeatureSet`` and of a
    ///     ``JustTweakFile`` are known by their keys.
    /// - Throws: ``FormatError`` if the file is none of these, or if the user's defaults have no values of the systems.
    public init(
        _ bytes: [UInt8], path: String, systems: Set<OlderSystem> = Set(OlderSystem.allCases),
        known: [TweakKey] = []
    ) throws(FormatError) {
        var importer = OverridesImporter(systems: systems, known: known)
        try importer.read(bytes, path: path)
        overrides = importer.overrides.values.sorted { $0.key < $1.key }
        problems = importer.problems.sorted { ($0.entry, $0.reason) < ($1.entry, $1.reason) }
    }

    /// Whether a file is one of an older system, by its content: a property list, or JSON with a value whose name begins
    /// with the ``OlderSystem/keyPrefix`` of one.
    ///
    /// An overrides file or a preset is none: what it has of such a name is an object.
    public static func recognizes(_ bytes: [UInt8]) -> Bool {
        guard bytes.firstVisible == UInt8(ascii: "{") else { return PropertyList.isMeant(by: bytes) }
        guard
            case .object(let root)? = try? JSONParser.value(
                of: bytes, repeatedNames: .lastCounts, valueLimit: mostValuesInFile)
        else {
            return false
        }
        if case .scalar(.string)? = root["name"], case .object? = root["tweaks"] { return false }
        return root.contains { name, value in
            if case .object = value { return false }
            return OlderSystem.allCases.contains { name.text.hasPrefix($0.keyPrefix) }
        }
    }

    /// What was taken over and what was not, a line each. They contain what the file does, also control characters.
    public var report: [String] {
        overrides.map { "\($0.key): \($0.value.quoted)" }
            + problems.map { "\($0.entry): not taken over: \($0.reason)" }
    }
}

/// A system whose stored values can be taken over.
public enum OlderSystem: String, Sendable, CaseIterable {
    case facebookTweaks = "Facebook Tweaks"
    case flipTheSwitch = "FlipTheSwitch"
    case justTweak = "JustTweak"

    /// What its keys in the user's defaults begin with.
    public var keyPrefix: String {
        switch self {
        case .facebookTweaks: "FBTweak:"
        case .flipTheSwitch: "FTS_FEATURE_"
        case .justTweak: "lib.fragments.userDefaultsKey."
        }
    }
}
