// SPDX-License-Identifier: BSD-3-Clause
#if UI
import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakProtocol
import TweakSystem

/// The program whose tweaks are flags. Its values are followed, so that requests do not burden the program.
final class FlagProgram: Sendable {
    private let board: Board
    private let sessions: ProgramSessions
    private let name: String
    private let run = Authentication.random()
    /// The flags for a revision of the tweaks.
    private let made = Mutex<(number: Int, revision: Int, flags: Flags)?>(nil)
    /// The last metrics in each format.
    private let metrics = Mutex<
        [TweakMetrics.Format: (text: [UInt8], process: pid_t?, end: ContinuousClock.Instant)]
    >([:])

    /// Starts looking for a program, which need not be running.
    ///
    /// - Throws: ``Failure`` if there is no such program.
    init(_ name: String) throws(Failure) {
        var warnings: [String] = []
        let programs = try ProgramSearch(warn: { warnings.append($0.message) }).programs(named: name)
        // Root names a process of another user by its id.
        let isID = name.allSatisfy { $0.isASCII && $0.isNumber }
        guard let program = programs.first(where: { isID || $0.otherUser == nil }) else {
            let user = programs.first?.otherUser
            throw Failure(
                user.map { "\(name): it is a program of \($0): name it by its process id" }
                    ?? "\(name): no such program", user == nil ? .missing : .forbidden)
        }
        let description = try program.description
        let board = Board()
        (self.board, self.name) = (board, description.application)
        sessions = ProgramSessions(board)
        let ofOther = program.otherUser != nil
        // Paths that the program of another user reports are not trusted.
        let executable = ofOther ? program.pid.flatMap { executablePath(of: "\($0)") } : description.program
        let (path, application) = (executable.map { realPath($0) ?? $0 }, description.application)
        Discovery(board: board, sessions: sessions, ofAllUsers: ofOther) { executable in
            guard let executable else { return false }
            return path.map { $0 == executable } ?? (lastComponent(of: executable) == application)
        }.start(findingKept: false)
        if let stream = board.open() { Task { await keepFollowing(stream) } }
        if program.pid == nil {
            printMessage(
                "\(description.application) is not running; its flags appear when it starts", of: "tweak-ui")
        } else {
            // The first request finds it.
            _ = board.waitForEntry(.seconds(4)) { $0.state != .offline }
        }
    }

    /// The entry of the process that answers requests: the first one found.
    private var entry: ProgramEntry? {
        let all = board.entries.filter { $0.state != .offline }
        return all.first { $0.state != .silent } ?? all.first
    }

    /// Keeps the process followed between requests, so that clients get current values.
    private func keepFollowing(_ stream: EventStream) async {
        stream.add { _ in }
        for await _ in stream.signal {
            let pending = stream.take()
            follow(stream)
            if pending.isEnding { return }
        }
    }

    private func follow(_ stream: EventStream) {
        guard let entry, !entry.followers.contains(stream.number) else { return }
        for other in board.entries where other.followers.contains(stream.number) {
            board.follow(other.id, stream.number, false)
        }
        board.follow(entry.id, stream.number)
    }

    /// The current flags.
    ///
    /// - Throws: ``FlagProblem`` with the reason why there are none.
    func flags() async throws(FlagProblem) -> Flags {
        // The program may end and restart meanwhile.
        for _ in 0..<4 {
            guard let entry else { throw FlagProblem(message: "\(name) does not run") }
            // A stopped program keeps its last values.
            if let known = entry.tweaks, entry.isFresh || entry.state == .silent { return flags(of: known) }
            guard entry.state == .running || entry.problem == nil else {
                throw FlagProblem(message: "\(name): \(entry.problem ?? "it does not answer")")
            }
            await board.waitForTweaks(of: entry.id)
        }
        throw FlagProblem(message: "\(name) does not run")
    }

    private func flags(of known: KnownTweaks) -> Flags {
        let last = made.withLock { $0 }
        if let last, last.number == known.number {
            if last.revision == known.revision { return last.flags }
        }
        let flags = Flags(known, run: run)
        made.withLock { made in
            // A slower task may have flags of an earlier revision.
            if let last = made, last.number == known.number, last.revision > known.revision { return }
            made = (known.number, known.revision, flags)
        }
        return flags
    }

    // MARK: - Metrics

    /// How long metrics count as current. More requests do not burden the program more.
    private static let metricsPeriod: Duration = .milliseconds(200)

    /// The current metrics. Monitors are not followed, so the program is asked, on the queue of its requests.
    func metrics(_ format: TweakMetrics.Format) async -> [UInt8] {
        let entry = entry
        do throws(Failure) {
            guard let entry, entry.state != .silent else {
                throw Failure("\(name) does not run or answer", .unavailable)
            }
            return try await sessions[entry.id].with { [self] program throws(Failure) in
                let known = metrics.withLock { $0[format] }
                if let known, known.process == program.pid, .now < known.end { return known.text }
                var made = TweakMetrics(format)
                let tweaks: [JSONTweak]
                if let program = program as? LiveProgram {
                    tweaks = try program.ask(ListTweaks(), .scrape).tweaks
                } else {
                    tweaks = try program.tweaks()
                }
                made.add(name, tweaks)
                let text = made.text
                metrics.withLock {
                    $0[format] = (text, program.pid, .now + Self.metricsPeriod)
                }
                return text
            }
        } catch {
            // A scraper takes the end of a program for news, not for an error.
            var made = TweakMetrics(format)
            made.add(name, nil)
            return made.text
        }
    }

    // MARK: - Telling of changes

    /// Opens an event stream that announces changes of flags; `nil` if there are too many.
    func open() -> EventStream? { board.open() }

    /// Takes the pending events.
    ///
    /// - Returns: `nil` at the end; otherwise the tag of the current flags, if any, and whether to send a heartbeat.
    func next(_ stream: EventStream) async -> (tag: String?, isBeat: Bool)? {
        let pending = stream.take()
        if pending.isEnding { return nil }
        follow(stream)
        let flags = try? await flags()
        return (flags?.tag, pending.isBeat)
    }

    func close(_ stream: EventStream) { board.close(stream) }
    func end() { board.end() }
}

/// The reason why there are no flags at the moment.
struct FlagProblem: Error {
    let message: String
}
#endif
