public import TweakRecords

/// What a provider says about one tweak.
public enum ProvidedValue: Hashable, Sendable {
    /// A value. An integer is also taken for a floating-point tweak, and a text for a colour.
    case value(TweakValue)
    /// What a person typed, to be read by the tweak's type as ``TweakDeclaration/admit(text:)`` does.
    case text(String)
    /// Something that no tweak can take, in words: `an array` for example.
    case unusable(String)
}

extension ProvidedValue {
    /// The form in which a tweak takes it.
    func admission(for tweak: TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission {
        switch self {
        case .value(let value): try tweak.admit(value)
        case .text(let text): try tweak.admit(text: text)
        case .unusable(let what): throw .wrongType(tweak, given: what)
        }
    }
}
