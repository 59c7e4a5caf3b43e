// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros
internal import TweakRecords

/// `#tweakAction(category, collection, name) { … }`: a record with the address of the closure, which captures
/// nothing.
enum TweakActionMacro: DeclarationMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let arguments = try TweakArguments(node.arguments, of: node, in: context)
        try context.checkPlace(of: node, isMember: true, instead: "write #tweakAction outside of it")
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
        try context.checkCaptures(of: action)
        let isOnMainActor = arguments["on"] != nil
        var declaration = try arguments.action()
        if isOnMainActor {
            declaration.attributes.append(TweakDeclaration.Attribute(key: "actor", value: "main"))
        }
        let record = RecordSource(
            declaration: declaration,
            function: isOnMainActor
                ? "{ __run(Swift.UInt(bitPattern: $0), \(action.trimmed)) }"
                : "{ _ in __run(\(action.trimmed)) }")
        return [
            """
            #if \(raw: RecordSource.condition)
            nonisolated enum \(context.makeUniqueName("tweakAction")) {
                \(raw: record.variable)
                \(raw: isOnMainActor ? Self.onMainActor : Self.onCaller)
            }
            #endif
            """
        ]
    }
}

extension TweakActionMacro {
    private static let onCaller = """
        static func __run(_ action: @Sendable () -> Swift.Void) {
            action()
        }
        """
    private static let onMainActor = """
        static func __run(_ context: Swift.UInt, _ action: @escaping @MainActor @Sendable () -> Swift.Void) {
            _Concurrency.Task { @MainActor in
                action()
                Tweaks.__ended(context)
            }
        }
        """
}

extension MacroExpansionContext {
    /// Throws if a closure refers to `self` or to a parameter of the enclosing function. The macro cannot see that
    /// function's variables; for these the compiler reports that they are out of reach.
    fileprivate func checkCaptures(of action: ClosureExprSyntax) throws {
        func refuse(_ name: String, at node: some SyntaxProtocol) -> DiagnosticsError {
            .tweak(
                """
                an action captures nothing, since it can be run at any time; use a global or static variable and not \
                \(name)
                """, at: node)
        }
        if let item = action.signature?.capture?.items.first { throw refuse(item.name.text, at: item) }
        let finder = CaptureFinder(Set(lexicalContext.flatMap(parameters)))
        finder.walk(action)
        if let found = finder.found { throw refuse(found.baseName.text, at: found) }
    }
}

/// The internal names of a function's parameters.
private func parameters(_ node: Syntax) -> [String] {
    parameterClause(of: node)?.parameters.map { ($0.secondName ?? $0.firstName).text } ?? []
}

private final class CaptureFinder: SyntaxVisitor {
    private var names: Set<String>
    private(set) var found: DeclReferenceExprSyntax?

    init(_ names: Set<String>) {
        self.names = names
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let isMember = node.parent?.as(MemberAccessExprSyntax.self)?.declName == node
        if found == nil, !isMember,
            node.baseName.tokenKind == .keyword(.self) || names.contains(node.baseName.text)
        {
            found = node
        }
        return .skipChildren
    }

    // A declaration in the closure is another variable.
    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        names.remove(node.identifier.text)
        return .skipChildren
    }

    override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind {
        names.remove(node.name.text)
        return .skipChildren
    }

    override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
        names.remove((node.secondName ?? node.firstName).text)
        return .skipChildren
    }

    // Types in the closure have a self of their own.
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}
#endif
