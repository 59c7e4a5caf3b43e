// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import TweakRecords

/// The content of a variable with `@Tweakable`: one value, or a built-in group with a record for each property.
struct TweakableContent {
    struct Member {
        /// The property of the group; `nil` for a single value.
        var property: String?
        let type: ValueType
        let defaultValue: String
        /// The source of the static variables for the records.
        let records: String

        fileprivate func path(in enumeration: String) -> String {
            property.map { "\(enumeration).\($0)" } ?? enumeration
        }
    }

    /// The group; `nil` for a single value.
    let layout: GroupLayout?
    let members: [Member]

    /// The source of the static variables for the records.
    var records: String {
        members.map { member in
            member.property.map { "enum \($0) {\n\(member.records)\n}" } ?? member.records
        }.joined(separator: "\n")
    }

    /// An expression that reads the records in an enumeration.
    func read(_ enumeration: String) -> String {
        let values = members.map { member in
            (member.property.map { $0 + ": " } ?? "")
                + member.type.read(member.path(in: enumeration), default: member.defaultValue)
        }.joined(separator: ",\n")
        return layout.map { "Tweaks.\($0.type)(\n\(values))" } ?? values
    }

    /// The name of the type of the handle.
    var handleType: String { layout == nil ? "Tweaks.Tweak" : "Tweaks.GroupedTweaks" }

    /// The addresses of the records in an enumeration, as arguments of the handle's initialiser.
    func addresses(_ enumeration: String) -> String {
        let addresses = members.map {
            """
            unsafe Swift.withUnsafeMutablePointer(to: &\($0.path(in: enumeration)).record) { Swift.UnsafeRawPointer($0) }
            """
        }.joined(separator: ",\n")
        return layout == nil ? "__record: " + addresses : "__records: [\n\(addresses)\n]"
    }
}

extension TweakArguments {
    /// - Parameter name: The name of the type in the source.
    func content(
        of type: ValueType, _ name: String, default defaultValue: ExprSyntax
    ) throws -> TweakableContent {
        let declaration = try value(of: type, default: defaultValue)
        return TweakableContent(
            layout: nil,
            members: [
                TweakableContent.Member(
                    type: type, defaultValue: defaultValue.trimmedDescription,
                    records: RecordSource.variables(
                        declaration, of: type.form == .rawValue ? name : nil, default: defaultValue))
            ])
    }

    func content(of layout: GroupLayout, default defaultValue: ExprSyntax) throws -> TweakableContent {
        let display = TweakOption.all.filter { $0.purpose == .display }.map(\.name)
        for label in ["in", "choices", "step"] + display {
            guard let argument = argument(label) else { continue }
            throw DiagnosticsError.tweak(
                "the tweaks of a group have \(label == "in" ? "an" : "a") \(label): of their own",
                at: argument.expression,
                fixIt: .remove(argument))
        }
        let call = call(defaultValue)
        guard call?.name == layout.type || call?.name == "init" || literalCase(defaultValue) == layout.usual
        else {
            throw DiagnosticsError.tweak(
                "the default must be \(layout.type)(…) of literals", at: defaultValue)
        }
        let key = try key()
        let attributes = try attributes(of: .double)
        let members = try layout.fields.map { field in
            let given = call?.arguments.first { $0.label?.text == field.property }?.expression
            let type = ValueType(of: field)
            var declaration = field.declaration(
                TweakKey(key.category, key.collection, "\(key.name) \(field.name)"),
                default: try given.map { try value(of: type, default: $0, []) } ?? field.defaultValue)
            declaration.attributes =
                declaration.choices.flatMap(\.attributes) + declaration.attributes + attributes
            return TweakableContent.Member(
                property: field.property, type: type,
                defaultValue: given?.trimmedDescription ?? type.source(of: field.defaultValue),
                records: RecordSource(declaration: declaration).variable)
        }
        return TweakableContent(layout: layout, members: members)
    }
}

extension GroupLayout {
    /// The built-in group with a name, which may be qualified by the module.
    init?(named name: String) {
        guard let layout = Self.all.first(where: { $0.type == name.split(separator: ".").last ?? "" }) else {
            return nil
        }
        self = layout
    }
}

extension ValueType {
    fileprivate init(of field: GroupField) {
        switch field.defaultValue {
        case .color: self = .color
        case .string: self = .rawValue(.string)
        default: self = field.unit == "s" ? .duration : .double
        }
    }

    /// The source of a value; a string is the name of a case.
    fileprivate func source(of value: TweakValue) -> String {
        switch value {
        case .color(let color):
            "Tweaks.TweakColor(red: \(color.red), green: \(color.green), blue: \(color.blue), alpha: \(color.alpha))"
        case .string(let name): ".\(name)"
        default: form == .duration ? "Swift.Duration.seconds(\(value))" : "\(value)"
        }
    }
}
#endif
