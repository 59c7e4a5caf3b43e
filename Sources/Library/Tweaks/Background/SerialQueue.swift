// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc
internal import TweakSystem

/// Runs jobs one after the other, on a thread that exists only while there is work and a while longer.
final class SerialQueue: Sendable {
    private struct Job: Sendable {
        let body: @Sendable () -> Void
        let abandoned: @Sendable () -> Void
    }

    private struct State {
        var jobs = FIFOQueue<Job>()
        var current: Job?
        /// The process in which the thread runs: a forked child has none.
        var workingProcess: pid_t?
        var endsWhenIdle = false
    }

    private let stackSize: Int?
    private let patience: Int
    private let restsAtExit: Bool
    private let state = Guarded(State())

    /// - Parameters:
    ///   - stackSize: In bytes; `nil` for the default of the program's own threads.
    ///   - patience: How many seconds the idle thread stays.
    ///   - restsAtExit: Whether jobs are neither begun nor continued once `fbtweak__stop_work_at_exit` is called. They must
    ///     not call the program's code.
    init(stackSize: Int? = nil, patience: Int, restsAtExit: Bool = false) {
        self.stackSize = stackSize
        self.patience = patience
        self.restsAtExit = restsAtExit
    }

    /// Adds a job after all others.
    ///
    /// - Parameters:
    ///   - abandoned: Called if the program's code, called by the job, has ended the thread.
    ///   - job: The work to do.
    /// - Returns: `false` if no thread could be started.
    func add(abandoned: @escaping @Sendable () -> Void = {}, _ job: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.workingProcess != getpid(), !begin(&state) { return false }
            state.jobs.append(Job(body: job, abandoned: abandoned))
            return true
        }
    }

    /// Lets the thread end as soon as it is idle.
    func endWhenIdle() { state.withLock { $0.endsWhenIdle = true } }

    private func begin(_ state: inout State) -> Bool {
        guard
            let thread = BackgroundThread(
                stackSize: stackSize, restsAtExit: restsAtExit, abandoned: abandon, work)
        else {
            state.workingProcess = nil
            return false
        }
        thread.detach()
        state.workingProcess = getpid()
        return true
    }

    private func work() {
        while true {
            rest { state.wait(atMost: patience) { !$0.jobs.isEmpty || $0.endsWhenIdle } }
            let job = state.withLock { state in
                state.current = state.jobs.popFirst()
                if state.current == nil { state.workingProcess = nil }
                return state.current
            }
            guard let job else { return }
            job.body()
        }
    }

    /// Runs code that only waits, on the thread of this.
    func rest(_ body: () -> Void) {
        allowingForks {
            if restsAtExit { fbtweak__end_work() }
            body()
            if restsAtExit { fbtweak__begin_work() }
        }
    }

    /// Continues on another thread after a job has ended this one.
    private func abandon() {
        let job = state.withLock { state in
            defer { state.current = nil }
            if state.jobs.isEmpty { state.workingProcess = nil } else { _ = begin(&state) }
            return state.current
        }
        job?.abandoned()
    }
}
