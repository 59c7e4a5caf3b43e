#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `#tweakAction(category, collection, name) { … }`: a record with the address of the closure, which captures
/// nothing.
enum TweakActionMacro: DeclarationMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let arguments = try TweakArguments(node.arguments, of: node, in: context)
        try context.checkPlace(of: node, instead: "write #tweakAction outside of it")
        guard let action = node.trailingClosure ?? arguments["action"]?.as(ClosureExprSyntax.self) else {
            let action = arguments["action"]
            let isName =
                action?.is(DeclReferenceExprSyntax.self) == true || action.flatMap(literalCase) != nil
            throw DiagnosticsError.tweak(
                "the action must be a closure", at: action.map { Syntax($0) } ?? Syntax(node),
                fixIt: action.flatMap {
                    isName
                        ? .replace($0, by: "{ \($0.trimmedDescription)() }", "call it in a closure") : nil
                })
        }
        let record = RecordSource(
            declaration: try arguments.action(), function: "{ _ in __run(\(action.trimmed)) }")
        return [
            """
            #if \(raw: RecordSource.condition)
            nonisolated enum \(context.makeUniqueName("tweakAction")) {
                \(raw: record.variable)
                static func __run(_ action: @Sendable () -> Swift.Void) { action() }
            }
            #endif
            """
        ]
    }
}
#endif
