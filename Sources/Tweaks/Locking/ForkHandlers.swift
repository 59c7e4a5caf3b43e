internal import Glibc

/// A lock that a fork waits for, so that the child does not get it from a thread that it does not have.
protocol HeldWhileForking: Sendable {
    func lock()
    func unlock()
}

extension Guarded: HeldWhileForking {}

extension TweakStore {
    /// The locks that a call of the store can take, in the order in which they are taken inside each other. Those of
    /// the writer are not among them: a fork would wait for the disk. The child gets a new writer.
    private var locks: [any HeldWhileForking] {
        [hasStarted, keptStores, state, writer, TextPool.addresses, diagnostics.state]
    }

    /// Makes the shared store usable in children that are forked while other threads use it, the library's own among
    /// them.
    static func survivesForks() {
        pthread_atfork(
            { TweakStore.shared.locks.forEach { $0.lock() } },
            { TweakStore.shared.locks.reversed().forEach { $0.unlock() } },
            {
                TweakStore.shared.locks.reversed().forEach { $0.unlock() }
                TweakStore.shared.forgetOtherThreads()
            })
    }

    private func forgetOtherThreads() {
        let thread = RunningCall.currentThread
        state.withLock { state in
            state.runningCalls.removeAll { $0.thread != thread }
            if state.runningCalls.isEmpty { state.isDelivering = false }
            state.setWhileReloading = nil
        }
        writer.withLock { $0 = $0?.forChild() }
    }
}
