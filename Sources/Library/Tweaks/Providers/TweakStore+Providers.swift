// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// A provider's value for a tweak, see ``TweakStore/opinions(on:)``.
public struct TweakOpinion: Hashable, Sendable {
    /// The provider.
    public let source: TweakSource
    /// The value as the tweak takes it; `nil` if the tweak refuses it.
    public let value: TweakValue?
    /// The reason why the tweak refuses the value.
    public let problem: TweakValueError?
}

extension TweakStore {
    // MARK: The order

    /// The providers, highest precedence first. The first value that the tweak accepts counts; without one, the default
    /// in the binary. Leases and kills, see ``TweakSource/lease`` and ``TweakSource/kill``, always come after the
    /// session, and kills first if something else precedes it.
    public var sources: [TweakSource] {
        startIfShared()
        return state.withLock { $0.layers.sources }
    }

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
        startIfShared()
        guard let feed = ProviderFeed(provider, of: self) else {
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

    /// Removes a provider, with its values and the tweaks that only it declares.
    ///
    /// - Throws: ``TweakError/order(_:)`` if there is no such provider, or it is the store's own.
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
    /// - Parameter sources: All of ``sources``, highest precedence first, or all that were added: the session, the
    ///   environment, the overrides and remote values then come first, in their current order. Remote values come after
    ///   the overrides if they are left out.
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

    /// The order with remote values after the overrides if they were left out, as in orders written before there were
    /// any.
    func completed(_ order: [TweakSource]) -> [TweakSource] {
        let missing = sources.filter { ($0 == .remote || $0 == .fleet) && !order.contains($0) }
        let start = order.firstIndex(of: .overrides).map { $0 + 1 } ?? 0
        return Array(order[..<start]) + missing + Array(order[start...])
    }

    // MARK: Querying

    /// The value of each provider for a tweak, highest precedence first, and the default at the end. The first accepted
    /// value counts.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)``.
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
    fileprivate func noSource(_ source: TweakSource?) -> String {
        "there is no provider \(source?.name ?? ""); there are \(sources.map { $0.name }.joined(separator: ", "))"
    }
}
