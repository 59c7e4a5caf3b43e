#if Macros
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// The arguments of a macro: three names, then options with labels. The compiler has checked their order.
struct TweakArguments {
    private let names: [ExprSyntax]
    private let options: [String: ExprSyntax]
    private let attributeOfLocation: [String]

    init(
        _ arguments: LabeledExprListSyntax, of node: some SyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws {
        guard !context.lexicalContext.contains(where: isGeneric) else {
            throw DiagnosticsError.tweak(
                "a tweak cannot be in a generic function or type; put it into one that is none, and use that",
                at: node)
        }
        names = arguments.prefix { $0.label == nil }.map(\.expression)
        guard names.count == 3 else { throw DiagnosticsError.tweak("three names are needed", at: node) }
        options = Dictionary(
            arguments.dropFirst(3).compactMap { argument in
                argument.label.map { ($0.text, argument.expression) }
            }, uniquingKeysWith: { first, _ in first })
        let location = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
        let file = location?.file.as(StringLiteralExprSyntax.self)?.representedLiteralValue
        attributeOfLocation =
            file.map { ["at=\($0):\(location?.line.trimmedDescription ?? "0")"] } ?? []
    }

    /// An option as it is written; `nil` also for `nil`.
    subscript(option: String) -> ExprSyntax? {
        options[option].flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0 }
    }

    /// The record of a value.
    func record(of type: ValueType, default defaultValue: ExprSyntax) throws -> RecordSource {
        let names = try levels()
        let choices = try choices(of: type)
        let value = try constant(of: type, defaultValue, choices)
        let defaultText = if case .text(let text) = value { text } else { "" }
        var record = RecordSource(
            typeCode: type.code, defaultWord: type.word(value), texts: names + [defaultText])
        if let limits = try limits(of: type) {
            guard choices.isEmpty else {
                throw DiagnosticsError.tweak("a tweak has limits or choices, not both", at: limits.expression)
            }
            guard !limits.minimum.isAbove(value), !value.isAbove(limits.maximum) else {
                throw DiagnosticsError.tweak(
                    "the default is not between minimum and maximum", at: defaultValue)
            }
            record.minimum = type.word(limits.minimum)
            record.maximum = type.word(limits.maximum)
        }
        guard choices.isEmpty || choices.contains(where: { $0.value == value }) else {
            throw DiagnosticsError.tweak("the default is not among the choices", at: defaultValue)
        }
        if type.isNumber { record.step = try step(of: type) }
        if !type.isText { record.choices = choices.map { type.word($0.value) } }
        record.texts += try attributes(of: type, choices: choices)
        return record
    }

    /// The record of an action.
    func record(ofAction function: String) throws -> RecordSource {
        RecordSource(
            typeCode: 14, texts: try levels() + [""] + attributeOfLocation + commonAttributes(),
            function: function)
    }

    private func levels() throws -> [String] {
        try names.map { expression in
            let text = try literalText(expression, what: "a category, collection or name")
            guard !text.isEmpty else {
                throw DiagnosticsError.tweak("a category, collection or name cannot be empty", at: expression)
            }
            return text
        }
    }
}

// MARK: - Values

extension TweakArguments {
    private struct Choice {
        var value: Constant
        var label: String?
    }

    /// The default. Of an enumeration the source has only the case: its raw value is the choice with that label, or the
    /// name itself.
    private func constant(of type: ValueType, _ expression: ExprSyntax, _ choices: [Choice]) throws
        -> Constant
    {
        guard type.form == .textEnumeration || type.form == .integerEnumeration else {
            return try type.constant(expression, what: "the default")
        }
        guard let name = literalCase(expression) else {
            throw DiagnosticsError.tweak("the default must be a case, such as .first", at: expression)
        }
        if let choice = choices.first(where: { $0.label == name }) { return choice.value }
        guard type.form == .textEnumeration else {
            throw DiagnosticsError.tweak(
                "the raw value of the default is not known here; give it with choices:, such as [1: \"\(name)\"]",
                at: expression)
        }
        return .text(name)
    }

    private func limits(
        of type: ValueType
    ) throws -> (minimum: Constant, maximum: Constant, expression: ExprSyntax)? {
        guard let expression = self["in"] else { return nil }
        guard type.isNumber else {
            throw DiagnosticsError.tweak("only a number has a minimum and a maximum", at: expression)
        }
        guard let range = operands(expression), range.count == 3, range[1].trimmedDescription == "..." else {
            throw DiagnosticsError.tweak(
                "the limits must be a range of two literals, such as 0...10", at: expression)
        }
        let minimum = try type.constant(range[0], what: "the minimum")
        let maximum = try type.constant(range[2], what: "the maximum")
        guard !minimum.isAbove(maximum) else {
            throw DiagnosticsError.tweak(
                "the minimum is above the maximum", at: expression,
                fixIt: .swap("swap minimum and maximum", range[0], range[2]))
        }
        return (minimum, maximum, expression)
    }

