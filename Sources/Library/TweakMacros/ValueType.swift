// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import TweakRecords

/// A Swift type of a tweak.
struct ValueType {
    /// The form of a value in the source.
    enum Form {
        /// As a literal; a colour as `TweakColor(…)` of literals.
        case literal
        /// As `.seconds(…)` with a literal. The record stores the seconds.
        case duration
        /// As a literal of a floating-point type, to which the number in the record is converted.
        case converted
        /// As a case, or as `Type(rawValue: …)` with a literal. The record stores the raw value.
        case rawValue
        /// As an array of literals. The record stores a text.
        case array
    }

    /// The name in Swift source; `nil` for a type of the program, whose name a tweak's source does not contain.
    var name: String?
    /// The type in the record.
    var type: TweakType
    var form = Form.literal

    static let bool = ValueType(name: "Swift.Bool", type: .bool)
    static let int = ValueType(name: "Swift.Int", type: .int64)
    static let int8 = ValueType(name: "Swift.Int8", type: .int8)
    static let int16 = ValueType(name: "Swift.Int16", type: .int16)
    static let int32 = ValueType(name: "Swift.Int32", type: .int32)
    static let int64 = ValueType(name: "Swift.Int64", type: .int64)
    static let uint = ValueType(name: "Swift.UInt", type: .uint64)
    static let uint8 = ValueType(name: "Swift.UInt8", type: .uint8)
    static let uint16 = ValueType(name: "Swift.UInt16", type: .uint16)
    static let uint32 = ValueType(name: "Swift.UInt32", type: .uint32)
    static let uint64 = ValueType(name: "Swift.UInt64", type: .uint64)
    static let float = ValueType(name: "Swift.Float", type: .float)
    static let double = ValueType(name: "Swift.Double", type: .double)
    static let string = ValueType(name: "Swift.String", type: .string)
    static let color = ValueType(name: "Tweaks.TweakColor", type: .color)
    static let duration = ValueType(name: "Swift.Duration", type: .double, form: .duration)

    /// Another floating-point type, such as `CGFloat`, which is Foundation's.
    static let real = ValueType(type: .double, form: .converted)
    static let ints = ValueType(name: "[Swift.Int]", type: .string, form: .array)
    static let doubles = ValueType(name: "[Swift.Double]", type: .string, form: .array)
    static let strings = ValueType(name: "[Swift.String]", type: .string, form: .array)

    /// The type of an array's elements; `nil` for another type.
    var element: ValueType? {
        switch name {
        case Self.ints.name: .int
        case Self.doubles.name: .double
        case Self.strings.name: .string
        default: nil
        }
    }

    /// The type of an optional's value; `nil` for another type.
    var wrapped: ValueType? {
        guard let name, name.hasSuffix("?") else { return nil }
        return Self.wrapped.first { $0.name == String(name.dropLast()) }
    }

    /// The optional of a type.
    private var optional: ValueType { ValueType(name: storedName + "?", type: type) }

    /// A type of the program that is stored as its raw value.
    static func rawValue(_ type: ValueType) -> ValueType { ValueType(type: type.type, form: .rawValue) }

    /// The types with a name.
    static let named: [ValueType] = [
        bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float, double, string,
        color, duration,
    ]

    static let arrays: [ValueType] = [ints, doubles, strings]
    private static let wrapped: [ValueType] = [bool, int, float, double, string]
    static let optionalBool = bool.optional
    static let optionalInt = int.optional
    static let optionalFloat = float.optional
    static let optionalDouble = double.optional
    static let optionalString = string.optional

    /// The supported types, for messages.
    static let all = """
        a tweak is a Bool, an integer of up to 64 bits, a Float, a Double, a CGFloat, a String, a Duration, a TweakColor, an \
        array of Int, Double or String, an optional Bool, Int, Float, Double or String, an enumeration that is a \
        TweakableEnum or another TweakableRawRepresentable, with raw values of String, Int or Double
        """

    /// The name of the type in the record.
    var storedName: String {
        name ?? Self.named.first { $0.type == type }?.name ?? ""
    }

    /// The type with a name, which can be qualified.
    init?(named name: String) {
        for (start, end) in [("", "?"), ("Optional<", ">"), ("Swift.Optional<", ">")]
        where name.hasPrefix(start) && name.hasSuffix(end) {
            let type = ValueType(named: String(name.dropFirst(start.count).dropLast()))
            guard let type, Self.wrapped.contains(where: { $0.name == type.name }) else { return nil }
            self = type.optional
            return
        }
        for (start, end) in [("[", "]"), ("Array<", ">"), ("Swift.Array<", ">")]
        where name.hasPrefix(start) && name.hasSuffix(end) {
            let element = ValueType(named: String(name.dropFirst(start.count).dropLast()))
            guard let array = Self.arrays.first(where: { $0.element?.name == element?.name }) else {
                return nil
            }
            self = array
            return
        }
        let plain = name.split(separator: ".").last ?? ""
        guard plain != "CGFloat" else {
            self = .real
            return
        }
        guard let type = Self.named.first(where: { $0.name?.hasSuffix("." + plain) == true }) else {
            return nil
        }
        self = type
    }

