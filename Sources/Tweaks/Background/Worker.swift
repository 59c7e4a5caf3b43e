internal import Glibc

/// Does one thing after the other on a thread that exists only while there is something to do, and a while longer.
final class Worker: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        /// The process whose thread is at work: after a fork the child has none.
        var workingProcess: pid_t?
    }

    private let stackSize: Int?
    private let patience: Int
    private let state = Guarded(State())

    /// - Parameters:
    ///   - stackSize: In bytes; `nil` for what the program's own threads have.
    ///   - patience: How many seconds the thread stays without anything to do.
    init(stackSize: Int? = nil, patience: Int) {
        self.stackSize = stackSize
        self.patience = patience
    }

    /// Has something done after all that was added before.
    ///
    /// - Returns: Whether it will be: there can be too many threads.
    func add(_ job: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.jobs.append(job)
            if state.workingProcess == getpid() { return true }
            guard let thread = BackgroundThread(stackSize: stackSize, work) else {
                state.jobs.removeLast()
                return false
            }
            thread.detach()
            state.workingProcess = getpid()
            return true
        }
    }

    private func work() {
        while true {
            allowingForks { state.wait(atMost: patience) { !$0.jobs.isEmpty } }
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                if state.jobs.isEmpty { state.workingProcess = nil }
                return state.jobs
            }
            guard !jobs.isEmpty else { return }
            for job in jobs { job() }
        }
    }
}
