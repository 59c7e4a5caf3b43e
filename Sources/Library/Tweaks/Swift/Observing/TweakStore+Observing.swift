// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    // MARK: Observing

    /// Calls a closure when a provider has loaded its values, or failed to.
    ///
    ///     observation = store.observeLoads { load in
    ///         print("\(load.source):", load.problem ?? "loaded")
    ///     }
    ///
    /// Loads by `tweak-agent` for this application and by each `RemoteSource` are reported, but not loads
    /// before the process started. Calls come in order with those for changes, after the changes of the load.
    /// A repeated problem is reported once. If many calls wait, only the last load of each provider is
    /// reported.
    ///
    /// - Parameter didLoad: Called on a library thread, or on the provider's reporting thread.
    /// - Returns: The observation, which ends when it is released.
    public func observeLoads(_ didLoad: @escaping @Sendable (TweakLoad) -> Void) -> TweakObservation {
        addObserver(of: []) { _ in .loads(didLoad) }
    }

    /// Calls a closure when the value of a tweak changes.
    ///
    ///     observation = store.observe(initially: true) { print($0.key, $0.newValue) }
    ///
    /// If a tweak appears during the observation, the old value is ``TweakValue/nothing``; if a tweak
    /// disappears with the last provider that knows it, the new value is.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - initially: Whether to call first with the current values.
    ///   - body: Called with the change, on the thread that makes it.
    /// - Returns: The observation, which ends when it is released.
    public func observe(
        _ key: TweakKey? = nil, initially: Bool, _ body: @escaping @Sendable (TweakChange) -> Void
    ) -> TweakObservation {
        addObserver(of: key.map { [$0] }, startingWith: initially ? { _ in nil } : nil) { _ in
            .eachChange(body)
        }
    }

    /// Calls a closure on the main actor after the value of a tweak has changed.
    ///
    /// Changes of a tweak that wait for the actor are merged, from the first old value to the last new one.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether to call first with the current values.
    ///   - body: Called with the change.
    /// - Returns: The observation, which ends when it is released.
    public func observe(
        _ key: TweakKey? = nil, on actor: MainActor.Type, initially: Bool = false,
        _ body: @escaping @MainActor @Sendable (TweakChange) -> Void
    ) -> TweakObservation {
        relay(of: key.map { [$0] }, startingWith: initially ? { _ in nil } : nil) { change, call in
            await MainActor.run { call { body(change) } }
        }
    }

    /// Calls a closure on an actor after the value of a tweak has changed.
    ///
    /// Changes of a tweak that wait for the actor are merged, from the first old value to the last new one.
    /// The observation does not retain the actor, and ends with it.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - actor: The actor that runs the closure.
    ///   - initially: Whether to call first with the current values.
    ///   - body: Called with the actor and the change.
    /// - Returns: The observation, which ends when it is released.
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

    /// Calls a closure when the value of a tweak changes, as long as an object exists. The object is not
    /// retained.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - owner: The object. No call starts after its deallocation.
    ///   - initially: Whether to call first with the current values.
    ///   - body: Called with the owner and the change, on the thread that makes it.
    /// - Returns: The observation, for ending it early. It need not be held.
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

    /// Calls a closure on the main actor after the value of a tweak has changed, as long as an object exists.
    ///
    /// - Parameters:
    ///   - key: The tweak; `nil` for all.
    ///   - owner: The object. No call starts after its deallocation.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether to call first with the current values.
    ///   - body: Called with the owner and the change.
    /// - Returns: The observation, for ending it early. It need not be held.
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

    /// Observes through a relay. `body` gets a change and a function that makes the call unless the
    /// observation has ended; call it on the actor, so that ending the observation there takes effect at
    /// once.
    ///
    /// - Parameter hearsOfEnd: Whether `body` is also called when a tweak disappears, after the change to its
    ///   default.
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
