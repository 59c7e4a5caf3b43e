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
    /// Everything else that the record says, in the record's order.
    public var attributes: [Attribute]

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
        maximum: TweakValue? = nil, step: TweakValue? = nil, attributes: [Attribute] = []
    ) {
        self.key = key
        self.type = type
        self.defaultValue = defaultValue
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
        self.attributes = attributes
    }

    /// Where the tweak is declared, as `file:line`.
    public var location: String? { attributes.first { $0.key == "at" }?.value }

    /// Whether another declaration of the same key means the same tweak; the place does not count.
    public func agrees(with other: TweakDeclaration) -> Bool {
        key == other.key && type == other.type && defaultValue == other.defaultValue
            && minimum == other.minimum
            && maximum == other.maximum && step == other.step
    }
}
