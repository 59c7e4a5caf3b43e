public import TweakRecords

/// The JSON form of a declaration: keys are a promise to scripts. What a tweak does not say has no key.
public struct JSONDeclaration: Encodable {
    private struct Choice: Encodable {
        let value: TweakValue
        let label: String?
    }

    private let category, collection, name, type: String
    private let `default`: TweakValue
    private let minimum, maximum, step: TweakValue?
    private let choices: [Choice]?
    private let precision: Int?
    private let unit, description: String?
    private let readOnly, needsRestart: Bool?
    private let owner, expires, location: String?

    /// Makes the form of a declaration.
    public init(_ tweak: TweakDeclaration) {
        (category, collection, name) = (tweak.key.category, tweak.key.collection, tweak.key.name)
        type = tweak.type.description
        self.default = tweak.defaultValue
        (minimum, maximum, step) = (tweak.minimum, tweak.maximum, tweak.step)
        choices =
            tweak.choices.isEmpty ? nil : tweak.choices.map { Choice(value: $0.value, label: $0.label) }
        precision = tweak.precision
        (unit, description) = (tweak.unit, tweak.details)
        readOnly = tweak.isReadOnly ? true : nil
        needsRestart = tweak.needsRestart ? true : nil
        (owner, expires, location) = (tweak.owner, tweak.expiryDate, tweak.location)
    }
}
