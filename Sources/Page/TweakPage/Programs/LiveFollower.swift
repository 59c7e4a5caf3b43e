// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

/// Follows a program with the library, on a thread of its own, until it ends.
final class LiveFollower: Follower {
    private let board: Board
    private let running: RunningProgram
    let wakeUp = WakeUp()
    let whenEnded: @Sendable () -> Void

    init(_ running: RunningProgram, on board: Board, whenEnded: @escaping @Sendable () -> Void) {
        (self.running, self.board, self.whenEnded) = (running, board, whenEnded)
    }

    /// The interval at which a program without tweaks is asked whether it has some now, which it does not announce.
    private static let period: Duration = .seconds(1)
    /// The pause after a program has sent more than the budget has left, which may be free then.
    private static let pauseAfterTooMuch: Duration = .seconds(10)

    func run() {
        var id: String?
        while true {
            do throws(ConnectionError) {
                guard var link = try LiveLink(running, id, self, board) else {
                    wakeUp.wait(Self.period)
                    continue
                }
                id = link.id
                try link.follow(wakeUp)
            } catch .refused, .closed {
                break
            } catch {
                if running.hasEnded { break }
                id = id ?? entry()
                if let id {
                    board.update(id) { entry in
                        (entry.state, entry.problem, entry.isFresh) = (.silent, error.reason, false)
                    }
                }
                if case .tooMuch = error {
                    wakeUp.wait(Self.pauseAfterTooMuch)
                } else {
                    wakeUp.wait(.seconds(1))
                }
            }
        }
        if let id { board.end(id, running.pid) }
    }

    /// The entry of a program that has not answered yet.
    private func entry() -> String? {
        guard let executable = running.executable else { return nil }
        let start = ProcessStart(of: running.pid)
        return board.entry(
            name: lastComponent(of: executable), executable: executable, user: running.otherUser,
            isRunning: true
        ) { entry in
            (entry.pid, entry.started, entry.ended) = (running.pid, secondsSince1970(), nil)
            (entry.state, entry.start, entry.follower) = (.silent, start, self)
        }
    }
}

/// A connection to a followed program.
private struct LiveLink {
    let id: String
    private let board: Board
    private let running: RunningProgram
    private let user: String?
    private let connection: Connection
    private let overrides: String?
    /// Unanswered requests.
    private var waiting: [RequestID: Question] = [:]
    private var subscription: Int?
    private var sampling: (wanted: Watch, subscription: Int, types: [TweakType])?
    private var adopted: FollowedVariables?
    private var knownVariables: FileState?
    private var lastLook = ContinuousClock.now
    /// The tweaks to sample in memory instead, because an adopted variable is among them.
    private var inMemory: (wanted: Watch, sampler: MemorySampler)?
    /// Whether changes were requested, so that they are requested once.
    private var isSubscribed = false
    /// Whether a page follows the program, and when one did so last.
    private var isFollowed = false
    private var lastFollowed: ContinuousClock.Instant?
    private var asked: Watch?
    private var lastList: ContinuousClock.Instant?
    private var listDuration: Duration = .zero
    private var isListWanted = false
    /// The share of the last list, with the texts that came since, and their sizes.
    private var kept: (share: AnswerBudget.Share, list: Int, texts: Int)?
    private var knownFile: FileState?
    private var lastFile = ContinuousClock.now
    private var count: Int
    /// The times of the last message and of the last request.
    private var lastWord = ContinuousClock.now
    private var lastPing = ContinuousClock.now

    private enum Question {
        case list(ContinuousClock.Instant)
        case description
        case subscription
        case sampling(Watch)
        case nothing
    }

    /// The interval of checks that the program responds and has the same tweaks.
    private static let pingPeriod: Duration = .seconds(1)
    /// The delay before unsubscribing after the last page is gone. A page that is reloaded soon finds current values.
    private static let grace: Duration = .seconds(10)
    /// The size of a list in bytes that is kept while no page follows the program.
    private static let mostKept = 1 << 20

    /// Connects, and asks for a description.
    ///
    /// - Returns: `nil` if the program has no tweaks. Every program with the library listens, but is shown only with
    ///   tweaks.
    init?(
        _ running: RunningProgram, _ known: String?, _ follower: LiveFollower, _ board: Board
    ) throws(ConnectionError) {
        (self.board, self.running, user) = (board, running, running.otherUser)
        connection = try Connection(to: running, .usual, budget: board.budget)
        let answer = try connection.ask(DescribeProgram())
        guard answer.tweaks > 0 else { return nil }
        // Paths that the program of another user reports are not trusted.
        let executable = user == nil ? answer.executable : running.executable
        let overrides = user == nil ? answer.overrides : nil
        self.overrides = overrides
        count = answer.tweaks
        let start = ProcessStart(of: running.pid)
        func describe(_ entry: inout ProgramEntry) {
            entry.follower = follower
            if entry.pid != running.pid { (entry.started, entry.start) = (secondsSince1970(), start) }
            (entry.pid, entry.ended, entry.state, entry.problem) = (running.pid, nil, .running, nil)
            (entry.name, entry.executable) = (answer.application, executable)
            (entry.overrides, entry.library, entry.count) = (overrides, answer.version, answer.tweaks)
            entry.isFresh = false
        }
        if let known {
            id = known
            board.update(known, describe)
        } else {
            id = board.entry(
                name: answer.application, executable: executable, user: user, isRunning: true, describe)
        }
    }

