public import TweakRecords

extension TweakStore {
    // MARK: Observing

    /// Calls back when a provider has loaded its values anew, and when it could not.
    ///
    ///     observation = store.observeLoads { load in
    ///         print("\(load.source):", load.problem ?? "loaded")
    ///     }
    ///
    /// That is what `tweak-agent` says of the values that it has for this application, and a `RemoteSource`. What there was at
    /// the start of the process is not told of. Calls come in one order with those of changes, after those that the load has
    /// made. The same problem is told of once. If much waits, only the last load of a provider is told of.
    ///
    /// - Parameter didLoad: Called on a thread of the library, or on the one that a provider reports on.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observeLoads(_ didLoad: @escaping @Sendable (TweakLoad) -> Void) -> TweakObservation {
        addObserver(of: []) { _ in .loads(didLoad) }
    }

    /// Calls back when the value of a tweak changes, and first with what it is.
    ///
    ///     observation = store.observe(initially: true) { print($0.key, $0.newValue) }
    ///
    /// Of a tweak that appears while the observer is there, the old value is ``TweakValue/nothing``; of one that goes with
    /// the last provider that knows it, the new value is.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - initially: Whether it is also called with each current value, before anything else.
    ///   - body: Called with the change, on the thread that makes it.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observe(
        _ key: TweakKey? = nil, initially: Bool, _ body: @escaping @Sendable (TweakChange) -> Void
    ) -> TweakObservation {
        addObserver(of: key.map { [$0] }, startingWith: initially ? { _ in nil } : nil) { _ in
            .eachChange(body)
        }
    }

    /// Calls back on the main actor when the value of a tweak has changed.
    ///
    /// Several changes of a tweak that wait for the actor become one, from the first old value to the last new one.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether it is also called with each current value, before anything else.
    ///   - body: Called with the change.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observe(
        _ key: TweakKey? = nil, on actor: MainActor.Type, initially: Bool = false,
        _ body: @escaping @MainActor @Sendable (TweakChange) -> Void
    ) -> TweakObservation {
        relay(of: key.map { [$0] }, startingWith: initially ? { _ in nil } : nil) { change, call in
            await MainActor.run { call { body(change) } }
        }
    }

    /// Calls back on an actor when the value of a tweak has changed.
    ///
    /// Several changes of a tweak that wait for the actor become one, from the first old value to the last new one. The
    /// observer does not keep the actor, and ends with it.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - actor: Where the closure runs.
    ///   - initially: Whether it is also called with each current value, before anything else.
    ///   - body: Called with the actor and the change.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observe<Isolation: Actor>(
        _ key: TweakKey? = nil, on actor: Isolation, initially: Bool = false,
        _ body: @escaping @Sendable (isolated Isolation, TweakChange) -> Void
    ) -> TweakObservation {
        relay(
            of: key.map { [$0] }, startingWith: initially ? { _ in nil } : nil,
            isGone: { [weak actor] in actor == nil }
        ) { [weak actor] change, call in
            await actor?.run { actor in call { body(actor, change) } }
        }
    }

    /// Calls back when the value of a tweak changes, for as long as an object exists. The observer does not keep it.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - owner: The object. No call begins when it does not exist any more.
    ///   - initially: Whether it is also called with each current value, before anything else.
    ///   - body: Called with the owner and the change, on the thread that makes it.
    /// - Returns: The observation, for who wants to end it earlier. It need not be held.
    @discardableResult
    public func observe<Owner: AnyObject & Sendable>(
        _ key: TweakKey? = nil, owner: Owner, initially: Bool = false,
        _ body: @escaping @Sendable (Owner, TweakChange) -> Void
    ) -> TweakObservation {
        addObserver(
            of: key.map { [$0] }, startingWith: initially ? { _ in nil } : nil,
            isGone: { [weak owner] in owner == nil }, lastsWithoutHolder: true
        ) { observer in
            .eachChange { [weak owner] in
                guard let owner else { return observer.remove(waits: false) }
                body(owner, $0)
            }
        }
    }

    /// Calls back on the main actor when the value of a tweak has changed, for as long as an object exists.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - owner: The object. No call begins when it does not exist any more.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether it is also called with each current value, before anything else.
    ///   - body: Called with the owner and the change.
    /// - Returns: The observation, for who wants to end it earlier. It need not be held.
    @discardableResult
    public func observe<Owner: AnyObject & Sendable>(
        _ key: TweakKey? = nil, owner: Owner, on actor: MainActor.Type, initially: Bool = false,
        _ body: @escaping @MainActor @Sendable (Owner, TweakChange) -> Void
    ) -> TweakObservation {
        relay(
            of: key.map { [$0] }, startingWith: initially ? { _ in nil } : nil,
            isGone: { [weak owner] in owner == nil }, lastsWithoutHolder: true
        ) { [weak owner] change, call in
            await MainActor.run { [weak owner] in
                if let owner { call { body(owner, change) } }
            }
        }
    }

    /// Observes through a relay. `body` gets a change and a function that makes the call, unless the observation has ended;
    /// it is to be used on the actor, so that who ends the observation there has ended it.
    ///
    /// - Parameter hearsOfEnd: Whether `body` is also called when a tweak is gone, after the change to its default.
    func relay(
        of keys: [TweakKey]?, startingWith unknownValue: ((TweakKey) -> TweakValue?)?,
        isGone: (@Sendable () -> Bool)? = nil, lastsWithoutHolder: Bool = false, hearsOfEnd: Bool = true,
        _ body: @escaping @Sendable (TweakChange, @escaping @Sendable (() -> Void) -> Void) async -> Void
    ) -> TweakObservation {
        addObserver(
            of: keys, startingWith: unknownValue, isGone: isGone, lastsWithoutHolder: lastsWithoutHolder
        ) { observer in
            let relay = ActorRelay { changes in
                if isGone?() ?? false { observer.remove(waits: false) }
                for change in changes { await body(change, observer.call) }
            }
            return .together { changes in
                relay.post(hearsOfEnd ? changes : changes.filter { $0.newValue != .nothing })
            }
        }
    }
}
