// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxMacros
internal import TweakRecords

/// The arguments of a macro: three names, then options with labels. The compiler has checked their order.
struct TweakArguments {
    let names: [ExprSyntax]
    private let options: [LabeledExprSyntax]
    private let location: TweakDeclaration.Attribute?

    init(
        _ arguments: some Sequence<LabeledExprSyntax>, of node: some SyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws {
        let names = arguments.prefix { $0.label == nil }
        guard names.count == 3 else { throw DiagnosticsError.tweak("three names are needed", at: node) }
        self.init(
            names: names.map(\.expression), options: Array(arguments.dropFirst(3)), of: node, in: context)
    }

    init(
        names: [ExprSyntax], options: [LabeledExprSyntax], of node: some SyntaxProtocol,
        in context: some MacroExpansionContext
    ) {
        self.names = names
        self.options = options
        let location = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
        let file = location?.file.as(StringLiteralExprSyntax.self)?.representedLiteralValue
        self.location = file.map {
            TweakDeclaration.Attribute(key: "at", value: "\($0):\(location?.line.trimmedDescription ?? "0")")
        }
    }

    /// An option and its label; `nil` also if it is `nil` in the source.
    func argument(_ option: String) -> LabeledExprSyntax? {
        options.first { $0.label?.text == option && !$0.expression.is(NilLiteralExprSyntax.self) }
    }

    /// The default; `nil` also if it is `nil` in the source and the type is not optional.
    func defaultValue(of type: ValueType) -> ExprSyntax? {
        type.wrapped == nil
            ? self["default"] : options.first { $0.label?.text == "default" }?.expression
    }

    /// The expression of an option; `nil` also if it is `nil` in the source.
    subscript(option: String) -> ExprSyntax? { argument(option)?.expression }

    /// The source of the arguments, with a default after the names unless it is `nil`.
    func source(default defaultValue: ExprSyntax?) -> String {
        let texts = options.filter { $0.label?.text != "default" }.map { argument in
            (argument.label.map { "\($0.text): " } ?? "") + argument.expression.trimmedDescription
        }
        let added = defaultValue.map { ["default: " + $0.trimmedDescription] } ?? []
        return (names.map(\.trimmedDescription) + added + texts).joined(separator: ", ")
    }

    /// The declaration of an action.
    func action() throws -> TweakDeclaration {
        TweakDeclaration(
            key: try key(), type: .action, defaultValue: .nothing, attributes: try commonAttributes())
    }

    func key() throws -> TweakKey {
        let levels = try names.map { expression in
            let text = try literalText(expression, what: "a category, collection or name")
            guard !text.isEmpty else {
                throw DiagnosticsError.tweak("a category, collection or name cannot be empty", at: expression)
            }
            return text
        }
        return TweakKey(levels[0], levels[1], levels[2])
    }

    /// Throws if two choices have the same value or label.
    func checkDistinct(_ choices: [TweakChoice]) throws {
        var values: Set<TweakValue> = []
        var labels: Set<String> = []
        let expressions = choiceExpressions
        for (choice, expression) in zip(choices, expressions) {
            guard values.insert(choice.value).inserted else {
                throw DiagnosticsError.tweak("two choices are \(choice.value)", at: expression.value)
            }
            guard let label = choice.label, !labels.insert(label).inserted else { continue }
            throw DiagnosticsError.tweak("two choices have the label \(label)", at: expression.label)
        }
    }

    /// The expressions of choices and of their labels.
    private var choiceExpressions: [(value: ExprSyntax, label: ExprSyntax)] {
        if case .elements(let elements)? = self["choices"]?.as(DictionaryExprSyntax.self)?.content {
            return elements.map { ($0.key, $0.value) }
        }
        return self["choices"]?.as(ArrayExprSyntax.self)?.elements.map { ($0.expression, $0.expression) }
            ?? []
    }

    /// The attributes of a value, without its choices.
    func attributes(of type: ValueType) throws -> [TweakDeclaration.Attribute] {
        var attributes: [TweakDeclaration.Attribute] = []
        if let argument = argument("precision") {
            let digits = literalInteger(argument.expression)
            guard let digits, 0...17 ~= digits else {
                let nearest = digits.map { $0 < 0 ? 0 : 17 }
                throw DiagnosticsError.tweak(
                    "the precision must be a literal from 0 to 17", at: argument.expression,
                    fixIt: nearest.map { .replace(argument.expression, by: "\($0)", "use \($0)") })
            }
            guard type.type == .double || type.type == .float else {
                throw DiagnosticsError.tweak(
                    "only a floating-point number has a precision", at: argument.expression,
                    fixIt: .remove(argument))
            }
            attributes.append(TweakDeclaration.Attribute(key: "precision", value: "\(digits)"))
        }
        if type.wrapped != nil { attributes.append(TweakDeclaration.Attribute(key: "optional", value: "")) }
        attributes += try sliderAttributes(of: type)
        if let unit = try text("unit", what: "a unit") ?? (type.form == .duration ? "s" : nil) {
            attributes.append(TweakDeclaration.Attribute(key: "unit", value: unit))
        }
        for (option, attribute) in [("readOnly", "read-only"), ("needsRestart", "needs-restart")] {
            guard let expression = self[option] else { continue }
            guard let isSet = literalBool(expression) else {
                throw DiagnosticsError.tweak("\(option) must be true or false", at: expression)
            }
            if isSet { attributes.append(TweakDeclaration.Attribute(key: attribute, value: "")) }
        }
        return try attributes + commonAttributes()
    }

    /// The scale of a slider, and the tweak for the other axis of a pad.
    private func sliderAttributes(of type: ValueType) throws -> [TweakDeclaration.Attribute] {
        for (option, what) in [("scale", "a scale"), ("pair", "a pair"), ("unit", "a unit")]
        where !type.type.isNumeric {
            guard let argument = argument(option) else { continue }
            throw DiagnosticsError.tweak(
                "only a number has \(what)", at: argument.expression, fixIt: .remove(argument))
        }
        var attributes: [TweakDeclaration.Attribute] = []
        if let expression = self["scale"] {
            guard let scale = literalCase(expression).flatMap(TweakScale.init(named:)) else {
                throw DiagnosticsError.tweak("the scale must be .linear or .log", at: expression)
            }
            attributes.append(TweakDeclaration.Attribute(key: "scale", value: scale.name))
        }
        if let argument = argument("pair") {
            let pair = try literalText(argument.expression, what: "the name of a pair")
            guard !pair.isEmpty, pair != (try key()).name else {
                throw DiagnosticsError.tweak(
                    "a pair is the name of another tweak in the collection", at: argument.expression,
                    fixIt: .remove(argument))
            }
            attributes.append(TweakDeclaration.Attribute(key: "pair", value: pair))
        }
        return attributes
    }

    /// The attributes that values and actions have in common: those of options that only inform.
    private func commonAttributes() throws -> [TweakDeclaration.Attribute] {
        var attributes = location.map { [$0] } ?? []
        for option in TweakOption.all where option.purpose == .information {
            guard let key = option.attribute, let argument = argument(option.name) else { continue }
            let isDate = option.name == "expires"
            let article = "aeiou".contains(option.title.prefix(1)) ? "an" : "a"
            let text = try literalText(
                argument.expression, what: isDate ? "a date" : "\(article) \(option.title)")
            guard !isDate || isDay(text) else {
                throw DiagnosticsError.tweak(
                    "a date is written as 2027-01-31", at: argument.expression,
                    fixIt: text.isEmpty
                        ? .remove(argument)
                        : isoDate(text).map { .replace(argument.expression, by: "\"\($0)\"", "write \($0)") })
            }
            attributes.append(TweakDeclaration.Attribute(key: key, value: text))
        }
        return attributes
    }

    private func text(_ option: String, what: String) throws -> String? {
        try self[option].map { try literalText($0, what: what) }
    }
}

/// Converts dates such as `2027-1-31`, `2027/01/31` or `31.1.2027` to the form `2027-01-31`.
private func isoDate(_ text: String) -> String? {
    let separator: Character = text.contains(".") ? "." : text.contains("/") ? "/" : "-"
    var parts = text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    if separator == ".", parts.last?.count == 4 { parts.reverse() }
    let date = parts.map { $0.count == 1 ? "0" + $0 : $0 }.joined(separator: "-")
    return isDay(date) ? date : nil
}
#endif
