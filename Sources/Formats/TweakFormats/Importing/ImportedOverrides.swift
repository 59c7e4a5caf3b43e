// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
package import TweakRecords

/// The values that a person has set in an older system, as overrides of tweaks.
///
/// These formats can be read:
///
/// - the user defaults of a program, as a property list or equivalent JSON: keys with the ``OlderSystem/keyPrefix`` of
///   a system. Keys of Facebook Tweaks consist of category, collection and name separated by hyphens, and some values,
///   such as colours, are archived;
/// - the export of Facebook Tweaks: a keyed archive of an `FBTweakStore`, in which tweaks with a current value count;
/// - JSON with objects for category and collection, and values by name.
package struct ImportedOverrides: Hashable, Sendable {
    /// A value to set.
    package struct Override: Hashable, Sendable {
        /// The tweak.
        package let key: TweakKey
        /// The value; its type may not be the tweak's yet.
        package let value: TweakValue
        /// The entry's name in the file.
        package let entry: String
    }

    /// An entry that belongs to a tweak but could not be imported.
    package struct Problem: Hashable, Sendable {
        /// The entry's name in the file.
        package let entry: String
        /// The reason, and what helps.
        package let reason: String
    }

    /// The values to set, sorted by tweak; each tweak once.
    package let overrides: [Override]
    /// The skipped entries, sorted by name. Unrelated entries in the user defaults are no problem.
    package let problems: [Problem]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - path: The path for error messages.
    ///   - systems: The systems to import from.
    ///   - known: The program's tweaks, which resolve names with several hyphens, the feature of a part, and the
    ///     features of a JustTweak variable. For a ``FeatureSet`` or a ``JustTweakFile`` pass their keys.
    /// - Throws: ``FormatError`` if the file has none of these formats, or user defaults contain no values of the
    ///   systems.
    package init(
        _ bytes: [UInt8], path: String, systems: Set<OlderSystem> = Set(OlderSystem.allCases),
        known: [TweakKey] = []
    ) throws(FormatError) {
        var importer = OverridesImporter(systems: systems, known: known)
        try importer.read(bytes, path: path)
        overrides = importer.overrides.values.sorted { $0.key < $1.key }
        problems = importer.problems.sorted { ($0.entry, $0.reason) < ($1.entry, $1.reason) }
    }

    /// Returns whether the content of a file is that of an older system: a property list, or JSON with a value whose
    /// name has the ``OlderSystem/keyPrefix`` of one.
    ///
    /// Overrides files and presets are not recognised: a member with such a name would be an object there.
    package static func recognizes(_ bytes: [UInt8]) -> Bool {
        guard bytes.firstVisible == UInt8(ascii: "{") else { return PropertyList.isMeant(by: bytes) }
        guard
            case .object(let root)? = try? JSONParser.value(
                of: bytes, repeatedNames: .merged, valueLimit: mostValuesInFile)
        else {
            return false
        }
        if case .scalar(.string)? = root["name"], case .object? = root["tweaks"] { return false }
        return root.contains { name, value in
            if case .object = value { return false }
            return OlderSystem.allCases.contains { name.text.hasPrefix($0.keyPrefix) }
        }
    }

    /// A line for each imported and each skipped entry. The lines may contain control characters from the file.
    package var report: [String] {
        overrides.map { "\($0.key): \($0.value.quoted)" }
            + problems.map { "\($0.entry): not imported: \($0.reason)" }
    }
}

/// A system whose stored values can be imported.
package enum OlderSystem: String, Sendable, CaseIterable {
    case facebookTweaks = "Facebook Tweaks"
    case flipTheSwitch = "FlipTheSwitch"
    case justTweak = "JustTweak"

    /// The prefix of its keys in the user defaults.
    package var keyPrefix: String {
        switch self {
        case .facebookTweaks: "FBTweak:"
        case .flipTheSwitch: "FTS_FEATURE_"
        case .justTweak: "lib.fragments.userDefaultsKey."
        }
    }
}
