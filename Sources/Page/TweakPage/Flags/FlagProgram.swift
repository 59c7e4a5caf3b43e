#if UI
import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakSystem

/// The program whose tweaks are flags. Its values are followed, so that a question costs the program nothing.
final class FlagProgram: Sendable {
    private let board: Board
    private let name: String
    private let run = Secrets.random()
    /// The flags of a state of the tweaks.
    private let made = Mutex<(number: Int, revision: Int, flags: Flags)?>(nil)

    /// Begins to look for a program, which need not run.
    ///
    /// - Throws: ``Failure`` if there is no such program.
    init(_ name: String) throws(Failure) {
        var warnings: [String] = []
        let programs = try ProgramSearch(warn: { warnings.append($0) }).programs(named: name)
        // A process of another user is one that root asks for by its id.
        let isID = name.allSatisfy { $0.isASCII && $0.isNumber }
        guard let program = programs.first(where: { isID || $0.otherUser == nil }) else {
            let user = programs.first?.otherUser
            throw Failure(
                user.map { "\(name): it is a program of \($0), which has to be named by its process id" }
                    ?? "\(name): there is no such program", user == nil ? .missing : .forbidden)
        }
        let description = try program.description
        let board = Board()
        (self.board, self.name) = (board, description.application)
        let ofOther = program.otherUser != nil
        // What the program of another user says of files is not believed.
        let executable = ofOther ? program.pid.flatMap { executablePath(of: "\($0)") } : description.program
        let (path, application) = (executable.map { realPath($0) ?? $0 }, description.application)
        Discovery(board: board, sessions: ProgramSessions(board), ofAllUsers: ofOther) { executable in
            guard let executable else { return false }
            return path.map { $0 == executable } ?? (lastComponent(of: executable) == application)
        }.start(findingKept: false)
        if let stream = board.open() { Task { await keepFollowing(stream) } }
        if program.pid == nil {
            printMessage("\(description.application) does not run; it has flags when it does", of: "tweak-ui")
        } else {
            // The first question is not asked before it has been found.
            for _ in 0..<200 where entry == nil { usleep(20_000) }
        }
    }

    /// The entry of the process that is asked. Of several it is the first one that was found.
    private var entry: ProgramEntry? {
        let all = board.entries.filter { $0.state != .offline }
        return all.first { $0.state != .silent } ?? all.first
    }

    /// Has the process followed, also when nobody asks, so that what a client gets is what there is.
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

    /// The flags as they are now.
    ///
    /// - Throws: Why there are none.
    func flags() async throws(FlagProblem) -> Flags {
        // It may end, and come back, meanwhile.
        for _ in 0..<4 {
            guard let entry else { throw FlagProblem(message: "\(name) does not run") }
            // One that is stopped has what it had.
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
            // One that took longer may be of an earlier state.
            if let last = made, last.number == known.number, last.revision > known.revision { return }
            made = (known.number, known.revision, flags)
        }
        return flags
    }

    // MARK: - Telling of changes

    /// Somebody who is told when flags change; `nil` if there are too many.
    func open() -> EventStream? { board.open() }

    /// Takes what has happened.
    ///
    /// - Returns: `nil` at the end; otherwise the tag of what there is now, if there is something, and whether to say that the
    ///   stream is alive.
    func next(_ stream: EventStream) async -> (tag: String?, isSilent: Bool)? {
        let pending = stream.take()
        if pending.isEnding { return nil }
        follow(stream)
        let flags = try? await flags()
        return (flags?.tag, pending.isSilent)
    }

    func close(_ stream: EventStream) { board.close(stream) }
    func end() { board.end() }
}

/// Why there are no flags at the moment.
struct FlagProblem: Error {
    let message: String
}
#endif
