/// A system whose stored values can be taken over.
public enum OlderSystem: String, Sendable, CaseIterable {
    case facebookTweaks = "Facebook Tweaks"
    case flipTheSwitch = "FlipTheSwitch"
    case justTweak = "JustTweak"

    /// What its keys in the user's defaults begin with.
    public var keyPrefix: String {
        switch self {
        case .facebookTweaks: "FBTweak:"
        case .flipTheSwitch: "FTS_FEATURE_"
        case .justTweak: "lib.fragments.userDefaultsKey."
        }
    }
}
