// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TweakRecords
import TweakSystem

/// The start of a process: the executable, the arguments, the directory and the environment. Source: proc(5).
///
/// Read when the process is first seen, because a program can change its directory and overwrite its arguments.
struct ProcessStart: Sendable {
    let process: ProcessIdentity
    let executable: String
    let arguments: [[UInt8]]
    let variables: [[UInt8]]
    let directory: String
    /// Its standard input, output and error.
    let standard: [Stream]
    /// The reason why it cannot be restarted by another process; `nil` if it can.
    let obstacle: String?

    enum Stream: Equatable {
        /// Closed, or something that cannot be reopened, such as a pipe.
        case nothing(instead: String?)
        /// A file, or a terminal other than the controlling one.
        case file(String)
    }

    /// - Returns: `nil` if the process has ended or cannot be read.
    init?(of pid: pid_t) {
        let folder = "/proc/\(pid)/"
        guard let status = ProcessStatus(pid: pid), !status.hasEnded,
            let executable = executablePath(of: "\(pid)"),
            let arguments = Self.texts(folder + "cmdline"), let variables = Self.texts(folder + "environ"),
            let directory = readLink(folder + "cwd")
        else { return nil }
        process = status.process
        (self.executable, self.arguments, self.variables) = (executable, arguments, variables)
        self.directory = directory
        standard = (0...2).map { Self.stream(folder + "fd/\($0)", isRead: $0 == 0) }
        obstacle = Self.obstacle(status, standard[0])
        // It may have executed another program meanwhile.
        guard ProcessStatus(pid: pid)?.process == process, !arguments.isEmpty else { return nil }
    }

    private static func obstacle(_ status: ProcessStatus, _ input: Stream) -> String? {
        let folder = "/proc/\(status.process.pid)/"
        if !status.isOfThisUser { return "it runs with the rights of another user, or in other groups" }
        let namespaces = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"].map { "ns/" + $0 } + ["root"]
        if !namespaces.allSatisfy({ readLink(folder + $0) == readLink("/proc/self/" + $0) }) {
            return "it runs in a container, or otherwise apart from this machine's other programs"
        }
        if status.isTraced { return "a debugger is attached to it" }
        if status.hasTerminal { return "it has a terminal, which a restart would lose" }
        if case .nothing(instead: let stream?) = input {
            return "it reads its standard input, a \(stream)"
        }
        return nil
    }

    /// The reason why it cannot be restarted with the current files; `nil` if it can.
    var missing: String? {
        if stat(path: executable)?.isRegularFile != true { return "\(executable) no longer exists" }
        if access(executable, X_OK) != 0 { return "\(executable) cannot be executed" }
        if stat(path: directory)?.isDirectory != true {
            return "its directory \(directory) no longer exists"
        }
        return nil
    }

    private static func stream(_ path: String, isRead: Bool) -> Stream {
        guard let target = readLink(path) else { return .nothing(instead: nil) }
        guard target.hasPrefix("/") else {
            return .nothing(instead: String(target.prefix { $0 != ":" }))
        }
        if target == "/dev/null" { return .nothing(instead: nil) }
        guard let status = stat(path: target), access(target, isRead ? R_OK : W_OK) == 0 else {
            return .nothing(instead: isRead ? nil : "file that no longer exists")
        }
        // The other end of a named pipe belongs to another process.
        return status.st_mode & S_IFMT == S_IFIFO ? .nothing(instead: "pipe") : .file(target)
    }

    /// The NUL-terminated texts in a file; `nil` if it cannot be read or is too long.
    private static func texts(_ path: String) -> [[UInt8]]? {
        guard let bytes = readFile(path) else { return nil }
        var texts = bytes.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
        if texts.last?.isEmpty == true { texts.removeLast() }
        return texts
    }

    // MARK: - For people

    /// The command line for a shell.
    var shellCommand: String {
        let first = arguments.first ?? []
        let name = String(decoding: first, as: UTF8.self)
        let path = name.hasPrefix("/") ? name : directory + "/" + name
        let words = [realPath(path) == executable ? first : Array(executable.utf8)] + arguments.dropFirst()
        return words.map(shellWord).joined(separator: " ")
    }

    /// The names of its variables.
    var variableNames: [String] {
        variables.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self) }
    }

    /// Notes about what a restart cannot restore.
    var losses: [String] {
        var streams: [String: [String]] = [:]
        for (name, stream) in zip(["output", "errors"], standard.dropFirst()) {
            if case .nothing(instead: let before?) = stream { streams[before, default: []].append(name) }
        }
        return streams.sorted { $0.key < $1.key }.map { before, names in
            "Its \(names.joined(separator: " and ")) went to a \(before), and will be discarded."
        }
    }
}

/// A process, as opposed to a later one with the same id.
struct ProcessIdentity: Hashable, Sendable {
    let pid: pid_t
    /// In clock ticks since boot.
    let began: UInt64
}

/// The current state of a process, from the kernel.
struct ProcessStatus {
    let process: ProcessIdentity
    let parent: pid_t
    /// Whether only a zombie is left.
    let hasEnded: Bool
    let hasTerminal: Bool
    let isTraced: Bool
    /// Whether its user and groups are ours, which a process that we start gets.
    let isOfThisUser: Bool

    /// - Returns: `nil` if there is no such process.
    init?(pid: pid_t) {
        guard let fields = statusFields(of: pid), let table = readFile("/proc/\(pid)/status"),
            fields.count > 19, let parent = pid_t(fields[1]), let began = UInt64(fields[19])
        else { return nil }
        process = ProcessIdentity(pid: pid, began: began)
        self.parent = parent
        hasEnded = ["Z", "X"].contains(fields[0])
        hasTerminal = fields[4] != "0"
        func numbers(_ name: String) -> [Substring] {
            let lines = String(decoding: table, as: UTF8.self).split(separator: "\n")
            let line = lines.first { $0.hasPrefix(name + ":") } ?? ""
            return line.split { $0 == "\t" || $0 == " " }.dropFirst().map { $0 }
        }
        isTraced = numbers("TracerPid").first != "0"
        isOfThisUser =
            numbers("Uid").allSatisfy { $0 == "\(geteuid())" }
            && numbers("Gid").allSatisfy { $0 == "\(getegid())" }
            && Set(numbers("Groups") + numbers("Gid")) == ownGroups
    }
}

/// The groups of this process, in the format of the kernel.
private let ownGroups: Set<Substring> = {
    var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
    let count = getgroups(CInt(groups.count), &groups)
    return Set((groups.prefix(Int(max(0, count))) + [getegid()]).map { "\($0)"[...] })
}()

/// A file of the kernel, or a short one; `nil` if it cannot be read.
func readFile(_ path: String) -> [UInt8]? {
    let most = 4 << 20
    return readWhole(path, limit: most).flatMap { $0.count > most ? nil : $0 }
}
