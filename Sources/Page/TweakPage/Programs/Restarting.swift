import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakRecords
import TweakSystem

/// What is done to start a program again. A person sees it, and agrees, before it is done.
struct RestartPlan: Sendable {
    /// What is started.
    let start: ProcessStart
    /// The process that has to end before; `nil` if there is none.
    let running: ProcessIdentity?
    /// The unit of the user's service manager that is restarted instead.
    let unit: String?
    /// Why it is not done; `nil` if it can be.
    let refusal: String?
    let notes: [String]
    /// What a person can tell a shell instead.
    let command: String

    /// How long a program may take to end, and how long is waited to see whether the new one stays.
    private static let (patience, settling): (Duration, Duration) = (.seconds(5), .seconds(3))

    /// - Throws: If nobody knows how the program was started.
    init(for entry: ProgramEntry) throws(Failure) {
        // Nor is there a command for root's shell, since all of it is what the other user says.
        if let user = entry.user ?? entry.pid.flatMap({ otherUserName(of: $0) }) {
            throw Failure(
                "it is a program of \(user), which this page does not start", about: entry.name, .forbidden)
        }
        let status = entry.pid.flatMap { ProcessStatus(pid: $0) }
        let running = status.flatMap { $0.hasEnded ? nil : $0.process }
        let now = running.flatMap { ProcessStart(of: $0.pid) }
        let known = entry.start.flatMap { start in running == nil || start.process == running ? start : nil }
        guard let start = known ?? now else {
            throw Failure(
                running == nil
                    ? "it has not run since tweak ui began, so it is not known how it is started"
                    : "how it was started is not ours to know", about: entry.name, .invalid)
        }
        (self.start, self.running) = (start, running)
        let service = running.flatMap { Service(of: $0.pid) }
        unit = service.flatMap { $0.isOfUser ? $0.unit : nil }
        if let service, !service.isOfUser {
            refusal = "it is the service \(service.unit) of the system"
        } else if unit != nil {
            refusal = nil
        } else {
            refusal =
                running != nil && now == nil
                ? "it has just ended" : now?.obstacle ?? start.obstacle ?? start.missing
        }
        command = Self.command(start, running, service)
        guard unit == nil, refusal == nil else {
            notes = []
            return
        }
        var notes = start.losses
        if let running, readLink("/proc/\(running.pid)/exe")?.hasSuffix(" (deleted)") == true {
            notes.append("Its executable has been replaced since it began, and the new one is started.")
        }
        if let parent = status.flatMap({ Self.parent($0) }), running != nil {
            notes.append("\(parent) has started it, and sees it end.")
        }
        if entry.processes > 1, running != nil {
            notes.append("Only the first of its \(entry.processes) processes is told to end.")
        }
        if entry.state == .memory { notes.append("What was set in its memory is gone then.") }
        self.notes = notes
    }

    /// Who has started a process and may do so again, if that is neither this program nor the system.
    private static func parent(_ status: ProcessStatus) -> String? {
        guard status.parent > 1, status.parent != getpid(),
            let name = readFile("/proc/\(status.parent)/comm"),
            case let name = String(decoding: name, as: UTF8.self).prefix(while: { $0 != "\n" }),
            name != "systemd"
        else { return nil }
        return "\(name) (\(status.parent))"
    }

    private static func command(_ start: ProcessStart, _ running: ProcessIdentity?, _ service: Service?)
        -> String
    {
        if let service {
            return
                "systemctl \(service.isOfUser ? "--user " : "")restart \(shellWord(Array(service.unit.utf8)))"
        }
        let directory = shellWord(Array(start.directory.utf8))
        let end = running.map { "kill \($0.pid); while kill -0 \($0.pid) 2>/dev/null; do sleep 0.1; done; " }
        return "\(end ?? "")cd \(directory) && \(start.shellCommand)"
    }

    // MARK: - Doing it

