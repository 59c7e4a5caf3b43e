// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// A provider's value for a tweak, see ``TweakStore/opinions(on:)``.
public struct TweakOpinion: Hashable, Sendable {
    /// The provider.
    public let source: TweakSource
    /// The value as the tweak accepts it; `nil` if the tweak refuses it.
    public let value: TweakValue?
    /// The reason why the tweak refuses the value; `nil` if it accepts the value.
    public let problem: TweakValueError?
}

extension TweakStore {
    // MARK: The order

    /// The names of the providers, highest precedence first, without those of leases and kills.
    ///
    /// The first value that the tweak accepts counts, or else the default in the binary. Leases and kills
    /// have fixed places, see ``TweakSource/lease`` and ``TweakSource/kill``: leases come after the session,
    /// and kills before all others, except the session and its leases if the session is first.
    public var sources: [TweakSource] {
        startIfShared()
        return state.withLock { $0.layers.sources }
    }

    /// Adds a provider that reads files, before another one; last if `source` is `nil`.
    ///
    /// - Throws: ``TweakError/order(_:)``, as ``add(_:above:)`` does.
    func add(files provider: any FileProvider, above source: TweakSource?) throws(TweakError) {
        try add(provider, provider, nil, above: source)
    }

    /// Adds a provider, given also as the other kinds of provider that it is: one that reads files, and one
    /// that keeps a person's values.
    func add(
        _ provider: any TweakProvider, _ fileProvider: (any FileProvider)?,
        _ mutableProvider: (any MutableTweakProvider)?, above source: TweakSource?
    ) throws(TweakError) {
        startIfShared()
        guard let feed = ProviderFeed(provider, fileProvider, mutableProvider, of: self) else {
            throw .order("the provider \(provider.source) is in a store already; each store needs its own")
        }
        let problem = state.withLock { state -> TweakError? in
            guard state.layers.index(of: provider.source) == nil,
                ![.binary, .lease].contains(provider.source)
            else {
                return .order("there is a provider \(provider.source) already")
            }
            guard let index = source.map(state.layers.index) ?? state.layers.all.count else {
                return .order(state.layers.noSource(source))
            }
            state.layers.insert(ProviderLayers.Layer(source: provider.source, feed: feed), at: index)
            return nil
        }
        if let problem { throw problem }
        feed.begin()
    }

    /// Removes a provider, with its values and the tweaks that only it declares.
    ///
    /// - Throws: ``TweakError/order(_:)`` if there is no such provider, or it is one of the store's own.
    public func remove(providerOf source: TweakSource) throws(TweakError) {
        guard let feed = state.withLock({ $0.layers.feed(of: source) }) else {
            throw .order("no provider \(source) was added")
        }
        feed.end()
        apply { state in
            guard state.layers.feed(of: source) === feed else { return nil }
            return ValueUpdate(of: source, by: .program, replacing: state.layers[source], with: [:])
        }
        state.withLock { if $0.layers.feed(of: source) === feed { $0.layers.remove(source) } }
    }

    /// Changes the order of the providers.
    ///
    /// - Parameter sources: All of ``sources``, highest precedence first, or only those of added providers:
    ///   the session, the environment, the overrides and remote values then come first, in their current
    ///   order. Remote values alone can be left out, and then come after the overrides.
    /// - Throws: ``TweakError/order(_:)`` if a provider is missing, repeated or unknown.
    public func setOrder(_ sources: [TweakSource]) throws(TweakError) {
        let own: Set = [TweakSource.session, .environment, .overrides, .remote, .fleet]
        let sources = completed(
            own.isDisjoint(with: sources) ? self.sources.filter(own.contains) + sources : sources)
        guard sources != self.sources else { return }
        guard state.withLock({ $0.layers.ordered(sources) != nil }) else {
            throw .order(
                "the order must have each of \(self.sources.map { $0.name }.joined(separator: ", ")) once")
        }
        withState { $0.decode(only: Array($0.layers.keys)) }
        announce(
            state.withLock { state in
                state.delivery.observers.areToldBefore ? state.plan(inOrder: sources)?.0.changes ?? [] : []
            })
        withState { $0.commit(inOrder: sources) }
        deliverChanges()
    }

    /// Returns an order with remote values, after the overrides if they were left out, as in orders from
    /// before remote values existed.
    func completed(_ order: [TweakSource]) -> [TweakSource] {
        let missing = sources.filter { ($0 == .remote || $0 == .fleet) && !order.contains($0) }
        let start = order.firstIndex(of: .overrides).map { $0 + 1 } ?? 0
        return Array(order[..<start]) + missing + Array(order[start...])
    }

    // MARK: Querying

    /// Returns each provider's value for a tweak, highest precedence first, and the default at the end. The
    /// first accepted value counts.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)`` if no tweak has this name.
    public func opinions(on key: TweakKey) throws(TweakError) -> [TweakOpinion] {
        let declaration = try declaration(of: key)
        let opinions = state.withLock { $0.layers.opinions(on: key) }.map { source, provided in
            do throws(TweakValueError) {
                return TweakOpinion(
                    source: source, value: try provided.admission(for: declaration).value, problem: nil)
            } catch {
                return TweakOpinion(source: source, value: nil, problem: error)
            }
        }
        return opinions + [TweakOpinion(source: .binary, value: declaration.defaultValue, problem: nil)]
    }
}

extension ProviderLayers {
    /// Returns the message that there is no such provider.
    func noSource(_ source: TweakSource?) -> String {
        "no provider \(source?.name ?? ""); known: "
            + sources.map { $0.name }.joined(separator: ", ")
    }
}
