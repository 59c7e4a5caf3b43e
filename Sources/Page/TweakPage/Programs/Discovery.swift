import Glibc
import Synchronization
import TweakClient
import TweakMemory
import TweakOverrides
import TweakProtocol
import TweakSystem

/// Finds programs, on a thread of its own: those that run with the library and without, and those of which values are kept.
final class Discovery: Sendable {
    private let board: Board
    private let sessions: ProgramSessions
    /// Whether root sees the programs of others too.
    private let ofAllUsers: Bool
    /// Which executables are meant.
    private let isMeant: @Sendable (String?) -> Bool
    /// The processes that are followed.
    private let followed = Mutex<Set<pid_t>>([])

    /// How often new processes are looked at: nobody tells of those without the library. Those in containers, which have the
    /// library and listen elsewhere, are looked for with every third of them.
    private static let period: Duration = .seconds(1)

    init(
        board: Board, sessions: ProgramSessions, ofAllUsers: Bool,
        only isMeant: @escaping @Sendable (_ executable: String?) -> Bool = { _ in true }
    ) {
        (self.board, self.sessions, self.ofAllUsers, self.isMeant) = (board, sessions, ofAllUsers, isMeant)
    }

    /// - Parameter findingKept: Whether programs are added of which values are kept.
    func start(findingKept: Bool = true) {
        if findingKept { addKept() }
        lookForListening()
        onThread { [self] in run() }
    }

    private func run() {
        let directory = ControlDirectory.ofUser?.path
        var scan = ProcessScan()
        var seen: Set<pid_t> = []
        var changes = FolderChanges()
        var next = ContinuousClock.now
        var turn = 0
        while true {
            let edited = board.entries.filter { $0.state == .offline && !$0.followers.isEmpty }
            let files = edited.compactMap(\.overrides)
            changes.watch(
                files.map { containingFolder(of: $0) }
                    + (directory.map { [$0] } ?? []))
            for entry in edited { sessions.reload(entry.id) }
            let isTurn = next <= .now
            if !isTurn || turn % 3 == 0 { lookForListening() }
            if isTurn {
                lookIntoMemory(&scan, &seen, all: turn % 15 == 0)
                next = .now + Self.period
                turn += 1
            }
            changes.wait(until: next)
        }
    }

    // MARK: - What runs

    private func lookForListening() {
        let all = RunningProgram.all(ofAllUsers: ofAllUsers)
        for running in all where !isFollowed(running.pid) && isMeant(running.executable) {
            // What is set in the first process the others follow.
            guard running.parent(among: all) == nil else { continue }
            follow(running.pid) { LiveFollower(running, on: board, whenEnded: $0).start() }
        }
        for entry in board.entries {
            guard let pid = entry.pid, entry.state == .running else { continue }
            let processes = all.count {
                $0.pid == pid || ($0.executable == entry.executable && $0.root(among: all) == pid)
            }
            if processes != entry.processes, processes > 0 {
                board.update(entry.id) { $0.processes = processes }
            }
        }
    }

    /// - Parameter all: Whether those are looked at again that had nothing.
    private func lookIntoMemory(_ scan: inout ProcessScan, _ seen: inout Set<pid_t>, all: Bool) {
        let own = geteuid()
        let pids = Set(directoryEntries("/proc").compactMap { pid_t($0) })
        seen.formIntersection(pids)
        for pid in pids.sorted() where (all || !seen.contains(pid)) && pid != getpid() && !isFollowed(pid) {
            guard let status = stat(path: "/proc/\(pid)"), status.st_uid == own || (own == 0 && ofAllUsers)
            else {
                continue
            }
            // One that has just begun may not have loaded the library yet.
            if !all { seen.insert(pid) }
            guard let executable = executablePath(of: "\(pid)"), isMeant(executable),
                scan.content(of: pid) == .tweaks
            else {
                continue
            }
            follow(pid) { MemoryFollower(pid, executable: executable, on: board, whenEnded: $0).start() }
        }
    }

    private func isFollowed(_ pid: pid_t) -> Bool { followed.withLock { $0.contains(pid) } }

    private func follow(_ pid: pid_t, _ start: (@escaping @Sendable () -> Void) -> Void) {
        guard followed.withLock({ $0.insert(pid).inserted }) else { return }
        start { [self] in
            _ = followed.withLock { $0.remove(pid) }
        }
    }

    // MARK: - What does not run

    /// Adds the programs of which values are kept.
    private func addKept() {
        guard let file = try? OverridesFile(application: "-") else { return }
        let folder = containingFolder(of: file.directory) + "/"
        for name in directoryEntries(folder).sorted() where !name.hasPrefix(".") {
            guard stat(path: folder + name)?.isDirectory == true else { continue }
            let path = (try? findExecutable(named: name)).flatMap { realPath($0) }
            let id = board.entry(name: name, executable: path, isRunning: false)
            board.update(id) { $0.overrides = folder + name + "/overrides.json" }
        }
    }
}

/// Tells when files come, go or change in some folders. Source: inotify(7).
private struct FolderChanges: ~Copyable {
    private let descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
    private var watches: [String: CInt] = [:]

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Chooses the folders. One that is not there, or is another one now, is watched from the next call on.
    mutating func watch(_ folders: [String]) {
        for (folder, watch) in watches where !folders.contains(folder) {
            inotify_rm_watch(descriptor, watch)
            watches[folder] = nil
        }
        for folder in folders {
            watches[folder] = inotify_add_watch(
                descriptor, folder, UInt32(IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE))
        }
    }

    /// Waits for a change. Others that follow closely are part of it.
    func wait(until end: ContinuousClock.Instant) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = max(.zero, end - .now) / .milliseconds(1)
        guard poll(&entry, 1, CInt(milliseconds.rounded(.up))) > 0 else { return }
        usleep(10_000)
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}

extension RunningProgram {
    /// The first process of those that have forked this one.
    fileprivate func root(among all: [RunningProgram]) -> pid_t {
        var (program, pid) = (self, self.pid)
        for _ in 0..<64 {
            guard let parent = program.parent(among: all), let next = all.first(where: { $0.pid == parent })
            else {
                break
            }
            (program, pid) = (next, parent)
        }
        return pid
    }
}
