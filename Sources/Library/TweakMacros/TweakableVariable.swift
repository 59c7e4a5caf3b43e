// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros
internal import TweakRecords

/// A parsed variable with `@Tweakable`.
struct TweakableVariable {
    let name: String
    /// The name of the variable's type.
    let typeName: String
    /// The declared type, if it can only be another name of the literal's type.
    let alias: String?
    let content: TweakableContent
    let defaultValue: ExprSyntax
    /// The variable's access level and `static`.
    let modifiers: String

    /// The name of the enumeration with the records.
    var enumeration: String { "__tweak_" + name }

    init(
        _ declaration: some DeclSyntaxProtocol, _ node: AttributeSyntax,
        in context: some MacroExpansionContext
    ) throws {
        guard case .argumentList(let list)? = node.arguments else {
            throw DiagnosticsError.tweak("three names are needed", at: node)
        }
        let arguments = try TweakArguments(list, of: node, in: context)
        try context.checkPlace(
            of: node, isMember: true,
            instead: "declare it in the file, or in a type and function that are not generic")
        guard let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1,
            let binding = variable.bindings.first, binding.accessorBlock == nil,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else {
            throw DiagnosticsError.tweak("only a stored var with one name can be a tweak", at: declaration)
        }
        guard !isInlinable(Syntax(variable)) else {
            throw DiagnosticsError.tweak(
                "an @inlinable var cannot be a tweak, because other modules compile it too; it is public or "
                    + "@usableFromInline", at: pattern)
        }
        let specifier = variable.bindingSpecifier
        guard specifier.tokenKind == .keyword(.var) else {
            throw DiagnosticsError.tweak(
                "only a stored var with one name can be a tweak", at: specifier,
                fixIt: .replace(specifier, by: "var", "make it a var"))
        }
        let isOptional =
            binding.typeAnnotation.flatMap { ValueType(named: $0.type.trimmedDescription)?.wrapped } != nil
        guard
            let value = binding.initializer?.value ?? (isOptional ? ExprSyntax(NilLiteralExprSyntax()) : nil)
        else {
            throw DiagnosticsError.tweak(
                "the var needs a value, which is the tweak's default", at: pattern,
                fixIt: .insert(" = <#default#>", after: binding, "give it one"))
        }
        if !variable.isOfType, let scope = context.lexicalContext.first {
            let isInType = scope.asProtocol((any DeclGroupSyntax).self) != nil
            let named = pattern.trimmedDescription + (binding.typeAnnotation?.trimmedDescription ?? "")
            let constant = "let \(named) = #tweak(\(arguments.source(default: value)))"
            throw DiagnosticsError.tweak(
                "only a static or a global var can be a tweak", at: specifier,
                fixIt: isInType
                    ? .insert("static ", before: specifier, "make it static")
                    : .replace(variable, by: constant, "use #tweak"))
        }
        if let argument = arguments.argument("default") {
            throw DiagnosticsError.tweak(
                "the default is the value of the var", at: argument.expression, fixIt: .remove(argument))
        }
        name = pattern.identifier.trimmedName
        defaultValue = value
        let kept = variable.modifiers.filter {
            // The handle can only be read, and a static variable is final.
            $0.detail == nil && !["nonisolated", "final"].contains($0.name.text)
        }.map(\.trimmedDescription)
        modifiers = (["nonisolated"] + kept).joined(separator: " ")
        let annotation = binding.typeAnnotation?.type.trimmedDescription
        let written = annotation ?? literalTypeName(value)
        if let written, let layout = GroupLayout(named: written) {
            typeName = written
            alias = nil
            content = try arguments.content(of: layout, default: value)
        } else {
            let type: ValueType
            (type, typeName) = try Self.type(annotation, value, hasIntegers: arguments.hasIntegerChoices)
            alias =
                type.form == .rawValue ? nil : annotation.flatMap { ValueType(named: $0) == nil ? $0 : nil }
            content = try arguments.content(of: type, typeName, default: value)
        }
    }

    /// An expression for a value of the tweak, which does not compile if the declared type is another one.
    func result(_ expression: String) -> String {
        alias.map { "Tweaks.__aliased(\(expression), \(typeName).self, as: (\($0)).self)" } ?? expression
    }

    /// The annotated type, or the default type of a literal.
    private static func type(
        _ annotation: String?, _ value: ExprSyntax, hasIntegers: Bool
    ) throws -> (ValueType, String) {
        // A macro does not see through a typealias, which is taken for one of the literal's type.
        let other = annotation?.hasPrefix("[") == true ? nil : ValueType(ofLiteral: value)
        if let type = annotation.flatMap(ValueType.init(named:)) ?? other {
            return (type, type.storedName)
        }
        if let name = annotation ?? literalTypeName(value) {
            if literalCase(value) != nil { return (.rawValue(hasIntegers ? .int : .string), name) }
            if let type = literalRawValue(value).flatMap(ValueType.init(ofLiteral:)) {
                return (.rawValue(type), name)
            }
        }
        if let annotation {
            throw DiagnosticsError.tweak(
                "\(annotation) cannot be a tweak with this value; \(ValueType.all)",
                at: value)
        }
        if calculated(value) != nil { throw ValueType.noNumber(value, "the value", isInteger: false) }
        throw DiagnosticsError.tweak(
            "the value must be a literal; write the type, as in var name: Float = 0.5, if it is none of its own",
            at: value)
    }
}

extension VariableDeclSyntax {
    /// Whether the variable belongs to a type and not to its instances.
    var isOfType: Bool { modifiers.contains { ["static", "class"].contains($0.name.text) } }
}
#endif
