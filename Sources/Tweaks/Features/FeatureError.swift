public import TweakRecords

/// Why a variable of a feature has no value of the type that was asked for.
public enum FeatureError: Error, Hashable {
    /// No tweak has this name, in any provider or binary.
    case notFound(TweakKey)
    /// The variable is of another type.
    case notSupported(TweakKey, is: TweakType, asked: TweakType)
    /// The value is encrypted, and its provider has no closure that decrypts it.
    case decryptionClosureNotProvided(TweakKey)
}

extension FeatureError: CustomStringConvertible {
    /// What was asked for, and what is there.
    public var description: String {
        switch self {
        case .notFound(let key): "\(key): there is no such variable"
        case .notSupported(let key, let type, let asked): "\(key): it is of type \(type), not \(asked)"
        case .decryptionClosureNotProvided(let key):
            "\(key): the value is encrypted, and its provider was made without a closure that decrypts it"
        }
    }
}