    /// The default type of a literal.
    init?(ofLiteral expression: ExprSyntax) {
        if expression.is(StringLiteralExprSyntax.self) {
            self = .string
        } else if literalBool(expression) != nil {
            self = .bool
        } else if literalInteger(expression) != nil {
            self = .int
        } else if literalReal(expression, as: Double.self) != nil {
            self = .double
        } else if literalColor(expression) != nil {
            self = .color
        } else if literalDuration(expression) != nil {
            self = .duration
        } else if let elements = literalElements(expression)?.map({ ValueType(ofLiteral: $0)?.name }),
            let array = Self.arrays.first(where: { $0.element?.name == elements.first }),
            elements.allSatisfy({ $0 == elements[0] })
        {
            self = array
        } else if let elements = literalElements(expression), !elements.isEmpty,
            elements.allSatisfy({ literalReal($0, as: Double.self) != nil })
        {
            self = .doubles
        } else {
            return nil
        }
    }

    /// Returns whether the compiler takes a literal, whose default type is given, for this type.
    func accepts(_ literal: ValueType) -> Bool {
        if let element, let other = literal.element { return element.accepts(other) }
        if let wrapped { return wrapped.accepts(literal) }
        guard form == .literal || form == .converted, literal.form == .literal, literal.type.isNumeric else {
            return type == literal.type && form == literal.form
        }
        return literal.type == .double ? type == .float || type == .double : type.isNumeric
    }

    private init(name: String? = nil, type: TweakType, form: Form = .literal) {
        self.name = name
        self.type = type
        self.form = form
    }

    /// The value of a literal of this type.
    ///
    /// - Parameter what: Its role, such as `the default`.
    func value(_ expression: ExprSyntax, what: String) throws -> TweakValue {
        if let inner = unwrapped(expression) { return try value(inner, what: what) }
        if let wrapped {
            if expression.is(NilLiteralExprSyntax.self) { return .absent }
            return try wrapped.value(literalSome(expression) ?? expression, what: what).inOptional
        }
        if form == .duration {
            if let seconds = literalDuration(expression), seconds.isFinite { return .double(seconds) }
            throw DiagnosticsError.tweak(
                "\(what) must be a duration of a literal, such as .seconds(2) or .milliseconds(300)",
                at: expression)
        }
        switch type {
        case .bool:
            if let value = literalBool(expression) { return .bool(value) }
            throw DiagnosticsError.tweak("\(what) must be true or false", at: expression)
        case .float:
            if let value = literalReal(expression, as: Float.self) {
                guard value.isFinite else { throw unfit(expression, what) }
                return .double(Double(shortest: value))
            }
        case .double:
            if let value = literalReal(expression, as: Double.self) {
                guard value.isFinite else { throw unfit(expression, what) }
                return .double(value)
            }
        case .color:
            if let color = literalColor(expression) { return .color(color) }
            throw DiagnosticsError.tweak(
                "\(what) must be TweakColor(red: 255, green: 128, blue: 0) of literals from 0 to 255",
                at: expression)
        case .string:
            return .string(try literalText(expression, what: what))
        default:
            if let value = literalInteger(expression), let range = type.integerRange {
                guard range.contains(value) else {
                    let nearest = min(max(value, range.lowerBound), range.upperBound)
                    throw unfit(
                        expression, what,
                        .replace(expression, by: "\(nearest)", "use the nearest that does, \(nearest)"))
                }
                return .integer(value)
            }
        }
        throw Self.noNumber(expression, what, isInteger: type.integerRange != nil)
    }

    /// The error for an expression that is not a number literal. For arithmetic, the fix-it offers the result.
    static func noNumber(_ expression: ExprSyntax, _ what: String, isInteger: Bool) -> DiagnosticsError {
        if isInteger, literalReal(expression, as: Double.self) != nil {
            return .tweak("\(what) must be an integer, because the tweak is one", at: expression)
        }
        let message = "\(what) must be a number literal"
        guard let result = calculated(expression), !isInteger || Int128(result) != nil else {
            return .tweak(message, at: expression)
        }
        return .tweak(
            message + "; \(expression.trimmedDescription) is \(result)", at: expression,
            fixIt: .replace(expression, by: result, "write \(result)"))
    }

    private func unfit(_ expression: ExprSyntax, _ what: String, _ fixIt: FixIt? = nil) -> DiagnosticsError {
        .tweak(
            "\(what) does not fit the type \(storedName.dropFirst("Swift.".count))", at: expression,
            fixIt: fixIt)
    }
}
#endif