    /// Ends the program and starts it again. This waits.
    ///
    /// - Returns: The new process.
    func perform(_ id: String, on board: Board) throws(Failure) -> pid_t? {
        if let unit {
            let done = StartedProcess.output(
                of: ["systemctl", "--user", "restart", "--", unit], .seconds(60))
            guard let done, done.succeeded else {
                throw Failure(
                    "the service manager has not restarted \(unit)\(done.map { ": " + $0.text } ?? "")",
                    .unavailable)
            }
            return waitForEntry(id, board, nil)
        }
        if let problem = start.missing { throw Failure(problem, .invalid) }
        board.update(id) { $0.isRestarting = true }
        defer {
            board.update(id) { $0.isRestarting = false }
            board.forgetEnded()
        }
        if let running {
            try end(running)
            // What follows it may notice later, and the new one would be a second program then.
            board.end(id, running.pid)
        }
        if let pid = board[id]?.pid { throw Failure("it runs again already, as process \(pid)", .invalid) }
        let standard = start.standard.enumerated().map { number, stream in
            switch stream {
            case .nothing: openFile("/dev/null", O_RDWR)
            case .file(let path): openFile(path, number == 0 ? O_RDONLY : O_WRONLY | O_APPEND)
            }
        }
        defer { for descriptor in standard where descriptor >= 0 { close(descriptor) } }
        guard standard.allSatisfy({ $0 >= 0 }) else {
            throw Failure("a file that it reads or writes cannot be opened: \(systemMessage())", .invalid)
        }
        // It was opened so that nobody has to wait for it, which the program does not expect.
        for descriptor in standard {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        }
        let started = try StartedProcess(
            start.executable, start.arguments, variables: start.variables, directory: start.directory,
            standard: standard)
        let pid = waitForEntry(id, board, started)
        if pid == nil, let text = started.statusText {
            throw Failure(
                "it was started as process \(started.pid), and has ended with \(text)", .unavailable)
        }
        return pid ?? started.pid
    }

    /// Asks a process to end, and waits for that.
    private func end(_ process: ProcessIdentity) throws(Failure) {
        func isThere() -> Bool {
            ProcessStatus(pid: process.pid).map { $0.process == process && !$0.hasEnded } ?? false
        }
        guard isThere() else { return }
        guard ProcessStatus(pid: process.pid)?.isOfThisUser != false else {
            throw Failure("process \(process.pid) has become another user's; nothing was started", .forbidden)
        }
        guard kill(process.pid, SIGTERM) == 0 || errno == ESRCH else {
            throw Failure("process \(process.pid) cannot be ended: \(systemMessage())", .invalid)
        }
        let deadline = ContinuousClock.now + Self.patience
        while isThere() {
            guard ContinuousClock.now < deadline else {
                throw Failure(
                    "process \(process.pid) was told to end (SIGTERM) and has not within "
                        + "\(Self.patience.components.seconds) seconds; nothing was started", .busy)
            }
            usleep(20_000)
        }
    }

    /// Waits until the program is seen to run.
    ///
    /// - Returns: Its process; `nil` if it is not seen in time.
    private func waitForEntry(_ id: String, _ board: Board, _ started: StartedProcess?) -> pid_t? {
        let deadline = ContinuousClock.now + Self.settling
        while ContinuousClock.now < deadline {
            if let pid = board[id]?.pid, pid != running?.pid { return pid }
            // One that goes to the background ends with 0, and is seen as another process.
            if let status = started?.status, status != 0 { return nil }
            usleep(20_000)
        }
        return nil
    }
}

/// The unit of a service manager whose main process a process is.
private struct Service {
    let unit: String
    /// Whether it is the user's own manager, and not that of the system.
    let isOfUser: Bool

    init?(of pid: pid_t) {
        guard let bytes = readFile("/proc/\(pid)/cgroup") else { return nil }
        let groups = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap {
            line -> Substring? in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            return parts.count == 3 && (parts[0] == "0" || parts[1] == "name=systemd") ? parts[2] : nil
        }
        for group in groups {
            let names = group.split(separator: "/")
            guard let name = names.last, name.hasSuffix(".service"), !name.hasPrefix("user@") else {
                continue
            }
            let isOfUser = names.contains { $0 == "user@\(geteuid()).service" }
            let unit = String(name)
            // Others that a service has started are in its group too; that one is not restarted for them.
            let command =
                ["systemctl"] + (isOfUser ? ["--user"] : []) + [
                    "show", "--property=MainPID", "--value", "--", unit,
                ]
            guard let answer = StartedProcess.output(of: command, .seconds(5)), answer.succeeded,
                answer.text.split(whereSeparator: \.isWhitespace).first == "\(pid)"
            else { continue }
            (self.unit, self.isOfUser) = (unit, isOfUser)
            return
        }
        return nil
    }
}

/// The plans that people look at. Each is carried out once, and the last one of a program counts.
final class RestartPlans: Sendable {
    private let state = Mutex<(last: Int, plans: [String: (number: Int, plan: RestartPlan)])>((0, [:]))

    /// - Returns: By what it is known.
    func add(_ plan: RestartPlan, for program: String) -> String {
        state.withLock { state in
            state.last += 1
            state.plans[program] = (state.last, plan)
            return "\(state.last)"
        }
    }

    /// - Returns: `nil` if it is not the last one, or was taken already.
    func take(_ name: String, for program: String) -> RestartPlan? {
        state.withLock { state in
            guard let known = state.plans[program], "\(known.number)" == name else { return nil }
            state.plans[program] = nil
            return known.plan
        }
    }
}
