#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `#tweakAction(category, collection, name) { … }`: a record with the address of the closure, which captures
/// nothing.
enum TweakActionMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let arguments = try TweakArguments(node.arguments, of: node, in: context)
        guard let action = node.trailingClosure ?? arguments["action"]?.as(ClosureExprSyntax.self) else {
            throw DiagnosticsError.tweak(
                "the action must be a closure", at: arguments["action"].map { Syntax($0) } ?? Syntax(node))
        }
        let record = try arguments.record(ofAction: "{ _ in __run(\(action.trimmed)) }")
        return [
            """
            #if \(raw: RecordSource.condition)
            nonisolated enum \(context.makeUniqueName("tweakAction")) {
                \(raw: record.declaration)
                static func __run(_ action: @Sendable () -> Swift.Void) { action() }
            }
            #endif
            """
        ]
    }
}
#endif
