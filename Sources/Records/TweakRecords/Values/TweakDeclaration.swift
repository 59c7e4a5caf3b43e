/// What a program says about one of its tweaks: everything but the current value.
public struct TweakDeclaration: Hashable, Sendable {
    /// The tweak's name.
    public var key: TweakKey
    /// What it holds.
    public var type: TweakType
    /// The value in the binary.
    public var defaultValue: TweakValue
    /// The smallest value; `nil` if only the type limits it.
    public var minimum: TweakValue?
    /// The largest value; `nil` if only the type limits it.
    public var maximum: TweakValue?
    /// The distance between two neighbouring values on a slider or stepper.
    public var step: TweakValue?
    /// The only values that the tweak takes; empty if others are taken too. A tweak with choices has no limits.
    public var choices: [TweakChoice]
    /// Everything else that the record says, in the record's order.
    public var attributes: [Attribute]
    /// Whether it is a monitor: the program stores the value, people see it, and nobody sets it. Its limits are those of a plot,
    /// its choices the names of states, and its default is 0 until the program has stored something.
    public var isMonitor: Bool

    /// One `key=value` of a record's text.
    public struct Attribute: Hashable, Sendable {
        /// The part before the first `=`.
        public var key: String
        /// The part after it.
        public var value: String

        /// Makes an attribute of its two parts.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// Makes a declaration. Limits count only for numeric types, and the minimum must not be above the maximum.
    public init(
        key: TweakKey, type: TweakType, defaultValue: TweakValue, minimum: TweakValue? = nil,
        maximum: TweakValue? = nil, step: TweakValue? = nil, choices: [TweakChoice] = [],
        attributes: [Attribute] = [], isMonitor: Bool = false
    ) {
        self.key = key
        self.type = type
        self.defaultValue = defaultValue
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
        self.choices = choices
        self.attributes = attributes
        self.isMonitor = isMonitor
    }

    /// Whether another declaration of the same key means the same tweak. The place does not count, nor what only
    /// people read.
    public func agrees(with other: TweakDeclaration) -> Bool {
        key == other.key && type == other.type && defaultValue == other.defaultValue
            && minimum == other.minimum
            && maximum == other.maximum && step == other.step && choices == other.choices
            && isMonitor == other.isMonitor && isReadOnly == other.isReadOnly
            && needsRestart == other.needsRestart
    }
}

// MARK: - Attributes

extension TweakDeclaration {
    /// Where the tweak is declared, as `file:line`.
    public var location: String? { text(of: "at") }
    /// What its numbers count, such as `kg`.
    public var unit: String? { text(of: "unit") }
    /// What it does, for a person.
    public var description: String? { text(of: "doc") }
    /// What a person sees instead of the name.
    public var title: String? { text(of: "title") }
    /// Under which heading a person finds it, whatever its category and collection are.
    public var group: String? { text(of: "group") }
    /// Who looks after it.
    public var owner: String? { text(of: "owner") }
    /// How many decimals a display shows, from 0 to 17; only floating-point numbers have some.
    public var precision: Int? {
        guard type == .float || type == .double else { return nil }
        return text(of: "precision").flatMap { Int($0) }.flatMap { 0...17 ~= $0 ? $0 : nil }
    }
    /// How a slider of it moves; `nil` if nobody says. It is logarithmic only with a minimum above 0.
    public var scale: TweakScale? {
        guard isTweakedNumber, let scale = text(of: "scale").flatMap(TweakScale.init(named:)) else {
            return nil
        }
        return scale == .linear || isAboveZero(minimum) ? scale : nil
    }
    /// The name of the tweak that is up where this one is sideways, when a pad shows both. It is a number too, of the
    /// same category and collection.
    public var pair: String? { isTweakedNumber ? text(of: "pair") : nil }
    private var isTweakedNumber: Bool { type.isNumeric && !isMonitor }
    /// Whether nobody can set it.
    public var isReadOnly: Bool { isMonitor || attributes.contains { $0.key == "read-only" } }
    /// Whether it has a value that somebody could keep, unlike an action and a monitor.
    package var hasKeptValue: Bool { type != .action && !isMonitor }
    /// Whether what is set takes effect at the next start of the program.
    public var needsRestart: Bool { attributes.contains { $0.key == "needs-restart" } }

    /// The declaration, with the texts for people that it lacks and another one has.
    package func withTexts(of other: TweakDeclaration?) -> TweakDeclaration {
        var declaration = self
        for attribute in other?.attributes ?? [] where ["title", "doc", "group"].contains(attribute.key) {
            if attributes.contains(where: { $0.key == attribute.key }) { continue }
            declaration.attributes.append(attribute)
        }
        return declaration
    }

    /// The value of an attribute; `nil` if it is not there or empty.
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

    /// The scale that records call so. A raw value would make the library larger.
    package init?(named name: String) {
        switch name {
        case "linear": self = .linear
        case "log": self = .log
        default: return nil
        }
    }

    /// What records call it.
    package var name: String { self == .log ? "log" : "linear" }
}

private func isAboveZero(_ value: TweakValue?) -> Bool {
    switch value {
    case .integer(let number)?: number > 0
    case .double(let number)?: number > 0
    default: false
    }
}
