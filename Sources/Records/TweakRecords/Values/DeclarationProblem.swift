// SPDX-License-Identifier: BSD-3-Clause
/// An error in a declaration.
package enum DeclarationProblem: Hashable {
    /// There are limits or a step, but the type is not numeric.
    case limitsOfNoNumber
    /// There are choices, but the type is neither numeric nor a string.
    case choicesOfOtherType
    /// There are both limits and choices.
    case limitsAndChoices
    /// The minimum is above the maximum, or one of them is NaN.
    case limitsOutOfOrder
    /// The step is not above 0.
    case noStep
    /// The scale is logarithmic, but there is no minimum above 0.
    case noLogarithm
    /// The default is outside the limits or not among the choices.
    case badDefault(allowed: String)
    /// The monitor is neither a number nor a Bool.
    case monitorOfOtherType
}

extension DeclarationProblem: CustomStringConvertible {
    /// The problem, for people.
    package var description: String {
        switch self {
        case .limitsOfNoNumber: "only a number has limits and a step"
        case .choicesOfOtherType: "only numbers and texts have choices"
        case .limitsAndChoices: "a tweak has limits or choices, not both"
        case .limitsOutOfOrder: "the minimum is above the maximum"
        case .noStep: "the step must be more than 0"
        case .noLogarithm: "a logarithmic scale needs a minimum above 0"
        case .badDefault(let allowed): outsideLimits("the default", allowed: allowed)
        case .monitorOfOtherType: "only a number or a bool can be monitored"
        }
    }
}

extension TweakDeclaration {
    /// Why no code of a program reads a tweak, and what to do, after a semicolon.
    package static let reasonWhyUnread =
        "its function is unused, or an inline function of which the linker kept another copy, compiled without DEBUG: "
        + "compile all files alike, or make it static inline"

    /// The error in the declaration, or `nil`. All values must have the declared type.
    package var problem: DeclarationProblem? {
        guard type.isNumeric || (minimum ?? maximum ?? step) == nil else { return .limitsOfNoNumber }
        guard type.isNumeric || type == .string || choices.isEmpty else { return .choicesOfOtherType }
        guard choices.isEmpty || (minimum ?? maximum) == nil else { return .limitsAndChoices }
        guard areInOrder(minimum, maximum) else { return .limitsOutOfOrder }
        if let element, !areInOrder(element.minimum, element.maximum) { return .limitsOutOfOrder }
        switch step {
        case .integer(let step)? where step <= 0: return .noStep
        case .double(let step)? where !(step > 0): return .noStep
        default: break
        }
        guard text(of: "scale") != "log" || scale == .log else { return .noLogarithm }
        if isMonitor { return type.canBeMonitored ? nil : .monitorOfOtherType }
        return admitsDefault ? nil : .badDefault(allowed: allowed)
    }
}
