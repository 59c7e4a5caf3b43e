// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import TweakRecords

extension TweakArguments {
    /// The declaration of a value.
    func value(of type: ValueType, default defaultValue: ExprSyntax) throws -> TweakDeclaration {
        if let element = type.element { return try array(of: element, type, default: defaultValue) }
        var declaration = TweakDeclaration(key: try key(), type: type.type, defaultValue: .nothing)
        declaration.choices = try choices(of: type)
        try checkDistinct(declaration.choices)
        declaration.defaultValue = try value(of: type, default: defaultValue, declaration.choices)
        if type.type.isNumeric {
            (declaration.minimum, declaration.maximum) = try limits(of: type)
            declaration.step = try self["step"].map { try type.value($0, what: "the step") }
        } else if self["in"] ?? self["step"] != nil {
            throw mistake(.limitsOfNoNumber, in: declaration, of: type, default: defaultValue)
        }
        declaration.attributes = declaration.choices.flatMap(\.attributes) + (try attributes(of: type))
        if let problem = declaration.problem {
            throw mistake(problem, in: declaration, of: type, default: defaultValue)
        }
        return declaration
    }

    /// The declaration of an array.
    private func array(
        of element: ValueType, _ type: ValueType, default defaultValue: ExprSyntax
    ) throws -> TweakDeclaration {
        guard let elements = literalElements(unwrapped(defaultValue) ?? defaultValue) else {
            throw DiagnosticsError.tweak("the default must be an array of literals", at: defaultValue)
        }
        if let argument = argument("choices") {
            throw DiagnosticsError.tweak(
                "an array has no choices", at: argument.expression, fixIt: .remove(argument))
        }
        var declaration = TweakDeclaration(
            key: try key(), type: type.type,
            defaultValue: TweakValue(elements: try elements.map { try element.value($0, what: "an element") })
        )
        if self["step"] ?? (element.type.isNumeric ? nil : self["in"]) != nil {
            throw mistake(.limitsOfNoNumber, in: declaration, of: type, default: defaultValue)
        }
        var declared = TweakDeclaration(key: declaration.key, type: element.type, defaultValue: .nothing)
        (declared.minimum, declared.maximum) = try limits(of: element)
        declaration.attributes = [declared.elementAttribute] + (try attributes(of: type))
        if let problem = declaration.problem {
            throw mistake(problem, in: declaration, of: type, default: defaultValue)
        }
        return declaration
    }

    private func limits(of type: ValueType) throws -> (minimum: TweakValue?, maximum: TweakValue?) {
        guard let expression = self["in"] else { return (nil, nil) }
        let limits = try literalRange(expression, ofIntegers: type.type.integerRange != nil)
        return (
            try type.value(limits.minimum, what: "the minimum"),
            try type.value(limits.maximum, what: "the maximum")
        )
    }

    /// The default. For an enumeration the source contains only the case: its raw value is the choice with that label,
    /// or else the name itself.
    func value(
        of type: ValueType, default expression: ExprSyntax, _ choices: [TweakChoice]
    ) throws -> TweakValue {
        guard type.form == .rawValue else { return try type.value(expression, what: "the default") }
        if let literal = literalRawValue(expression) { return try type.value(literal, what: "the raw value") }
        guard let name = literalCase(expression) else {
            throw DiagnosticsError.tweak(
                "the default must be a case, such as .first, or Type(rawValue: …) of a literal",
                at: expression)
        }
        if let choice = choices.first(where: { $0.label == name }) { return choice.value }
        if type.type == .string { return .string(name) }
        let message = "a macro does not see the raw value of .\(name); "
        guard type.type.integerRange != nil else {
            throw DiagnosticsError.tweak(message + "write Type(rawValue: …) of a literal", at: expression)
        }
        throw DiagnosticsError.tweak(
            message + "list all cases in choices:, such as [1: \"\(name)\", 2: …]", at: expression,
            fixIt: self["choices"] == nil
                ? .insert(
                    ", choices: [<#raw value#>: \"\(name)\"]",
                    after: self["in"] ?? self["default"] ?? names[2], "add choices")
                : nil)
    }

    /// Whether the choices are a dictionary with integer keys, as for an enumeration with integer raw values.
    var hasIntegerChoices: Bool {
        guard case .elements(let elements)? = self["choices"]?.as(DictionaryExprSyntax.self)?.content else {
            return false
        }
        return elements.first.flatMap { literalInteger($0.key) } != nil
    }

