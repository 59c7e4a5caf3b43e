package import TweakRecords

// What a tweak is that no binary needs to declare, by what a file says of it.

extension TweakDeclaration {
    /// The switch of a feature, by a file of features.
    package init(_ feature: PlacedFeature) {
        self.init(
            key: feature.key, type: .bool, defaultValue: .bool(feature.isEnabled),
            attributes: feature.description.map { [.init(key: "doc", value: $0)] } ?? [])
    }

    /// A variable of a feature, by a file of variables.
    ///
    /// - Parameters:
    ///   - value: Its value, decrypted.
    ///   - variable: What else the file says of it; `nil` if that is nothing.
    package init(
        variable key: TweakKey, having value: TweakValue, describedBy variable: JustTweakFile.Variable?
    ) {
        let texts = [("title", variable?.title), ("doc", variable?.description), ("group", variable?.group)]
        self.init(
            key: key, type: value.naturalType, defaultValue: value,
            attributes: texts.compactMap { key, text in text.map { .init(key: key, value: $0) } })
    }

    /// A feature, or a variable of one, of which only a value is known, as from a server. By default a feature is off.
    ///
    /// - Returns: `nil` for what is none of a feature, and for a switch that has another value than a Bool.
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
