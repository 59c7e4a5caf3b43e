#if Macros
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `#tweak(category, collection, name, default: value, in: minimum...maximum)` for one type of value.
///
/// A macro sees no types; the compiler chooses the overload, and with it one of the types below.
protocol TweakMacro: ExpressionMacro {
    static var typeCode: UInt8 { get }
    /// The Swift type of the expression.
    static var valueType: String { get }
    /// The type of a value in the record, see ``RecordSource/storage``.
    static var storage: String { get }
    /// The literal that stands for the default in the record, and the text of a string.
    static func encode(_ defaultValue: ExprSyntax) throws -> (literal: String, text: String)
}

extension TweakMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        let arguments = Array(node.arguments)
        guard arguments.count >= 4 else {
            throw DiagnosticsError.tweak("three names and a default are needed", at: node)
        }
        let names = try arguments[..<3].map {
            try literalText($0.expression, what: "a category, collection or name")
        }
        let defaultValue = arguments[3].expression
        let (literal, text) = try encode(defaultValue)
        let limits = arguments.count > 4 ? try bounds(arguments[4].expression) : nil
        let location = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
        let file = location?.file.as(StringLiteralExprSyntax.self)?.representedLiteralValue
        let attributes = file.map { ["at=\($0):\(location?.line.trimmedDescription ?? "0")"] } ?? []

        let record = RecordSource(
            typeCode: typeCode, storage: storage, defaultLiteral: literal, limits: limits,
            texts: names + [text] + attributes)
        return """
            { () -> Swift.\(raw: valueType) in
            #if (DEBUG || FB_TWEAK_ENABLED) && !FB_TWEAK_DISABLED
                enum Tweak {
                    \(raw: record.declaration)
                }
                return Swift.withUnsafeMutablePointer(to: &Tweak.record.\(raw: RecordSource.cell)) {
                    Tweaks.__\(raw: valueType.lowercased())Tweak($0, default: \(defaultValue))
                }
            #else
                return \(defaultValue)
            #endif
            }()
            """
    }

    private static func bounds(_ expression: ExprSyntax) throws -> (String, String) {
        guard
            let range = expression.as(SequenceExprSyntax.self).map({ Array($0.elements) })
                ?? infix(expression),
            range.count == 3, range[1].trimmedDescription == "..."
        else {
            throw DiagnosticsError.tweak(
                "the limits must be a range of two literals, such as 0...10", at: expression)
        }
        return (try number(range[0]), try number(range[2]))
    }

    private static func infix(_ expression: ExprSyntax) -> [ExprSyntax]? {
        expression.as(InfixOperatorExprSyntax.self).map { [$0.leftOperand, $0.operator, $0.rightOperand] }
    }

    /// The value of a string literal without interpolation.
    static func literalText(_ expression: ExprSyntax, what: String) throws -> String {
        guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else {
            throw DiagnosticsError.tweak(
                "\(what) must be a string literal without interpolation", at: expression)
        }
        guard !text.utf8.contains(0) else {
            throw DiagnosticsError.tweak("\(what) cannot contain a NUL character", at: expression)
        }
        return text
    }

    /// What most types need: a number has no text.
    static func encode(_ defaultValue: ExprSyntax) throws -> (literal: String, text: String) {
        (try number(defaultValue), "")
    }

    /// A number as it is written, with its sign.
    static func number(_ expression: ExprSyntax) throws -> String {
        let digits = expression.as(PrefixOperatorExprSyntax.self).map { prefix in
            prefix.operator.text == "-" ? prefix.expression : expression
        }
        let literal = digits ?? expression
        guard literal.is(IntegerLiteralExprSyntax.self) || literal.is(FloatLiteralExprSyntax.self) else {
            throw DiagnosticsError.tweak("a default and its limits must be literals", at: expression)
        }
        return expression.trimmedDescription
    }
}

enum BoolTweakMacro: TweakMacro {
    static let typeCode: UInt8 = 1
    static let valueType = "Bool"
    static let storage = "UInt64"

    static func encode(_ defaultValue: ExprSyntax) throws -> (literal: String, text: String) {
        guard let literal = defaultValue.as(BooleanLiteralExprSyntax.self) else {
            throw DiagnosticsError.tweak("the default must be true or false", at: defaultValue)
        }
        return (literal.literal.text == "true" ? "1" : "0", "")
    }
}

enum IntTweakMacro: TweakMacro {
    static let typeCode: UInt8 = 5
    static let valueType = "Int"
    static let storage = "Int64"
}

enum DoubleTweakMacro: TweakMacro {
    static let typeCode: UInt8 = 11
    static let valueType = "Double"
    static let storage = "Double"
}

enum StringTweakMacro: TweakMacro {
    static let typeCode: UInt8 = 12
    static let valueType = "String"
    static let storage = "UInt64"
    static func encode(_ defaultValue: ExprSyntax) throws -> (literal: String, text: String) {
        ("0", try literalText(defaultValue, what: "the default"))
    }
}
#endif
