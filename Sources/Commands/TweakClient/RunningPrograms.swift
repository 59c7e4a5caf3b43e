internal import CommandSupport
package import Glibc
internal import TweakMemory
package import TweakProtocol
internal import TweakSystem

/// What running programs say of themselves. All are asked at once, and none is waited for long.
package struct Survey {
    /// One program. What it has not said in time is `nil`.
    package struct Entry {
        package let running: RunningProgram
        package fileprivate(set) var description: DescribeProgram.Answer?
        package fileprivate(set) var tweaks: [JSONTweak]?
        /// Why there is not everything.
        package fileprivate(set) var problem: String?
    }

    package let entries: [Entry]

    /// Asks all programs that listen.
    package init() {
        let inquiries = RunningProgram.all().map(Inquiry.init)
        let clock = ContinuousClock()
        let end = clock.now + Patience.short.whole
        while clock.now < end {
            for inquiry in inquiries where inquiry.isConnecting { inquiry.connect() }
            let isConnecting = inquiries.contains(where: \.isConnecting)
            let waiting = inquiries.filter(\.isWaiting)
            guard isConnecting || !waiting.isEmpty else { break }
            let rest = min(end - clock.now, isConnecting ? Connection.pause : .seconds(1))
            var polled = waiting.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            poll(&polled, nfds_t(polled.count), Int32(max(rest, .zero) / .milliseconds(1)) + 1)
            for (inquiry, entry) in zip(waiting, polled) where entry.revents != 0 { inquiry.read() }
        }
        entries = inquiries.compactMap(\.finished)
    }
}

/// The questions to one program.
private final class Inquiry {
    private var entry: Survey.Entry
    private var connection: Connection?
    private var descriptionID: RequestID?
    private var listID: RequestID?

    /// Whether the program has taken no connection yet.
    private(set) var isConnecting = true
    /// Whether nobody listens.
    private var isRefused = false
    var isWaiting: Bool { connection != nil }
    var descriptor: CInt { connection?.descriptor ?? -1 }

    init(_ running: RunningProgram) { entry = Survey.Entry(running: running) }

    /// Connects, if that is possible at the moment, and asks.
    func connect() {
        do throws(ConnectionError) {
            guard let connection = try Connection(atOnceTo: entry.running, .short) else { return }
            isConnecting = false
            descriptionID = try connection.send(DescribeProgram())
            listID = try connection.send(ListTweaks())
            self.connection = connection
        } catch .refused {
            (isConnecting, isRefused) = (false, true)
        } catch {
            end(error)
        }
    }

    /// Takes what has come.
    func read() {
        guard let connection else { return }
        do throws(ConnectionError) {
            try connection.receive()
            while let message = try connection.nextMessage() { try receive(message, from: connection) }
        } catch {
            end(error)
        }
    }

    private func receive(_ message: ProgramMessage, from connection: Connection) throws(ConnectionError) {
        if let descriptionID, entry.description == nil {
            entry.description = try connection.answer(message, to: descriptionID, of: DescribeProgram.self)
        } else if let listID {
            entry.tweaks = try connection.answer(message, to: listID, of: ListTweaks.self)?.tweaks
        }
        if entry.tweaks != nil { self.connection = nil }
    }

    private func end(_ error: ConnectionError) {
        entry.problem = error.reason
        (isConnecting, connection) = (false, nil)
    }

    /// What is known in the end; `nil` if nobody listens, or the program has ended meanwhile.
    var finished: Survey.Entry? {
        guard !isRefused else { return nil }
        if isConnecting || isWaiting {
            end(.silent)
            if entry.description != nil { entry.problem = "it did not say in time which tweaks are set" }
        }
        return entry.problem != nil && entry.running.hasEnded ? nil : entry
    }
}

