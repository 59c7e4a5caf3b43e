import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

/// Follows a program with the library, on a thread of its own, from its start to its end.
final class LiveFollower: Follower {
    private let board: Board
    private let running: RunningProgram
    let wakeUp = WakeUp()
    let whenEnded: @Sendable () -> Void

    init(_ running: RunningProgram, on board: Board, whenEnded: @escaping @Sendable () -> Void) {
        (self.running, self.board, self.whenEnded) = (running, board, whenEnded)
    }

    /// How often a program without tweaks is asked whether it has some now, which it does not tell by itself.
    private static let period: Duration = .seconds(1)

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
                wakeUp.wait(.seconds(1))
            }
        }
        if let id { board.end(id, running.pid) }
    }

    /// The entry of one that has not said anything yet.
    private func entry() -> String? {
        guard let executable = running.executable else { return nil }
        let id = board.entry(
            name: lastComponent(of: executable), executable: executable, user: running.otherUser,
            isRunning: true)
        let start = ProcessStart(of: running.pid)
        board.update(id) { entry in
            (entry.pid, entry.started, entry.ended) = (running.pid, secondsSince1970(), nil)
            entry.start = start
            entry.follower = self
        }
        return id
    }
}

/// A connection to a program that is followed.
private struct LiveLink {
    let id: String
    private let board: Board
    private let running: RunningProgram
    private let user: String?
    private let connection: Connection
    private let overrides: String?
    /// Requests that have not been answered.
    private var waiting: [RequestID: Question] = [:]
    private var subscription: Int?
    private var sampling: (wanted: Watch, subscription: Int, types: [TweakType])?
    /// What has been asked for, so that it is asked for once.
    private var isSubscribed = false
    /// Since when nobody has followed it.
    private var lastFollowed: ContinuousClock.Instant?
    private var asked: Watch?
    private var lastList: ContinuousClock.Instant?
    private var listDuration: Duration = .zero
    private var isListWanted = false
    private var knownFile: FileState?
    private var lastFile = ContinuousClock.now
    private var count: Int
    /// When something was said the last time, and when something was asked.
    private var lastWord = ContinuousClock.now
    private var lastPing = ContinuousClock.now

    private enum Question {
        case list(ContinuousClock.Instant)
        case description
        case subscription
        case sampling(Watch)
        case nothing
    }

    /// How often it is asked whether it is still there, and has the same tweaks.
    private static let pingPeriod: Duration = .seconds(1)
    private static let tick: Duration = .milliseconds(100)
    /// How long changes are asked for when nobody follows any more: a page that is loaded again is back at once, and finds all
    /// tweaks as they are.
    private static let grace: Duration = .seconds(10)

    /// Connects, and asks which program it is.
    ///
    /// - Returns: `nil` if the program has no tweaks. Every program with the library listens, and is shown when it has some.
    init?(
        _ running: RunningProgram, _ known: String?, _ follower: LiveFollower, _ board: Board
    ) throws(ConnectionError) {
        (self.board, self.running, user) = (board, running, running.otherUser)
        connection = try Connection(to: running, .usual)
        let answer = try connection.ask(DescribeProgram())
        guard answer.tweaks > 0 else { return nil }
        // What the program of another user says of files is not believed.
        let executable = user == nil ? answer.executable : running.executable
        let overrides = user == nil ? answer.overrides : nil
        self.overrides = overrides
        count = answer.tweaks
        let id =
            known
            ?? board.entry(name: answer.application, executable: executable, user: user, isRunning: true)
        self.id = id
        let start = ProcessStart(of: running.pid)
        board.update(id) { entry in
            entry.follower = follower
            if entry.pid != running.pid { (entry.started, entry.start) = (secondsSince1970(), start) }
            (entry.pid, entry.ended, entry.state, entry.problem) = (running.pid, nil, .running, nil)
            (entry.name, entry.executable) = (answer.application, executable)
            (entry.overrides, entry.library, entry.count) = (overrides, answer.version, answer.tweaks)
            entry.isFresh = false
        }
    }

    /// Does what is wanted until the program ends.
    mutating func follow(_ wakeUp: WakeUp) throws(ConnectionError) {
        while true {
            // A daemon becomes another user's, and is another program to the page then, or none.
            guard running.otherUser == user else { throw .closed }
            try reconcile()
            wakeUp.wait(orFor: connection.descriptor, isSubscribed ? Self.tick : .seconds(1))
            try connection.receive()
            while let message = try connection.nextMessage() {
                lastWord = .now
                try receive(message)
            }
            if !waiting.isEmpty, .now - lastWord > connection.patience.silence, .now - lastPing > .seconds(1)
            {
                throw .silent
            }
        }
    }

    private mutating func ask(_ method: some ControlMethod, _ question: Question) throws(ConnectionError) {
        if waiting.isEmpty { lastWord = .now }
        lastPing = .now
        waiting[try connection.send(method)] = question
    }

    /// Asks for what is wanted and not there.
    private mutating func reconcile() throws(ConnectionError) {
        guard let entry = board[id] else { return }
        let isFollowed = !entry.followers.isEmpty
        if isFollowed { lastFollowed = .now }
        if isFollowed, !isSubscribed {
            isSubscribed = true
            // Somebody waits for this one.
            lastList = nil
            knownFile = overrides.flatMap { FileState(path: $0) }
            try ask(SubscribeToChanges(), .subscription)
            isListWanted = true
        } else if isSubscribed, let subscription, lastFollowed.map({ .now - $0 > Self.grace }) ?? true {
            isSubscribed = false
            self.subscription = nil
            try ask(UnsubscribeFromChanges(subscription: subscription), .nothing)
            board.update(id) { $0.isFresh = false }
        }
        try reconcileSampling(entry.sampling)
        guard isFollowed else { return }
        // What is set is not told where the value stays as it is.
        let file = overrides.flatMap { FileState(path: $0) }
        if file != knownFile {
            (knownFile, lastFile) = (file, .now)
            isListWanted = true
        }
        if isListWanted, !isListAsked, canList {
            isListWanted = false
            lastList = .now
            try ask(ListTweaks(), .list(.now))
        }
        if waiting.isEmpty, .now - lastPing > Self.pingPeriod { try ask(DescribeProgram(), .description) }
    }

    /// Whether a list disturbs nobody. A program with many tweaks is busy with it, so not while somebody drags a slider.
    private var canList: Bool {
        guard let lastList else { return true }
        return .now - lastList > max(.milliseconds(100), listDuration * 10)
            && .now - lastFile > listDuration * 4
    }

    private var isListAsked: Bool {
        waiting.values.contains { if case .list = $0 { true } else { false } }
    }

    private mutating func reconcileSampling(_ wanted: Watch?) throws(ConnectionError) {
        guard wanted != asked else { return }
        asked = wanted
        if let sampling { try ask(UnsubscribeFromChanges(subscription: sampling.subscription), .nothing) }
        sampling = nil
        if let wanted { try ask(SampleTweaks(tweaks: wanted.tweaks, rate: wanted.rate), .sampling(wanted)) }
    }

    private mutating func receive(_ message: ProgramMessage) throws(ConnectionError) {
        switch message {
        case .changed(let changed):
            board.change(id, changed.changes)
            // Features come and go with what providers have.
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
            board.replace(self.id, tweaks, undeclared: undeclared ?? [])
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
                // A tweak that is not there any more, as of a plug-in that was closed.
            }
        case .nothing: break
        }
    }
}

/// What tells whether a file is another one than before.
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
