public import TweakRecords

/// What a provider says about a tweak, see ``TweakStore/opinions(on:)``.
public struct TweakOpinion: Hashable, Sendable {
    /// Who says it.
    public let source: TweakSource
    /// The value, in the form that the tweak takes it; `nil` if the tweak cannot take it.
    public let value: TweakValue?
    /// Why the tweak cannot take it.
    public let problem: TweakValueError?
}

extension TweakStore {
    // MARK: The order

    /// Where values come from, the highest first. The first that has a value which the tweak can take decides; if none
    /// has, it is the default in the binary.
    public var sources: [TweakSource] {
        startIfShared()
        return state.withLock { $0.layers.all.map(\.source) }
    }

    /// Adds a provider, and gives tweaks the values that it has.
    ///
    ///     try store.add(VariablesProvider(files: ["tweaks.json"]), below: .overrides)
    ///
    /// The store asks it now, on this thread, and again for what it reports.
    ///
    /// - Parameters:
    ///   - provider: The provider. The store holds it.
    ///   - source: The one before which it is asked; `nil` to ask it last.
    /// - Throws: ``TweakError/order(_:)`` if there is one with this source already, or none to be above, or the provider is in
    ///   a store already: each store has a provider of its own.
    public func add(_ provider: any TweakProvider, above source: TweakSource?) throws(TweakError) {
        startIfShared()
        guard let feed = ProviderFeed(provider, of: self) else {
            throw .order("the provider \(provider.source) is in a store already; each store needs its own")
        }
        let problem = state.withLock { state -> TweakError? in
            guard state.layers.index(of: provider.source) == nil, provider.source != .binary else {
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

    /// Adds a provider, and gives tweaks the values that it has; as ``add(_:above:)``, but it is asked after another one.
    ///
    /// - Parameters:
    ///   - provider: The provider. The store holds it.
    ///   - source: The one after which it is asked.
    /// - Throws: ``TweakError/order(_:)`` if there is one with this source already, or none to be below, or the provider is in
    ///   a store already.
    public func add(_ provider: any TweakProvider, below source: TweakSource) throws(TweakError) {
        let sources = sources
        guard let index = sources.firstIndex(of: source) else {
            throw .order(state.withLock { $0.layers.noSource(source) })
        }
        try add(provider, above: sources.dropFirst(index + 1).first)
    }

    /// Takes a provider away, with the values that it has given and the tweaks that nobody else has.
    ///
    /// - Throws: ``TweakError/order(_:)`` if there is no such provider, or it is the store's own.
    public func remove(providerOf source: TweakSource) throws(TweakError) {
        guard let feed = state.withLock({ $0.layers.feed(of: source) }) else {
            throw .order("no provider \(source) was added")
        }
        feed.end()
        apply { state in
            guard state.layers.feed(of: source) === feed else { return nil }
            return ValueUpdate(of: source, replacing: state.layers[source], with: [:])
        }
        state.withLock { if $0.layers.feed(of: source) === feed { $0.layers.remove(source) } }
    }

    /// Asks the providers in another order.
    ///
    /// - Parameter sources: All of ``sources``, the highest first, or all that were added: the session, the environment, the
    ///   overrides and what comes from afar are asked before them then, in the order that they have. What comes from afar is asked
    ///   behind the overrides if it is left out.
    /// - Throws: ``TweakError/order(_:)`` if one is missing, or there twice, or unknown.
    public func setOrder(_ sources: [TweakSource]) throws(TweakError) {
        let own: Set = [TweakSource.session, .environment, .overrides, .remote, .fleet]
        let sources = completed(
            own.isDisjoint(with: sources) ? self.sources.filter(own.contains) + sources : sources)
        guard sources != self.sources else { return }
        guard state.withLock({ $0.layers.ordered(sources) != nil }) else {
            throw .order(
                "the order must have each of \(self.sources.map(\.name).joined(separator: ", ")) once")
        }
        withState { $0.decode(only: Array($0.layers.keys)) }
        announce(
            state.withLock { state in
                state.delivery.observers.areToldBefore ? state.plan(inOrder: sources)?.0.changes ?? [] : []
            })
        withState { $0.commit(inOrder: sources) }
        deliverChanges()
    }

    /// An order with what comes from afar, behind the overrides if it was left out. Orders that were written before there was
    /// any do not know it.
    func completed(_ order: [TweakSource]) -> [TweakSource] {
        let missing = sources.filter { ($0 == .remote || $0 == .fleet) && !order.contains($0) }
        let start = order.firstIndex(of: .overrides).map { $0 + 1 } ?? 0
        return Array(order[..<start]) + missing + Array(order[start...])
    }

    // MARK: Asking

    /// What each provider says about a tweak, the highest first, and the default at the end. The first with a value decides.
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
        "there is no provider \(source?.name ?? ""); there are \(all.map(\.source.name).joined(separator: ", "))"
    }
}
