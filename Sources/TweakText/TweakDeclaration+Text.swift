public import TweakRecords

extension TweakDeclaration {
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