    private func choices(of type: ValueType) throws -> [TweakChoice] {
        guard let argument = argument("choices") else { return [] }
        var isEmpty = false
        if let array = argument.expression.as(ArrayExprSyntax.self) {
            isEmpty = array.elements.isEmpty
            let choices = try array.elements.map {
                TweakChoice(try type.value($0.expression, what: "a choice"))
            }
            if !isEmpty { return choices }
        } else if let dictionary = argument.expression.as(DictionaryExprSyntax.self) {
            if case .elements(let elements) = dictionary.content {
                return try elements.map {
                    let label = try literalText($0.value, what: "a label")
                    return TweakChoice(
                        try type.value($0.key, what: "a choice"), label: label.isEmpty ? nil : label)
                }
            }
            isEmpty = true
        }
        throw DiagnosticsError.tweak(
            "the choices must be an array of literals, or a dictionary of values and labels",
            at: argument.expression, fixIt: isEmpty ? .remove(argument) : nil)
    }
}

// MARK: - Mistakes

extension TweakArguments {
    /// The error for an invalid declaration, with its place and a fix-it.
    private func mistake(
        _ problem: DeclarationProblem, in declaration: TweakDeclaration, of type: ValueType,
        default defaultValue: ExprSyntax
    ) -> DiagnosticsError {
        let argument =
            switch problem {
            case .limitsOfNoNumber: argument("in") ?? argument("step")
            case .limitsAndChoices, .limitsOutOfOrder: argument("in")
            case .choicesOfOtherType: argument("choices")
            case .noStep: argument("step")
            case .noLogarithm: argument("scale")
            case .badDefault, .monitorOfOtherType: LabeledExprSyntax?.none
            }
        let fixIt: FixIt? =
            switch problem {
            case .limitsOfNoNumber, .limitsAndChoices, .choicesOfOtherType, .noLogarithm:
                argument.map { .remove($0) }
            case .limitsOutOfOrder:
                operands(self["in"]).map { .swap($0[0], $0[2], "swap minimum and maximum") }
            case .noStep: argument.flatMap { positiveStep($0, declaration.step) }
            case .monitorOfOtherType: nil
            case .badDefault where declaration.choices.isEmpty:
                nearestLimit(declaration, of: type, default: defaultValue)
            case .badDefault: addedChoice(declaration, default: defaultValue)
            }
        return .tweak("\(problem)", at: argument?.expression ?? defaultValue, fixIt: fixIt)
    }

    private func positiveStep(_ argument: LabeledExprSyntax, _ step: TweakValue?) -> FixIt? {
        if step == .integer(0) || step == .double(0) { return .remove(argument) }
        guard let negative = argument.expression.as(PrefixOperatorExprSyntax.self) else { return nil }
        return .replace(negative.operator, by: "", "leave out the sign")
    }

    private func nearestLimit(
        _ declaration: TweakDeclaration, of type: ValueType, default defaultValue: ExprSyntax
    ) -> FixIt? {
        guard let nearest = try? declaration.admit(declaration.defaultValue).value,
            let limits = operands(self["in"])
        else { return nil }
        let limit = limits[nearest == declaration.minimum ? 0 : 2]
        var text = type.form == .duration ? (unwrapped(limit) ?? limit).trimmedDescription : "\(nearest)"
        if text.hasPrefix(".") { text = "Duration" + text }
        return .replace(literal(of: defaultValue), by: text, "use the nearest limit, \(text)")
    }

    private func addedChoice(_ declaration: TweakDeclaration, default defaultValue: ExprSyntax) -> FixIt? {
        // For a case only its name is known.
        let literal = literal(of: defaultValue)
        let text =
            literalCase(literal) == nil ? literal.trimmedDescription : "\"\(declaration.defaultValue)\""
        if let last = self["choices"]?.as(ArrayExprSyntax.self)?.elements.last {
            return .insert(", \(text)", after: last.expression, "add it to the choices")
        }
        guard case .elements(let elements)? = self["choices"]?.as(DictionaryExprSyntax.self)?.content,
            let last = elements.last
        else { return nil }
        return .insert(", \(text): \"\"", after: last.value, "add it to the choices")
    }

    private func literal(of defaultValue: ExprSyntax) -> ExprSyntax {
        let inner = unwrapped(defaultValue) ?? defaultValue
        return literalRawValue(inner) ?? inner
    }
}
#endif
