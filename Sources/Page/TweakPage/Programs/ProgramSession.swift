// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakFormats
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

/// Executes the requests to one program, one after the other, on a queue where they may block.
actor ProgramSession {
    private let executor = QueueExecutor("program")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let id: String
    let board: Board
    /// The open trials, by stream.
    var trials: [Int: (program: LiveProgram, trial: Trial)] = [:]
    private var open: (program: any Program, identity: Identity)?
    /// The share of a program that is not running, and of its tweaks.
    private var share: AnswerBudget.Share?
    private var lastFiles: [FileState?]?
    /// The changed tweaks that no code reads, and the warnings about changes that were not passed on yet.
    private nonisolated let found = Mutex<(unread: Set<TweakKey>, warnings: [ControlWarning])>(([], []))
    /// The number of waiting requests.
    private nonisolated let waiting = Mutex(0)
    private static let mostWaiting = 64

    /// The state in which a connection, or what was read from files, is valid.
    private struct Identity: Equatable {
        let pid: pid_t?
        let state: ProgramEntry.State
        let files: [FileState?]
    }

    init(_ id: String, _ board: Board) { (self.id, self.board) = (id, board) }

    /// Returns the problems with changes that the program has told of since the last call, or that its files show.
    func drainWarnings() -> [ControlWarning] {
        let programs = [open?.program as? LiveProgram] + trials.values.map(\.program)
        return found.withLock { found in
            defer { found.warnings = [] }
            return found.warnings
        } + programs.flatMap { $0?.drainWarnings() ?? [] }
    }

    /// Runs a function with the program.
    nonisolated func with<Result: Sendable>(
        _ body: @Sendable (any Program) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard
            waiting.withLock({ count in
                count += 1
                return count <= Self.mostWaiting
            })
        else {
            waiting.withLock { $0 -= 1 }
            throw Failure("\(id): too many requests are waiting for it", .busy)
        }
        defer { waiting.withLock { $0 -= 1 } }
        return try await perform(body)
    }

    private func perform<Result: Sendable>(
        _ body: @Sendable (any Program) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try checkTime()
        let program = try program()
        defer { try? (program as? LiveProgram)?.connection.finishMessage() }
        do throws(Failure) {
            return try body(program)
        } catch {
            // The connection may be in the middle of an answer.
            if ![.invalid, .usage, .missing].contains(error.kind) { open = nil }
            throw error
        }
    }

    /// Checks that the request is not too old by now: others may have kept the program busy.
    private func checkTime() throws(Failure) {
        #if UI
        if let problem = SendingTime.current?.problem { throw Failure(problem, about: id, .invalid) }
        #endif
    }

    private func program() throws(Failure) -> any Program {
        guard let entry = board[id] else { throw Failure("\(id): no such program", .missing) }
        let files =
            entry.state == .offline
            ? [entry.executable, entry.overrides].map { $0.flatMap { FileState(path: $0) } }
            : [FileState(ofVariablesOf: entry.name)]
        let identity = Identity(
            pid: entry.pid, state: entry.state == .silent ? .running : entry.state, files: files)
        if let open, open.identity == identity { return open.program }
        (open, share) = (nil, nil)
        let program = try self.program(entry)
        open = (program, identity)
        return program
    }

    private func program(_ entry: ProgramEntry) throws(Failure) -> any Program {
        let warn: (Warning) -> Void = { [weak self] in self?.note($0) }
        switch (entry.state, entry.pid) {
        case (.running, let pid?), (.silent, let pid?):
            guard let running = RunningProgram(pid: pid),
                let program = try LiveProgram(running, budget: board.budget, warn: warn)
            else {
                throw Failure("it has ended, or does not accept connections", about: entry.name, .unavailable)
            }
            return program
        case (.memory, let pid?):
            share = try entry.executable.map { path throws(Failure) in try board.share(forRecordsIn: path) }
            guard let program = try MemoryProgram(pid: pid, warn: warn) else {
                throw Failure("it has ended", about: entry.name, .unavailable)
            }
            return program
        default:
            if let user = entry.user {
                throw Failure("it has ended, and was a program of \(user)", about: entry.name, .unavailable)
            }
            if let path = entry.executable, access(path, F_OK) == 0 {
                share = try board.share(forRecordsIn: path)
                return try OfflineProgram(path: path, warn: warn)
            }
            return try OfflineProgram(application: entry.name, warn: warn)
        }
    }

    /// Keeps the first warning that no code reads a tweak, and those of torn changes. The page shows other problems in
    /// its own way.
    nonisolated func note(_ warning: Warning) {
        found.withLock { found in
            switch (warning.kind, warning.tweak) {
            case (.torn, _): found.warnings.append(ControlWarning(.torn, warning.message))
            case (.unread, let tweak?):
                guard found.unread.insert(tweak).inserted else { return }
                found.warnings.append(ControlWarning(.unread, warning.message))
            default: break
            }
        }
    }

    // MARK: - Programs that are not running

    /// Reads the values at the next start of a program that is not running.
    func load() throws(Failure) {
        guard let entry = board[id], entry.state == .offline else { return }
        let program = try program()
        let tweaks = try program.tweaks()
        let description = try program.description
        let undeclared = try program.undeclared(besides: tweaks)
        lastFiles = open?.identity.files
        guard board[id]?.state == .offline else { return }
        let isGone = entry.executable.map { access($0, F_OK) != 0 } ?? false
        let isKept = !undeclared.keys.isEmpty || tweaks.contains { $0.source == "override" }
        board.update(id) { entry in
            (entry.overrides, entry.isGone) = (description.overrides, isGone)
            entry.isKept = entry.isKept || isKept
        }
        board.replace(id, tweaks, undeclared: undeclared.undeclaredValues, share)
    }

    /// Loads the program again if its files have changed.
    func reload() {
        guard let entry = board[id], entry.state == .offline else { return }
        let files = [entry.executable, entry.overrides].map { $0.flatMap { FileState(path: $0) } }
        guard !entry.isFresh || files != lastFiles else { return }
        do throws(Failure) { try load() } catch {
            lastFiles = files
            let problem = error.message
            board.update(id) { ($0.problem, $0.isFresh) = (problem, true) }
        }
    }

    // MARK: - Values

    /// Sets and resets tweaks.
    func set(_ request: SetRequest, by stream: Int?) throws(Failure) -> SetAnswer {
        try changing(by: stream) { () throws(Failure) in try set(request, from: stream) }
    }

    /// Makes a change that the board notes as that of a page, also where programs do not tell whose change it was.
    func changing<Answer>(
        by stream: Int?, _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try checkTime()
        board.noteChanger(of: id, stream)
        defer { board.noteChanger(of: id, nil) }
        return try body()
    }

    private func set(_ request: SetRequest, from stream: Int?) throws(Failure) -> SetAnswer {
        guard request.isTried == true else { return try set(request, trying: nil, by: stream) }
        // Without a page that can end, it would not be a trial.
        guard let stream else {
            throw Failure("only a page with an event stream can try values", .invalid)
        }
        let trying = try trial(by: stream)
        do throws(Failure) {
            return try set(request, trying: trying, by: stream)
        } catch {
            // The connection may be in the middle of an answer.
            if ![.invalid, .usage, .missing].contains(error.kind) { endTrial(by: stream) }
            throw error
        }
    }

    private func set(
        _ request: SetRequest, trying: (program: LiveProgram, trial: Trial)?, by stream: Int?
    ) throws(Failure) -> SetAnswer {
        let triedBefore = trying?.trial.values
        let program: any Program
        if let trying { program = trying.program } else { program = try self.program() }
        let durations = SetDurations(until: trying == nil ? nil : .closed, ramp: request.ramp)
        if !durations.areNone, board[id]?.processes ?? 1 > 1 { (program as? LiveProgram)?.findForks() }
        var items: [TweakKey: SetRequest.Item] = [:]
        for item in request.values { items[item.tweak] = item }
        // A lease has a value, so what is given back is no part of the change.
        let givenBack = trying == nil ? [] : items.values.filter { $0.reset == true }.map(\.tweak).sorted()
        for key in givenBack { items[key] = nil }
        let known = board[id]?.tweaks
        var (tweaks, changes) = ([TweakKey: JSONTweak](), [ChangeTweaks.Change]())
        for (key, item) in items.sorted(by: { $0.key < $1.key }) {
            tweaks[key] = known?[key]
            if tweaks[key] == nil { tweaks[key] = try program.tweak(key) }
            changes.append(item.change)
        }
        let isAllOrNothing = request.allOrNothing == true
        var (answer, time) = (ChangeTweaks.Answer(), secondsSince1970())
        if !changes.isEmpty {
            answer = try program.change(
                ChangeTweaks(
                    changes, exactNames: true, allOrNothing: isAllOrNothing, tag: stream.map(board.tag),
                    durations))
        }
        for changed in answer.changes {
            tweaks[changed.tweak]?.update(with: changed)
            if let trying, let type = tweaks[changed.tweak]?.declaration.type {
                trying.trial.update([changed.tweak: changed.givenValue?.value(of: type)])
            }
        }
        board.note(
            id, answer.changes.compactMap { tweaks[$0.tweak] }, at: time,
            isComplete: !(program is LiveProgram))
        var now = answer.changes.compactMap { tweaks[$0.tweak] }.map { ValueForm($0, time: time) }
        now += try self.now(answer.refused.compactMap(\.tweak), program)
        var applied = answer.changes.map(\.tweak)
        if let trying, !isAllOrNothing || answer.refused.isEmpty {
            for key in givenBack {
                for fork in [trying.program] + trying.program.forks where !fork.running.hasEnded {
                    _ = try fork.ask(ResetTweaks(tweak: key, leases: .own))
                }
                trying.trial.update([key: nil])
            }
            now += try self.now(givenBack, program)
            applied += givenBack
        }
        if let trying, trying.trial.values.keys != triedBefore?.keys { board.tellOfTrials(id) }
        return SetAnswer(answer, to: changes, applied, now, applied.isEmpty ? [] : missed(by: program))
    }

    /// The running processes of a program that have not got a change that was kept for its next start.
    private func missed(by program: any Program) -> [MissedProcess] {
        guard program is OfflineProgram else { return [] }
        let changed = ChangedProcesses(of: [program], named: nil)
        changed.noteChange()
        return changed.missed
    }

    func reset(_ request: ResetRequest, by stream: Int?) throws(Failure) -> ResetAnswer {
        try changing(by: stream) { () throws(Failure) in try reset(request, from: stream) }
    }

    private func reset(_ request: ResetRequest, from stream: Int?) throws(Failure) -> ResetAnswer {
        let program = try program()
        let scopes: [TweakScope] =
            if request.all == true {
                [.all]
            } else if let category = request.category {
                [.group(category: category, collection: request.collection)]
            } else {
                (request.tweaks ?? []).map { .tweak($0) }
            }
        let before = try program.tweaks().filter { tweak in
            scopes.contains { $0.contains(tweak.declaration.key) }
        }
        let settable = before.filter { $0.declaration.type != .action }
        let changed = before.filter { $0.source != "\(TweakSource.binary)" || $0.pendingValue != nil }
        try program.reset(
            request.all == true ? nil : request.tweaks ?? settable.map(\.declaration.key),
            tag: stream.map(board.tag))
        return ResetAnswer(
            reset: changed.count, tweaks: try now(changed.map(\.declaration.key), program),
            missed: before.isEmpty ? [] : missed(by: program))
    }

    /// The state of tweaks after a change, which is also sent to the pages.
    func now(_ keys: [TweakKey], _ program: any Program) throws(Failure) -> [ValueForm] {
        let time = secondsSince1970()
        var tweaks: [JSONTweak] = []
        if keys.count > 16 {
            let wanted = Set(keys)
            tweaks = try program.tweaks().filter { wanted.contains($0.declaration.key) }
        } else {
            for key in keys.sorted() {
                if let tweak = try program.tweak(key) { tweaks.append(tweak) }
            }
        }
        board.note(id, tweaks, at: time, isComplete: !(program is LiveProgram))
        return tweaks.map { ValueForm($0, time: time) }
    }
}

