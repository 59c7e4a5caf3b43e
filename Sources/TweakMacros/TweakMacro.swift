#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `#tweak(category, collection, name, default: value, …)` for one type of value.
///
/// A macro sees no types; the compiler chooses the overload, and with it one of the types below.
protocol TweakMacro: ExpressionMacro {
    static var type: ValueType { get }
}

extension TweakMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        let arguments = try TweakArguments(node.arguments, of: node, in: context)
        guard let defaultValue = arguments["default"] else {
            throw DiagnosticsError.tweak("a default is needed", at: node)
        }
        let record = try arguments.record(of: type, default: defaultValue)
        let result = type.name.map { " () -> \($0) in" } ?? ""
        return """
            {\(raw: result)
            #if \(raw: RecordSource.condition)
                enum __Tweak {
                    \(raw: record.declaration)
                }
                return \(raw: type.read("__Tweak", default: defaultValue))
            #else
                return \(defaultValue.trimmed)
            #endif
            }()
            """
    }
}

extension ValueType {
    /// Source that reads the cell of the record in an enumeration.
    func read(_ enumeration: String, default defaultValue: ExprSyntax) -> String {
        let load =
            switch form {
            case .textEnumeration: "Tweaks.__textEnumeration"
            case .integerEnumeration: "Tweaks.__integerEnumeration"
            default: "Tweaks.__tweak"
            }
        return """
            Swift.withUnsafeMutablePointer(to: &\(enumeration).record.\(RecordSource.cell)) {
                \(load)(
                    Swift.UnsafeRawPointer($0), scoped: Swift._isDebugAssertConfiguration(),
                    default: \(defaultValue.trimmed))
            }
            """
    }
}

enum BoolTweakMacro: TweakMacro { static let type = ValueType.bool }
enum IntTweakMacro: TweakMacro { static let type = ValueType.integer(Int.self) }
enum Int8TweakMacro: TweakMacro { static let type = ValueType.integer(Int8.self) }
enum Int16TweakMacro: TweakMacro { static let type = ValueType.integer(Int16.self) }
enum Int32TweakMacro: TweakMacro { static let type = ValueType.integer(Int32.self) }
enum Int64TweakMacro: TweakMacro { static let type = ValueType.integer(Int64.self) }
enum UIntTweakMacro: TweakMacro { static let type = ValueType.integer(UInt.self) }
enum UInt8TweakMacro: TweakMacro { static let type = ValueType.integer(UInt8.self) }
enum UInt16TweakMacro: TweakMacro { static let type = ValueType.integer(UInt16.self) }
enum UInt32TweakMacro: TweakMacro { static let type = ValueType.integer(UInt32.self) }
enum UInt64TweakMacro: TweakMacro { static let type = ValueType.integer(UInt64.self) }
enum FloatTweakMacro: TweakMacro { static let type = ValueType.float }
enum DoubleTweakMacro: TweakMacro { static let type = ValueType.double }
enum DurationTweakMacro: TweakMacro { static let type = ValueType.duration }
enum StringTweakMacro: TweakMacro { static let type = ValueType.string }
enum ColorTweakMacro: TweakMacro { static let type = ValueType.color }
enum TextEnumerationTweakMacro: TweakMacro { static let type = ValueType.textEnumeration }
enum IntegerEnumerationTweakMacro: TweakMacro { static let type = ValueType.integerEnumeration }

/// What the compiler chooses when no other fits, to say why.
enum UnsupportedTweakMacro: ExpressionMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        let arguments = try TweakArguments(node.arguments, of: node, in: context)
        guard let value = arguments["default"] else {
            throw DiagnosticsError.tweak("a default is needed", at: node)
        }
        if value.is(StringLiteralExprSyntax.self) || literalBool(value) != nil || literalColor(value) != nil,
            let limits = arguments["in"]
        {
            throw DiagnosticsError.tweak("only a number has a minimum and a maximum", at: limits)
        }
        throw DiagnosticsError.tweak(ValueType.unsupported, at: value)
    }
}

extension ValueType {
    static let unsupported = """
        a tweak is a Bool, an integer of up to 64 bits, a Float, a Double, a String, a Duration, a TweakColor or an \
        enumeration that is a TweakableEnum with raw values of String or Int
        """
}
#endif
