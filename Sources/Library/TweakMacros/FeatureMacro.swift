// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `#feature(feature, part: part, default: value, …)` is a Bool tweak of the category `Features`.
enum FeatureMacro: TweakMacro {
    static let type = ValueType.bool

    static func arguments(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> TweakArguments {
        let given = Array(node.arguments)
        guard let feature = given.first?.expression else {
            throw DiagnosticsError.tweak("a feature is needed", at: node)
        }
        let part = given.first { $0.label?.text == "part" && !$0.expression.is(NilLiteralExprSyntax.self) }
        return TweakArguments(
            names: ["\"Features\"", feature, part?.expression ?? "\"enabled\""],
            options: given.dropFirst().filter { $0.label?.text != "part" }, of: node, in: context)
    }
}
#endif