    /// Two operands and the operator between them. A duration behind `...` stands in parentheses, or behind a space.
    private func operands(_ expression: ExprSyntax) -> [ExprSyntax]? {
        expression.as(SequenceExprSyntax.self).map { Array($0.elements) }
            ?? expression.as(InfixOperatorExprSyntax.self).map {
                [$0.leftOperand, $0.operator, $0.rightOperand]
            }
    }

    private func step(of type: ValueType) throws -> UInt64? {
        guard let expression = self["step"] else { return nil }
        let step = try type.constant(expression, what: "the step")
        guard step.isAbove(.integer(0)) || step.isAbove(.real(0)) else {
            throw DiagnosticsError.tweak("the step must be more than 0", at: expression)
        }
        return type.word(step)
    }

    /// Whether the choices are a dictionary of integers, as those of an enumeration with such raw values are.
    var hasIntegerChoices: Bool {
        guard case .elements(let elements)? = self["choices"]?.as(DictionaryExprSyntax.self)?.content else {
            return false
        }
        return elements.first.flatMap { literalInteger($0.key) } != nil
    }

    private func choices(of type: ValueType) throws -> [Choice] {
        guard let expression = self["choices"] else { return [] }
        guard type.form != .bool, type.form != .color else {
            throw DiagnosticsError.tweak("only numbers and texts have choices", at: expression)
        }
        var choices: [Choice] = []
        if let array = expression.as(ArrayExprSyntax.self) {
            choices = try array.elements.map {
                Choice(value: try type.constant($0.expression, what: "a choice"))
            }
        } else if case .elements(let elements)? = expression.as(DictionaryExprSyntax.self)?.content {
            choices = try elements.map {
                let label = try literalText($0.value, what: "a label")
                return Choice(
                    value: try type.constant($0.key, what: "a choice"), label: label.isEmpty ? nil : label)
            }
        }
        guard !choices.isEmpty else {
            throw DiagnosticsError.tweak(
                "the choices must be an array of literals, or a dictionary of values and labels",
                at: expression)
        }
        return choices
    }
}

// MARK: - Attributes

extension TweakArguments {
    private func attributes(of type: ValueType, choices: [Choice]) throws -> [String] {
        var attributes = attributeOfLocation
        for choice in choices {
            let text = if case .text(let text) = choice.value { text } else { "" }
            attributes += ["choice=" + text] + (choice.label.map { ["label=" + $0] } ?? [])
        }
        if let expression = self["precision"] {
            guard let digits = literalInteger(expression), 0...17 ~= digits else {
                throw DiagnosticsError.tweak("the precision must be a literal from 0 to 17", at: expression)
            }
            guard type.hasPrecision else {
                throw DiagnosticsError.tweak("only a floating-point number has a precision", at: expression)
            }
            attributes.append("precision=\(digits)")
        }
        if !type.isNumber, let expression = self["step"] {
            throw DiagnosticsError.tweak("only a number has a step", at: expression)
        }
        if let unit = try text("unit", what: "a unit") ?? (type.form == .duration ? "s" : nil) {
            attributes.append("unit=" + unit)
        }
        for (option, attribute) in [("readOnly", "read-only"), ("needsRestart", "needs-restart")] {
            guard let expression = self[option] else { continue }
            guard let isSet = literalBool(expression) else {
                throw DiagnosticsError.tweak("\(option) must be true or false", at: expression)
            }
            if isSet { attributes.append(attribute) }
        }
        return try attributes + commonAttributes()
    }

    /// What values and actions have.
    private func commonAttributes() throws -> [String] {
        var attributes: [String] = []
        if let details = try text("description", what: "a description") {
            attributes.append("doc=" + details)
        }
        if let owner = try text("owner", what: "an owner") { attributes.append("owner=" + owner) }
        if let date = try text("expires", what: "a date") {
            guard isDate(date) else {
                throw DiagnosticsError.tweak(
                    "a date is written as 2027-01-31", at: self["expires"] ?? names[0])
            }
            attributes.append("expires=" + date)
        }
        return attributes
    }

    private func text(_ option: String, what: String) throws -> String? {
        try self[option].map { try literalText($0, what: what) }
    }

    /// As the library and `tweak-dump` understand a date.
    private func isDate(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }),
            let month = Int(parts[1]), let day = Int(parts[2])
        else { return false }
        return 1...12 ~= month && 1...31 ~= day
    }
}

/// Whether a declaration around a tweak has type parameters. In such there are no static variables.
private func isGeneric(_ node: Syntax) -> Bool {
    if let function = node.as(FunctionDeclSyntax.self) {
        let parameters = function.signature.parameterClause.tokens(viewMode: .sourceAccurate)
        return function.genericParameterClause != nil
            || parameters.contains { $0.tokenKind == .keyword(.some) }
    }
    return node.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
}
#endif
