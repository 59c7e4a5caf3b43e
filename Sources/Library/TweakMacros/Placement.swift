// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftParser
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
        if !isMember, isInPeerOfOtherMacro(node) {
            throw refuse("the value of a variable that another macro declares, such as @TaskLocal")
        }
        if isDefaultArgument(node) || lexicalContext.first.map({ isDefaultArgument(node, of: $0) }) == true {
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

    /// Returns whether a macro is a part of a default argument of a public function, which other modules compile too.
    private func isDefaultArgument(_ node: some SyntaxProtocol, of function: Syntax) -> Bool {
        let modifiers = function.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? []
        let isPublic = modifiers.contains { ["public", "open", "package"].contains($0.name.text) }
        return isPublic
            && parameterClause(of: function)?.parameters.contains {
                $0.defaultValue?.trimmedDescription.contains(node.trimmedDescription) == true
            } == true
    }

    /// Returns whether a macro is in the initial value of a variable that is a peer made by another macro, of which Swift
    /// does not emit the local types. The names of such expansions are mangled with `fMp`.
    private func isInPeerOfOtherMacro(_ node: some SyntaxProtocol) -> Bool {
        let file = location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath)?.file
        let name = file?.as(StringLiteralExprSyntax.self)?.representedLiteralValue ?? ""
        let isInCode = lexicalContext.first.map { !$0.isProtocol((any DeclGroupSyntax).self) } ?? false
        return !isInCode && name.hasSuffix("fMp_.swift")
    }

    /// The local type with the record of an expression.
    ///
    /// A macro sees neither whether an extension is of a protocol or generic type, nor the attributes of the variable around
    /// a getter. There the compiler's error, also in a release build, has the name of the type, which then says what to do.
    ///
    /// - Parameter instead: The alternative to suggest, such as `to be …`.
    func localType(
        with record: String, for node: some FreestandingMacroExpansionSyntax, instead: String
    ) -> (name: String, source: String) {
        let isInCode = lexicalContext.first.map { !$0.isProtocol((any DeclGroupSyntax).self) } ?? false
        guard !isInCode || lexicalContext.contains(where: { $0.is(ExtensionDeclSyntax.self) }) else {
            return ("__Tweak", "#if \(RecordSource.condition)\nenum __Tweak {\n\(record)\n}\n#endif")
        }
        let name = "`#\(node.macroName.text), \(instead),`"
        return (name, "enum \(name) {\n#if \(RecordSource.condition)\n\(record)\n#endif\n}")
    }
}

/// The parameters of a function, initialiser or subscript.
func parameterClause(of node: Syntax) -> FunctionParameterClauseSyntax? {
    node.as(FunctionDeclSyntax.self)?.signature.parameterClause
        ?? node.as(InitializerDeclSyntax.self)?.signature.parameterClause
        ?? node.as(SubscriptDeclSyntax.self)?.parameterClause
}

/// Returns whether a declaration around a tweak has type parameters, and so cannot have static variables.
private func isGeneric(_ node: Syntax) -> Bool {
    node.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
        || parameterClause(of: node)?.tokens(viewMode: .sourceAccurate).contains {
            $0.tokenKind == .keyword(.some)
        } == true
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
func isInlinable(_ node: Syntax) -> Bool {
    let attributes = node.asProtocol((any WithAttributesSyntax).self)?.attributes ?? []
    return attributes.contains {
        let name = $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription ?? ""
        return ["inlinable", "_alwaysEmitIntoClient", "_transparent", "backDeployed"].contains(name)
    }
}
#endif
