// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords

/// The values that a page tries in a program.
///
/// The program leases them to a connection of their own, so they end with it, and the connection ends with the page's event
/// stream. It is shut down from any thread, without waiting for a request that uses it.
final class Trial: Sendable {
    private struct State {
        var descriptor: CInt
        var values: [TweakKey: TweakValue] = [:]
    }

    private let state: Mutex<State>

    /// How long a page that tries values may leave the pings unanswered that come with heartbeats, as behind a dead network.
    static let patience: Duration = .seconds(6)

    /// - Parameter connection: The connection that leases the values.
    init(_ connection: Connection) {
        state = Mutex(State(descriptor: fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 3)))
    }

    deinit { end() }

    var hasEnded: Bool { state.withLock { $0.descriptor < 0 } }
    var values: [TweakKey: TweakValue] { state.withLock { $0.values } }

    /// Adds values, and removes those that are `nil`.
    func update(_ values: [TweakKey: TweakValue?]) {
        state.withLock { state in
            for (key, value) in values { state.values[key] = value }
        }
    }

    /// Gives all values back.
    func end() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            shutdown(state.descriptor, Int32(SHUT_RDWR))
            close(state.descriptor)
            state = State(descriptor: -1)
        }
    }
}

/// The names of the tweaks that a page tries.
struct TrialForm: Encodable {
    let stream: String
    let tweaks: [TweakKey]
}

// MARK: - The board

extension Board {
    /// Adds a trial.
    ///
    /// - Returns: `false` if the page is closed or the program has ended.
    func begin(_ trial: Trial, of id: String, by stream: Int) -> Bool {
        guard isOpen(stream) else { return false }
        update(id) { entry in
            entry.trials[stream]?.end()
            entry.trials[stream] = entry.pid == nil ? nil : trial
        }
        // The page may have been closed meanwhile.
        if !isOpen(stream) { endTrial(of: id, by: stream) }
        return self[id]?.trials[stream] === trial
    }

    /// Ends a trial.
    func endTrial(of id: String, by stream: Int) {
        update(id) { entry in entry.trials.removeValue(forKey: stream)?.end() }
        tellOfTrials(id)
    }

    /// Ends all trials of a page.
    func endTrials(by stream: Int) {
        for entry in entries where entry.trials[stream] != nil { endTrial(of: entry.id, by: stream) }
    }

    /// Whether a page tries values.
    func isTrying(_ stream: Int) -> Bool { entries.contains { $0.trials[stream] != nil } }
}

// MARK: - Requests

extension ProgramSession {
    /// The open trial of a page, and its connection.
    func openTrial(by stream: Int) -> (program: LiveProgram, trial: Trial)? {
        forgetEndedTrials()
        return trials[stream]
    }

    /// Closes the connections of trials that have ended.
    func forgetEndedTrials() { trials = trials.filter { !$0.value.trial.hasEnded } }

    /// The trial of a page, begun if there is none.
    func trial(by stream: Int) throws(Failure) -> (program: LiveProgram, trial: Trial) {
        if let open = openTrial(by: stream), open.program.pid == board[id]?.pid { return open }
        guard let entry = board[id], let pid = entry.pid, entry.state == .running,
            let running = RunningProgram(pid: pid),
            let program = try LiveProgram(
                running, budget: board.budget, warn: { [weak self] in self?.note($0) })
        else {
            throw Failure(
                "\(id): values can only be tried while the program runs with the Tweaks library and answers",
                .invalid)
        }
        let trial = Trial(program.connection)
        guard board.begin(trial, of: id, by: stream) else {
            throw Failure("\(id): the page was closed, or the program has ended", .unavailable)
        }
        trials[stream] = (program, trial)
        return (program, trial)
    }

    /// Sets the tried values for good, as one change, and ends the trial.
    func keepTried(by stream: Int) throws(Failure) -> SetAnswer {
        guard let (program, trial) = openTrial(by: stream) else { return SetAnswer(ChangeTweaks.Answer()) }
        let values = trial.values
        let changes = values.sorted { $0.key < $1.key }.map {
            ChangeTweaks.Change(tweak: "\($0)", value: .scalar($1))
        }
        var answer = ChangeTweaks.Answer()
        let tweaks = try changing(by: stream) { () throws(Failure) in
            if !changes.isEmpty {
                answer = try program.change(
                    ChangeTweaks(
                        changes, exactNames: true, allOrNothing: false, tag: board.tag(of: stream)))
            }
            return try now(Array(values.keys), program)
        }
        // This closes the connection.
        endTrial(by: stream)
        return SetAnswer(answer, to: changes, answer.changes.map(\.tweak), tweaks)
    }

    /// Gives the tried values back.
    func discardTried(by stream: Int) throws(Failure) -> ResetAnswer {
        guard let (program, trial) = openTrial(by: stream) else { return ResetAnswer(reset: 0, tweaks: []) }
        let keys = Array(trial.values.keys)
        defer { endTrial(by: stream) }
        let count = try program.ask(ResetTweaks(all: true, leases: .own)).reset
        return ResetAnswer(reset: count, tweaks: try now(keys, program))
    }

    func endTrial(by stream: Int) {
        board.endTrial(of: id, by: stream)
        forgetEndedTrials()
    }
}
