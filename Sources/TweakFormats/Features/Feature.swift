public import TweakRecords

/// A feature that can be switched on and off, with the features that are parts of it.
public struct Feature: Hashable, Sendable {
    /// What files call it.
    public var name: String
    /// Whether it is on unless somebody says otherwise.
    public var isEnabled: Bool
    /// What it is, for a person.
    public var details: String?
    /// Its parts, sorted by name. A part is on only if the feature is.
    public var parts: [Feature]

    /// Makes a feature.
    public init(name: String, isEnabled: Bool, details: String? = nil, parts: [Feature] = []) {
        self.name = name
        self.isEnabled = isEnabled
        self.details = details
        self.parts = parts
    }
}

/// A feature with its place among all others, and the tweak that switches it.
///
/// Features are tweaks of the category `Features`. A top-level feature is a collection, in which the tweak `enabled`
/// switches it. The tweaks of its parts are in the same collection, each with the name of the part; those of parts of
/// parts have all names, with slashes between them. So `awesome`, its part `sound` and that one's part `stereo` are
///
///     Features/awesome/enabled
///     Features/awesome/sound
///     Features/awesome/sound%2Fstereo
///
/// A slash in the name of a part is `%2F` there, and a percent sign `%25`. So two features never share a tweak: no part
/// is called `enabled`. The variable of a feature of JustTweak is `Features/feature/variable`.
public struct PlacedFeature: Hashable, Sendable {
    /// The category of the tweaks of all features.
    public static let category = "Features"

    /// The names of the features around it, the outermost first, and its own.
    public let path: [String]
    /// Whether its own switch is on unless somebody says otherwise.
    public let isEnabled: Bool
    /// What it is, for a person.
    public let details: String?
    /// Its name where all features are in one list, as in `Features.plist`.
    ///
    /// It is the own name, unless another feature has the same name, or it contains a slash or a percent sign. Then it
    /// is the path with slashes between the names, in which `%2F` is a slash and `%25` a percent sign.
    public let flatName: String

    /// The tweak that switches it.
    public var key: TweakKey { Self.key(of: path) }

    /// The tweaks that must all be on for the feature to be on: those of the features around it and its own.
    public var gates: [TweakKey] { path.indices.map { Self.key(of: path[...$0]) } }

    /// The tweak of a feature by its ``path``.
    public static func key(of path: some Collection<String>) -> TweakKey {
        let name = path.count == 1 ? "enabled" : joined(path.dropFirst())
        return TweakKey(category, path.first ?? "", name)
    }

    static func joined(_ path: some Sequence<String>) -> String {
        path.map(TweakKey.escape).joined(separator: "/")
    }
}
