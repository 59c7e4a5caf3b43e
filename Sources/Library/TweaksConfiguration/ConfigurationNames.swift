// SPDX-License-Identifier: BSD-3-Clause
#if Configuration
public import Configuration
public import Tweaks

/// The mapping between keys of swift-configuration and names of tweaks.
///
/// The last component of a key is the name, the one before it the collection, and the rest, joined by dots,
/// the category. `http.server.port` is `http/server/port`, `port` is `Configuration/General/port`.
public struct ConfigurationNames: Sendable {
    /// The category of keys with one or two components.
    public var category: String
    /// The collection of keys with one component.
    public var collection: String

    /// Creates a mapping.
    public init(category: String = "Configuration", collection: String = "General") {
        self.category = category
        self.collection = collection
    }

    /// Returns the name of the tweak for a key.
    public func tweak(for key: AbsoluteConfigKey) -> TweakKey {
        let levels = key.components
        return TweakKey(
            levels.count > 2 ? levels.dropLast(2).joined(separator: ".") : category,
            levels.count > 1 ? levels[levels.count - 2] : collection, levels.last ?? "")
    }

    /// Returns the key for the name of a tweak.
    public func key(for tweak: TweakKey) -> AbsoluteConfigKey {
        if tweak.category != category {
            let levels = tweak.category.split(separator: ".", omittingEmptySubsequences: false).map(
                String.init)
            return AbsoluteConfigKey(levels + [tweak.collection, tweak.name])
        }
        return AbsoluteConfigKey(
            tweak.collection == collection ? [tweak.name] : [tweak.collection, tweak.name])
    }
}
#endif
