/// An option of a tweak: what its declaration may say beside name, type and default.
///
/// ``all`` is the table from which JSON, CSV, the checks and differences of `tweak-dump` and the details of the page are made.
package struct TweakOption: Sendable {
    /// The name in JSON and CSV, and of the argument of a macro.
    package let name: String
    /// The name for people.
    package let title: String
    /// What the option decides.
    package let purpose: Purpose
    /// The key of its attribute; `nil` if a record has a field for it.
    package let attribute: String?
    /// How an attribute stores it.
    package let form: Form
    /// What `tweak-dump --lint` reports as allowed where it finds an attribute that has no effect; `nil` if it does not look.
    package let allowed: String?
    /// What a declaration sets it to; `nil` if it leaves it out, or sets it to something that has no effect.
    package let setting: @Sendable (TweakDeclaration) -> Setting?

    package enum Purpose: Sendable {
        /// Which values the tweak takes, and when. All declarations of a tweak must agree on it.
        case values
        /// How values are shown.
        case display
        /// Nothing: people read it.
        case information
    }

    package enum Form: Sendable {
        /// It has no attribute of its own.
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
            case .choices(let choices): choices.map(\.description).joined(separator: " | ")
            }
        }
    }

    /// All options, in the order of the columns of CSV.
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
        TweakOption("owner", .information, "owner", text: { $0.owner }),
        TweakOption("expires", .information, "expires", text: { $0.expiryDate }),
        TweakOption("location", title: "declared at", .information, "at", text: { $0.location }),
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
    /// Where the tweak is declared, as `file:line`.
    public var location: String? { text(of: "at") }
    /// The unit of its values, such as `kg`.
    public var unit: String? { text(of: "unit") }
    /// What it does, for a person.
    public var description: String? { text(of: "doc") }
    /// The name to show instead of its own.
    public var title: String? { text(of: "title") }
    /// The heading to show it under instead of its category and collection.
    public var group: String? { text(of: "group") }
    /// The person or team who looks after it.
    public var owner: String? { text(of: "owner") }
    /// The number of decimals to show, from 0 to 17; only of a floating-point number.
    public var precision: Int? {
        guard type == .float || type == .double else { return nil }
        return text(of: "precision").flatMap { Int($0) }.flatMap { 0...17 ~= $0 ? $0 : nil }
    }
    /// How a slider moves; `nil` if the declaration leaves that open. It is logarithmic only with a minimum above 0.
    public var scale: TweakScale? {
        guard isTweakedNumber, let scale = text(of: "scale").flatMap(TweakScale.init(named:)) else {
            return nil
        }
        return scale == .linear || isAboveZero(minimum) ? scale : nil
    }
    /// The name of the tweak that is the vertical axis of a pad with this one as the horizontal. It is a number too, of the
    /// same category and collection.
    public var pair: String? { isTweakedNumber ? text(of: "pair") : nil }
    private var isTweakedNumber: Bool { type.isNumeric && !isMonitor }
    /// Whether nobody can set it.
    public var isReadOnly: Bool { isMonitor || attributes.contains { $0.key == "read-only" } }
    /// Whether it has a value that can be stored, unlike an action and a monitor.
    package var hasKeptValue: Bool { type != .action && !isMonitor }
    /// Whether a new value takes effect at the next start of the program.
    public var needsRestart: Bool { attributes.contains { $0.key == "needs-restart" } }

    /// The declaration, with title, description and group of another one where it has none.
    package func withTexts(of other: TweakDeclaration?) -> TweakDeclaration {
        var declaration = self
        for attribute in other?.attributes ?? [] where ["title", "doc", "group"].contains(attribute.key) {
            if attributes.contains(where: { $0.key == attribute.key }) { continue }
            declaration.attributes.append(attribute)
        }
        return declaration
    }

    /// The value of an attribute; `nil` if the attribute is missing or empty.
    func text(of attribute: String) -> String? {
        attributes.first { $0.key == attribute }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }
}

/// How a slider moves.
public enum TweakScale: Sendable {
    /// In equal steps.
    case linear
    /// In equal factors.
    case log

    /// The scale of a name in a record. A raw value would make the library larger.
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
