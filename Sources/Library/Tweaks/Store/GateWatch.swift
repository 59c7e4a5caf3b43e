// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakRecords

/// Looks at the gates of a store while something waits for them, commits what loops have stored, and has the worker
/// notify observers. The loops themselves call nobody.
final class GateWatch: EventLoop.Source {
    private let store: WeakReference<TweakStore>
    private let worker: SerialQueue
    private(set) var deadline: ContinuousClock.Instant?

    init(_ store: TweakStore, worker: SerialQueue) {
        self.store = WeakReference(store)
        self.worker = worker
        deadline = .now
    }

    var awaited: [pollfd] { [] }

    func handle(_ happened: ArraySlice<pollfd>) -> Bool {
        guard let store = store.object else { return false }
        let isDue = deadline.map { $0 <= .now } ?? true
        let (pause, havePassed, problems) = store.state.withLock { state in
            let hasPassed = state.settleGates()
            if hasPassed || isDue { state.gates.adjustPause(hasPassed: hasPassed) }
            let isNeeded = state.gates.haveWaiting || state.gates.havePassed
            if !isNeeded { state.gates.isWatched = false }
            return (
                isNeeded ? state.gates.pause : nil, state.gates.havePassed,
                state.gates.all.compactMap { $0.problem() }
            )
        }
        // The worker may be unavailable for lack of memory.
        if havePassed { _ = worker.add { store.deliverPassed() } }
        for problem in problems { _ = worker.add { store.diagnostics.warn(problem) } }
        deadline = pause.map { .now + $0 }
        return pause != nil
    }

    func end() { store.object?.state.withLock { $0.gates.isWatched = false } }
}

extension TweakStore {
    /// Looks at the gates from now on, or at once.
    func watchGates() {
        let isNew = state.withLock { state in
            defer { state.gates.isWatched = true }
            return !state.gates.isWatched
        }
        guard isNew else {
            EventLoop.current.withLock { $0?.wake() }
            return
        }
        let hasThread = EventLoop.wait { [store = WeakReference(self)] thread, _ in
            store.object.map { GateWatch($0, worker: thread.worker) }
        }
        // What loops have stored is noticed when the tweaks are used the next time.
        if !hasThread { state.withLock { $0.gates.isWatched = false } }
    }

    /// Notifies observers of changes that loops have stored.
    fileprivate func deliverPassed() {
        let turn = state.withLock { state in
            for (changes, update) in state.gates.drainPassed() { state.delivery.add(changes, of: update) }
            return state.delivery.begin()
        }
        if let turn { deliver(turn) }
    }
}
