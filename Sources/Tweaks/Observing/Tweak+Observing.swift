internal import TweakRecords

extension Tweak {
    /// Calls back when the value changes, on the thread that changes it.
    ///
    ///     observation = stiffness.observe { print($0.oldValue, "→", $0.newValue) }
    ///
    /// Calls come one at a time, in the order of changes. A change that is made inside a callback is delivered after
    /// the callback has returned. While a callback blocks, further ones wait, but nobody who sets a tweak does.
    ///
    /// - Parameters:
    ///   - initially: Whether it is also called with the current value, before anything else: before this returns,
    ///     unless callbacks are running at this moment.
    ///   - body: Called with the change.
    /// - Returns: The observation, which lasts as long as it is held.
    @inlinable
    public func observe(
        initially: Bool = false, _ body: @escaping @Sendable (Change) -> Void
    ) -> TweakObservation {
        observe(initially: initially, untyped: { if let change = Change($0) { body(change) } })
    }

    /// Observes with a closure that is compiled where the type is known.
    @usableFromInline
    func observe(initially: Bool, untyped body: @escaping @Sendable (TweakChange) -> Void) -> TweakObservation
    {
        guard cell != 0 else {
            return constant(initially) { _ in body(TweakChange(constant: fallback.tweakValue)) }
        }
        return store.addObserver(of: [key], startingWith: initially ? unknownValue : nil) { _ in
            .eachChange(body)
        }
    }

    /// Calls back on the main actor when the value has changed.
    ///
    ///     observation = tweak.observe(on: MainActor.self, initially: true) { label.text = "\($0.newValue)" }
    ///
    /// Several changes that wait for the actor become one, from the first old value to the last new one.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether it is also called with the current value, before anything else.
    ///   - body: Called with the change.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observe(
        on actor: MainActor.Type, initially: Bool = false,
        _ body: @escaping @MainActor @Sendable (Change) -> Void
    ) -> TweakObservation {
        observe(initially: initially) { change, call in
            await MainActor.run { call { body(change) } }
        }
    }

    /// Calls back on an actor when the value has changed.
    ///
    ///     observation = tweak.observe(on: simulation) { simulation, change in simulation.mass = change.newValue }
    ///
    /// Several changes that wait for the actor become one, from the first old value to the last new one. The observer
    /// does not keep the actor, and ends with it.
    ///
    /// - Parameters:
    ///   - actor: Where the closure runs.
    ///   - initially: Whether it is also called with the current value, before anything else.
    ///   - body: Called with the actor and the change.
    /// - Returns: The observation, which lasts as long as it is held.
    public func observe<Isolation: Actor>(
        on actor: Isolation, initially: Bool = false,
        _ body: @escaping @Sendable (isolated Isolation, Change) -> Void
    ) -> TweakObservation {
        observe(initially: initially, isGone: { [weak actor] in actor == nil }) { [weak actor] change, call in
            await actor?.run { actor in call { body(actor, change) } }
        }
    }

    /// Calls back when the value changes, for as long as an object exists.
    ///
    ///     tweak.observe(owner: self) { owner, change in owner.apply(change.newValue) }
    ///
    /// The observer does not keep its owner. Otherwise it is as with ``observe(initially:_:)``.
    ///
    /// - Parameters:
    ///   - owner: The object. No call begins when it does not exist any more.
    ///   - initially: Whether it is also called with the current value, before anything else.
    ///   - body: Called with the owner and the change.
    /// - Returns: The observation, for who wants to end it earlier. It need not be held.
    @discardableResult
    public func observe<Owner: AnyObject & Sendable>(
        owner: Owner, initially: Bool = false, _ body: @escaping @Sendable (Owner, Change) -> Void
    ) -> TweakObservation {
        guard cell != 0 else { return constant(initially) { body(owner, $0) } }
        return store.addObserver(
            of: [key], startingWith: initially ? unknownValue : nil, isGone: { [weak owner] in owner == nil },
            lastsWithoutHolder: true
        ) { observer in
            .eachChange { [weak owner] in
                guard let owner else { return observer.remove(waits: false) }
                if let change = Change($0) { body(owner, change) }
            }
        }
    }

    /// Calls back on the main actor when the value has changed, for as long as an object exists.
    ///
    /// - Parameters:
    ///   - owner: The object. No call begins when it does not exist any more.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether it is also called with the current value, before anything else.
    ///   - body: Called with the owner and the change.
    /// - Returns: The observation, for who wants to end it earlier. It need not be held.
    @discardableResult
    public func observe<Owner: AnyObject & Sendable>(
        owner: Owner, on actor: MainActor.Type, initially: Bool = false,
        _ body: @escaping @MainActor @Sendable (Owner, Change) -> Void
    ) -> TweakObservation {
        observe(initially: initially, isGone: { [weak owner] in owner == nil }, lastsWithoutHolder: true) {
            [weak owner] change, call in
            await MainActor.run { [weak owner] in
                if let owner { call { body(owner, change) } }
            }
        }
    }

    /// Observes through a mailbox. `body` gets a change and a function that makes the call, unless the observation has
    /// ended; it is to be used on the actor, so that who ends the observation there has ended it.
    func observe(
        initially: Bool, isGone: (@Sendable () -> Bool)? = nil, lastsWithoutHolder: Bool = false,
        _ body: @escaping @Sendable (Change, @escaping @Sendable (() -> Void) -> Void) async -> Void
    ) -> TweakObservation {
        guard cell != 0 else {
            let mailbox = Mailbox { _ in
                await body(Change(oldValue: fallback, newValue: fallback, source: .binary)) { $0() }
            }
            return constant(initially) { mailbox.post([TweakChange(constant: $0.newValue.tweakValue)]) }
        }
        return store.addObserver(
            of: [key], startingWith: initially ? unknownValue : nil, isGone: isGone,
            lastsWithoutHolder: lastsWithoutHolder
        ) { observer in
            let mailbox = Mailbox { changes in
                if isGone?() ?? false { observer.remove(waits: false) }
                for change in changes.compactMap({ Change($0) }) { await body(change, observer.call) }
            }
            return .together { mailbox.post($0) }
        }
    }

    private var unknownValue: (TweakKey) -> TweakValue { { _ in fallback.tweakValue } }

    /// What observes a constant: there is no more than a first call.
    private func constant(_ initially: Bool, _ body: (Change) -> Void) -> TweakObservation {
        if initially { body(Change(oldValue: fallback, newValue: fallback, source: .binary)) }
        return TweakObservation { _ in }
    }
}

extension TweakChange {
    fileprivate init(constant: TweakValue) {
        self.init(key: TweakKey("", "", ""), oldValue: constant, newValue: constant, source: .binary)
    }
}
