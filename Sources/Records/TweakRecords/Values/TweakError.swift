// SPDX-License-Identifier: BSD-3-Clause
/// An error in finding, reading, setting, making or removing a tweak.
public enum TweakError: Error, Hashable {
    /// No image of the process declares the tweak. The nearest names are suggestions for people.
    case unknown(TweakKey, nearest: [TweakKey])
    /// The value is encrypted, and its provider has no decryption closure.
    case encrypted(TweakKey)
    /// The tweak refuses the value.
    case refused(TweakValueError)
    /// The tweak is not an action, and so cannot be run.
    case noAction(TweakDeclaration)
    /// The tweak has another type than requested.
    case otherType(TweakDeclaration, asked: TweakType)
    /// There is no tweak in this category, or in this collection of it.
    case noTweaks(in: String)
    /// The program has a tweak of this name already.
    case exists(TweakKey)
    /// The tweak was not made at run time, so it cannot be removed.
    case notMade(TweakKey)
    /// The order of the providers is invalid, for the given reason.
    case order(String)
    /// The provider's values cannot be set.
    case notMutable(TweakSource)
    /// The provider could not keep a value.
    case notKept(TweakKey, TweakSource, reason: String)
    /// The declaration is invalid.
    case invalid(TweakKey, reason: String)
    /// The change needs more stores than the program's loop makes in one pass of the gate.
    case gate(String, stores: Int, capacity: Int)
}

extension TweakError: CustomStringConvertible {
    /// The problem, and what is allowed.
    public var description: String {
        switch self {
        case .unknown(let key, let nearest):
            "\(key): no such tweak" + didYouMean(nearest.map { $0.description })
        case .encrypted(let key):
            "\(key): the value is encrypted, and its provider has no closure that decrypts it"
        case .refused(let error): "\(error)"
        case .noAction(let tweak):
            "\(tweak.key): it cannot be run: it is not an action, but of type \(tweak.type)"
        case .otherType(let tweak, let type): "\(tweak.key): it is of type \(tweak.type), not \(type)"
        case .noTweaks(let name): "\(name): no such tweaks"
        case .exists(let key): "\(key): there is a tweak of this name already"
        case .notMade(let key): "\(key): no tweak of this name was made at run time"
        case .order(let reason): reason
        case .notMutable(let source): "values of the provider \(source) cannot be set"
        case .notKept(let key, let source, let reason):
            "\(key): the provider \(source) did not keep it: \(reason)"
        case .invalid(let key, let reason): "\(key): \(reason)"
        case .gate(let name, let stores, let capacity):
            "the change needs \(stores) stores, and the gate \(name) takes \(capacity) at once; change fewer tweaks at "
                + "once, or define FB_TWEAK_GATE_STORES before fbtweak.h is included"
        }
    }
}
