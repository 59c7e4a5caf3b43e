// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

// Declarations of tweaks that no binary needs to declare, from files.

extension TweakDeclaration {
    /// The switch of a feature, from a file of features.
    package init(_ feature: PlacedFeature) {
        self.init(
            key: feature.key, type: .bool, defaultValue: .bool(feature.isEnabled),
            attributes: feature.description.map { [.init(key: "doc", value: $0)] } ?? [])
    }

    /// A variable of a feature, from a file of variables.
    ///
    /// - Parameters:
    ///   - value: The decrypted value.
    ///   - variable: The variable's other members in the file, or `nil`.
    package init(
        variable key: TweakKey, having value: TweakValue, describedBy variable: JustTweakFile.Variable?
    ) {
        let texts = [("title", variable?.title), ("doc", variable?.description), ("group", variable?.group)]
        self.init(
            key: key, type: value.naturalType, defaultValue: value,
            attributes: texts.compactMap { key, text in text.map { .init(key: key, value: $0) } })
    }

    /// A feature, or a variable of one, of which only a value is known, for example from a server. Features are off by
    /// default.
    ///
    /// - Returns: `nil` for other names, and for a switch whose value is not a Bool.
    package init?(feature key: TweakKey, having value: TweakValue) {
        guard key.category.hasSameBytes(as: PlacedFeature.category) else { return nil }
        var defaultValue = value
        if case .bool = value {
            defaultValue = .bool(false)
        } else if PlacedFeature.key(of: [key.collection]) == key {
            return nil
        }
        self.init(key: key, type: value.naturalType, defaultValue: defaultValue)
    }
}
