// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakRecords

/// How long a client's values count, and how fast they are reached.
struct SetTerms {
    /// The end of the values; `nil` for a person's usual change, which is kept.
    var lease: Lease.Terms?
    /// The time until the values are reached.
    var ramp: Duration?

    /// Whether a ``ValueTimer`` is needed.
    var needTime: Bool { ramp != nil || lease?.end != nil }
}

extension TweakDeclaration {
    /// The reason why values of the tweak cannot be leased, or reached gradually; `nil` if they can.
    func obstacle(toLeases isLeased: Bool, toRamps isRamped: Bool) -> TweakError? {
        if isRamped, let obstacleToRamps { return .invalid(key, reason: obstacleToRamps) }
        guard isLeased, needsRestart else { return nil }
        return .invalid(
            key, reason: "the tweak takes effect at the next start, so it cannot be leased")
    }
}

extension StoreState {
    /// The update for values that a client sets. A kept value ends the client's own leases of the tweak.
    ///
    /// - Returns: `nil` if the client of a lease has gone.
    mutating func update(
        _ values: [(key: TweakKey, value: TweakValue?)], in source: TweakSource, by author: ChangeAuthor,
        _ terms: SetTerms
    ) -> ValueUpdate? {
        let update: ValueUpdate
        if let lease = terms.lease {
            if let connection = lease.connection, !layers.leases.isOpen(connection) { return nil }
            let leased = values.compactMap { key, value in value.map { (key: key, value: $0) } }
            let change = layers.beginLeases(leased, lease, by: author)
            update = ValueUpdate(resolving: leased.map { $0.key }, with: change, by: author)
        } else {
            update = self.update(values, in: source, by: author)
        }
        if let ramp = terms.ramp { update.ramps = .begin(ramp, at: .now) }
        return update
    }

    /// The update to values that are kept. It ends the client's leases of the tweaks.
    func update(
        _ values: [(key: TweakKey, value: TweakValue?)], in source: TweakSource, by author: ChangeAuthor
    ) -> ValueUpdate {
        let update = ValueUpdate(values, in: source, by: author)
        if source == .overrides, case .client(let client) = author {
            update.leases = layers.leases.ending(of: values.map { $0.key }) {
                $0.terms.connection === client
            }
        }
        return update
    }

    /// The update that ends some leases; `nil` if there are none.
    func update(ending change: Leases.Change, by author: ChangeAuthor) -> ValueUpdate? {
        change.isEmpty
            ? nil
            : ValueUpdate(resolving: layers.leases.affected(by: change), with: change, by: author)
    }

    /// Whether a ``ValueTimer`` has something to do.
    fileprivate var needsTimer: Bool { layers.leases.nextEnd != nil || !ramps.isEmpty }

    /// Ends all leases and ramps.
    mutating func endLeasesAndRamps() {
        let update = ValueUpdate(
            resolving: Set(layers.leases.byTweak.keys).union(ramps.keys).sorted(),
            with: layers.leases.ending { _ in true }, by: .program)
        guard update.opinions.count > 0 else { return }
        for key in ramps.keys.sorted() { if let entry = tweaks[key] { follow(nil, entry) } }
        ramps = [:]
        update.ramps = .end
        _ = commit(plan(update, in: layers), of: update)
    }
}

extension TweakStore {
    /// Ends leases of some tweaks.
    ///
    /// - Parameter ends: Returns whether a lease ends.
    /// - Returns: The number of leases that ended.
    func endLeases(
        of keys: [TweakKey], by author: ChangeAuthor, where ends: (Lease) -> Bool
    ) -> Int {
        var count = 0
        apply { state in
            let change = state.layers.leases.ending(of: keys, where: ends)
            count = keys.reduce(0) { $0 + state.layers.leases[$1].count(where: ends) }
            return state.update(ending: change, by: author)
        }
        return count
    }

    /// Ends the leases of a client whose connection is closed, at once even if an observer blocks the worker. Called
    /// on the library thread.
    func endLeases(of client: ClientIdentity, worker: SerialQueue) {
        state.withLock { $0.layers.closeLeases(of: client) }
        applyAtOnce(worker: worker) { state in
            state.update(
                ending: state.layers.leases.ending { $0.terms.connection === client }, by: .client(client))
        }
    }

