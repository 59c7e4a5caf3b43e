#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax

/// An error that the compiler shows at the argument which it is about.
struct TweakMacroError: DiagnosticMessage {
    let message: String
    var severity: DiagnosticSeverity { .error }
    var diagnosticID: MessageID { MessageID(domain: "TweakMacros", id: "tweak") }
}

extension DiagnosticsError {
    static func tweak(_ message: String, at node: some SyntaxProtocol) -> DiagnosticsError {
        DiagnosticsError(diagnostics: [
            Diagnostic(node: Syntax(node), message: TweakMacroError(message: message))
        ])
    }
}
#endif
