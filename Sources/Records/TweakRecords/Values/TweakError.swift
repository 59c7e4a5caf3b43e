/// Why a tweak could not be found, read, set, made or removed.
public enum TweakError: Error, Hashable {
    /// No image of the process declares such a tweak. The nearest names are suggestions for a person.
    case unknown(TweakKey, nearest: [TweakKey])
    /// The value is encrypted, and its provider has no closure that decrypts it.
    case encrypted(TweakKey)
    /// The tweak cannot take the value.
    case refused(TweakValueError)
    /// Only an action can be run.
    case noAction(TweakDeclaration)
    /// The tweak is of another type than the one that was asked for.
    case otherType(TweakDeclaration, asked: TweakType)
    /// There is no tweak in this category, or in this collection of it.
    case noTweaks(in: String)
    /// The program has a tweak of this name already.
    case exists(TweakKey)
    /// No tweak of this name was made while the program runs, so it cannot be removed.
    case notMade(TweakKey)
    /// The providers cannot be in such an order; the text says why.
    case order(String)
    /// The provider has values that nobody can set.
    case notMutable(TweakSource)
    /// The provider could not keep a value.
    case notKept(TweakKey, TweakSource, reason: String)
    /// The declaration makes no sense.
    case invalid(TweakKey, reason: String)
}

extension TweakError: CustomStringConvertible {
    /// What was wrong, and what is allowed.
    public var description: String {
        switch self {
        case .unknown(let key, let nearest):
            "\(key): there is no such tweak" + didYouMean(nearest.map(\.description))
        case .encrypted(let key):
            "\(key): the value is encrypted, and its provider has no closure that decrypts it"
        case .refused(let error): "\(error)"
        case .noAction(let tweak):
            "\(tweak.key): it cannot be run, it is not an action but of type \(tweak.type)"
        case .otherType(let tweak, let type): "\(tweak.key): it is of type \(tweak.type), not \(type)"
        case .noTweaks(let name): "\(name): there are no such tweaks"
        case .exists(let key): "\(key): there is a tweak of this name already"
        case .notMade(let key): "\(key): no tweak of this name was made while the program runs"
        case .order(let reason): reason
        case .notMutable(let source): "values of the provider \(source) cannot be set"
        case .notKept(let key, let source, let reason):
            "\(key): the provider \(source) did not keep it: \(reason)"
        case .invalid(let key, let reason): "\(key): \(reason)"
        }
    }
}
