// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros

extension MacroExpansionContext {
    /// Throws where the static variable of a record is not allowed.
    ///
    /// - Parameters:
    ///   - isMember: Whether the record is in a type beside the members around the macro, and not in code.
    ///   - instead: The alternative to suggest.
    func checkPlace(
        of node: some SyntaxProtocol, isMember: Bool = false, instead: @autoclosure () -> String
    ) throws {
        func refuse(_ place: String) -> DiagnosticsError {
            .tweak("a tweak cannot be \(place); \(instead())", at: node)
        }
        if lexicalContext.contains(where: isGeneric) { throw refuse("in a generic function or type") }
        // In the type of an extension whose parameters are all given, there can be static variables, but no local types.
        let isType = isMember && lexicalContext.first?.is(ExtensionDeclSyntax.self) == true
        if lexicalContext.contains(where: isType ? hasConformances : isConstrained) {
            throw refuse("in an extension of a protocol or generic type")
        }
        if lexicalContext.contains(where: { $0.is(ProtocolDeclSyntax.self) }) {
            throw refuse("in a protocol")
        }
        if isDefaultArgument(node) {
            throw refuse("a default argument, because Swift expands it in each caller")
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

    /// Returns whether a macro is a default argument. Swift expands it in each caller, in a file in which nothing but space
    /// precedes it, and does not emit its local types.
    private func isDefaultArgument(_ node: some SyntaxProtocol) -> Bool {
        let start = location(of: node, at: .beforeLeadingTrivia, filePathMode: .filePath)
        return lexicalContext.isEmpty && !node.leadingTrivia.isEmpty
            && start?.line.trimmedDescription == "1" && start?.column.trimmedDescription == "1"
    }

    /// The name of the local type with the record of an expression.
    ///
    /// A macro sees neither whether an extension is of a protocol or generic type, nor the attributes of the variable around
    /// a getter. There the compiler's error has this name, which then says what to do.
    ///
    /// - Parameter instead: The alternative to suggest, such as `to be …`.
    func recordName(_ node: some FreestandingMacroExpansionSyntax, instead: String) -> String {
        let isInCode = lexicalContext.first.map { !$0.isProtocol((any DeclGroupSyntax).self) } ?? false
        let isInExtension = lexicalContext.contains { $0.is(ExtensionDeclSyntax.self) }
        return isInCode && !isInExtension ? "__Tweak" : "`#\(node.macroName.text), \(instead),`"
    }
}

/// Returns whether a declaration around a tweak has type parameters, and so cannot have static variables.
private func isGeneric(_ node: Syntax) -> Bool {
    let parameters =
        node.as(FunctionDeclSyntax.self)?.signature.parameterClause
        ?? node.as(InitializerDeclSyntax.self)?.signature.parameterClause
        ?? node.as(SubscriptDeclSyntax.self)?.parameterClause
    return node.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
        || parameters?.tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.some) } == true
}

/// Returns whether a declaration around a tweak constrains a type that has type parameters or is a protocol.
private func isConstrained(_ node: Syntax) -> Bool {
    guard let type = node.as(ExtensionDeclSyntax.self)?.extendedType else { return false }
    let name = type.as(MemberTypeSyntax.self)?.name ?? type.as(IdentifierTypeSyntax.self)?.name
    let hasArguments = type.tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .leftAngle }
    return name == nil || hasArguments || node.as(ExtensionDeclSyntax.self)?.genericWhereClause != nil
}

/// Returns whether an extension around a tweak is of a protocol, or leaves type parameters open.
private func hasConformances(_ node: Syntax) -> Bool {
    node.as(ExtensionDeclSyntax.self)?.genericWhereClause?.requirements.contains {
        $0.requirement.is(ConformanceRequirementSyntax.self)
    } == true
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
