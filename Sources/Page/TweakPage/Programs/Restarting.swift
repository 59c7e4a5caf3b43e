// SPDX-License-Identifier: BSD-3-Clause
import CTweakSystem
import CommandSupport
import Glibc
import TweakClient
import TweakRecords
import TweakSystem

/// A plan to restart a program, which the user reviews and confirms.
struct RestartPlan: Sendable {
    /// The start to repeat.
    let start: ProcessStart
    /// The process to end first, if any.
    let running: ProcessIdentity?
    /// The unit of the user's service manager to restart instead.
    let unit: String?
    /// The reason why it cannot be restarted; `nil` if it can.
    let refusal: String?
    let notes: [String]
    /// A shell command for doing it by hand.
    let command: String

    /// The timeouts for the old process to end, and for the new one to appear.
    private static let (patience, settling): (Duration, Duration) = (.seconds(5), .seconds(3))

    /// - Throws: ``Failure`` if it is not known how the program was started.
    init(for entry: ProgramEntry) throws(Failure) {
        // There is no shell command either, because root would run what the other user reports.
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
                    ? "it has not run since tweak ui began, so its command line is unknown"
                    : "its command line cannot be read", about: entry.name, .invalid)
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
        if let running, executableIsReplaced(of: "\(running.pid)") {
            notes.append("Its executable was replaced since it started; the new one will be started.")
        }
        if let parent = status.flatMap({ Self.parent($0) }), running != nil {
            notes.append("\(parent) started it, and will see it end.")
        }
        if entry.processes > 1, running != nil {
            notes.append("Only the first of its \(entry.processes) processes is told to exit.")
        }
        if entry.state == .memory { notes.append("Values set in its memory will be lost.") }
        self.notes = notes
    }

    /// The process that started a process and may restart it, unless that is this program or the system.
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

    /// Ends the program and starts it again. Blocks.
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
            // The follower may notice later, and the new process would look like a second program.
            board.end(id, running.pid)
        }
        if let pid = board[id]?.pid {
            throw Failure("it is already running again, as process \(pid)", .invalid)
        }
        let standard = start.standard.enumerated().map { number, stream in
            switch stream {
            case .nothing: openFile("/dev/null", O_RDWR)
            case .file(let path): openFile(path, number == 0 ? O_RDONLY : O_WRONLY | O_APPEND)
            }
        }
        defer { for descriptor in standard where descriptor >= 0 { close(descriptor) } }
        guard standard.allSatisfy({ $0 >= 0 }) else {
            throw Failure("cannot open a file that it reads or writes: \(systemMessage())", .invalid)
        }
        // Opened without blocking, which the program does not expect.
        for descriptor in standard {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        }
        let started = try StartedProcess(
            start.executable, start.arguments, variables: start.variables, directory: start.directory,
            standard: standard, whenEnded: { board.wakeWaiters() })
        let pid = waitForEntry(id, board, started)
        if pid == nil, let text = started.statusText {
            throw Failure(
                "it was started as process \(started.pid), and has ended with \(text)", .unavailable)
        }
        return pid ?? started.pid
    }

    /// Sends SIGTERM to a process, and waits for its end.
    private func end(_ process: ProcessIdentity) throws(Failure) {
        func isThere() -> Bool {
            ProcessStatus(pid: process.pid).map { $0.process == process && !$0.hasEnded } ?? false
        }
        let descriptor = fbtweak__open_process(process.pid)
        defer { if descriptor >= 0 { close(descriptor) } }
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
                    "process \(process.pid) did not exit within \(Self.patience.components.seconds) "
                        + "seconds of SIGTERM; nothing was started", .busy)
            }
            waitForEnd(of: descriptor, atMost: deadline - .now)
        }
    }

    /// Blocks until the program is seen running.
    ///
    /// - Returns: Its process; `nil` after the timeout, or if the started process has failed.
    private func waitForEntry(_ id: String, _ board: Board, _ started: StartedProcess?) -> pid_t? {
        // A program that daemonizes exits with 0, and is seen as another process.
        let isHopeless = { started?.status.map { $0 != 0 } ?? false }
        return board.waitForEntry(Self.settling, isHopeless: isHopeless) {
            $0.id == id && $0.pid != nil && $0.pid != running?.pid
        }?.pid
    }
}

/// A unit whose main process is the given process.
private struct Service {
    let unit: String
    /// Whether the user's manager runs it, not that of the system.
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
            // The children of a service are in its group too; the service is not restarted for them.
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
