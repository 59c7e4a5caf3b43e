// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros
internal import TweakRecords

/// `#tweakGate(category, collection)`: a record with a mailbox, see Gates in `RecordFormat.md`, and the load of its state.
enum TweakGateMacro: ExpressionMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        try context.checkPlace(of: node, instead: "pass the gate in one that is not")
        let given = Array(node.arguments).filter { !$0.expression.is(NilLiteralExprSyntax.self) }
        let names = try given.map { argument in
            let text = try literalText(argument.expression, what: "a category or collection")
            guard !text.isEmpty else {
                throw DiagnosticsError.tweak(
                    "a category or collection cannot be empty", at: argument.expression)
            }
            return text
        }
        guard let category = names.first else {
            throw DiagnosticsError.tweak("a category is needed", at: node)
        }
        let location = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
        let file = location?.file.as(StringLiteralExprSyntax.self)?.representedLiteralValue
        let place = file.map { "at=\($0):\(location?.line.trimmedDescription ?? "0")" }
        let record = RecordSource.gate(texts: [category, names.dropFirst().first ?? "", "", ""], at: place)
        let local = context.localType(with: record, for: node, instead: "to be written in a function outside")
        let text = """
            {
            \(local.source)
            #if \(RecordSource.condition)
                unsafe Tweaks.__gate(&\(local.name).record)
            #endif
            }()
            """
        // The compiler parses the text, see TweakMacro.
        return ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(text)))
    }
}
#endif
