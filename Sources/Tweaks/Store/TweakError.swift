public import TweakRecords

/// Why a tweak could not be read or set.
public enum TweakError: Error, Hashable {
    /// No image of the process declares such a tweak. The nearest names are suggestions for a person.
    case unknown(TweakKey, nearest: [TweakKey])
    /// The tweak cannot take the value.
    case refused(TweakValueError)
    /// Only an action can be run.
    case noAction(TweakDeclaration)
}

extension TweakError: CustomStringConvertible {
    /// What was wrong, and what is allowed.
    public var description: String {
        switch self {
        case .unknown(let key, let nearest):
            "\(key): there is no such tweak"
                + (nearest.isEmpty
                    ? "" : "; did you mean \(nearest.map(\.description).joined(separator: " or "))?")
        case .refused(let error): "\(error)"
        case .noAction(let tweak): "\(tweak.key): it cannot be run, it is no action but of type \(tweak.type)"
        }
    }
}
