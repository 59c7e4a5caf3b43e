// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

extension Tweak {
    /// Calls a closure when the value changes, on the thread that changes it.
    ///
    ///     observation = stiffness.observe { print($0.oldValue, "→", $0.newValue) }
    ///
    /// Calls come one at a time, in the order of changes. A change made inside a callback is delivered after
    /// the callback has returned. While a callback blocks, further calls wait, but threads that set tweaks do
    /// not.
    ///
    /// - Parameters:
    ///   - initially: Whether to call first with the current value: before this function returns, unless
    ///     callbacks are running.
    ///   - body: Called with the change.
    /// - Returns: The observation, which ends when it is released.
    @inlinable
    public func observe(
        initially: Bool = false, _ body: @escaping @Sendable (Change) -> Void
    ) -> TweakObservation {
        observe(initially: initially, untyped: { if let change = Change($0) { body(change) } })
    }

    /// Observes with a closure that is specialised where the type is known.
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

    /// Calls a closure on the main actor after the value has changed.
    ///
    ///     observation = tweak.observe(on: MainActor.self, initially: true) { label.text = "\($0.newValue)" }
    ///
    /// Changes that wait for the actor are merged, from the first old value to the last new one.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether to call first with the current value.
    ///   - body: Called with the change.
    /// - Returns: The observation, which ends when it is released.
    public func observe(
        on actor: MainActor.Type, initially: Bool = false,
        _ body: @escaping @MainActor @Sendable (Change) -> Void
    ) -> TweakObservation {
        observe(initially: initially) { change, call in
            await MainActor.run { call { body(change) } }
        }
    }

    /// Calls a closure on an actor after the value has changed.
    ///
    ///     observation = tweak.observe(on: simulation) { simulation, change in simulation.mass = change.newValue }
    ///
    /// Changes that wait for the actor are merged, from the first old value to the last new one. The
    /// observation does not retain the actor, and ends with it.
    ///
    /// - Parameters:
    ///   - actor: The actor that runs the closure.
    ///   - initially: Whether to call first with the current value.
    ///   - body: Called with the actor and the change.
    /// - Returns: The observation, which ends when it is released.
    public func observe<Isolation: Actor>(
        on actor: Isolation, initially: Bool = false,
        _ body: @escaping @Sendable (isolated Isolation, Change) -> Void
    ) -> TweakObservation {
        observe(initially: initially, isGone: { [weak actor] in actor == nil }) { [weak actor] change, call in
            await actor?.run { actor in call { body(actor, change) } }
        }
    }

    /// Calls a closure when the value changes, as long as an object exists.
    ///
    ///     tweak.observe(owner: self) { owner, change in owner.apply(change.newValue) }
    ///
    /// The owner is not retained. Otherwise this works like ``observe(initially:_:)``.
    ///
    /// - Parameters:
    ///   - owner: The object. No call starts after its deallocation.
    ///   - initially: Whether to call first with the current value.
    ///   - body: Called with the owner and the change.
    /// - Returns: The observation, for ending it early. It need not be held.
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

    /// Calls a closure on the main actor after the value has changed, as long as an object exists.
    ///
    /// - Parameters:
    ///   - owner: The object. No call starts after its deallocation.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether to call first with the current value.
    ///   - body: Called with the owner and the change.
    /// - Returns: The observation, for ending it early. It need not be held.
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

    /// Observes through a relay. `body` gets a change and a function that makes the call unless the
    /// observation has ended; call it on the actor, so that ending the observation there takes effect at
    /// once.
    func observe(
        initially: Bool, isGone: (@Sendable () -> Bool)? = nil, lastsWithoutHolder: Bool = false,
        _ body: @escaping @Sendable (Change, @escaping @Sendable (() -> Void) -> Void) async -> Void
    ) -> TweakObservation {
        guard cell != 0 else {
            let relay = ActorRelay { _ in
                await body(Change(oldValue: fallback, newValue: fallback, source: .binary)) { $0() }
            }
            return constant(initially) { relay.post([TweakChange(constant: $0.newValue.tweakValue)]) }
        }
        return store.relay(
            of: [key], startingWith: initially ? unknownValue : nil, isGone: isGone,
            lastsWithoutHolder: lastsWithoutHolder, hearsOfEnd: false
        ) { change, call in
            if let change = Change(change) { await body(change, call) }
        }
    }

