#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax

/// A Swift type that a tweak can have.
struct ValueType {
    enum Form {
        case bool, integer, float, double, duration, text, color, textEnumeration, integerEnumeration
    }

    /// The name in Swift source; `nil` if the source does not tell it, as for an enumeration.
    var name: String?
    /// The type byte of the record.
    var code: UInt8
    var form: Form
    /// The values of an integer.
    var range: ClosedRange<Int128> = 0...0

    static let bool = ValueType(name: "Swift.Bool", code: 1, form: .bool)
    static let float = ValueType(name: "Swift.Float", code: 10, form: .float)
    static let double = ValueType(name: "Swift.Double", code: 11, form: .double)
    static let duration = ValueType(name: "Swift.Duration", code: 11, form: .duration)
    static let string = ValueType(name: "Swift.String", code: 12, form: .text)
    static let color = ValueType(name: "Tweaks.TweakColor", code: 13, form: .color)
    static let textEnumeration = ValueType(name: nil, code: 12, form: .textEnumeration)
    static let integerEnumeration = ValueType(
        name: nil, code: 5, form: .integerEnumeration, range: integer(Int.self).range)

    static func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> ValueType {
        let width = UInt8(type.bitWidth.trailingZeroBitCount - 3)
        return ValueType(
            name: "Swift.\(type)", code: (type.isSigned ? 2 : 6) + width, form: .integer,
            range: Int128(type.min)...Int128(type.max))
    }

    /// Those that have a name.
    static let named: [ValueType] = [
        bool, integer(Int.self), integer(Int8.self), integer(Int16.self), integer(Int32.self),
        integer(Int64.self), integer(UInt.self), integer(UInt8.self), integer(UInt16.self),
        integer(UInt32.self), integer(UInt64.self), float, double, duration, string, color,
    ]

    var isText: Bool { form == .text || form == .textEnumeration }
    var hasPrecision: Bool { form == .float || form == .double || form == .duration }
    /// Whether it has limits and a step.
    var isNumber: Bool { form == .integer || hasPrecision }

    /// What a literal of the type stands for.
    ///
    /// - Parameter what: What it is to the tweak, such as `the default`.
    func constant(_ expression: ExprSyntax, what: String) throws -> Constant {
        if let tuple = expression.as(TupleExprSyntax.self), let only = tuple.elements.first,
            tuple.elements.count == 1
        {
            return try constant(only.expression, what: what)
        }
        switch form {
        case .bool:
            if let value = literalBool(expression) { return .integer(value ? 1 : 0) }
            throw DiagnosticsError.tweak("\(what) must be true or false", at: expression)
        case .integer, .integerEnumeration:
            if let value = literalInteger(expression) {
                guard range.contains(value) else { throw unfit(expression, what) }
                return .integer(value)
            }
        case .float:
            if let value = literalReal(expression, as: Float.self) {
                guard value.isFinite else { throw unfit(expression, what) }
                return .real(Double(value))
            }
        case .double:
            if let value = literalReal(expression, as: Double.self) {
                guard value.isFinite else { throw unfit(expression, what) }
                return .real(value)
            }
        case .duration:
            if let seconds = literalDuration(expression), seconds.isFinite { return .real(seconds) }
            throw DiagnosticsError.tweak(
                "\(what) must be a duration of a literal, such as .seconds(2) or .milliseconds(300)",
                at: expression)
        case .color:
            if let color = literalColor(expression) { return .integer(Int128(color)) }
            throw DiagnosticsError.tweak(
                "\(what) must be TweakColor(red: 255, green: 128, blue: 0) of literals from 0 to 255",
                at: expression)
        case .text, .textEnumeration:
            return .text(try literalText(expression, what: what))
        }
        throw DiagnosticsError.tweak("\(what) must be a number literal", at: expression)
    }

    private func unfit(_ expression: ExprSyntax, _ what: String) -> DiagnosticsError {
        .tweak(
            "\(what) does not fit the type \((name ?? "Swift.Int").dropFirst("Swift.".count))",
            at: expression)
    }

    /// The eight bytes of a value in a record.
    func word(_ constant: Constant) -> UInt64 {
        switch constant {
        case .integer(let value):
            UInt64(truncatingIfNeeded: value)
                & (form == .integer && range.upperBound - range.lowerBound < Int128(UInt64.max)
                    ? UInt64(range.upperBound - range.lowerBound) : .max)
        case .real(let value): form == .float ? UInt64(Float(value).bitPattern) : value.bitPattern
        case .text: 0
        }
    }
}
#endif
