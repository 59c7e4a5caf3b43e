// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    /// Adds a provider, and applies its values.
    ///
    ///     try store.add(VariablesProvider(files: ["tweaks.json"]), below: .overrides)
    ///
    /// The store queries it now, on this thread, and again for the changes that it reports.
    ///
    /// - Parameters:
    ///   - provider: The provider, retained by the store.
    ///   - source: The provider before which it is added; `nil` to add it last.
    /// - Throws: ``TweakError/order(_:)`` if there is a provider with its name already, there is no provider `source`,
    ///   or it is in a store already: each store needs a provider of its own.
    public func add(_ provider: any TweakProvider, above source: TweakSource?) throws(TweakError) {
        try add(
            provider, provider as? any FileProvider, provider as? any MutableTweakProvider, above: source)
    }

    /// Adds a provider after another one, and applies its values; see ``add(_:above:)``.
    ///
    /// - Parameters:
    ///   - provider: The provider, retained by the store.
    ///   - source: The provider after which it is added.
    /// - Throws: ``TweakError/order(_:)`` if there is a provider with its name already, there is no provider `source`,
    ///   or it is in a store already.
    public func add(_ provider: any TweakProvider, below source: TweakSource) throws(TweakError) {
        let sources = sources
        guard let index = sources.firstIndex(of: source) else {
            throw .order(state.withLock { $0.layers.noSource(source) })
        }
        try add(provider, above: sources.dropFirst(index + 1).first)
    }
}
