// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import Synchronization
import TweakClient
import TweakMemory
import TweakOverrides
import TweakProtocol
import TweakSystem

/// Finds programs on a thread of its own: running ones, with and without the library, and those with kept values.
final class Discovery: Sendable {
    private let board: Board
    private let sessions: ProgramSessions
    /// Whether root also sees the programs of other users.
    private let ofAllUsers: Bool
    /// Returns whether an executable is of interest.
    private let isMeant: @Sendable (String?) -> Bool
    private let state = Mutex(State())

    private struct State {
        /// The followed processes.
        var followed: Set<pid_t> = []
        /// Whether one of them is no longer followed since the last search.
        var hasLost = false
    }

    init(
        board: Board, sessions: ProgramSessions, ofAllUsers: Bool,
        only isMeant: @escaping @Sendable (_ executable: String?) -> Bool = { _ in true }
    ) {
        (self.board, self.sessions, self.ofAllUsers, self.isMeant) = (board, sessions, ofAllUsers, isMeant)
    }

    /// - Parameter findingKept: Whether to add programs that are not running but have kept values.
    func start(findingKept: Bool = true) {
        if findingKept { addKept() }
        // A directory that exists can be watched.
        try? ControlDirectory.ofUser?.prepare()
        lookForListening()
        onThread { [self] in run() }
    }

    private func run() {
        var changes = FolderChanges()
        var changed: Set<String> = []
        var scan = ProcessScan()
        var looks: [pid_t: Int] = [:]
        var schedule = SearchSchedule()
        while true {
            let sockets = ControlDirectory.ofUser?.path
            let edited = board.entries.filter { !$0.followers.isEmpty && $0.user == nil }
            let folders = Set(edited.flatMap(\.watchedFolders) + (sockets.map { [$0] } ?? []))
            let unwatched = changes.watch(folders)
            changed.formUnion(unwatched)
            for entry in edited {
                let isChanged = entry.watchedFolders.contains(where: changed.contains)
                if entry.state == .offline {
                    if isChanged || !entry.isFresh { sessions.reload(entry.id) }
                } else if isChanged {
                    entry.follower?.wake()
                }
            }
            // Its forks, or the process as another user, may listen.
            let hasLost = state.withLock { state in
                defer { state.hasLost = false }
                return state.hasLost
            }
            if hasLost { schedule.expectProcesses() }
            if sockets.map(changed.contains) ?? false { lookForListening() }
            if let search = schedule.next() {
                if search.isInContainers { lookForListening() }
                lookIntoMemory(&scan, &looks, all: search.isWhole)
            }
            let pause = schedule.pause(isHurried: board.isWatched || !unwatched.isEmpty)
            changed = changes.wait(board.lookout, pause)
        }
    }

    // MARK: - Running programs

    private func lookForListening() {
        let all = RunningProgram.all(ofAllUsers: ofAllUsers)
        for running in all where !isFollowed(running.pid) && isMeant(running.executable) {
            // The first process keeps values, and its forks follow the file.
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

    /// - Parameters:
    ///   - looks: How often each process was found to have no tweaks. A new one may not have loaded its libraries, or
    ///     executed its program, yet.
    ///   - all: Whether to search the memory of every process again.
    private func lookIntoMemory(_ scan: inout ProcessScan, _ looks: inout [pid_t: Int], all: Bool) {
        let own = geteuid()
        let pids = Set(directoryEntries("/proc").compactMap { pid_t($0) })
        looks = looks.filter { pids.contains($0.key) }
        for pid in pids.sorted() where pid != getpid() && !isFollowed(pid) {
            let count = looks[pid] ?? 0
            guard all || count < SearchSchedule.looks else { continue }
            guard let status = stat(path: "/proc/\(pid)"), status.st_uid == own || (own == 0 && ofAllUsers)
            else {
                continue
            }
            looks[pid] = count + 1
            guard let executable = executablePath(of: "\(pid)"), isMeant(executable),
                scan.hasTweaksInMemory(pid, executable: executable)
            else {
                continue
            }
            follow(pid) { MemoryFollower(pid, executable: executable, on: board, whenEnded: $0).start() }
        }
    }

    private func isFollowed(_ pid: pid_t) -> Bool { state.withLock { $0.followed.contains(pid) } }

    private func follow(_ pid: pid_t, _ start: (@escaping @Sendable () -> Void) -> Void) {
        guard state.withLock({ $0.followed.insert(pid).inserted }) else { return }
        let began = ContinuousClock.now
        start { [self] in
            state.withLock { state in
                state.followed.remove(pid)
                // A process that refuses connections is tried again with the next search only.
                if .now - began > .seconds(1) { state.hasLost = true }
            }
            board.lookout.wake()
        }
    }

    // MARK: - Programs that are not running

    /// Adds the programs with kept values.
    private func addKept() {
        guard let file = try? OverridesFile(application: "-") else { return }
        let folder = containingFolder(of: file.directory) + "/"
        for name in directoryEntries(folder).sorted() where !name.hasPrefix(".") {
            guard stat(path: folder + name)?.isDirectory == true else { continue }
            let path = (try? findExecutable(named: name)).flatMap { realPath($0) }
            _ = board.entry(name: name, executable: path, isRunning: false) {
                $0.overrides = folder + name + "/overrides.json"
            }
        }
    }
}

/// Decides when to search /proc: for processes without the library, and for those in containers, whose sockets are in
/// other directories. All other processes announce themselves by their socket.
private struct SearchSchedule {
    private static let pause: Duration = .seconds(1)
    /// The pause between two searches of all processes, because each may execute another program at any time.
    private static let wholePause: Duration = .seconds(15)
    /// The time that a new process may take to execute its program and to load libraries.
    private static let startTime: Duration = .seconds(4)
    /// The number of searches that look at a new process within this time.
    static let looks = 3

    private var lastStarted: Substring?
    private var (due, dueWhole, end) = (ContinuousClock.now, ContinuousClock.now, ContinuousClock.now)
    private var count = 0

    /// The search that is due now, if any.
    mutating func next() -> (isWhole: Bool, isInContainers: Bool)? {
        let now = ContinuousClock.now
        guard now >= due else { return nil }
        due = now + Self.pause
        // The last number in the file is the process or thread started last. Source: proc_loadavg(5).
        let started = readFile("/proc/loadavg").flatMap {
            String(decoding: $0, as: UTF8.self).split(separator: " ").last
        }
        if started == nil || started != lastStarted { expectProcesses() }
        lastStarted = started
        let isWhole = now >= dueWhole
        if isWhole { dueWhole = now + Self.wholePause }
        guard isWhole || now <= end else { return nil }
        count += 1
        return (isWhole, isWhole || count % 3 == 0)
    }

    /// Searches for a while, because there may be new processes.
    mutating func expectProcesses() { end = .now + Self.startTime }

    /// The time until ``next()`` is worth calling.
    ///
    /// - Parameter isHurried: Whether someone waits for new processes. Otherwise the next request does.
    func pause(isHurried: Bool) -> Duration { max(.zero, (isHurried ? due : max(due, dueWhole)) - .now) }
}

extension ProgramEntry {
    /// The folders with the files that its values come from.
    fileprivate var watchedFolders: [String] {
        let files = state == .offline ? [overrides, executable] : [overrides]
        return files.compactMap { $0.map { containingFolder(of: $0) } }
    }
}

extension RunningProgram {
    /// The first process in its chain of forks.
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