/// The sessions of all programs.
final class ProgramSessions: Sendable {
    private let board: Board
    private let sessions = Mutex<[String: ProgramSession]>([:])
    /// The programs that are being reloaded, and whether to reload them once more.
    private let reloading = Mutex<[String: Bool]>([:])

    init(_ board: Board) { self.board = board }

    subscript(id: String) -> ProgramSession {
        sessions.withLock { sessions in
            if let session = sessions[id] { return session }
            let session = ProgramSession(id, board)
            sessions[id] = session
            return session
        }
    }

    /// Closes the connections of trials that have ended.
    func forgetEndedTrials() {
        for session in sessions.withLock({ Array($0.values) }) { Task { await session.forgetEndedTrials() } }
    }

    /// Reloads a program that is not running, again if that is requested meanwhile.
    func reload(_ id: String) {
        let isRunning = reloading.withLock { reloading in
            defer { reloading[id] = reloading[id] != nil }
            return reloading[id] != nil
        }
        guard !isRunning else { return }
        let session = self[id]
        Task {
            repeat {
                await session.reload()
            } while reloading.withLock { reloading in
                let isWanted = reloading[id] == true
                reloading[id] = isWanted ? false : nil
                return isWanted
            }
        }
    }
}

// MARK: - Requests and answers

