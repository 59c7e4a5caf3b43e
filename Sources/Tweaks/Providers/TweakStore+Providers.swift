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
    public var sources: [TweakSource] { state.withLock { $0.chain.layers.map(\.source) } }

    /// Adds a provider, and gives tweaks the values that it has.
    ///
    ///     try store.add(VariablesProvider(files: ["tweaks.json"]), below: .overrides)
    ///
    /// The store asks it now, on this thread, and again for what it reports.
    ///
    /// - Parameters:
    ///   - provider: The provider. The store holds it.
    ///   - source: The one before which it is asked; `nil` to ask it last.
    /// - Throws: ``TweakError/order(_:)`` if there is one with this source already, or none to be above.
    public func add(_ provider: any TweakProvider, above source: TweakSource?) throws(TweakError) {
        let feed = ProviderFeed(provider, of: self)
        let problem = state.withLock { state -> TweakError? in
            guard state.chain.index(of: provider.source) == nil, provider.source != .binary else {
                return .order("there is a provider \(provider.source) already")
            }
            guard let index = source.map(state.chain.index) ?? state.chain.layers.count else {
                return .order(state.chain.noSource(source))
            }
            state.chain.insert(ProviderChain.Layer(source: provider.source, feed: feed), at: index)
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
    /// - Throws: ``TweakError/order(_:)`` if there is one with this source already, or none to be below.
    public func add(_ provider: any TweakProvider, below source: TweakSource) throws(TweakError) {
        let sources = sources
        guard let index = sources.firstIndex(of: source) else {
            throw .order(state.withLock { $0.chain.noSource(source) })
        }
        try add(provider, above: sources.dropFirst(index + 1).first)
    }

    /// Takes a provider away, with the values that it has given and the tweaks that nobody else has.
    ///
    /// - Throws: ``TweakError/order(_:)`` if there is no such provider, or it is the store's own.
    public func remove(providerOf source: TweakSource) throws(TweakError) {
        guard let feed = state.withLock({ $0.chain.feed(of: source) }) else {
            throw .order("no provider \(source) was added")
        }
        feed.end()
        take { $0.chain.feed(of: source) === feed ? $0.news(of: source, having: [:]) : nil }
        state.withLock { if $0.chain.feed(of: source) === feed { $0.chain.remove(source) } }
    }

    /// Asks the providers in another order.
    ///
    /// - Parameter sources: All of ``sources``, the highest first.
    /// - Throws: ``TweakError/order(_:)`` if one is missing, or there twice, or unknown.
    public func setOrder(_ sources: [TweakSource]) throws(TweakError) {
        guard sources != self.sources else { return }
        let outcome = state.withLock { state in
            state.chain.ordered(sources).map { state.outcome(of: $0) }
        }
        guard let outcome else {
            throw .order(
                "the order must have each of \(self.sources.map(\.name).joined(separator: ", ")) once")
        }
        for change in outcome.changes { announce(change) }
        if withState({ state in state.chain.ordered(sources).map { state.take($0) } ?? false }) { deliver() }
    }

    // MARK: Asking

    /// What each provider says about a tweak, the highest first, and the default at the end. The first with a value decides.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)``.
    public func opinions(on key: TweakKey) throws(TweakError) -> [TweakOpinion] {
        let declaration = try entry(of: key).declaration
        let opinions = state.withLock { $0.chain.opinions(on: key) }.map { source, provided in
            do throws(TweakValueError) {
                return TweakOpinion(
                    source: source, value: try provided.admission(for: declaration).value, problem: nil)
            } catch {
                return TweakOpinion(source: source, value: nil, problem: error)
            }
        }
        return opinions + [TweakOpinion(source: .binary, value: declaration.defaultValue, problem: nil)]
    }

    /// Takes over what a provider has now, as one ``set(_:for:)`` each but with nothing to write.
    ///
    /// - Parameter news: What is new by the state of the store at the time; `nil` for nothing.
    func take(_ news: (StoreState) -> ProviderChain.News?) {
        let announced = state.withLock { state in
            state.observers.areToldBefore ? news(state).map { state.outcome(of: $0).changes } : nil
        }
        for change in announced ?? [] { announce(change) }
        // Without changes of its own this thread would only take over calls that others are about to make.
        if withState({ state in news(state).map { state.take($0) } ?? false }) { deliver() }
    }
}

extension ProviderChain {
    fileprivate func noSource(_ source: TweakSource?) -> String {
        "there is no provider \(source?.name ?? ""); there are \(layers.map(\.source.name).joined(separator: ", "))"
    }
}
