// SPDX-License-Identifier: BSD-3-Clause
package import TweakFormats

/// Functions that read and switch features, in several languages, so that the compiler checks the names of features.
///
/// For a feature `awesome` they are `isAwesomeEnabled`, `enableAwesome`, `disableAwesome`, `setAwesomeEnabled`,
/// `resetAwesome` and `awesomeKey`, and `resetAll` for all features. A part is enabled only if its parent features are.
/// A feature is named after its ``PlacedFeature/flatName``.
package struct FeatureAccessors: Sendable {
    /// A feature and its names in code.
    struct Accessor: Sendable {
        let feature: PlacedFeature
        /// `Awesome` in `isAwesomeEnabled`.
        let upper: String
        /// `awesome` in `awesomeKey`.
        let lower: String
        /// The accessor of the parent feature, such as `isAwesomeEnabled`; `nil` for a top-level feature.
        let gate: String?

        var isEnabled: String { "is\(upper)Enabled" }

        /// All names of the accessor, in any language.
        var names: [String] {
            [
                isEnabled, "enable\(upper)", "disable\(upper)", "set\(upper)Enabled", "reset\(upper)",
                "\(lower)Key", "\(lower)Tweak",
            ]
        }
    }

    /// Names that all features share.
    private static let reserved = ["resetAll", "tweaks", "Handles"]

    let name: String
    let origin: Origin
    let accessors: [Accessor]

    /// Makes names for all features.
    ///
    /// - Parameters:
    ///   - features: The features.
    ///   - name: The name of all accessors: the enumeration in Swift, the prefix of functions in C.
    ///   - origin: The file of the features.
    /// - Throws: ``FormatError`` if the name of a feature has no letter, or two features would have the same accessor.
    package init(_ features: FeatureSet, name: String = "Features", origin: Origin) throws(FormatError) {
        var upperNames: [[String]: String] = [:]
        var paths = Dictionary(Self.reserved.map { ($0, [String]()) }) { first, _ in first }
        var accessors: [Accessor] = []
        for feature in features.all {
            func failure(_ reason: String) -> FormatError {
                .invalid(
                    path: origin.path, place: (origin.environment.map { [$0] } ?? []) + feature.path,
                    reason: reason)
            }
            let upper = Identifier.upperCamelCase(feature.flatName)
            guard !upper.isEmpty else {
                throw failure("it has no letter or digit, so it cannot be a name in code")
            }
            let accessor = Accessor(
                feature: feature, upper: upper, lower: Identifier.lowerCamelCase(feature.flatName),
                gate: upperNames[feature.path.dropLast()].map { "is\($0)Enabled" })
            for name in accessor.names {
                guard let other = paths.updateValue(feature.path, forKey: name) else { continue }
                throw failure(
                    "code would have \(name) for it, and "
                        + (other.isEmpty ? "for all features" : "for \(other.joined(separator: "."))")
                        + " too; rename it")
            }
            upperNames[feature.path] = upper
            accessors.append(accessor)
        }
        self.name = name
        self.origin = origin
        self.accessors = accessors
    }

    /// The reason why a text cannot name accessors; `nil` if it can.
    package static func problem(ofName text: String) -> String? {
        guard !Identifier.isValid(text) || Identifier.swift(text) != text else { return nil }
        return
            "\"\(text)\" cannot be the name of an accessor: it has letters, digits and _, no digit at the start, and "
            + "is not a keyword"
    }
}
