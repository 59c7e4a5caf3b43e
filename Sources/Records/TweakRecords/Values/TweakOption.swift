// SPDX-License-Identifier: BSD-3-Clause
/// An option of a tweak: a property of its declaration besides name, type and default.
///
/// JSON, CSV, the checks and differences of `tweak-dump`, the details on the page and the arguments of macros
/// that only inform are generated from the table ``all``. `OptionPlaceTests` compares the other lists with
/// it.
package struct TweakOption: Sendable {
    /// The name in JSON and CSV, and as an argument of macros.
    package let name: String
    /// The name for people.
    package let title: String
    /// The effect of the option.
    package let purpose: Purpose
    /// The key of its attribute; `nil` if the record has a field for it.
    package let attribute: String?
    /// The form of the attribute.
    package let form: Form
    /// The allowed values, which `tweak-dump --lint` reports for an attribute without effect; `nil` if it is
    /// not checked.
    package let allowed: String?
    /// The declared setting; `nil` if it is missing or has no effect.
    package let setting: @Sendable (TweakDeclaration) -> Setting?

    package enum Purpose: Sendable {
        /// The option restricts the values or when they apply. All declarations of a tweak must agree on it.
        case values
        /// The option affects how values are shown.
        case display
        /// The option has no effect, and is for people.
        case information
    }

    package enum Form: Sendable {
        /// The option has no attribute.
        case field
        /// `key=text`.
        case text
        /// `key=digits`.
        case digits
        /// `key` alone.
        case flag
    }

    /// The setting of an option.
    package enum Setting: Sendable {
        case value(TweakValue)
        case choices([TweakChoice])

        /// The setting in one line.
        package var text: String {
            switch self {
            case .value(let value): "\(value)"
            case .choices(let choices): choices.map { $0.description }.joined(separator: " | ")
            }
        }
    }

    /// All options, in the order of the CSV columns.
    package static let all = [
        TweakOption("minimum", .values) { $0.minimum },
        TweakOption("maximum", .values) { $0.maximum },
        TweakOption("step", .values) { $0.step },
        TweakOption("choices", title: "choices", .values, nil, .field, nil) {
            $0.choices.isEmpty ? nil : .choices($0.choices)
        },
        TweakOption("unit", .display, "unit", text: { $0.unit }),
        TweakOption(
            "precision", .display, "precision", allowed: "0 to 17, of a float or double",
            digits: { $0.precision }),
        TweakOption(
            "scale", .display, "scale", allowed: "linear, or log with a minimum above 0, of a number",
            text: { $0.scale?.name }),
        TweakOption("pair", .display, "pair", allowed: "a name, of a number", text: { $0.pair }),
        TweakOption("title", .information, "title", text: { $0.title }),
        TweakOption("description", .information, "doc", text: { $0.description }),
        TweakOption("group", .information, "group", text: { $0.group }),
        TweakOption("readOnly", title: "read-only", "read-only", flag: { $0.isReadOnly }),
        TweakOption("needsRestart", title: "needs restart", "needs-restart", flag: { $0.needsRestart }),
        TweakOption("optional", title: "optional", "optional", flag: { $0.isOptional }),
        TweakOption("owner", .information, "owner", text: { $0.owner }),
        TweakOption("expires", .information, "expires", text: { $0.expiryDate }),
        TweakOption("location", title: "declared at", .information, "at", text: { $0.location }),
        TweakOption(
            "element", title: "elements", .values, "element",
            allowed: "the type of the elements and their limits, of a string",
            text: { $0.element?.elementAttribute.value }),
    ]

    private init(
        _ name: String, title: String, _ purpose: Purpose, _ attribute: String?, _ form: Form,
        _ allowed: String?,
        setting: @escaping @Sendable (TweakDeclaration) -> Setting?
    ) {
        (self.name, self.title, self.purpose, self.attribute) = (name, title, purpose, attribute)
        (self.form, self.allowed, self.setting) = (form, allowed, setting)
    }

    private init(
        _ name: String, _ purpose: Purpose, field: @escaping @Sendable (TweakDeclaration) -> TweakValue?
    ) {
        self.init(name, title: name, purpose, nil, .field, nil) { field($0).map(Setting.value) }
    }

    private init(
        _ name: String, title: String? = nil, _ purpose: Purpose, _ attribute: String, allowed: String? = nil,
        text: @escaping @Sendable (TweakDeclaration) -> String?
    ) {
        self.init(name, title: title ?? name, purpose, attribute, .text, allowed) { declaration in
            text(declaration).map { .value(.string($0)) }
        }
    }

    private init(
        _ name: String, _ purpose: Purpose, _ attribute: String, allowed: String,
        digits: @escaping @Sendable (TweakDeclaration) -> Int?
    ) {
        self.init(name, title: name, purpose, attribute, .digits, allowed) { declaration in
            digits(declaration).map { .value(.integer(Int128($0))) }
        }
    }

    private init(
        _ name: String, title: String, _ attribute: String,
        flag: @escaping @Sendable (TweakDeclaration) -> Bool
    ) {
        self.init(name, title: title, .values, attribute, .flag, nil) { flag($0) ? .value(.bool(true)) : nil }
    }
}

