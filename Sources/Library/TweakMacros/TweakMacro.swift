// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros
internal import TweakRecords

/// `#tweak(category, collection, name, default: value, …)` for one type of value.
///
/// A macro sees no types; the compiler chooses the overload, and so one of the types below.
protocol TweakMacro: ExpressionMacro {
    static var type: ValueType { get }
    static func arguments(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> TweakArguments
}

extension TweakMacro {
    static func arguments(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> TweakArguments {
        try TweakArguments(node.arguments, of: node, in: context)
    }

    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        let arguments = try arguments(of: node, in: context)
        guard let defaultValue = arguments.defaultValue(of: type) else {
            throw DiagnosticsError.tweak("a default is needed", at: node)
        }
        try context.checkPlace(
            of: node,
            instead: """
                declare @Tweakable(\(arguments.source(default: nil))) var value\(type.annotation(of: defaultValue)) = \
                \(defaultValue.trimmedDescription) outside of it, and read that here
                """)
        if type.form == .rawValue, let name = literalCase(defaultValue), literalTypeName(defaultValue) == nil
        {
            context.diagnose(
                Diagnostic(
                    node: defaultValue,
                    message: TweakMacroMessage(
                        message: """
                            write the type, as in Mode.\(name): a macro does not see it, and so its cases are not the \
                            choices
                            """, severity: .warning)))
        }
        let records = RecordSource.variables(
            try arguments.value(of: type, default: defaultValue),
            of: type.form == .rawValue ? literalTypeName(defaultValue) : nil, default: defaultValue)
        let local = context.localType(
            with: records, for: node, instead: "to be replaced by a @Tweakable variable declared outside")
        let result = type.name.map { " () -> \($0) in" } ?? ""
        let text = """
            {\(result)
            \(local.source)
            #if \(RecordSource.condition)
                return \(type.read(local.name, default: defaultValue.trimmedDescription))
            #else
                return \(defaultValue.trimmedDescription)
            #endif
            }()
            """
        // The compiler parses the text. Parsing and formatting it here, too, would take most of the time of an
        // expansion.
        return ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(text)))
    }
}

extension ValueType {
    /// The type annotation of a variable.
    fileprivate func annotation(of value: ExprSyntax) -> String {
        if let element { return ": [\(element.annotation(of: value).dropFirst(2))]" }
        if let name { return ": " + name.drop { $0 != "." }.dropFirst() }
        if form == .converted { return ": CGFloat" }
        // A case alone has no type.
        return literalTypeName(value) == nil ? ": Mode" : ""
    }

    /// Source that reads the cell of the record in an enumeration. The compiler takes a record for unsafe,
    /// because it has no lock; only its cell ever changes, with one store.
    func read(_ enumeration: String, default defaultValue: String) -> String {
        let rawType = form == .rawValue ? "as: \(storedName).self, " : ""
        let function = form == .converted ? "__converted" : "__tweak"
        return """
            unsafe Tweaks.\(function)(
                &\(enumeration).record.\(RecordSource.cell), \(rawType)scoped: Swift._isDebugAssertConfiguration(),
                default: \(defaultValue))
            """
    }
}

enum BoolTweakMacro: TweakMacro { static let type = ValueType.bool }
enum IntTweakMacro: TweakMacro { static let type = ValueType.int }
enum Int8TweakMacro: TweakMacro { static let type = ValueType.int8 }
enum Int16TweakMacro: TweakMacro { static let type = ValueType.int16 }
enum Int32TweakMacro: TweakMacro { static let type = ValueType.int32 }
enum Int64TweakMacro: TweakMacro { static let type = ValueType.int64 }
enum UIntTweakMacro: TweakMacro { static let type = ValueType.uint }
enum UInt8TweakMacro: TweakMacro { static let type = ValueType.uint8 }
enum UInt16TweakMacro: TweakMacro { static let type = ValueType.uint16 }
enum UInt32TweakMacro: TweakMacro { static let type = ValueType.uint32 }
enum UInt64TweakMacro: TweakMacro { static let type = ValueType.uint64 }
enum FloatTweakMacro: TweakMacro { static let type = ValueType.float }
enum DoubleTweakMacro: TweakMacro { static let type = ValueType.double }
enum RealTweakMacro: TweakMacro { static let type = ValueType.real }
enum DurationTweakMacro: TweakMacro { static let type = ValueType.duration }
enum StringTweakMacro: TweakMacro { static let type = ValueType.string }
enum ColorTweakMacro: TweakMacro { static let type = ValueType.color }
enum IntsTweakMacro: TweakMacro { static let type = ValueType.ints }
enum DoublesTweakMacro: TweakMacro { static let type = ValueType.doubles }
enum StringsTweakMacro: TweakMacro { static let type = ValueType.strings }
enum OptionalBoolTweakMacro: TweakMacro { static let type = ValueType.optionalBool }
enum OptionalIntTweakMacro: TweakMacro { static let type = ValueType.optionalInt }
enum OptionalFloatTweakMacro: TweakMacro { static let type = ValueType.optionalFloat }
enum OptionalDoubleTweakMacro: TweakMacro { static let type = ValueType.optionalDouble }
enum OptionalStringTweakMacro: TweakMacro { static let type = ValueType.optionalString }
enum RawStringTweakMacro: TweakMacro { static let type = ValueType.rawValue(.string) }
enum RawIntTweakMacro: TweakMacro { static let type = ValueType.rawValue(.int) }
enum RawDoubleTweakMacro: TweakMacro { static let type = ValueType.rawValue(.double) }

/// The fallback for arguments that no other overload takes, which reports the mistake.
enum UnsupportedTweakMacro: ExpressionMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        let arguments = try TweakArguments(node.arguments, of: node, in: context)
        guard let value = arguments["default"] else {
            throw DiagnosticsError.tweak(
                arguments.defaultValue(of: .optionalInt) == nil
                    ? "a default is needed"
                    : "nil is the default of an optional Bool, Int, Float, Double or String, with limits of its type",
                at: node)
        }
        if let layout = literalTypeName(value).flatMap(GroupLayout.init(named:)) {
            throw DiagnosticsError.tweak(
                """
                a \(layout.type) is not a single tweak; declare @Tweakable(\(arguments.source(default: nil))) var value = \
                \(value.trimmedDescription) outside of functions, and read that here
                """, at: value)
        }
        // An option may be the problem.
        let rawType = literalRawValue(value).flatMap(ValueType.init(ofLiteral:)).map(ValueType.rawValue)
        if let type = ValueType(ofLiteral: value) ?? rawType {
            _ = try arguments.attributes(of: type)
            _ = try arguments.value(of: type, default: value)
        }
        guard rawType != nil || literalCase(value) != nil else {
            throw DiagnosticsError.tweak(ValueType.all, at: value)
        }
        let name = literalTypeName(value)
        let option = ["in", "choices", "step"].first { arguments[$0] != nil }
        throw DiagnosticsError.tweak(
            """
            \(name ?? "the enumeration") must be a TweakableEnum, as in enum \(name ?? "Mode"): String, \
            CaseIterable, TweakableEnum, or another TweakableRawRepresentable\
            \(option.map { ", and \($0): have its raw values" } ?? "")
            """, at: value)
    }
}
#endif
