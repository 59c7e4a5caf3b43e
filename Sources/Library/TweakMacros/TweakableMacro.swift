// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `@Tweakable(category, collection, name, …) static var name = value`: the variable reads the tweak, and a
/// peer whose name begins with `$` is the handle. The records are in another peer.
enum TweakableMacro: AccessorMacro, PeerMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        // Errors are reported once, with the peers. Then this accessor is never compiled.
        guard let variable = try? TweakableVariable(declaration, node, in: context) else {
            return declaration.as(VariableDeclSyntax.self)?.hasGetter == true
                ? [] : ["get { Swift.fatalError() }"]
        }
        // Without a setter the compiler would report only that there is none. A group's getter would cost a call with
        // one.
        let setter: AccessorDeclSyntax = """
            @available(*, unavailable, message: "a tweak is set with try $\(raw: variable.name).set(…)")
            set {}
            """
        return [
            """
            get {
            #if \(raw: RecordSource.condition)
                \(raw: variable.result(variable.content.read(variable.enumeration)))
            #else
                \(raw: variable.result(variable.defaultValue.trimmedDescription))
            #endif
            }
            """
        ] + (variable.content.layout == nil ? [setter] : [])
    }

    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        // The compiler reports that only variables have accessors.
        guard let declared = declaration.as(VariableDeclSyntax.self) else { return [] }
        let variable: TweakableVariable
        do {
            variable = try TweakableVariable(declaration, node, in: context)
        } catch let error as DiagnosticsError where declared.isRefusedByCompiler {
            error.diagnostics.forEach { context.diagnose($0.note) }
            return []
        }
        let handle = "\(variable.content.handleType)<\(variable.typeName)>"
        return [
            """
            #if \(raw: RecordSource.condition)
            nonisolated fileprivate enum \(raw: variable.enumeration) {
                \(raw: variable.content.records)
            }
            #endif
            """,
            """
            \(raw: variable.modifiers) var $\(raw: variable.name): \(raw: handle) {
            #if \(raw: RecordSource.condition)
                unsafe \(raw: handle)(
                    \(raw: variable.content.addresses(variable.enumeration)),
                    default: \(variable.defaultValue.trimmed))
            #else
                \(raw: handle)(__constant: \(variable.defaultValue.trimmed))
            #endif
            }
            """,
        ]
    }
}

extension VariableDeclSyntax {
    fileprivate var hasGetter: Bool {
        switch bindings.first?.accessorBlock?.accessors {
        case .getter: true
        case .accessors(let list): list.contains { $0.accessorSpecifier.tokenKind == .keyword(.get) }
        case nil: false
        }
    }

    /// Whether the compiler itself reports that the variable cannot have accessors, or not this value.
    fileprivate var isRefusedByCompiler: Bool {
        guard bindings.count == 1, let binding = bindings.first,
            binding.pattern.is(IdentifierPatternSyntax.self),
            bindingSpecifier.tokenKind == .keyword(.var),
            !modifiers.contains(where: { $0.name.text == "lazy" })
        else { return true }
        guard let value = binding.initializer?.value else { return false }
        guard let annotation = binding.typeAnnotation?.type.trimmedDescription else {
            return value.is(NilLiteralExprSyntax.self) || literalElements(value)?.isEmpty == true
        }
        if let element = ValueType(named: annotation)?.element, let elements = literalElements(value) {
            return elements.contains { ValueType(ofLiteral: $0).map { !element.accepts($0) } ?? false }
        }
        // Other modules have types with names such as Duration.
        guard let literal = ValueType(ofLiteral: value), let type = ValueType(named: annotation),
            type.form == .literal && ["Swift." + annotation, annotation].contains(type.name)
                || type.form == .converted || type.form == .array
        else { return false }
        return !type.accepts(literal)
    }
}
#endif
