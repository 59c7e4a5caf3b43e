// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `#feature(feature, part: part, default: value, …)` is a Bool tweak of the category `Features`.
enum FeatureMacro: TweakMacro {
    static let type = ValueType.bool

    static func arguments(of node: some FreestandingMacroExpansionSyntax) -> LabeledExprListSyntax {
        let given = node.arguments
        let part = given.first { $0.label?.text == "part" }?.expression ?? "\"enabled\""
        let names = [ExprSyntax("\"Features\""), given.first?.expression ?? "\"\"", part]
        let options = given.dropFirst().filter { $0.label?.text != "part" }
        return LabeledExprListSyntax(names.map { LabeledExprSyntax(expression: $0) } + options)
    }
}
#endif