extension TweakDeclaration {
    /// The location of the declaration, as `file:line`.
    public var location: String? { text(of: "at") }
    /// The unit of the values, such as `kg`.
    public var unit: String? { text(of: "unit") }
    /// A description for people.
    public var description: String? { text(of: "doc") }
    /// The name to show instead of the tweak's own.
    public var title: String? { text(of: "title") }
    /// The heading to show the tweak under, instead of its category and collection.
    public var group: String? { text(of: "group") }
    /// The person or team responsible.
    public var owner: String? { text(of: "owner") }
    /// The number of decimals to show, from 0 to 17; only for floating-point tweaks.
    public var precision: Int? {
        guard type == .float || type == .double else { return nil }
        return text(of: "precision").flatMap { Int($0) }.flatMap { 0...17 ~= $0 ? $0 : nil }
    }
    /// The scale of a slider; `nil` if not declared. It is logarithmic only with a minimum above 0.
    public var scale: TweakScale? {
        guard isTweakedNumber, let scale = text(of: "scale").flatMap(TweakScale.init(named:)) else {
            return nil
        }
        return scale == .linear || isAboveZero(minimum) ? scale : nil
    }
    /// The name of the number on the vertical axis of a pad, in the same category and collection; this tweak
    /// is on the horizontal axis. An optional tweak has none.
    public var pair: String? { isTweakedNumber && !isOptional ? text(of: "pair") : nil }
    private var isTweakedNumber: Bool { type.isNumeric && !isMonitor }
    /// Whether the tweak can be seen but not set.
    public var isReadOnly: Bool { isMonitor || attributeList.contains("read-only") }
    /// Whether the tweak has a value that can be kept, unlike an action or a monitor.
    package var hasKeptValue: Bool { type != .action && !isMonitor }
    /// Whether a new value takes effect at the next start of the program.
    public var needsRestart: Bool { attributeList.contains("needs-restart") }

    /// The declaration, with missing title, description and group taken from another one.
    package func withTexts(of other: TweakDeclaration?) -> TweakDeclaration {
        var declaration = self
        for attribute in other?.attributes ?? [] where ["title", "doc", "group"].contains(attribute.key) {
            if attributeList.contains(attribute.key) { continue }
            declaration.attributes.append(attribute)
        }
        return declaration
    }

    /// The value of an attribute; `nil` if the attribute is missing or empty.
    func text(of attribute: String) -> String? {
        guard let value = attributeList.value(of: attribute), !value.isEmpty else { return nil }
        return String(decoding: value, as: UTF8.self)
    }
}

/// The scale of a slider.
public enum TweakScale: Sendable {
    /// A scale of equal steps.
    case linear
    /// A scale of equal factors.
    case log

    /// The scale with a name in a record. Raw values would make the library larger.
    package init?(named name: String) {
        switch name {
        case "linear": self = .linear
        case "log": self = .log
        default: return nil
        }
    }

    /// The name in a record.
    package var name: String { self == .log ? "log" : "linear" }
}

private func isAboveZero(_ value: TweakValue?) -> Bool {
    switch value {
    case .integer(let number)?: number > 0
    case .double(let number)?: number > 0
    default: false
    }
}
