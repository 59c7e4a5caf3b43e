// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import TweakRecords

/// The text of a string literal without interpolation.
func literalText(_ expression: ExprSyntax, what: String) throws -> String {
    guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
        throw DiagnosticsError.tweak(
            "\(what) must be a string literal without interpolation", at: expression)
    }
    guard !text.utf8.contains(0) else {
        let plain = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\0" }))
        let literal = StringLiteralExprSyntax(content: plain).description
        throw DiagnosticsError.tweak(
            "\(what) cannot contain a NUL character", at: expression,
            fixIt: plain.isEmpty ? nil : .replace(expression, by: literal, "leave it out"))
    }
    return text
}

/// The value of `true` or `false`.
func literalBool(_ expression: ExprSyntax) -> Bool? {
    expression.as(BooleanLiteralExprSyntax.self).map { $0.literal.tokenKind == .keyword(.true) }
}

/// The sign and the digits of a number literal, without underscores.
private func digits(_ expression: ExprSyntax) -> (sign: String, digits: String)? {
    if let prefix = expression.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
        return digits(prefix.expression).flatMap { $0.sign.isEmpty ? ("-", $0.digits) : nil }
    }
    let text =
        expression.as(IntegerLiteralExprSyntax.self)?.literal.text
        ?? expression.as(FloatLiteralExprSyntax.self)?.literal.text
    return text.map { ("", $0.filter { $0 != "_" }) }
}

/// The value of an integer literal of at most 127 bits.
func literalInteger(_ expression: ExprSyntax) -> Int128? {
    guard let (sign, digits) = digits(expression) else { return nil }
    let radix =
        switch digits.prefix(2) {
        case "0x": 16
        case "0o": 8
        case "0b": 2
        default: 10
        }
    return Int128(sign + digits.dropFirst(radix == 10 ? 0 : 2), radix: radix)
}

/// The value of a number literal, rounded to a type.
func literalReal<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ expression: ExprSyntax, as type: Number.Type
) -> Number? {
    // Integers are parsed as such, because the floating-point types do not parse `0b1` and `0o7`.
    if expression.is(FloatLiteralExprSyntax.self) || literalInteger(expression) == nil {
        return digits(expression).flatMap { Number($0.sign + $0.digits) }
    }
    return literalInteger(expression).map { Number($0) }
}

/// The elements of an array literal.
func literalElements(_ expression: ExprSyntax) -> [ExprSyntax]? {
    expression.as(ArrayExprSyntax.self)?.elements.map(\.expression)
}

/// The value in `.some(…)` or `Optional(…)`.
func literalSome(_ expression: ExprSyntax) -> ExprSyntax? {
    guard let (name, arguments) = call(expression), ["some", "Optional"].contains(name), arguments.count == 1
    else { return nil }
    return arguments[0].label == nil ? arguments[0].expression : nil
}

/// The arguments of `name(…)`, `.name(…)` or `Base.name(…)`.
func call(_ expression: ExprSyntax) -> (name: String, arguments: [LabeledExprSyntax])? {
    guard let call = expression.as(FunctionCallExprSyntax.self), call.trailingClosure == nil else {
        return nil
    }
    let called = call.calledExpression
    guard
        let name = called.as(MemberAccessExprSyntax.self)?.declName
            ?? called.as(DeclReferenceExprSyntax.self)
    else { return nil }
    return (name.baseName.text, Array(call.arguments))
}

/// The seconds of `.zero`, `.seconds(2)`, `.milliseconds(300)`, `.microseconds(5)` or `.nanoseconds(7)`.
func literalDuration(_ expression: ExprSyntax) -> Double? {
    let member =
        expression.as(FunctionCallExprSyntax.self)?.calledExpression.as(MemberAccessExprSyntax.self)
        ?? expression.as(MemberAccessExprSyntax.self)
    let base = member?.base?.trimmedDescription ?? "Duration"
    guard base == "Duration" || base == "Swift.Duration" else { return nil }
    if literalCase(expression) == "zero" { return 0 }
    guard let (name, arguments) = call(expression), arguments.count == 1, arguments[0].label == nil,
        let count = literalReal(arguments[0].expression, as: Double.self)
    else { return nil }
    return switch name {
    case "seconds": count
    case "milliseconds": count / 1e3
    case "microseconds": count / 1e6
    case "nanoseconds": count / 1e9
    default: nil
    }
}

