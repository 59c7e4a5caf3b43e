// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakProtocol
import TweakRecords
import TweakSystem

/// Follows a process without the library by reading its memory, on a thread of its own.
final class MemoryFollower: Follower {
    private let board: Board
    private let pid: pid_t
    private let executable: String
    let wakeUp = WakeUp()
    let whenEnded: @Sendable () -> Void

    /// The interval at which values are read, and samples delivered.
    private static let period: Duration = .milliseconds(50)

    init(
        _ pid: pid_t, executable: String, on board: Board, whenEnded: @escaping @Sendable () -> Void
    ) {
        (self.pid, self.executable, self.board, self.whenEnded) = (pid, executable, board, whenEnded)
    }

    func run() {
        var (program, problem): (MemoryProgram?, String?)
        var share: AnswerBudget.Share?
        do throws(Failure) {
            share = try board.share(forRecordsIn: executable)
            program = try MemoryProgram(pid: pid) { problem = problem ?? $0.message }
            // The process has ended, or loaded the library meanwhile.
            if program == nil { return }
        } catch  where error.kind == .unavailable {
            return
        } catch {
            problem = error.message
        }
        let name = program?.description.application ?? lastComponent(of: executable)
        let user = otherUserName(of: pid)
        let count = program?.tweaks().count
        let start = ProcessStart(of: pid)
        let id = board.entry(name: name, executable: executable, user: user, isRunning: true) {
            [problem] entry in
            (entry.pid, entry.ended, entry.started) = (pid, nil, secondsSince1970())
            entry.start = start
            (entry.state, entry.problem, entry.count, entry.overrides) = (.memory, problem, count, nil)
            (entry.name, entry.library, entry.follower, entry.isFresh) = (name, nil, self, false)
        }
        do throws(Failure) {
            if let program { try follow(program, share, id, user) }
        } catch {
            if error.kind != .unavailable { board.update(id) { $0.problem = error.message } }
        }
        while !hasEnded(process: pid), executablePath(of: "\(pid)") == executable,
            otherUserName(of: pid) == user
        {
            wakeUp.wait(board.usualPause)
        }
        board.end(id, pid)
    }

    /// - Throws: ``Failure`` when the process has ended.
    private func follow(
        _ first: MemoryProgram, _ share: AnswerBudget.Share?, _ id: String, _ user: String?
    ) throws(Failure) {
        var program = first
        var variables = FileState(ofVariablesOf: program.description.application)
        var values: MemorySampler?
        var known: [TweakValue?] = []
        var watched: (wanted: Watch, sampler: MemorySampler)?
        while true {
            guard let entry = board[id], otherUserName(of: pid) == user else { return }
            guard !entry.followers.isEmpty else {
                (values, watched) = (nil, nil)
                if entry.isFresh { board.update(id) { $0.isFresh = false } }
                guard !hasEnded(process: pid) else { return }
                wakeUp.wait(board.usualPause)
                continue
            }
            let now = FileState(ofVariablesOf: entry.name)
            if now != variables, let again = try? MemoryProgram(pid: pid, warn: { _ in }) {
                (program, values, watched) = (again, nil, nil)
            }
            variables = now
            if let values {
                let now = try values.read()
                let declarations = values.declarations
                let changed = declarations.indices.filter { now[$0] != known[$0] }
                board.note(
                    id, changed.map { program.status(declarations[$0], now[$0]) }, isComplete: true)
                known = now
            } else {
                let tweaks = program.tweaks()
                let sampler = try program.sampler(
                    for: tweaks.map(\.declaration).filter { $0.type != .action }.map(\.key))
                known = try sampler.read()
                values = sampler
                board.replace(id, program.tweaks(), share)
            }
            if entry.sampling != watched?.wanted {
                watched = nil
                if let wanted = entry.sampling, let sampler = try? program.sampler(for: wanted.tweaks) {
                    watched = (wanted, sampler)
                }
            }
            guard let watched else {
                wakeUp.wait(Self.period)
                continue
            }
            try watched.sampler.sample(watched.wanted, for: Self.period, id, board)
        }
    }
}

extension MemorySampler {
    /// Samples for a time, on this thread.
    func sample(_ watch: Watch, for time: Duration, _ id: String, _ board: Board) throws(Failure) {
        let period: Duration = .seconds(1) / watch.rate
        var frames: [(Double, [Double?])] = []
        let types = declarations.map(\.type)
        var words: [UInt64] = []
        let start = ContinuousClock.now
        var due = start
        repeat {
            words.removeAll(keepingCapacity: true)
            try readBits(into: &words)
            let numbers = zip(types, words).map { $0.number(ofCell: $1) }
            frames.append((secondsSince1970(), numbers))
            due += period
            let rest = due - .now
            if rest > .zero { usleep(useconds_t(min(rest / .microseconds(1), 1e6))) } else { due = .now }
        } while .now - start < time
        board.sample(id, watch.tweaks, rate: watch.rate, dropped: 0, frames)
    }
}
