// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// `@TweakGroup struct Name { var property = value }`: the conformance to `TweakGroup`, with a field for each
/// stored `var`. If the struct has `fields` of its own, each such property must be one.
enum TweakGroupMacro: ExtensionMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard declaration.is(StructDeclSyntax.self) else {
            throw DiagnosticsError.tweak("only a struct can be a group of tweaks", at: node)
        }
        let properties = try declaration.storedProperties()
        guard !properties.isEmpty else {
            throw DiagnosticsError.tweak("a group of tweaks needs a stored var", at: node)
        }
        let conformance = protocols.isEmpty ? "" : ": Tweaks.TweakGroup"
        if let fields = declaration.fields {
            let listed = fields.keyPathNames
            for attribute in properties.compactMap(\.attribute) {
                throw DiagnosticsError.tweak(
                    "the struct declares fields itself; give a field its options there", at: attribute)
            }
            for property in properties where !listed.contains(property.name.trimmedName) {
                throw DiagnosticsError.tweak(
                    "\(property.name.text) is in none of the fields; add TweakField(\"\(property.title)\", \\.\(property.name.text)), "
                        + "or make it a let", at: property.name)
            }
            return protocols.isEmpty
                ? []
                : [try ExtensionDeclSyntax("nonisolated extension \(type.trimmed)\(raw: conformance) {}")]
        }
        let access = declaration.modifiers.first { ["public", "package"].contains($0.name.text) }
        let fields = properties.map { "Tweaks.TweakField(\($0.arguments))" }.joined(separator: ",\n")
        return [
            try ExtensionDeclSyntax(
                """
                nonisolated extension \(type.trimmed)\(raw: conformance) {
                    \(raw: access.map { $0.trimmedDescription + " " } ?? "")static var fields: [Tweaks.TweakField<Self>] {
                        [
                            \(raw: fields)
                        ]
                    }
                }
                """)
        ]
    }
}

/// `@TweakField(name, …) var property`: the name and the options of a field, which `TweakGroupMacro` reads.
enum TweakFieldMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let group = context.lexicalContext.first?.as(StructDeclSyntax.self)
        guard group?.attributes.contains(macro: "TweakGroup") == true,
            declaration.as(VariableDeclSyntax.self)?.isStoredInInstances == true
        else {
            throw DiagnosticsError.tweak("a field is a stored var of a struct with @TweakGroup", at: node)
        }
        return []
    }
}

/// A stored property of a group.
private struct GroupProperty {
    let name: TokenSyntax
    /// The attribute `@TweakField` of the property, if there is one.
    let attribute: AttributeSyntax?

    /// The name as people read it: `Initial Velocity` for `initialVelocity`.
    var title: String {
        var title = ""
        for character in name.trimmedName {
            if character.isUppercase, title.last?.isUppercase == false { title += " " }
            title += title.isEmpty ? character.uppercased() : String(character)
        }
        return title
    }

    /// The arguments that make the field.
    var arguments: String {
        var given: [LabeledExprSyntax] = []
        if case .argumentList(let list)? = attribute?.arguments { given = Array(list) }
        let name = given.first.flatMap {
            $0.label == nil && !$0.expression.is(NilLiteralExprSyntax.self) ? $0 : nil
        }
        let options = given.filter { $0.label != nil }.map { ", \($0.with(\.trailingComma, nil).trimmed)" }
        return (name?.expression.trimmedDescription ?? "\"\(title)\"") + ", \\.\(self.name.text)"
            + options.joined()
    }
}

extension DeclGroupSyntax {
    /// The properties that an initialiser of the type stores and that can change.
    fileprivate func storedProperties() throws -> [GroupProperty] {
        try memberBlock.members.flatMap { member -> [GroupProperty] in
            if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                for clause in condition.clauses {
                    guard case .decls(let members)? = clause.elements,
                        let variable = members.first(where: { $0.storedVariable != nil })
                    else { continue }
                    throw DiagnosticsError.tweak("a field cannot be in #if", at: variable)
                }
            }
            guard let variable = member.storedVariable else { return [] }
            return try variable.bindings.map { binding in
                guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
                    throw DiagnosticsError.tweak("a field is a var with one name", at: binding.pattern)
                }
                return GroupProperty(
                    name: pattern.identifier, attribute: variable.attributes.first(macro: "TweakField"))
            }
        }
    }

    /// The declaration of `fields`, if the type has one.
    fileprivate var fields: VariableDeclSyntax? {
        memberBlock.members.lazy.compactMap { $0.decl.as(VariableDeclSyntax.self) }.first {
            $0.bindings.first?.pattern.trimmedDescription == "fields"
        }
    }
}

extension MemberBlockItemSyntax {
    /// The variable, if it is one that instances store.
    fileprivate var storedVariable: VariableDeclSyntax? {
        decl.as(VariableDeclSyntax.self).flatMap { $0.isStoredInInstances ? $0 : nil }
    }
}

extension VariableDeclSyntax {
    /// Whether instances store the variable, and it can change.
    fileprivate var isStoredInInstances: Bool {
        bindingSpecifier.tokenKind == .keyword(.var)
            && !isOfType
            && bindings.allSatisfy { binding in
                switch binding.accessorBlock?.accessors {
                case .getter: false
                case .accessors(let list):
                    list.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
                case nil: true
                }
            }
    }

    /// The names of properties in key paths.
    fileprivate var keyPathNames: Set<String> {
        Set(
            tokens(viewMode: .sourceAccurate)
                .filter { $0.parent?.parent?.is(KeyPathPropertyComponentSyntax.self) == true }
                .map(\.trimmedName))
    }
}

extension AttributeListSyntax {
    /// The attribute that applies a macro, whose name may be qualified by the module.
    fileprivate func first(macro name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first {
            [name, "Tweaks.\(name)"].contains($0.attributeName.trimmedDescription)
        }
    }

    fileprivate func contains(macro name: String) -> Bool { first(macro: name) != nil }
}
#endif
