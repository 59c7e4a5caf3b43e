#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax

/// What the compiler shows at the argument which it is about.
struct TweakMacroError: DiagnosticMessage, FixItMessage {
    let message: String
    var severity: DiagnosticSeverity { .error }
    var diagnosticID: MessageID { MessageID(domain: "TweakMacros", id: "tweak") }
    var fixItID: MessageID { diagnosticID }
}

extension DiagnosticsError {
    static func tweak(
        _ message: String, at node: some SyntaxProtocol, fixIt: FixIt? = nil
    ) -> DiagnosticsError {
        DiagnosticsError(diagnostics: [
            Diagnostic(
                node: Syntax(node), message: TweakMacroError(message: message),
                fixIts: fixIt.map { [$0] } ?? [])
        ])
    }
}

extension FixIt {
    /// Exchanges two expressions.
    static func swap(_ message: String, _ first: ExprSyntax, _ second: ExprSyntax) -> FixIt {
        func replace(_ old: ExprSyntax, by new: ExprSyntax) -> Change {
            let replacement = new.with(\.leadingTrivia, old.leadingTrivia)
                .with(\.trailingTrivia, old.trailingTrivia)
            return .replace(oldNode: Syntax(old), newNode: Syntax(replacement))
        }
        return FixIt(
            message: TweakMacroError(message: message),
            changes: [replace(first, by: second), replace(second, by: first)])
    }
}
#endif
