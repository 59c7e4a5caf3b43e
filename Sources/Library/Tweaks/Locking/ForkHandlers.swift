// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import CTweaks
internal import Glibc

/// A lock that a fork acquires first, so that the child does not inherit it locked by a thread that it does not have.
protocol HeldWhileForking: AnyObject, Sendable {
    func lock()
    func unlock()
}

extension Guarded: HeldWhileForking {}

extension TweakStore {
    /// The locks that a call of the store may take, in lock order. The lock of the overrides file is not among them,
    /// because a fork would wait for the disk. The child gets a new writer and a new event loop.
    private var locks: [any HeldWhileForking] {
        [hasStarted, keptStores, state] + (writer.map { [$0.lockForFork] } ?? []) + [
            Self.worker, TextPool.addresses, diagnostics.state,
            EventLoop.current, ProviderClaim.all, ControlSockets.own, Descriptor.opened,
        ]
    }

    /// The locks held by the forking thread.
    nonisolated(unsafe) private static var held: [any HeldWhileForking] = []

    private static func holdLocks() {
        let locks = ofProcess.locks
        locks.forEach { $0.lock() }
        held = locks
    }

    private static func releaseLocks() {
        let locks = held
        held = []
        locks.reversed().forEach { $0.unlock() }
    }

    /// Makes the shared store usable in children that are forked while other threads, also the library's own, use it.
    static func survivesForks() {
        pthread_atfork(
            {
                fbtweak__before_fork()
                TweakStore.holdLocks()
            },
            {
                TweakStore.releaseLocks()
                fbtweak__after_fork()
            },
            {
                fbtweak__after_fork_in_child()
                TweakStore.releaseLocks()
                TweakStore.ofProcess.forgetOtherThreads()
            })
    }

    private func forgetOtherThreads() {
        let thread = RunningCall.currentThread
        state.withLock { state in
            state.delivery.forgetOtherThreads(than: thread)
            state.setWhileReloading = nil
            state.writer = state.writer?.forChild()
            state.repairGates()
        }
        fbtweak__repair_sequence()
        let hasThread = hasStarted.withLock { $0 } && fbtweak__may_start_threads_after_fork()
        let isLeft = endLeasesInChild(hasThread: hasThread)
        fbtweak__forget_other_threads()
        Self.watchMainThread()

        Self.worker.withLock { $0 = SerialQueue(patience: 1) }
        Descriptor.closeAll()
        ControlSockets.forget()
        EventLoop.current.withLock { $0 = nil }
        guard hasThread else { return }
        if let file = writer?.file { followOverrides(in: file) }
        for feed in state.withLock({ $0.layers.feeds }) { followFiles(of: feed) }
        serveRequests()
        keepTimeInChild()
        if state.withLock({ $0.gates.drainCallForWatch() }) { watchGates() }
        if isLeft {
            _ = EventLoop.wait { thread, _ in
                _ = thread.worker.add { [self] in deliverChanges() }
                return nil
            }
        }
        if let writer {
            _ = EventLoop.wait { _, _ in writer.settleInheritance() ? nil : WaitForAncestors(writer) }
        }
    }
}
