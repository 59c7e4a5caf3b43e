// SPDX-License-Identifier: BSD-3-Clause
/// An error about a value that a tweak refuses.
public enum TweakValueError: Error, Hashable {
    /// The value has another type than the tweak.
    case wrongType(TweakDeclaration, given: String)
    /// The text is not a valid expression.
    case notCalculable(TweakDeclaration, given: String, reason: String)
    /// The value is infinite or NaN.
    case notFinite(TweakDeclaration, given: String)
    /// The text contains a NUL character, which would end it in C.
    case containsNUL(TweakDeclaration)
    /// The value is not among the tweak's choices.
    case notAmongChoices(TweakDeclaration, given: String)
    /// The tweak cannot be set.
    case readOnly(TweakDeclaration)
    /// The tweak is an action, which has no value.
    case isAction(TweakDeclaration)
    /// The tweak is a monitor, which only the program stores.
    case isMonitor(TweakDeclaration)
}

extension TweakValueError: CustomStringConvertible {
    /// The tweak, the value, and what is allowed.
    public var description: String { "\(tweak.key): \(problem)" }

    private var tweak: TweakDeclaration {
        switch self {
        case .wrongType(let tweak, _), .notCalculable(let tweak, _, _), .notFinite(let tweak, _),
            .containsNUL(let tweak), .notAmongChoices(let tweak, _), .readOnly(let tweak),
            .isAction(let tweak),
            .isMonitor(let tweak):
            tweak
        }
    }

    /// The value and what is allowed, without the name of the tweak.
    package var problem: String {
        switch self {
        case .wrongType(let tweak, let given):
            "\(given) is not \(tweak.typeWithArticle); allowed: \(tweak.allowed)"
        case .notCalculable(let tweak, let given, let reason):
            "\(given) is not \(tweak.typeWithArticle): \(reason); allowed: \(tweak.allowed)"
        case .notFinite(let tweak, let given):
            "\(given) is not finite; allowed: \(tweak.allowed)"
        case .containsNUL:
            "the text contains a NUL character; allowed: text without one"
        case .notAmongChoices(let tweak, let given):
            "\(given) is not among the choices; allowed: \(tweak.allowed)"
        case .readOnly(let tweak):
            "the tweak is read-only; its value is \(tweak.defaultValue.quoted)"
        case .isAction:
            "an action has no value"
        case .isMonitor:
            "a monitor is stored by the program and cannot be set"
        }
    }
}

extension TweakValueError {
    /// The problem in a few words, for showing it beside the tweak.
    package var reason: String {
        switch self {
        case .notCalculable(_, _, let reason): reason
        case .wrongType(let tweak, let given) where tweak.type.isNumeric:
            "\(given) is not a \(tweak.type.integerRange == nil ? "" : "whole ")number"
        default: description
        }
    }
}

extension TweakDeclaration {
    /// The allowed values, in words: `an integer from 0 to 10`, `one of 1 (easy), 2 (hard)`.
    public var allowed: String {
        guard choices.isEmpty else {
            return "one of " + choices.map { $0.description }.joined(separator: ", ") + orNone
        }
        return allowedByType + orNone
    }

    private var orNone: String { isOptional ? ", or none" : "" }

    private var allowedByType: String {
        switch type {
        case .action: return "nothing"
        case .color: return "a colour as #rrggbb or #rrggbbaa, or a CSS colour name"
        case .bool: return "true or false"
        case .string:
            guard let element else { return "text" }
            return "a JSON array, each element \(element.type == .string ? "a text" : element.allowed)"
        case .float, .double: return "a number" + bounds(minimum, maximum)
        default:
            let range = type.integerRange
            return "an integer"
                + bounds(
                    minimum ?? range.map { .integer($0.lowerBound + (isOptional ? 1 : 0)) },
                    maximum ?? range.map { .integer($0.upperBound) })
        }
    }

    package var typeWithArticle: String {
        if isOptional { return "an optional \(type)" }
        return text(of: "element") == nil || type != .string ? type.withArticle : "an array"
    }

    /// Whether the default is within the limits, or among the choices.
    package var admitsDefault: Bool {
        if defaultValue == .absent, isOptional { return true }
        guard choices.isEmpty else { return choices.contains { $0.value == defaultValue } }
        if let element, case .string(let text) = defaultValue {
            return (try? admit(array: text, of: element)) != nil
        }
        return areInOrder(minimum, defaultValue) && areInOrder(defaultValue, maximum)
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

/// The message about a clamped value, or an invalid default.
package func outsideLimits(_ value: String, allowed: String) -> String {
    "\(value) is outside the limits; allowed: \(allowed)"
}

extension TweakValueError {
    /// The allowed values; `nil` if there are none.
    package var allowed: String? {
        switch self {
        case .wrongType(let tweak, _), .notCalculable(let tweak, _, _), .notFinite(let tweak, _),
            .containsNUL(let tweak),
            .notAmongChoices(let tweak, _):
            tweak.allowed
        case .readOnly, .isAction, .isMonitor: nil
        }
    }
}
