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
