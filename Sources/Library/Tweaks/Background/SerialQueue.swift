internal import Glibc
internal import TweakSystem

/// Does one thing after the other on a thread that exists only while there is something to do, and a while longer.
final class SerialQueue: Sendable {
    private struct Job: Sendable {
        let body: @Sendable () -> Void
        let abandoned: @Sendable () -> Void
    }

    private struct State {
        var jobs = FIFOQueue<Job>()
        var current: Job?
        /// The process whose thread is at work: after a fork the child has none.
        var workingProcess: pid_t?
        var endsWhenIdle = false
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
    /// - Parameters:
    ///   - abandoned: Called when code of the program, called by the job, has ended the thread.
    ///   - job: What is done.
    /// - Returns: Whether it will be: there can be too many threads.
    func add(abandoned: @escaping @Sendable () -> Void = {}, _ job: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.workingProcess != getpid(), !begin(&state) { return false }
            state.jobs.append(Job(body: job, abandoned: abandoned))
            return true
        }
    }

    /// Has the thread end as soon as there is nothing to do.
    func endWhenIdle() { state.withLock { $0.endsWhenIdle = true } }

    private func begin(_ state: inout State) -> Bool {
        guard let thread = BackgroundThread(stackSize: stackSize, abandoned: abandon, work) else {
            state.workingProcess = nil
            return false
        }
        thread.detach()
        state.workingProcess = getpid()
        return true
    }

    private func work() {
        while true {
            allowingForks { state.wait(atMost: patience) { !$0.jobs.isEmpty || $0.endsWhenIdle } }
            let job = state.withLock { state in
                state.current = state.jobs.popFirst()
                if state.current == nil { state.workingProcess = nil }
                return state.current
            }
            guard let job else { return }
            job.body()
        }
    }

    /// Goes on, on another thread, when a job has ended this one.
    private func abandon() {
        let job = state.withLock { state in
            defer { state.current = nil }
            if state.jobs.isEmpty { state.workingProcess = nil } else { _ = begin(&state) }
            return state.current
        }
        job?.abandoned()
    }
}
