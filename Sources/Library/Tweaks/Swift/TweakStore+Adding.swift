// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    /// Adds a provider, and applies its values.
    ///
    ///     try store.add(VariablesProvider(files: ["tweaks.json"]), below: .overrides)
    ///
    /// The store queries the provider now, on this thread, and again when it reports changes.
    ///
    /// - Parameters:
    ///   - provider: The provider, retained by the store.
    ///   - source: The name of the existing provider to precede; `nil` to add the provider last.
    /// - Throws: ``TweakError/order(_:)`` if the store already has a provider of this name or has none named
    ///   `source`, or if the provider is already in a store: each store needs a provider of its own.
    public func add(_ provider: any TweakProvider, above source: TweakSource?) throws(TweakError) {
        try add(
            provider, provider as? any FileProvider, provider as? any MutableTweakProvider, above: source)
    }

    /// Adds a provider after another one, and applies its values; see ``add(_:above:)``.
    ///
    /// - Parameters:
    ///   - provider: The provider, retained by the store.
    ///   - source: The name of the existing provider to follow.
    /// - Throws: ``TweakError/order(_:)`` if the store already has a provider of this name or has none named
    ///   `source`, or if the provider is already in a store.
    public func add(_ provider: any TweakProvider, below source: TweakSource) throws(TweakError) {
        let sources = sources
        guard let index = sources.firstIndex(of: source) else {
            throw .order(state.withLock { $0.layers.noSource(source) })
        }
        try add(provider, above: sources.dropFirst(index + 1).first)
    }
}
