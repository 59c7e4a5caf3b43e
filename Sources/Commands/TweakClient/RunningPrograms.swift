// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import Glibc
internal import TweakMemory
package import TweakProtocol
internal import TweakRecords
internal import TweakSystem

/// The state of all running programs. All are asked at once, with a short timeout.
package struct Survey {
    /// One program. Answers that did not arrive in time are `nil`.
    package struct Entry {
        package let running: RunningProgram
        package fileprivate(set) var description: DescribeProgram.Answer?
        package fileprivate(set) var tweaks: [JSONTweak]?
        /// The reason why answers are missing.
        package fileprivate(set) var problem: String?
    }

    package let entries: [Entry]

    /// Asks programs, by default all that listen.
    ///
    /// - Parameter isPatient: Whether programs that no signal has stopped get the usual time, because they or the machine
    ///   may be busy.
    package init(of programs: [RunningProgram] = RunningProgram.all(), isPatient: Bool = false) {
        let inquiries = programs.map(Inquiry.init)
        let clock = ContinuousClock()
        var (end, mayExtend) = (clock.now + Patience.short.whole, isPatient)
        while true {
            if clock.now >= end {
                guard mayExtend, inquiries.contains(where: { $0.isPending && !$0.isStopped }) else { break }
                (end, mayExtend) = (end + Patience.usual.silence - Patience.short.whole, false)
            }
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

/// The pending requests to one program.
private final class Inquiry {
    private var entry: Survey.Entry
    private var connection: Connection?
    private var descriptionID: RequestID?
    private var listID: RequestID?

    /// Whether the program has accepted no connection yet.
    private(set) var isConnecting = true
    /// Whether nothing listens.
    private var isRefused = false
    var isWaiting: Bool { connection != nil }
    var isPending: Bool { isConnecting || isWaiting }
    /// Whether a signal or a debugger has stopped the process.
    var isStopped: Bool { ProcessEntry(pid: entry.running.pid)?.isStopped ?? false }
    var descriptor: CInt { connection?.descriptor ?? -1 }

    init(_ running: RunningProgram) { entry = Survey.Entry(running: running) }

    /// Connects if that is possible now, and sends the requests.
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

    /// Reads the available answers.
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

    /// The result; `nil` if nothing listens, or the program ended meanwhile.
    var finished: Survey.Entry? {
        guard !isRefused else { return nil }
        if isPending {
            end(.silent)
            if entry.description != nil { entry.problem = "it did not report its tweaks in time" }
        }
        return entry.problem != nil && entry.running.hasEnded ? nil : entry
    }
}

/// A process with a socket.
package struct RunningProgram {
    package let pid: pid_t
    /// The possible paths of its socket.
    let socketPaths: [String]
    /// The path of its executable; `nil` if there is no such process, or if it belongs to another user.
    package let executable: String?
    /// The user it runs as, by name if that is known; `nil` if there is no such process.
    package var user: String? { ProcessEntry(pid: pid).map { userName($0.user) } }

    /// The user it runs as, if it is another one than ours; `nil` also if there is no such process.
    package var otherUser: String? { otherUserName(of: pid) }

    private init(pid: pid_t, socketPaths: [String]) {
        (self.pid, self.socketPaths) = (pid, socketPaths)
        executable = executablePath(of: "\(pid)")
    }

    /// A process with a socket in this directory.
    package init(pid: pid_t, in directory: ControlDirectory) {
        self.init(pid: pid, socketPaths: [directory.socket(of: pid)])
    }

    package var title: String { executable.map { "\(lastComponent(of: $0)) (\(pid))" } ?? "\(pid)" }
    package var hasEnded: Bool { TweakSystem.hasEnded(process: pid) }

    /// - Returns: `nil` if there is no directory for sockets.
    package init?(pid: pid_t) {
        let elsewhere = Self.isConfined ? nil : ProcessEntry(pid: pid)?.socketPaths
        let own = ControlDirectory.ofUser?.socket(of: pid)
        guard elsewhere != nil || own != nil else { return nil }
        self.init(pid: pid, socketPaths: (elsewhere ?? []) + (own.map { [$0] } ?? []))
    }

    /// All processes with a socket, by process id: those of the user, also in containers and services, or everybody's
    /// for root. Orphaned sockets are removed.
    ///
    /// - Parameter ofAllUsers: Whether root includes the processes of other users.
    package static func all(ofAllUsers: Bool = true) -> [RunningProgram] {
        var paths: [pid_t: [String]] = [:]
        if !isConfined {
            for process in ProcessEntry.all where ofAllUsers || process.user == geteuid() {
                let found = process.socketPaths
                if !found.isEmpty { paths[process.pid] = found }
            }
        }
        // If root never had a directory, another user may have made it.
        if let directory = ControlDirectory.ofUser, directory.isOfThisUser {
            directory.removeAbandoned()
            for pid in directory.processes where ofAllUsers || otherUserName(of: pid) == nil {
                paths[pid, default: []].append(directory.socket(of: pid))
            }
        }
        return paths.sorted { $0.key < $1.key }.map { RunningProgram(pid: $0.key, socketPaths: $0.value) }
    }

    /// Whether ``all(ofAllUsers:)`` is complete: root without capabilities, as in a hardened service, sees few others.
    package static var canSeeAll: Bool {
        isConfined || geteuid() != 0 || ProcessEntry(pid: getpid())?.canTraceOthers ?? false
    }

    /// The one of these processes that forked this one, directly or not; `nil` if none has the same executable.
    package func parent(among programs: [RunningProgram]) -> pid_t? {
        var parent = ProcessEntry(pid: pid)?.parent
        while let pid = parent, pid > 1 {
            if programs.contains(where: { $0.pid == pid && $0.executable == executable }) { return pid }
            parent = ProcessEntry(pid: pid)?.parent
        }
        return nil
    }

    /// The processes that this one has forked, directly or not, and that accept connections.
    package var forks: Set<pid_t> {
        Set(Self.all().filter { $0.pid != pid && $0.parent(among: [self]) != nil }.map(\.pid))
    }

    /// Whether only sockets in one directory count.
    static var isConfined: Bool { ControlDirectory.ownCandidates.count == 1 }
}

/// A process with tweaks or adopted variables but without the library.
package struct MemoryProcess {
    package let pid: pid_t
    /// The path of its executable.
    package let executable: String
    package let user: String
    /// Its tweaks; `nil` if they cannot be read.
    package let tweaks: [JSONTweak]?
    package let application: String?
    /// The reason why they cannot be read.
    package let problem: String?

    /// All that can be read, by process id: those of the user, or everybody's for root.
    package static func all() -> [MemoryProcess] {
        var processes: [MemoryProcess] = []
        for (process, executable) in found() {
            var (program, problem): (MemoryProgram?, String?)
            do throws(Failure) {
                program = try MemoryProgram(pid: process.pid) { problem = problem ?? $0.message }
                // The process has ended, or loaded the library meanwhile.
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
            guard let executable = process.executable,
                scan.hasTweaksInMemory(process.pid, executable: executable)
            else { return nil }
            return (process, executable)
        }
    }
}

/// The names and process ids of running programs with tweaks, for shell completion.
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

/// The user a process runs as, if it is another one than ours; `nil` also if there is no such process.
package func otherUserName(of pid: pid_t) -> String? {
    ProcessEntry(pid: pid).flatMap { $0.user == geteuid() ? nil : userName($0.user) }
}

/// The name of a user, or the number if it has no name.
func userName(_ user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
}

/// A process in /proc. Source: proc(5).
struct ProcessEntry {
    let pid: pid_t
    /// The user it runs as.
    let user: uid_t
    let group: gid_t
    private let folder: String

    /// - Returns: `nil` if there is no such process.
    init?(pid: pid_t) {
        folder = "/proc/\(pid)"
        guard let status = stat(path: folder) else { return nil }
        (self.pid, user, group) = (pid, status.st_uid, status.st_gid)
    }

    /// All processes that can be read: those of the user, or everybody's for root.
    static var all: [ProcessEntry] {
        let own = geteuid()
        return everybodys.filter { own == 0 || $0.user == own }
    }

    /// All processes, of all users.
    static var everybodys: [ProcessEntry] {
        directoryEntries("/proc").compactMap { pid_t($0) }.compactMap(ProcessEntry.init)
    }

    /// The numbers of its open files.
    var openFiles: [String] { directoryEntries("\(folder)/fdinfo") }

    /// The path of its executable; `nil` if it cannot be read, as for a kernel thread.
    var executable: String? { executablePath(of: "\(pid)") }

    /// Whether it has CAP_SYS_PTRACE, see capabilities(7).
    var canTraceOthers: Bool {
        let name = Array("CapEff:".utf8)
        let line = read("status").split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name) }
        let digits = line?.dropFirst(name.count).drop { $0 == UInt8(ascii: "\t") } ?? []
        let capabilities = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
        return capabilities & (1 << 19) != 0
    }

    /// The process that started it.
    var parent: pid_t? { statusField(4).flatMap { pid_t(exactly: $0) } }

    /// The time since it was forked.
    var age: Duration? { statusField(22).flatMap(Self.duration(since:)) }

    /// - Parameter ticks: A time after the start of the machine.
    private static func duration(since ticks: Int64) -> Duration {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) - .seconds(1) * ticks
            / sysconf(Int32(_SC_CLK_TCK))
    }

    /// Whether a signal or a debugger has stopped it.
    var isStopped: Bool { ["T", "t"].contains(statusFields(of: pid)?.first) }

    /// Whether it may still be in the dynamic linker, or in the delay after which the library's thread begins: it has had
    /// less than a tenth of a second of the processor, and a thread does not sleep, or is one of the last second.
    var isStarting: Bool {
        let fields = statusFields(of: pid)
        guard let user = Self.number(14, in: fields), let system = Self.number(15, in: fields),
            (user + system) * 10 < sysconf(Int32(_SC_CLK_TCK))
        else { return false }
        return threads.contains { thread in
            let fields = statusFields(of: thread)
            guard let state = fields?.first, let start = Self.number(22, in: fields) else { return false }
            return ["R", "D", "T"].contains(state)
                || thread != pid && Self.duration(since: start) < .seconds(1)
        }
    }

    /// Whether it has a thread of the library, which begins with the first use of a tweak, before `main` if the program
    /// has records.
    var runsLibrary: Bool {
        threads.contains { read("task/\($0)/comm").elementsEqual("tweaks\n".utf8) }
    }

    private var threads: [pid_t] { directoryEntries("\(folder)/task").compactMap { pid_t($0) } }

    /// A number in `/proc/PID/stat`, by its place in proc_pid_stat(5), which is at least the fourth.
    private func statusField(_ number: Int) -> Int64? { Self.number(number, in: statusFields(of: pid)) }

    private static func number(_ number: Int, in fields: [String]?) -> Int64? {
        fields?.dropFirst(number - 3).first.flatMap { Int64($0) }
    }

    /// Whether it was started without a socket.
    var refusesRequests: Bool { Self.variable("TWEAKS_CONTROL", in: read("environ")) == "0" }

    /// The names of the variables in its environment that would set tweaks.
    fileprivate var tweakVariables: [String] {
        let prefix = Array(TweakKey.variablePrefix.utf8)
        return read("environ").split(separator: 0).filter { $0.starts(with: prefix) }.map {
            String(decoding: $0.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        }
    }

    /// The possible paths of its socket, by its environment. What is found there may belong to another process: the
    /// path is in the process's own file system, such as that of a container.
    var socketPaths: [String] {
        // The new user of a process that changed its user may be unable to read either.
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

    /// A variable in an environment block. The first of a name counts, as for getenv(3).
    static func variable(_ name: String, in environment: [UInt8]) -> String? {
        let start = Array("\(name)=".utf8)
        let variable = environment.split(separator: 0).first { $0.starts(with: start) }
        return variable.map { String(decoding: $0.dropFirst(start.count), as: UTF8.self) }
    }

    /// The process id in its own PID namespace.
    private var pidInside: pid_t {
        let lines = read("status").split(separator: UInt8(ascii: "\n"))
        return lines.first { $0.starts(with: "NSpid:".utf8) }.flatMap { Self.numbers($0).last }.flatMap {
            pid_t(exactly: $0)
        } ?? pid
    }

    /// The user in its own user namespace.
    private var userInside: uid_t {
        for line in read("uid_map").split(separator: UInt8(ascii: "\n")) {
            let numbers = Self.numbers(line)
            guard numbers.count == 3, user >= numbers[1], user - numbers[1] < numbers[2] else { continue }
            return numbers[0] &+ (user - numbers[1])
        }
        return user
    }

    /// The numbers in a line.
    private static func numbers(_ line: ArraySlice<UInt8>) -> [UInt32] {
        line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.compactMap {
            UInt32(String(decoding: $0, as: UTF8.self))
        }
    }

    /// The environment it was started with; `nil` if that is not shown.
    func readEnvironment() -> [UInt8]? { readWhole("\(folder)/environ", limit: 1 << 20) }

    /// Reads a file of its folder; nothing if that is not possible.
    func read(_ name: String) -> [UInt8] {
        readWhole("\(folder)/\(name)", limit: 1 << 20) ?? []
    }
}

extension LiveProgram {
    /// Messages about variables in the environment of the process that are named as if they set a tweak, and set none.
    package func unknownVariables() throws(Failure) -> [String] {
        let names = ProcessEntry(pid: running.pid)?.tweakVariables ?? []
        guard !names.isEmpty else { return [] }
        let known = try declaredTweaks().map(\.declaration.key.environmentVariable)
        return Set(names).subtracting(known).sorted().map { name in
            "\(title): \(name) in its environment sets no tweak" + didYouMean(known.nearest(to: name))
        }
    }
}