    /// Applies an update on the library thread, which must not call the program's code: the worker calls observers. If
    /// some want to know before the change, the worker does it all.
    ///
    /// - Parameters:
    ///   - worker: Calls observers.
    ///   - later: Called on the worker when it has applied the update.
    ///   - make: Returns the update for the store's current state, or `nil` for none.
    /// - Returns: Whether the update is applied already.
    @discardableResult
    func applyAtOnce(
        worker: SerialQueue, later: @escaping @Sendable () -> Void = {},
        _ make: @escaping @Sendable (inout StoreState) -> ValueUpdate?
    ) -> Bool {
        if state.withLock({ $0.delivery.observers.areToldBefore }) {
            let isAdded = worker.add(abandoned: later) { [self] in
                apply(make)
                later()
            }
            if isAdded { return false }
        }
        let (hasRest, callsForWatch) = state.withLock { state in
            if let update = make(&state) {
                if !state.images.undecoded.isEmpty {
                    state.decode(only: update.opinions.compactMap { $0.key })
                }
                _ = state.commit(state.plan(update, in: state.layers), of: update)
            }
            return (state.delivery.isLeft || state.hasMessages, state.gates.drainCallForWatch())
        }
        if callsForWatch { watchGates() }
        if hasRest {
            _ = worker.add { [self] in
                withState { _ in }
                deliverChanges()
            }
        }
        return true
    }

    /// Makes sure that leases end and ramps advance in time.
    ///
    /// - Returns: `false` if no thread can do that. All leases and ramps have ended then.
    func keepTime() -> Bool {
        let isNew = state.withLock { state in
            defer { state.hasTimer = true }
            return !state.hasTimer
        }
        if !isNew {
            EventLoop.current.withLock { $0 }?.wake()
            return true
        }
        if startTimer() { return true }
        deliverChanges()
        return false
    }

    private func startTimer() -> Bool {
        if EventLoop.wait(for: { thread, _ in ValueTimer(of: self, on: thread) }) { return true }
        state.withLock { state in
            state.hasTimer = false
            state.endLeasesAndRamps()
        }
        return false
    }

    /// Ends the leases that a forked child has no way to end: those of connections, and if it has no thread, all of them
    /// and the ramps.
    ///
    /// - Returns: Whether observers are to be notified.
    func endLeasesInChild(hasThread: Bool) -> Bool {
        state.withLock { state in
            state.hasTimer = false
            if hasThread {
                let change = state.layers.leases.ending { $0.terms.connection != nil }
                if let update = state.update(ending: change, by: .program) {
                    _ = state.commit(state.plan(update, in: state.layers), of: update)
                }
            } else {
                state.endLeasesAndRamps()
            }
            return state.delivery.isLeft
        }
    }

    /// Has leases end, and ramps advance, in a forked child that inherited some.
    func keepTimeInChild() {
        let isNeeded = state.withLock { state in
            state.hasTimer = state.needsTimer
            return state.hasTimer
        }
        if isNeeded { _ = startTimer() }
    }
}

/// Ends leases whose time is over, and advances ramps. There is one for a store while it has such leases or ramps.
final class ValueTimer: EventLoop.Source {
    private let store: TweakStore
    private let thread: EventLoop
    private var nextStep = ContinuousClock.now
    /// Whether the worker applies an update that observers are told of before.
    private let isApplying = Guarded(false)

    init(of store: TweakStore, on thread: EventLoop) { (self.store, self.thread) = (store, thread) }

    var awaited: [pollfd] { [] }

    var deadline: ContinuousClock.Instant? {
        if isApplying.withLock({ $0 }) { return nil }
        let (end, hasRamps) = store.state.withLock { ($0.layers.leases.nextEnd, !$0.ramps.isEmpty) }
        return [end, hasRamps ? nextStep : nil].compactMap { $0 }.min()
    }

    func handle(_: ArraySlice<pollfd>) -> Bool {
        guard !isApplying.withLock({ $0 }) else { return true }
        let now = ContinuousClock.now
        while let due = store.state.withLock({ $0.layers.leases.due(at: now) }) {
            let author = due.author
            let isApplied = apply { state in
                // The leases of one client end together.
                let change = state.layers.leases.ending {
                    $0.isOver(at: now) && $0.author.description == author.description
                }
                return state.update(ending: change, by: author)
            }
            guard isApplied else { return true }
        }
        if nextStep <= now {
            nextStep = now + Ramp.period
            let isApplied = apply { state in
                guard !state.ramps.isEmpty else { return nil }
                let update = ValueUpdate(resolving: state.ramps.keys.sorted(), by: .program)
                update.ramps = .advance(to: now)
                return update
            }
            guard isApplied else { return true }
        }
        return store.state.withLock { state in
            state.hasTimer = state.needsTimer
            return state.hasTimer
        }
    }

    /// - Returns: `false` if the worker will apply the update.
    private func apply(_ make: @escaping @Sendable (inout StoreState) -> ValueUpdate?) -> Bool {
        isApplying.withLock { $0 = true }
        let later = { @Sendable [isApplying, thread] in
            isApplying.withLock { $0 = false }
            thread.wake()
        }
        guard store.applyAtOnce(worker: thread.worker, later: later, make) else { return false }
        isApplying.withLock { $0 = false }
        return true
    }

    /// Nobody measures time any more.
    func end() {
        store.state.withLock { state in
            state.hasTimer = false
            state.endLeasesAndRamps()
        }
    }
}
