/// One of the values that a tweak with choices can have.
public struct TweakChoice: Hashable, Sendable {
    /// The value, of the tweak's type.
    public var value: TweakValue
    /// What a person sees; `nil` if that is the value.
    public var label: String?

    /// Makes a choice.
    public init(_ value: TweakValue, label: String? = nil) {
        self.value = value
        self.label = label
    }
}

extension TweakChoice: CustomStringConvertible {
    /// The value with the label behind it: `2 (hard)`.
    public var description: String { value.quoted + (label.map { " (\($0))" } ?? "") }
}