    private var unknownValue: (TweakKey) -> TweakValue? { { _ in fallback.tweakValue } }

    /// Observes a constant: makes at most the first call.
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

/// Changes that wait for an actor.
final class ActorRelay: Sendable {
    private struct Waiting {
        var changes = CoalescedChanges<Void>()
        var hasTask = false
    }

    private let waiting = Guarded(Waiting())
    private let deliver: @Sendable ([TweakChange]) async -> Void

    init(deliver: @escaping @Sendable ([TweakChange]) async -> Void) { self.deliver = deliver }

    func post(_ changes: [TweakChange]) {
        let needsTask = waiting.withLock { waiting in
            for change in changes { waiting.changes.add(change, note: ()) }
            defer { waiting.hasTask = true }
            return !waiting.hasTask
        }
        // Detached, because task-local values of the thread that changes a tweak are not the observer's.
        if needsTask { Task.detached { await self.work() } }
    }

    private func work() async {
        while let changes = next() {
            if !changes.isEmpty { await deliver(changes) }
        }
    }

    private func next() -> [TweakChange]? {
        waiting.withLock { waiting in
            guard !waiting.changes.isEmpty else {
                waiting.hasTask = false
                return nil
            }
            return waiting.changes.drainAll().map(\.change)
        }
    }
}

extension Actor {
    /// Runs a closure on the actor.
    func run(_ body: @Sendable (isolated Self) -> Void) { body(self) }
}

/// An asynchronous sequence of a tweak's values; see ``Tweak/values``.
public struct TweakValues<Value: TweakableValue>: AsyncSequence, Sendable {
    /// The type of the values.
    public typealias Element = Value
    /// An iterator over the values, for one reader.
    public typealias AsyncIterator = AsyncStream<Value>.Iterator

    let tweak: Tweak<Value>

    /// Creates an iterator that starts with the current value.
    public func makeAsyncIterator() -> AsyncStream<Value>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let observation = tweak.observe(initially: true) { continuation.yield($0.newValue) }
        // The tweak retains its store while somebody reads.
        continuation.onTermination = { [tweak] _ in withExtendedLifetime(tweak) { observation.end() } }
        return stream.makeAsyncIterator()
    }
}

extension Tweak {
    /// The tweak's values: the current one, then each new one.
    ///
    ///     for await stiffness in tweak.values { spring.stiffness = stiffness }
    ///
    /// A slow reader misses values but never the last one. The sequence ends when the reading task is
    /// cancelled. Loops are independent of each other.
    public var values: TweakValues<Value> { TweakValues(tweak: self) }
}

extension Tweak {
    /// A change of the tweak's value. In an initial call both values are the current one.
    public struct Change: Sendable, Equatable {
        /// The old value.
        public let oldValue: Value
        /// The new value.
        public let newValue: Value
        /// The provider of the new value.
        public let source: TweakSource

        @inlinable
        init(oldValue: Value, newValue: Value, source: TweakSource) {
            self.oldValue = oldValue
            self.newValue = newValue
            self.source = source
        }

        /// `nil` if the tweak has another type by now or is gone; the change before reported the default.
        @inlinable
        init?(_ change: TweakChange) {
            // A tweak that has just appeared had no value.
            let old = change.oldValue == .nothing ? change.newValue : change.oldValue
            guard let oldValue = Value(tweakValue: old), let newValue = Value(tweakValue: change.newValue)
            else { return nil }
            self.init(oldValue: oldValue, newValue: newValue, source: change.source)
        }
    }
}