    /// Serves the pages until the program ends.
    mutating func follow(_ wakeUp: WakeUp) throws(ConnectionError) {
        while true {
            // A daemon that changes its user becomes another program to the page, or none.
            guard running.otherUser == user else { throw .closed }
            try reconcile()
            if let inMemory, isFollowed {
                // A process that ends closes the connection, too.
                try? inMemory.sampler.sample(inMemory.wanted, for: FollowedVariables.period / 2, id, board)
            }
            wakeUp.wait(orFor: connection.descriptor, inMemory == nil ? pause : .zero)
            try connection.receive()
            while let message = try connection.nextMessage() {
                lastWord = .now
                try receive(message)
            }
            if !waiting.isEmpty, .now > silenceEnd { throw .silent }
        }
    }

    /// The time until there is something to do without an event.
    private var pause: Duration {
        var end = ContinuousClock.now + (isFollowed ? Self.pingPeriod : board.usualPause)
        if isListWanted, isFollowed, !isListAsked { end = min(end, nextList) }
        if !waiting.isEmpty { end = min(end, silenceEnd) }
        if isFollowed, adopted != nil { end = min(end, lastLook + FollowedVariables.period) }
        return max(.zero, end - .now)
    }

    /// The time after which a program that has not answered counts as silent.
    private var silenceEnd: ContinuousClock.Instant {
        max(lastWord + connection.patience.silence, lastPing + .seconds(1))
    }

    private mutating func ask(_ method: some ControlMethod, _ question: Question) throws(ConnectionError) {
        if waiting.isEmpty { lastWord = .now }
        lastPing = .now
        waiting[try connection.send(method)] = question
    }

    /// Sends the requests for everything that is wanted but missing.
    private mutating func reconcile() throws(ConnectionError) {
        guard let entry = board[id] else { return }
        isFollowed = !entry.followers.isEmpty
        if isFollowed { lastFollowed = .now }
        if isFollowed, !isSubscribed {
            isSubscribed = true
            // A page is waiting.
            lastList = nil
            knownFile = overrides.flatMap { FileState(path: $0) }
            try ask(SubscribeToChanges(), .subscription)
            isListWanted = true
        } else if isSubscribed, let subscription, lastFollowed.map({ .now - $0 > Self.grace }) ?? true {
            isSubscribed = false
            self.subscription = nil
            try ask(UnsubscribeFromChanges(subscription: subscription), .nothing)
            // Others may need the room of a large list.
            let isLarge = kept.map { $0.list > Self.mostKept } ?? false
            if isLarge { kept = nil }
            board.update(id) { entry in
                entry.isFresh = false
                if isLarge { entry.tweaks = nil }
            }
        }
        try reconcileSampling(entry.sampling)
        guard isFollowed else { return }
        if .now - lastLook >= FollowedVariables.period, let changed = adopted?.changes() {
            lastLook = .now
            board.note(id, changed, isComplete: true)
        }
        // Programs do not announce an override that leaves the value as it is.
        let file = overrides.flatMap { FileState(path: $0) }
        if file != knownFile {
            (knownFile, lastFile) = (file, .now)
            isListWanted = true
        }
        let variables = FileState(ofVariablesOf: entry.name)
        if variables != knownVariables {
            knownVariables = variables
            isListWanted = true
        }
        // A value that waits for a gate may pass it and be as it was before, which no event tells.
        if entry.tweaks.map({ $0.waiting > 0 }) ?? false,
            lastList.map({ .now - $0 > Self.pingPeriod }) ?? true
        {
            isListWanted = true
        }
        if isListWanted, !isListAsked, .now >= nextList {
            isListWanted = false
            lastList = .now
            try ask(ListTweaks(), .list(.now))
        }
        if waiting.isEmpty, .now - lastPing > Self.pingPeriod { try ask(DescribeProgram(), .description) }
    }

