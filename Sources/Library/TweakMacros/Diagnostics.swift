// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax

/// A message that the compiler shows at an argument, or a fix-it that it offers.
struct TweakMacroMessage: DiagnosticMessage, FixItMessage {
    let message: String
    var severity = DiagnosticSeverity.error
    var diagnosticID: MessageID { MessageID(domain: "TweakMacros", id: "tweak") }
    var fixItID: MessageID { diagnosticID }
}

extension DiagnosticsError {
    static func tweak(
        _ message: String, at node: some SyntaxProtocol, fixIt: FixIt? = nil
    ) -> DiagnosticsError {
        DiagnosticsError(diagnostics: [
            Diagnostic(
                node: Syntax(node), message: TweakMacroMessage(message: message),
                fixIts: fixIt.map { [$0] } ?? [])
        ])
    }
}

extension Diagnostic {
    /// The diagnostic as a note, for what the compiler reports as well.
    var note: Diagnostic {
        Diagnostic(
            node: node, position: position, message: TweakMacroMessage(message: message, severity: .note),
            fixIts: fixIts)
    }
}

extension FixIt {
    /// Replaces a node by other text.
    static func replace(_ node: some SyntaxProtocol, by text: String, _ message: String) -> FixIt {
        FixIt(message, at: node, [(node.trimmedRange, text)])
    }

    /// Inserts text before a node.
    static func insert(_ text: String, before node: some SyntaxProtocol, _ message: String) -> FixIt {
        let start = node.positionAfterSkippingLeadingTrivia
        return FixIt(message, at: node, [(start..<start, text)])
    }

    /// Inserts text after a node.
    static func insert(_ text: String, after node: some SyntaxProtocol, _ message: String) -> FixIt {
        let end = node.endPositionBeforeTrailingTrivia
        return FixIt(message, at: node, [(end..<end, text)])
    }

    /// Swaps two expressions.
    static func swap(_ first: ExprSyntax, _ second: ExprSyntax, _ message: String) -> FixIt {
        FixIt(
            message, at: first,
            [
                (first.trimmedRange, second.trimmedDescription),
                (second.trimmedRange, first.trimmedDescription),
            ])
    }

    /// Removes an argument and the comma before it.
    static func remove(_ argument: LabeledExprSyntax) -> FixIt {
        let comma = argument.previousToken(viewMode: .sourceAccurate)
        let start = (comma.map { Syntax($0) } ?? Syntax(argument)).positionAfterSkippingLeadingTrivia
        let end = argument.expression.endPositionBeforeTrailingTrivia
        return FixIt("remove it", at: argument, [(start..<end, "")])
    }

    private init(
        _ message: String, at node: some SyntaxProtocol, _ edits: [(Range<AbsolutePosition>, String)]
    ) {
        self.init(
            message: TweakMacroMessage(message: message),
            changes: edits.map { .replaceText(range: $0, with: $1, in: Syntax(node.root)) })
    }
}
#endif
