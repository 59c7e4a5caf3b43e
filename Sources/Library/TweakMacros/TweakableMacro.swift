// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `@Tweakable(category, collection, name, …) static var name = value`: the variable reads the tweak, and a peer whose
/// name begins with `$` is the handle. The records are in another peer.
enum TweakableMacro: AccessorMacro, PeerMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        // Errors are reported once, with the peers. Then this accessor is never compiled.
        guard let variable = try? TweakableVariable(declaration, node, in: context) else {
            return ["get { Swift.fatalError() }"]
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
                \(raw: variable.content.read(variable.enumeration))
            #else
                \(variable.defaultValue.trimmed)
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
        guard declaration.is(VariableDeclSyntax.self) else { return [] }
        let variable = try TweakableVariable(declaration, node, in: context)
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
#endif