/// A process that listens, or did, by its socket.
package struct RunningProgram {
    package let pid: pid_t
    /// Where its socket may be.
    let socketPaths: [String]
    /// The path of its executable; `nil` if there is no such process, or if it is somebody else's.
    package let executable: String?
    /// Who it runs as, by name if that is known; `nil` if there is no such process.
    package var user: String? { ProcessEntry(pid: pid).map { userName($0.user) } }

    /// Who it runs as, if that is another user than this process; `nil` also if there is no such process.
    package var otherUser: String? { otherUserName(of: pid) }

    private init(pid: pid_t, socketPaths: [String]) {
        (self.pid, self.socketPaths) = (pid, socketPaths)
        executable = executablePath(of: "\(pid)")
    }

    /// A process whose socket is in this directory.
    package init(pid: pid_t, in directory: ControlDirectory) {
        self.init(pid: pid, socketPaths: [directory.socket(of: pid)])
    }

    package var title: String { executable.map { "\(lastComponent(of: $0)) (\(pid))" } ?? "\(pid)" }
    package var hasEnded: Bool { kill(pid, 0) != 0 && errno == ESRCH }

    /// - Returns: `nil` if there can be no socket, as there is no directory for them.
    package init?(pid: pid_t) {
        let elsewhere = Self.isConfined ? nil : ProcessEntry(pid: pid)?.socketPaths
        let own = ControlDirectory.ofUser?.socket(of: pid)
        guard elsewhere != nil || own != nil else { return nil }
        self.init(pid: pid, socketPaths: (elsewhere ?? []) + (own.map { [$0] } ?? []))
    }

    /// All that have a socket, by process id: those of the user, in containers and as services too, for root everybody's.
    /// Sockets of those that have ended without removing them are removed.
    ///
    /// - Parameter ofAllUsers: Whether root looks for those of others too.
    package static func all(ofAllUsers: Bool = true) -> [RunningProgram] {
        var paths: [pid_t: [String]] = [:]
        if !isConfined {
            for process in ProcessEntry.all where ofAllUsers || process.user == geteuid() {
                let found = process.socketPaths
                if !found.isEmpty { paths[process.pid] = found }
            }
        }
        // Where root has never had one, somebody else may have made the directory.
        if let directory = ControlDirectory.ofUser, directory.isOfThisUser {
            directory.removeAbandoned()
            for pid in directory.processes where ofAllUsers || otherUserName(of: pid) == nil {
                paths[pid, default: []].append(directory.socket(of: pid))
            }
        }
        return paths.sorted { $0.key < $1.key }.map { RunningProgram(pid: $0.key, socketPaths: $0.value) }
    }

    /// Which of these processes has forked this one, itself or by others; `nil` if none of the same executable has.
    package func parent(among programs: [RunningProgram]) -> pid_t? {
        var parent = ProcessEntry(pid: pid)?.parent
        while let pid = parent, pid > 1 {
            if programs.contains(where: { $0.pid == pid && $0.executable == executable }) { return pid }
            parent = ProcessEntry(pid: pid)?.parent
        }
        return nil
    }

    /// Whether only those with a socket in one directory are meant.
    private static var isConfined: Bool { ControlDirectory.ownCandidates.count == 1 }
}

/// A process with tweaks that does not have the library.
package struct MemoryProcess {
    package let pid: pid_t
    /// The path of its executable.
    package let executable: String
    package let user: String
    /// Its tweaks, and what it calls itself; `nil` if they cannot be read.
    package let tweaks: [JSONTweak]?
    package let application: String?
    /// Why they cannot be.
    package let problem: String?

    /// All that can be looked into, by process id: those of the user, for root everybody's.
    package static func all() -> [MemoryProcess] {
        var processes: [MemoryProcess] = []
        for (process, executable) in found() {
            var (program, problem): (MemoryProgram?, String?)
            do throws(Failure) {
                program = try MemoryProgram(pid: process.pid) { problem = problem ?? $0 }
                // It has ended, or got the library meanwhile.
                if program == nil { continue }
            } catch  where error.kind == .unavailable {
                continue
            } catch {
                problem = error.message
            }
            processes.append(
                MemoryProcess(
                    pid: process.pid, executable: executable, user: userName(process.user),
                    tweaks: program?.tweaks(), application: program?.description.application, problem: problem
                ))
        }
        return processes
    }

    /// The executables of these processes, by process id.
    package static func executables() -> [(pid: pid_t, path: String)] { found().map { ($0.pid, $1) } }

    private static func found() -> [(ProcessEntry, executable: String)] {
        var scan = ProcessScan()
        return ProcessEntry.all.sorted { $0.pid < $1.pid }.compactMap { process in
            guard let executable = process.executable, scan.content(of: process.pid) == .tweaks else {
                return nil
            }
            return (process, executable)
        }
    }
}

/// The names and process ids of running programs with tweaks, for a shell that completes one.
package func runningPrograms() -> [(word: String, details: String)] {
    let withLibrary = RunningProgram.all().filter { !$0.hasEnded }.compactMap { program in
        program.executable.map { (pid: program.pid, path: $0) }
    }
    let running = withLibrary + MemoryProcess.executables()
    let names = Dictionary(grouping: running) { lastComponent(of: $0.path) }.filter { $0.value.count == 1 }
        .keys
    return names.sorted().map { ($0, "runs") } + running.map { ("\($0.pid)", $0.path) }
}

