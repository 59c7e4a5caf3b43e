#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `@Tweakable(category, collection, name, …) static var name = value`: the variable reads the tweak, and a peer with
/// `$` before its name is the handle. The record is in another peer.
enum TweakableMacro: AccessorMacro, PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        // The mistakes are shown once, with the peers.
        guard let variable = try? TweakableVariable(declaration, node, in: context) else {
            return ["get { Swift.fatalError() }"]
        }
        return [
            """
            get {
            #if \(raw: RecordSource.condition)
                \(raw: variable.type.read(variable.enumeration, default: variable.defaultValue))
            #else
                \(variable.defaultValue.trimmed)
            #endif
            }
            """
        ]
    }

    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let variable = try TweakableVariable(declaration, node, in: context)
        let record = try variable.arguments.record(of: variable.type, default: variable.defaultValue)
        let type = variable.type.name ?? variable.typeName ?? ""
        return [
            """
            #if \(raw: RecordSource.condition)
            nonisolated fileprivate enum \(raw: variable.enumeration) {
                \(raw: record.declaration)
            }
            #endif
            """,
            """
            \(raw: variable.modifiers) var $\(raw: variable.name): Tweaks.Tweak<\(raw: type)> {
            #if \(raw: RecordSource.condition)
                Swift.withUnsafeMutablePointer(to: &\(raw: variable.enumeration).record) {
                    Tweaks.Tweak(__record: Swift.UnsafeRawPointer($0), default: \(variable.defaultValue.trimmed))
                }
            #else
                Tweaks.Tweak(__constant: \(variable.defaultValue.trimmed))
            #endif
            }
            """,
        ]
    }
}

/// What the source says about the variable.
private struct TweakableVariable {
    let name: String
    let type: ValueType
    /// The type of an enumeration.
    let typeName: String?
    let defaultValue: ExprSyntax
    /// Access and `static`.
    let modifiers: String
    let arguments: TweakArguments

    /// The name of the enumeration with the record.
    var enumeration: String { "__tweak_" + name }

    init(
        _ declaration: some DeclSyntaxProtocol, _ node: AttributeSyntax,
        in context: some MacroExpansionContext
    ) throws {
        guard case .argumentList(let list)? = node.arguments else {
            throw DiagnosticsError.tweak("three names are needed", at: node)
        }
        arguments = try TweakArguments(list, of: node, in: context)
        guard let variable = declaration.as(VariableDeclSyntax.self),
            variable.bindingSpecifier.tokenKind == .keyword(.var), variable.bindings.count == 1,
            let binding = variable.bindings.first,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self), binding.accessorBlock == nil
        else {
            throw DiagnosticsError.tweak("only a stored var with one name can be a tweak", at: declaration)
        }
        let isStatic = variable.modifiers.contains { ["static", "class"].contains($0.name.text) }
        guard isStatic || context.lexicalContext.isEmpty else {
            throw DiagnosticsError.tweak(
                "only a static or a global var can be a tweak; make it static", at: variable.bindingSpecifier)
        }
        guard let value = binding.initializer?.value else {
            throw DiagnosticsError.tweak("the var needs a value, which is the tweak's default", at: pattern)
        }
        name = pattern.identifier.text.filter { $0 != "`" }
        defaultValue = value
        let written = variable.modifiers.filter { $0.name.text != "nonisolated" }.map(\.trimmedDescription)
        modifiers = (["nonisolated"] + written).joined(separator: " ")
        (type, typeName) = try Self.type(
            binding.typeAnnotation?.type, value,
            enumeration: arguments.hasIntegerChoices ? .integerEnumeration : .textEnumeration)
    }

    /// The type that is written, or that a literal has where none is.
    private static func type(
        _ annotation: TypeSyntax?, _ value: ExprSyntax, enumeration: ValueType
    ) throws -> (ValueType, String?) {
        if let written = annotation?.trimmedDescription {
            let plain = written.split(separator: ".").last.map(String.init) ?? written
            if let type = ValueType.named.first(where: { $0.name?.hasSuffix("." + plain) == true }) {
                return (type, nil)
            }
            guard literalCase(value) != nil else {
                throw DiagnosticsError.tweak(ValueType.unsupported, at: value)
            }
            return (enumeration, written)
        }
        if value.is(StringLiteralExprSyntax.self) { return (.string, nil) }
        if literalBool(value) != nil { return (.bool, nil) }
        if literalInteger(value) != nil { return (.integer(Int.self), nil) }
        if literalReal(value, as: Double.self) != nil { return (.double, nil) }
        if literalColor(value) != nil { return (.color, nil) }
        if literalDuration(value) != nil { return (.duration, nil) }
        if let base = value.as(MemberAccessExprSyntax.self)?.base {
            return (enumeration, base.trimmedDescription)
        }
        throw DiagnosticsError.tweak(
            "the value must be a literal; write the type, as in var name: Float = 0.5, if it is none of its own",
            at: value)
    }
}
#endif