struct SetRequest: Decodable, Sendable {
    struct Item: Decodable, Sendable {
        let tweak: TweakKey
        let value: JSONValue?
        let text: String?
        let reset: Bool?

        var change: ChangeTweaks.Change {
            guard reset != true else { return ChangeTweaks.Change(tweak: "\(tweak)", reset: true) }
            return ChangeTweaks.Change(
                tweak: "\(tweak)", value: text == nil ? value ?? .null : nil, text: text)
        }
    }

    let program: String
    let stream: String?
    let values: [Item]
    let allOrNothing: Bool?
    /// Whether the values end with the stream. A reset ends what the stream tries.
    let isTried: Bool?
    /// The seconds until the values are reached.
    let ramp: Double?

    private enum CodingKeys: String, CodingKey {
        case program, stream, values, allOrNothing, ramp
        case isTried = "try"
    }
}

struct ResetRequest: Decodable, Sendable {
    let program: String
    let stream: String?
    let tweaks: [TweakKey]?
    let category, collection: String?
    let all: Bool?
}

struct SetAnswer: Encodable, Sendable {
    let applied, clamped, unknown: [TweakKey]
    let refused: [SetManyTweaks.Answer.Refusal]
    let tweaks: [ValueForm]
    /// The running processes that have not got the change.
    let missed: [MissedProcess]

    /// - Parameter changes: The changes of the request, which refusals name by their places.
    init(
        _ answer: ChangeTweaks.Answer, to changes: [ChangeTweaks.Change] = [], _ applied: [TweakKey] = [],
        _ tweaks: [ValueForm] = [], _ missed: [MissedProcess] = []
    ) {
        let sorted = SetManyTweaks.Answer(answer, to: changes)
        (self.applied, self.tweaks, self.missed) = (applied.sorted(), tweaks, missed)
        (clamped, unknown, refused) = (sorted.clamped.sorted(), sorted.unknown.sorted(), sorted.refused)
    }
}

struct ResetAnswer: Encodable, Sendable {
    let reset: Int
    let tweaks: [ValueForm]
    var missed: [MissedProcess] = []
}
