/// A value that a tweak cannot take.
public enum TweakValueError: Error, Hashable {
    /// The value is of another type than the tweak.
    case wrongType(TweakDeclaration, given: String)
    /// The value is an infinity or not a number.
    case notFinite(TweakDeclaration, given: String)
    /// The text contains a NUL character, which ends a text in C.
    case containsNUL(TweakDeclaration)
}

extension TweakValueError: CustomStringConvertible {
    /// Names the tweak, the value and what is allowed.
    public var description: String {
        switch self {
        case .wrongType(let tweak, let given):
            "\(tweak.key): \(given) is no \(tweak.type); allowed: \(tweak.allowed)"
        case .notFinite(let tweak, let given):
            "\(tweak.key): \(given) is not finite; allowed: \(tweak.allowed)"
        case .containsNUL(let tweak):
            "\(tweak.key): the text contains a NUL character; allowed: text without one"
        }
    }
}

extension TweakDeclaration {
    /// The values that the tweak takes, in words: `an integer from 0 to 10`.
    public var allowed: String {
        switch type {
        case .bool: return "true or false"
        case .string: return "text"
        case .float, .double: return "a number" + bounds(minimum, maximum)
        default:
            let range = type.integerRange
            return "an integer"
                + bounds(
                    minimum ?? range.map { .integer($0.lowerBound) },
                    maximum ?? range.map { .integer($0.upperBound) })
        }
    }

    private func bounds(_ minimum: TweakValue?, _ maximum: TweakValue?) -> String {
        switch (minimum, maximum) {
        case (let minimum?, let maximum?): " from \(minimum) to \(maximum)"
        case (let minimum?, nil): " of at least \(minimum)"
        case (nil, let maximum?): " of at most \(maximum)"
        case (nil, nil): ""
        }
    }
}
