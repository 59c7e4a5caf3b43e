// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
package import TweakOverrides

/// Follows the origins of many applications with few tasks.
///
/// An origin that waits is an entry in a timetable: a task takes a kilobyte for every few functions that it waits in, which
/// made most of the memory of an agent.
package final class RemoteFollowing: Sendable {
    /// The state of one origin between its steps.
    private final class Member: Sendable {
        struct Progress {
            var schedule: CheckSchedule
            /// Created by the first step, because it needs the file of an earlier agent.
            var updates: RemoteUpdates?
            /// Whether the last read succeeded.
            var isWaiting = false
            /// The time of the next read after a failure.
            var retry = ContinuousClock.now
        }

        let follower: RemoteFollower
        /// Only the step that runs changes it.
        let progress: Mutex<Progress>

        init(_ follower: RemoteFollower) {
            self.follower = follower
            progress = Mutex(Progress(schedule: follower.origin.schedule))
        }
    }

    /// When a member's next step is.
    private enum Turn {
        case waiting(timer: Int?)
        case queued
        case running(isWoken: Bool)
    }

    /// The members whose steps are due, for one server.
    private struct Line {
        var waiting: ArraySlice<Int> = []
        var tasks = 0
    }

    private struct State {
        var turns: [Turn]
        var lines: [String: Line] = [:]
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastTask = 0
        /// The number of members with more steps to do.
        var unfinished: Int
        var isEnded = false
        var end: CheckedContinuation<Void, Never>?
    }

    /// The maximum number of tasks for one server: enough to fill requests that combine many reads.
    private static let most = 400

    private let members: [Member]
    private let isOnce: Bool
    private let timetable: Timetable
    private let last: @Sendable (any OriginSettings) -> ProvidedFile?
    private let writer: UpdateWriter
    private let state: Mutex<State>

    /// - Parameters:
    ///   - followers: The origins, which share the resources.
    ///   - isOnce: Whether to read only once.
    ///   - last: Returns the file of an earlier agent.
    ///   - keep: Writes files for programs, and returns the errors. Called if there is something new.
    ///   - report: Called after checks and changes; several consecutive changes are reported together.
    package init(
        _ followers: [RemoteFollower], sharing resources: SharedResources, isOnce: Bool,
        from last: @escaping @Sendable (any OriginSettings) -> ProvidedFile?,
        keep: @escaping @Sendable ([KeptUpdate]) async -> [OverridesError?],
        report: @escaping @Sendable (RemoteFollower.Report) -> Void
    ) {
        members = followers.map(Member.init)
        (self.isOnce, self.last, timetable) = (isOnce, last, resources.timetable)
        writer = UpdateWriter(resources.timetable, keep, report)
        state = Mutex(
            State(
                turns: Array(repeating: .waiting(timer: nil), count: followers.count),
                unfinished: followers.count))
    }

    /// Follows until the task is cancelled, or all are read once. Call it once.
    package func follow() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { begin($0) }
        } onCancel: {
            cancel()
        }
        for member in members { await member.follower.origin.end() }
        await writer.end()
    }

    // MARK: - Turns

    private func begin(_ continuation: CheckedContinuation<Void, Never>) {
        state.withLock { state in
            state.end = continuation
            // The handler above may have run before this.
            if !state.isEnded { for index in members.indices { queue(index, &state) } }
            endIfIdle(&state)
        }
    }

    private func cancel() {
        state.withLock { state in
            state.isEnded = true
            for task in state.tasks.values { task.cancel() }
            for case .waiting(let timer?) in state.turns { timetable.cancel(timer) }
            endIfIdle(&state)
        }
    }

    private func endIfIdle(_ state: inout State) {
        guard state.tasks.isEmpty, state.isEnded || state.unfinished == 0 else { return }
        state.end?.resume()
        state.end = nil
    }

    private func queue(_ index: Int, _ state: inout State) {
        state.turns[index] = .queued
        let server = members[index].follower.settings.server
        state.lines[server, default: Line()].waiting.append(index)
        guard state.lines[server, default: Line()].tasks < Self.most else { return }
        state.lines[server, default: Line()].tasks += 1
        state.lastTask += 1
        state.tasks[state.lastTask] = Task { [number = state.lastTask] in
            while let index = next(of: server, number) {
                let due = await step(index)
                rest(index, until: due)
            }
        }
    }

    /// The next member whose step is due; `nil` ends the task.
    private func next(of server: String, _ task: Int) -> Int? {
        state.withLock { state in
            if !state.isEnded, let index = state.lines[server]?.waiting.popFirst() {
                state.turns[index] = .running(isWoken: false)
                return index
            }
            state.lines[server]?.tasks -= 1
            state.tasks[task] = nil
            endIfIdle(&state)
            return nil
        }
    }

    private func rest(_ index: Int, until due: ContinuousClock.Instant?) {
        state.withLock { state in
            if case .running(isWoken: true) = state.turns[index], due != nil { return queue(index, &state) }
            guard let due, !state.isEnded else {
                state.turns[index] = .waiting(timer: nil)
                state.unfinished -= 1
                return
            }
            state.turns[index] = .waiting(timer: timetable.call(at: due) { self.wake(index) })
        }
    }

    /// Lets the next step of a member begin now.
    private func wake(_ index: Int) {
        state.withLock { state in
            guard !state.isEnded else { return }
            switch state.turns[index] {
            case .waiting(let timer):
                if let timer { timetable.cancel(timer) }
                queue(index, &state)
            case .queued: break
            case .running: state.turns[index] = .running(isWoken: true)
            }
        }
    }

    // MARK: - Steps

    /// Reads or checks.
    ///
    /// - Returns: The time of the next step; `nil` if this was the last.
    private func step(_ index: Int) async -> ContinuousClock.Instant? {
        let (member, origin) = (members[index], members[index].follower.origin)
        var progress = member.progress.withLock { $0 }
        defer { member.progress.withLock { [progress] in $0 = progress } }
        let settings = member.follower.settings
        let updates =
            progress.updates
            ?? RemoteUpdates(settings, last(settings), writer) { [weak self] in self?.wake(index) }
        progress.updates = updates
        if progress.isWaiting {
            if let due = await origin.check(&progress.schedule, updates) { return due }
            progress.isWaiting = false
        } else if progress.retry > .now {
            return progress.retry
        }
        do throws(FetchProblem) {
            try await origin.read(updates)
            if isOnce { return nil }
            progress.isWaiting = true
            return await origin.wait(&progress.schedule, updates)
        } catch {
            // A read that was cancelled at the end of the agent is not a failure.
            if Task.isCancelled { return nil }
            updates.update { state in state.fail(error) }
            if isOnce { return nil }
            let pause = progress.schedule.failed(retryAfter: error.retryAfter)
            progress.retry = .now + min(pause, error.retryWithin ?? pause)
            return progress.retry
        }
    }
}
#endif
