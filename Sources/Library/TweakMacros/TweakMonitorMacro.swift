// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros
internal import TweakRecords

/// `#tweakMonitor(category, collection, name, value, …)` for one type of value.
///
/// A macro sees no types; the compiler chooses the overload, and so one of the types below.
protocol MonitorMacro: ExpressionMacro {
    static var type: ValueType { get }
}

extension MonitorMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        guard let value = node.arguments.dropFirst(3).first, value.label == nil else {
            throw DiagnosticsError.tweak("a value is needed", at: node)
        }
        let others = Array(node.arguments).filter { $0.id != value.id }
        let arguments = try TweakArguments(others, of: node, in: context)
        try context.checkPlace(of: node, instead: "store it in one that is not")
        let record = RecordSource(declaration: try arguments.monitor(of: type))
        let stored = value.expression.trimmedDescription
        let local = context.localType(
            with: record.variable, for: node, instead: "to be written in a function outside")
        let text = """
            {
            \(local.source)
            #if \(RecordSource.condition)
                unsafe Tweaks.__monitor(&\(local.name).record.\(RecordSource.cell), (\(stored)) as \(type.storedName))
            #else
                Tweaks.__unevaluated(\(stored))
            #endif
            }()
            """
        // The compiler parses the text, see TweakMacro.
        return ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(text)))
    }
}

enum BoolMonitorMacro: MonitorMacro { static let type = ValueType.bool }
enum IntMonitorMacro: MonitorMacro { static let type = ValueType.int }
enum Int8MonitorMacro: MonitorMacro { static let type = ValueType.int8 }
enum Int16MonitorMacro: MonitorMacro { static let type = ValueType.int16 }
enum Int32MonitorMacro: MonitorMacro { static let type = ValueType.int32 }
enum Int64MonitorMacro: MonitorMacro { static let type = ValueType.int64 }
enum UIntMonitorMacro: MonitorMacro { static let type = ValueType.uint }
enum UInt8MonitorMacro: MonitorMacro { static let type = ValueType.uint8 }
enum UInt16MonitorMacro: MonitorMacro { static let type = ValueType.uint16 }
enum UInt32MonitorMacro: MonitorMacro { static let type = ValueType.uint32 }
enum UInt64MonitorMacro: MonitorMacro { static let type = ValueType.uint64 }
enum FloatMonitorMacro: MonitorMacro { static let type = ValueType.float }
enum DoubleMonitorMacro: MonitorMacro { static let type = ValueType.double }

/// The fallback for arguments that no other overload takes, which reports the mistake.
enum UnsupportedMonitorMacro: ExpressionMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> ExprSyntax {
        let unlabelled = Array(node.arguments.prefix { $0.label == nil })
        guard unlabelled.count == 4 else {
            throw DiagnosticsError.tweak("three names and a value are needed", at: node)
        }
        let arguments = TweakArguments(
            names: unlabelled.prefix(3).map(\.expression), options: Array(node.arguments.dropFirst(4)),
            of: node,
            in: context)
        let value = unlabelled[3].expression
        _ = try arguments.monitor(
            of: ValueType(ofLiteral: value) ?? (arguments["choices"] == nil ? .double : .int))
        throw DiagnosticsError.tweak(
            """
            only a Bool, an integer, a Float or a Double can be monitored, with limits of its own type, and an integer \
            with choices
            """, at: value)
    }
}

/// `@TweakMonitored(category, collection, name, …) var name = value`: the variable's observer also stores the
/// monitor.
enum MonitoredMacro: AccessorMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard case .argumentList(let list)? = node.arguments else {
            throw DiagnosticsError.tweak("three names are needed", at: node)
        }
        let arguments = try TweakArguments(list, of: node, in: context)
        try context.checkPlace(of: node, instead: "declare it in the file, or in a type that is not generic")
        guard let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1,
            let binding = variable.bindings.first, binding.accessorBlock == nil,
            variable.bindingSpecifier.tokenKind == .keyword(.var),
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else {
            throw DiagnosticsError.tweak(
                "only a stored var with one name, and without observers of its own, can be monitored",
                at: declaration)
        }
        let annotation = binding.typeAnnotation?.type.trimmedDescription
        let type =
            annotation.map(ValueType.init(named:))
            ?? binding.initializer.flatMap { ValueType(ofLiteral: $0.value) }
        guard let type, type.type.canBeMonitored, type.form == .literal else {
            throw DiagnosticsError.tweak(
                "only a Bool, an integer, a Float or a Double can be monitored; write the type, as in var speed: Double",
                at: pattern)
        }
        let record = RecordSource(declaration: try arguments.monitor(of: type))
        return [
            """
            didSet {
            #if \(raw: RecordSource.condition)
                enum __Monitor {
                    \(raw: record.variable)
                }
                unsafe Tweaks.__monitor(&__Monitor.record.\(raw: RecordSource.cell), \(pattern.trimmed))
            #endif
            }
            """
        ]
    }
}

extension TweakArguments {
    /// The declaration of a monitor.
    fileprivate func monitor(of type: ValueType) throws -> TweakDeclaration {
        var monitor = TweakDeclaration(
            key: try key(), type: type.type, defaultValue: type.zero, isMonitor: true)
        let limits = try self["in"].map { try literalRange($0, ofIntegers: type.type.integerRange != nil) }
        monitor.minimum = try limits.map { try type.value($0.minimum, what: "the minimum") }
        monitor.maximum = try limits.map { try type.value($0.maximum, what: "the maximum") }
        monitor.choices = try states(of: type)
        if let problem = monitor.problem {
            let place = self["in"] ?? self["choices"] ?? names[0]
            throw DiagnosticsError.tweak("\(problem)", at: place)
        }
        monitor.attributes = monitor.choices.flatMap(\.attributes) + (try attributes(of: type))
        return monitor
    }

    private func states(of type: ValueType) throws -> [TweakChoice] {
        guard let states = self["choices"] else { return [] }
        if let names = states.as(ArrayExprSyntax.self) {
            return try names.elements.enumerated().map { index, name in
                TweakChoice(
                    .integer(Int128(index)),
                    label: try literalText(name.expression, what: "the name of a state"))
            }
        }
        guard case .elements(let elements)? = states.as(DictionaryExprSyntax.self)?.content else {
            throw DiagnosticsError.tweak(
                "the choices must be an array of the names of states, or a dictionary of numbers and names",
                at: states)
        }
        return try elements.map {
            TweakChoice(
                try type.value($0.key, what: "a state"),
                label: try literalText($0.value, what: "the name of a state"))
        }
    }
}

extension ValueType {
    fileprivate var zero: TweakValue {
        switch type {
        case .bool: .bool(false)
        case .float, .double: .double(0)
        default: .integer(0)
        }
    }
}
#endif
