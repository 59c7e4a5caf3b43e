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
        let inquiries = RunningProgram.all().compactMap(Inquiry.init)
        let clock = ContinuousClock()
        let end = clock.now + Patience.short.whole
        while clock.now < end {
            let waiting = inquiries.filter(\.isWaiting)
            guard !waiting.isEmpty else { break }
            var polled = waiting.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            poll(&polled, nfds_t(polled.count), Int32((end - clock.now) / .milliseconds(1)) + 1)
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

    var isWaiting: Bool { connection != nil }
    var descriptor: CInt { connection?.descriptor ?? -1 }

    /// Asks.
    ///
    /// - Returns: `nil` if nobody listens.
    init?(_ running: RunningProgram) {
        entry = Survey.Entry(running: running)
        do throws(ConnectionError) {
            let connection = try Connection(to: running, .short)
            descriptionID = try connection.send(DescribeProgram())
            listID = try connection.send(ListTweaks())
            self.connection = connection
        } catch .refused {
            return nil
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
        connection = nil
    }

    /// What is known in the end; `nil` if the program has ended meanwhile.
    var finished: Survey.Entry? {
        if isWaiting {
            end(.silent)
            if entry.description != nil { entry.problem = "it did not say in time which tweaks are set" }
        }
        return entry.problem != nil && entry.running.hasEnded ? nil : entry
    }
}

/// A process that listens, or did, by its socket.
package struct RunningProgram {
    package let pid: pid_t
    package let socketPath: String
    /// The path of its executable; `nil` if there is no such process, or if it is somebody else's.
    package let executable: String?
    /// Who it runs as, by name if that is known; `nil` if there is no such process.
    package var user: String? { ProcessEntry(pid: pid).map { userName($0.user) } }

    private init(pid: pid_t, socketPath: String) {
        (self.pid, self.socketPath) = (pid, socketPath)
        executable = executablePath(of: "\(pid)")
    }

    package var title: String { executable.map { "\(lastComponent(of: $0)) (\(pid))" } ?? "\(pid)" }
    package var hasEnded: Bool { kill(pid, 0) != 0 && errno == ESRCH }

    /// - Returns: `nil` if there can be no socket, as there is no directory for them.
    package init?(pid: pid_t) {
        let elsewhere = Self.isConfined ? nil : ProcessEntry(pid: pid)?.socketPath
        guard let path = elsewhere ?? ControlDirectory.ofUser?.socket(of: pid) else { return nil }
        self.init(pid: pid, socketPath: path)
    }

    /// All that have a socket, by process id: those of the user, in containers and as services too, for root everybody's.
    /// Sockets of those that have ended without removing them are removed.
    package static func all() -> [RunningProgram] {
        var paths: [pid_t: String] = [:]
        if let directory = ControlDirectory.ofUser {
            directory.removeAbandoned()
            for pid in directory.processes { paths[pid] = directory.socket(of: pid) }
        }
        if !isConfined {
            for process in ProcessEntry.all {
                if let path = process.socketPath { paths[process.pid] = path }
            }
        }
        return paths.sorted { $0.key < $1.key }.map { RunningProgram(pid: $0.key, socketPath: $0.value) }
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
            } catch  where error.exitCode == EX_UNAVAILABLE {
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

// MARK: - /proc

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
    var parent: pid_t? {
        // Behind the name, in which there may be anything: the state, and the parent.
        let bytes = read("stat")
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        return Self.numbers(bytes[end...].dropFirst(4)).first.flatMap { pid_t(exactly: $0) }
    }

    /// Its socket, where a process of its environment has one, if there is one. What is found there need not be of the
    /// process: the path is one of its own file system, and it may be in a container.
    var socketPath: String? {
        let environment = read("environ")
        let candidates = ControlDirectory.candidates(user: userInside) { Self.variable($0, in: environment) }
        let pid = pidInside
        return candidates.lazy.map { "\(folder)/root\($0.socket(of: pid))" }.first {
            var status = stat()
            return lstat($0, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
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
