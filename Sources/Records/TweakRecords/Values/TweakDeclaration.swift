// SPDX-License-Identifier: BSD-3-Clause
/// The declaration of a tweak: everything but the current value.
public struct TweakDeclaration: Hashable, Sendable {
    /// The tweak's name.
    public var key: TweakKey
    /// The type of the values.
    public var type: TweakType
    /// The default value.
    public var defaultValue: TweakValue
    /// The minimum; `nil` if only the type limits the values.
    public var minimum: TweakValue?
    /// The maximum; `nil` if only the type limits the values.
    public var maximum: TweakValue?
    /// The increment of a slider or stepper.
    public var step: TweakValue?
    /// The only allowed values; empty for no restriction. A tweak with choices has no limits.
    public var choices: [TweakChoice]
    /// All other properties in the record, in its order.
    public var attributes: [Attribute] {
        get { attributeList.all }
        set { attributeList = .listed(newValue) }
    }
    package private(set) var attributeList: AttributeList
    /// Whether the tweak is a monitor, which the program stores, and which people see but cannot set. Its
    /// limits are for displays, its choices are the names of states, and its default is 0 until the program
    /// has stored a value.
    public var isMonitor: Bool

    /// A `key=value` in a record's text.
    public struct Attribute: Hashable, Sendable {
        /// The part before the first `=`.
        public var key: String
        /// The part after the first `=`.
        public var value: String

        /// Creates an attribute.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// Creates a declaration. Limits only apply to numeric types, and the minimum must not be above the
    /// maximum.
    public init(
        key: TweakKey, type: TweakType, defaultValue: TweakValue, minimum: TweakValue? = nil,
        maximum: TweakValue? = nil, step: TweakValue? = nil, choices: [TweakChoice] = [],
        attributes: [Attribute] = [], isMonitor: Bool = false
    ) {
        self.init(
            key: key, type: type, defaultValue: defaultValue, minimum: minimum, maximum: maximum, step: step,
            choices: choices, attributeList: .listed(attributes), isMonitor: isMonitor)
    }

    init(
        key: TweakKey, type: TweakType, defaultValue: TweakValue, minimum: TweakValue?, maximum: TweakValue?,
        step: TweakValue?, choices: [TweakChoice], attributeList: AttributeList, isMonitor: Bool
    ) {
        self.key = key
        self.type = type
        self.defaultValue = defaultValue
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
        self.choices = choices
        self.attributeList = attributeList
        self.isMonitor = isMonitor
    }

    /// Returns whether another declaration of the same key is compatible with this one. The location is
    /// ignored, as are texts for people.
    public func agrees(with other: TweakDeclaration) -> Bool {
        key == other.key && type == other.type && defaultValue == other.defaultValue
            && minimum == other.minimum
            && maximum == other.maximum && step == other.step && choices == other.choices
            && isMonitor == other.isMonitor && isReadOnly == other.isReadOnly
            && needsRestart == other.needsRestart && text(of: "element") == other.text(of: "element")
            && isOptional == other.isOptional
    }
}
