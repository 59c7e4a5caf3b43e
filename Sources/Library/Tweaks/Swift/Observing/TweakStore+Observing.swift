// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    // MARK: Observing

    /// Calls back when a provider has loaded values, or failed to.
    ///
    ///     observation = store.observeLoads { load in
    ///         print("\(load.source):", load.problem ?? "loaded")
    ///     }
    ///
    /// It covers what `tweak-agent` has loaded for this application, and each `RemoteSource`, but not what was loaded
    /// before the start of the process. Calls come in order with those of changes, after the changes that the load
    /// made. Repeated problems are reported once. If many calls wait, only a provider's last load is reported.
    ///
    /// - Parameter didLoad: Called on a library thread, or on the provider's reporting thread.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observeLoads(_ didLoad: @escaping @Sendable (TweakLoad) -> Void) -> TweakObservation {
        addObserver(of: []) { _ in .loads(didLoad) }
    }

    /// Calls back when the value of a tweak changes.
    ///
    ///     observation = store.observe(initially: true) { print($0.key, $0.newValue) }
    ///
    /// The old value is ``TweakValue/nothing`` if a tweak appears during the observation; the new value is, if it
    /// disappears with the last provider that knows it.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - initially: Whether the first calls have the current values.
    ///   - body: Called with the change, on the thread that makes it.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observe(
        _ key: TweakKey? = nil, initially: Bool, _ body: @escaping @Sendable (TweakChange) -> Void
    ) -> TweakObservation {
        addObserver(of: key.map { [$0] }, startingWith: initially ? { _ in nil } : nil) { _ in
            .eachChange(body)
        }
    }

    /// Calls back on the main actor after the value of a tweak has changed.
    ///
    /// Changes of a tweak that wait for the actor are merged, from the first old value to the last new one.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether the first calls have the current values.
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

    /// Calls back on an actor after the value of a tweak has changed.
    ///
    /// Changes of a tweak that wait for the actor are merged, from the first old value to the last new one. The
    /// observation does not retain the actor, and ends with it.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - actor: The actor that runs the closure.
    ///   - initially: Whether the first calls have the current values.
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

    /// Calls back when the value of a tweak changes, for as long as an object exists. The object is not retained.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - owner: The object. No call starts after it was deallocated.
    ///   - initially: Whether the first calls have the current values.
    ///   - body: Called with the owner and the change, on the thread that makes it.
    /// - Returns: The observation, to end it earlier. It need not be held.
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

    /// Calls back on the main actor after the value of a tweak has changed, for as long as an object exists.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - owner: The object. No call starts after it was deallocated.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether the first calls have the current values.
    ///   - body: Called with the owner and the change.
    /// - Returns: The observation, to end it earlier. It need not be held.
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

    /// Observes through a relay. `body` gets a change and a function that makes the call unless the observation has
    /// ended; call it on the actor, so that ending the observation there takes effect at once.
    ///
    /// - Parameter hearsOfEnd: Whether `body` is also called when a tweak disappears, after the change to its default.
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