    /// The time of the next list. A program with many tweaks is busy with it, so not while somebody drags a slider.
    private var nextList: ContinuousClock.Instant {
        guard let lastList else { return lastFile }
        return max(lastList + max(.milliseconds(100), listDuration * 10), lastFile + listDuration * 4)
    }

    private var isListAsked: Bool {
        waiting.values.contains { if case .list = $0 { true } else { false } }
    }

    private mutating func reconcileSampling(_ wanted: Watch?) throws(ConnectionError) {
        guard wanted != asked else { return }
        asked = wanted
        if let sampling { try ask(UnsubscribeFromChanges(subscription: sampling.subscription), .nothing) }
        (sampling, inMemory) = (nil, nil)
        if let wanted, let adopted, wanted.tweaks.contains(where: adopted.contains) {
            // A tweak made at run time is in no image; then there are no samples.
            inMemory = adopted.sampler(for: wanted.tweaks).map { (wanted, $0) }
        } else if let wanted {
            try ask(SampleTweaks(tweaks: wanted.tweaks, rate: wanted.rate), .sampling(wanted))
        }
    }

    private mutating func receive(_ message: ProgramMessage) throws(ConnectionError) {
        switch message {
        case .changed(let changed):
            try keep(changed.changes)
            board.change(id, changed.changes)
            // Features come and go with the values of providers.
            if changed.changes.contains(where: { $0.oldValue == .null || $0.newValue == .null }) {
                isListWanted = true
            }
        case .sampled(let samples):
            guard let sampling, samples.subscription == sampling.subscription else { return }
            var frames: [(Double, [Double?])] = []
            samples.forEachSample(sampling.types) { frames.append(($0, $1)) }
            board.sample(
                id, sampling.wanted.tweaks, rate: sampling.wanted.rate,
                dropped: samples.dropped + samples.skipped, frames)
        case .answer(let answer):
            guard let question = waiting.removeValue(forKey: answer.id) else { return }
            try receive(message, answer.id, question)
        }
    }

    /// Counts the texts of changes, until the next list has the values instead.
    private mutating func keep(_ changes: [ChangedTweaks.Change]) throws(ConnectionError) {
        guard let kept else { return }
        let texts = kept.texts + changes.reduce(0) { $0 + $1.newValue.textSize }
        guard texts > kept.texts else { return }
        try kept.share.resize(to: kept.list + texts)
        self.kept?.texts = texts
        if texts > max(kept.list, Self.mostKept) { isListWanted = true }
    }

    private mutating func receive(
        _ message: ProgramMessage, _ id: RequestID, _ question: Question
    ) throws(ConnectionError) {
        switch question {
        case .list(let start):
            guard let tweaks = try connection.answer(message, to: id, of: ListTweaks.self)?.tweaks else {
                return
            }
            listDuration = .now - start
            count = tweaks.count
            let undeclared = overrides.map {
                OverridesDocument(undeclaredIn: $0, besides: tweaks).undeclaredValues
            }
            adopted = FollowedVariables(of: running.pid, besides: Set(tweaks.map(\.declaration.key)))
            // The list before is replaced, also that of a process before.
            let share =
                kept?.share ?? board[self.id]?.tweaks?.share ?? AnswerBudget.Share(of: board.budget)
            try share.resize(to: connection.lastSize)
            kept = (share, connection.lastSize, 0)
            board.replace(self.id, tweaks + (adopted?.tweaks ?? []), undeclared: undeclared ?? [], share)
        case .description:
            guard let answer = try connection.answer(message, to: id, of: DescribeProgram.self) else {
                return
            }
            if answer.tweaks != count { isListWanted = true }
        case .subscription:
            subscription = try connection.answer(message, to: id, of: SubscribeToChanges.self)?.subscription
        case .sampling(let watch):
            do throws(ConnectionError) {
                guard let answer = try connection.answer(message, to: id, of: SampleTweaks.self) else {
                    return
                }
                guard watch == asked else {
                    return try ask(UnsubscribeFromChanges(subscription: answer.subscription), .nothing)
                }
                sampling = (watch, answer.subscription, answer.types.compactMap { TweakType($0) })
            } catch .answer {
                // The tweak is gone, for example because its plug-in was closed.
            }
        case .nothing: break
        }
    }
}

extension JSONValue {
    /// The size of a text in bytes, or 0.
    fileprivate var textSize: Int {
        guard case .scalar(.string(let text)) = self else { return 0 }
        return text.utf8.count
    }
}

/// Tells apart two states of a file.
struct FileState: Equatable {
    private let numbers: [Int]

    init?(path: String) {
        guard let status = stat(path: path) else { return nil }
        numbers = [
            Int(truncatingIfNeeded: status.st_ino), Int(status.st_size), Int(status.st_mtim.tv_sec),
            Int(status.st_mtim.tv_nsec),
        ]
    }
}