/// The colour in `TweakColor(red: 1, green: 2, blue: 3, alpha: 4)`.
func literalColor(_ expression: ExprSyntax) -> TweakColor? {
    guard let (name, arguments) = call(expression), name == "TweakColor" || name == "init" else { return nil }
    let labels = arguments.map { $0.label?.text ?? "" }
    let bytes = arguments.compactMap { literalInteger($0.expression).flatMap { UInt8(exactly: $0) } }
    guard labels == Array(["red", "green", "blue", "alpha"].prefix(max(3, labels.count))),
        bytes.count == labels.count
    else { return nil }
    return TweakColor(
        red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
}

/// Two operands and the operator between them. A duration after `...` is in parentheses, or follows a space.
func operands(_ expression: ExprSyntax?) -> [ExprSyntax]? {
    let operands =
        expression?.as(SequenceExprSyntax.self).map { Array($0.elements) }
        ?? expression?.as(InfixOperatorExprSyntax.self).map {
            [$0.leftOperand, $0.operator, $0.rightOperand]
        }
    return operands?.count == 3 ? operands : nil
}

/// The literal of a number that is computed from number literals, such as `180` for `3 * 60`; `nil` if it is not, or if
/// an integer would be rounded.
func calculated(_ expression: ExprSyntax) -> String? {
    switch calculation(expression) {
    case .integer(let value): "\(value)"
    case .real(let value) where value.isFinite: "\(value)"
    default: nil
    }
}

private enum Calculated {
    case integer(Int128)
    case real(Double)

    var real: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        }
    }

    func combined(with other: Calculated, by operation: String) -> Calculated? {
        if case .integer(let first) = self, case .integer(let second) = other {
            let (value, hasOverflown): (Int128, Bool)
            switch operation {
            case "+": (value, hasOverflown) = first.addingReportingOverflow(second)
            case "-": (value, hasOverflown) = first.subtractingReportingOverflow(second)
            case "*": (value, hasOverflown) = first.multipliedReportingOverflow(by: second)
            case "/"
            where second != 0 && first.remainderReportingOverflow(dividingBy: second).partialValue == 0:
                (value, hasOverflown) = first.dividedReportingOverflow(by: second)
            case "<<" where first >= 0 && 0...62 ~= second && first <= Int128(Int64.max) >> second:
                (value, hasOverflown) = (first << second, false)
            default: return nil
            }
            return hasOverflown ? nil : .integer(value)
        }
        return switch operation {
        case "+": .real(real + other.real)
        case "-": .real(real - other.real)
        case "*": .real(real * other.real)
        case "/": .real(real / other.real)
        default: nil
        }
    }
}

private func calculation(_ expression: ExprSyntax) -> Calculated? {
    if let inner = unwrapped(expression) { return calculation(inner) }
    if let integer = literalInteger(expression) { return .integer(integer) }
    if let real = literalReal(expression, as: Double.self) { return .real(real) }
    // The compiler has applied operator precedence already.
    guard let operands = operands(expression), let first = calculation(operands[0]),
        let second = calculation(operands[2])
    else { return nil }
    return first.combined(with: second, by: operands[1].trimmedDescription)
}

/// The operands of `minimum...maximum`.
func literalRange(
    _ expression: ExprSyntax, ofIntegers isIntegers: Bool
) throws -> (minimum: ExprSyntax, maximum: ExprSyntax) {
    let operands = operands(expression)
    if let operands, operands[1].trimmedDescription == "..." { return (operands[0], operands[2]) }
    if let range = expression.as(PostfixOperatorExprSyntax.self), range.operator.text == "..." {
        throw DiagnosticsError.tweak(
            "limits are a minimum and a maximum; a maximum is missing",
            at: expression, fixIt: .insert("<#maximum#>", after: expression, "add a maximum"))
    }
    if let range = expression.as(PrefixOperatorExprSyntax.self), ["...", "..<"].contains(range.operator.text)
    {
        throw DiagnosticsError.tweak(
            "limits are a minimum and a maximum; a minimum is missing",
            at: expression,
            fixIt: range.operator.text == "..."
                ? .insert("<#minimum#>", before: expression, "add a minimum") : nil)
    }
    var fixIt: FixIt?
    if let operands, operands[1].trimmedDescription == "..<" {
        if !isIntegers {
            fixIt = .replace(operands[1], by: "...", "write a closed range")
        } else if let minimum = literalInteger(operands[0]), let end = literalInteger(operands[2]),
            minimum < end
        {
            fixIt = .replace(expression, by: "\(minimum)...\(end - 1)", "write a closed range")
        }
    }
    throw DiagnosticsError.tweak(
        "the limits must be a range of two literals, such as 0...10", at: expression, fixIt: fixIt)
}

/// The literal in `Type(rawValue: …)` or `.init(rawValue: …)`.
func literalRawValue(_ expression: ExprSyntax) -> ExprSyntax? {
    call(expression).flatMap { _, arguments in
        arguments.map { $0.label?.text } == ["rawValue"] ? arguments[0].expression : nil
    }
}

/// The name of the type in `Type.name`, `Type(…)` or `Type.init(…)`.
func literalTypeName(_ expression: ExprSyntax) -> String? {
    let called = expression.as(FunctionCallExprSyntax.self)?.calledExpression
    let member = (called ?? expression).as(MemberAccessExprSyntax.self)
    let isBase = called == nil || member?.declName.baseName.text == "init"
    return (isBase ? member?.base : called)?.trimmedDescription
}

/// The content of the parentheses in `(…)`.
func unwrapped(_ expression: ExprSyntax) -> ExprSyntax? {
    expression.as(TupleExprSyntax.self).flatMap {
        $0.elements.count == 1 ? $0.elements.first?.expression : nil
    }
}

/// The name in `.name` or `Type.name`.
func literalCase(_ expression: ExprSyntax) -> String? {
    expression.as(MemberAccessExprSyntax.self).map(\.declName.baseName.trimmedName)
}

extension TokenSyntax {
    /// The name without backticks.
    var trimmedName: String { text.filter { $0 != "`" } }
}
#endif
