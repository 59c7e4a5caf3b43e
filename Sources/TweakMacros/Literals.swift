#if Macros
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax

/// What a literal stands for.
enum Constant: Equatable {
    /// An integer; also a Bool, 0 or 1, and a colour, red in the lowest byte.
    case integer(Int128)
    case real(Double)
    case text(String)

    /// Whether a number is larger than another of the same type.
    func isAbove(_ other: Constant) -> Bool {
        switch (self, other) {
        case (.integer(let one), .integer(let other)): one > other
        case (.real(let one), .real(let other)): one > other
        default: false
        }
    }
}

/// The text of a string literal without interpolation.
func literalText(_ expression: ExprSyntax, what: String) throws -> String {
    guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
        throw DiagnosticsError.tweak(
            "\(what) must be a string literal without interpolation", at: expression)
    }
    guard !text.utf8.contains(0) else {
        throw DiagnosticsError.tweak("\(what) cannot contain a NUL character", at: expression)
    }
    return text
}

/// The value of `true` or `false`.
func literalBool(_ expression: ExprSyntax) -> Bool? {
    expression.as(BooleanLiteralExprSyntax.self).map { $0.literal.tokenKind == .keyword(.true) }
}

/// The sign and the digits of a number, without underscores.
private func digits(_ expression: ExprSyntax) -> (sign: String, digits: String)? {
    if let prefix = expression.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" {
        return digits(prefix.expression).flatMap { $0.sign.isEmpty ? ("-", $0.digits) : nil }
    }
    let text =
        expression.as(IntegerLiteralExprSyntax.self)?.literal.text
        ?? expression.as(FloatLiteralExprSyntax.self)?.literal.text
    return text.map { ("", $0.filter { $0 != "_" }) }
}

/// The value of an integer literal; `nil` if it is none or has more than 127 bits.
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

/// The value of a number literal as the nearest number of a type; `nil` if it is none.
func literalReal<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ expression: ExprSyntax, as type: Number.Type
) -> Number? {
    // An integer is read as one, since of `0b1` and `0o7` the floating-point types know nothing.
    if expression.is(FloatLiteralExprSyntax.self) || literalInteger(expression) == nil {
        return digits(expression).flatMap { Number($0.sign + $0.digits) }
    }
    return literalInteger(expression).map { Number($0) }
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

/// The bytes of `TweakColor(red: 1, green: 2, blue: 3, alpha: 4)`, red lowest.
func literalColor(_ expression: ExprSyntax) -> UInt32? {
    guard let (name, arguments) = call(expression), name == "TweakColor" || name == "init" else { return nil }
    let labels = arguments.map { $0.label?.text ?? "" }
    guard labels == ["red", "green", "blue"] || labels == ["red", "green", "blue", "alpha"] else {
        return nil
    }
    var bytes = arguments.compactMap { literalInteger($0.expression).flatMap { UInt8(exactly: $0) } }
    guard bytes.count == arguments.count else { return nil }
    if bytes.count == 3 { bytes.append(255) }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
}

/// The name in `.name` or `Type.name`.
func literalCase(_ expression: ExprSyntax) -> String? {
    expression.as(MemberAccessExprSyntax.self).map { $0.declName.baseName.text.filter { $0 != "`" } }
}
#endif