// MARK: - /proc

/// Who a process runs as, if that is another user than this one; `nil` also if there is no such process.
package func otherUserName(of pid: pid_t) -> String? {
    ProcessEntry(pid: pid).flatMap { $0.user == geteuid() ? nil : userName($0.user) }
}

/// What a user is called; the number of one that has no name.
func userName(_ user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
}

/// What /proc tells of a process. Source: proc(5).
struct ProcessEntry {
    let pid: pid_t
    /// Who it runs as.
    let user: uid_t
    let group: gid_t
    private let folder: String

    /// - Returns: `nil` if there is no such process.
    init?(pid: pid_t) {
        folder = "/proc/\(pid)"
        guard let status = stat(path: folder) else { return nil }
        (self.pid, user, group) = (pid, status.st_uid, status.st_gid)
    }

    /// All processes that can be looked into: those of the user, for root everybody's.
    static var all: [ProcessEntry] {
        let own = geteuid()
        return directoryEntries("/proc").compactMap { pid_t($0) }.compactMap(ProcessEntry.init).filter {
            own == 0 || $0.user == own
        }
    }

    /// The path of its executable; `nil` if that is not ours to know, as of a thread of the kernel.
    var executable: String? { executablePath(of: "\(pid)") }

    /// The process that started it.
    var parent: pid_t? { statusField(4).flatMap { pid_t(exactly: $0) } }

    /// How long ago it was forked.
    var age: Duration? {
        guard let ticks = statusField(22) else { return nil }
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) - .seconds(1) * ticks
            / sysconf(Int32(_SC_CLK_TCK))
    }

    /// A number of the file `stat`, counted from 1 as in proc_pid_stat(5); not one of the first three.
    private func statusField(_ number: Int) -> Int64? {
        let bytes = read("stat")
        // Behind the name, in which there may be anything, comes the third.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[end...].dropFirst(2).split(separator: UInt8(ascii: " "))
        return number - 3 < fields.count ? Int64(String(decoding: fields[number - 3], as: UTF8.self)) : nil
    }

    /// Its socket, wherever a process of its environment has one, if there is one. What is found there need not be of the
    /// process: the path is one of its own file system, and it may be in a container.
    var socketPaths: [String] {
        // Of a process that has become another user its new user may see neither of the two.
        let root = access("\(folder)/root/", F_OK) == 0 ? "\(folder)/root" : ""
        let environment = read("environ")
        let variable = { Self.variable($0, in: environment) }
        let user = userInside
        let candidates =
            ControlDirectory.candidates(ofChanged: user, root: root, environment: variable)
            + ControlDirectory.candidates(user: user, root: root, environment: variable)
        let pid = pidInside
        var paths: [String] = []
        for candidate in candidates {
            let path = root + candidate.socket(of: pid)
            var status = stat()
            if !paths.contains(path), lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK {
                paths.append(path)
            }
        }
        return paths
    }

    /// A variable of an environment as the kernel gives it. The first of a name counts, as for getenv(3).
    private static func variable(_ name: String, in environment: [UInt8]) -> String? {
        let start = Array("\(name)=".utf8)
        let variable = environment.split(separator: 0).first { $0.starts(with: start) }
        return variable.map { String(decoding: $0.dropFirst(start.count), as: UTF8.self) }
    }

    /// The process id that it has in its own namespace.
    private var pidInside: pid_t {
        let lines = read("status").split(separator: UInt8(ascii: "\n"))
        return lines.first { $0.starts(with: "NSpid:".utf8) }.flatMap { Self.numbers($0).last }.flatMap {
            pid_t(exactly: $0)
        } ?? pid
    }

    /// The user that it runs as in its own namespace.
    private var userInside: uid_t {
        for line in read("uid_map").split(separator: UInt8(ascii: "\n")) {
            let numbers = Self.numbers(line)
            guard numbers.count == 3, user >= numbers[1], user - numbers[1] < numbers[2] else { continue }
            return numbers[0] &+ (user - numbers[1])
        }
        return user
    }

    /// The numbers among words.
    private static func numbers(_ line: ArraySlice<UInt8>) -> [UInt32] {
        line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.compactMap {
            UInt32(String(decoding: $0, as: UTF8.self))
        }
    }

    private func read(_ name: String) -> [UInt8] {
        let descriptor = openFile("\(folder)/\(name)", O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return readToEnd(descriptor, limit: 1 << 20) ?? []
    }
}
