// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros

extension MacroExpansionContext {
    /// Throws where the static variable of a record is not allowed.
    ///
    /// - Parameter instead: The alternative to suggest.
    func checkPlace(of node: some SyntaxProtocol, instead: @autoclosure () -> String) throws {
        if lexicalContext.contains(where: isGeneric) {
            throw DiagnosticsError.tweak(
                "a tweak cannot be in a generic function or type; \(instead())", at: node)
        }
        if lexicalContext.contains(where: isInlinable) {
            throw DiagnosticsError.tweak(
                """
                a tweak cannot be in an @inlinable function, which other modules compile too; \(instead()); it is \
                public or @usableFromInline
                """,
                at: node)
        }
    }
}

/// Returns whether a declaration around a tweak has type parameters, and so cannot have static variables.
private func isGeneric(_ node: Syntax) -> Bool {
    if let function = node.as(FunctionDeclSyntax.self) {
        let parameters = function.signature.parameterClause.tokens(viewMode: .sourceAccurate)
        return function.genericParameterClause != nil
            || parameters.contains { $0.tokenKind == .keyword(.some) }
    }
    return node.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
}

/// Returns whether the code of a declaration around a tweak is inlined into other modules, which do not have the
/// variables.
private func isInlinable(_ node: Syntax) -> Bool {
    let attributes = node.asProtocol((any WithAttributesSyntax).self)?.attributes ?? []
    return attributes.contains {
        let name = $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription ?? ""
        return ["inlinable", "_alwaysEmitIntoClient", "_transparent", "backDeployed"].contains(name)
    }
}
#endif
