public import TweakRecords

extension Sequence where Element == TweakDeclaration {
    /// The order of a table: categories and collections by name, tweaks as they are declared.
    public var inTableOrder: [TweakDeclaration] {
        enumerated().sorted {
            ($0.element.key.category, $0.element.key.collection, $0.offset)
                < ($1.element.key.category, $1.element.key.collection, $1.offset)
        }.map(\.element)
    }
}

extension TweakDeclaration {
    /// The heading under which a table has the tweak.
    public var heading: String { "\(key.category) / \(key.collection)" }

    /// A value of the tweak as a table shows it: a text in quotation marks.
    public func text(of value: TweakValue) -> String {
        if case .string(let text) = value { "\"\(text)\"" } else { "\(value)" }
    }

    /// The limits as a table shows them: `0…10`, `≥ 0`, `≤ 10` or nothing.
    public var limits: String {
        switch (minimum, maximum) {
        case (let minimum?, let maximum?): "\(minimum)…\(maximum)"
        case (let minimum?, nil): "≥ \(minimum)"
        case (nil, let maximum?): "≤ \(maximum)"
        case (nil, nil): ""
        }
    }
}
