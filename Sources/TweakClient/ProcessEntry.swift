internal import Glibc
internal import TweakProtocol
internal import TweakSystem

/// What a user is called; the number of one that has no name.
func userName(_ user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
}

/// What /proc tells of a process. Source: proc(5).
struct ProcessEntry {
    let pid: pid_t
    /// Who it runs as.
    let user: uid_t
    private let folder: String

    /// - Returns: `nil` if there is no such process.
    init?(pid: pid_t) {
        folder = "/proc/\(pid)"
        guard let status = stat(path: folder) else { return nil }
        (self.pid, user) = (pid, status.st_uid)
    }

    /// All processes that can be looked into: those of the user, for root everybody's.
    static var all: [ProcessEntry] {
        let own = geteuid()
        return directoryEntries("/proc").compactMap { pid_t($0) }.compactMap(ProcessEntry.init).filter {
            own == 0 || $0.user == own
        }
    }

    /// The process that started it.
    var parent: pid_t? {
        // Behind the name, in which there may be anything: the state, and the parent.
        let text = read("stat")
        return text.lastIndex(of: ")").flatMap {
            pid_t(text[$0...].split(separator: " ").dropFirst(2).first ?? "")
        }
    }

    /// Its socket, where a process of its environment has one, if there is one. What is found there need not be of the
    /// process: the path is one of its own file system, and it may be in a container.
    var socketPath: String? {
        let environment = self.environment
        let candidates = ControlDirectory.candidates(user: userInside) { environment[$0] }
        let pid = pidInside
        return candidates.lazy.map { "\(folder)/root\($0.socket(of: pid))" }.first {
            var status = stat()
            return lstat($0, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
    }

    /// As it was when the process began.
    private var environment: [String: String] {
        var variables: [String: String] = [:]
        for variable in read("environ").split(separator: "\0") {
            guard let equals = variable.firstIndex(of: "=") else { continue }
            let name = String(variable[..<equals])
            // The first of a name counts, as for getenv(3).
            if variables[name] == nil { variables[name] = String(variable[variable.index(after: equals)...]) }
        }
        return variables
    }

    /// The process id that it has in its own namespace.
    private var pidInside: pid_t {
        let line = read("status").split(separator: "\n").first { $0.hasPrefix("NSpid:") }
        return line?.split(separator: "\t").last.flatMap { pid_t($0) } ?? pid
    }

    /// The user that it runs as in its own namespace.
    private var userInside: uid_t {
        for line in read("uid_map").split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { uid_t($0) }
            guard numbers.count == 3, user >= numbers[1], user - numbers[1] < numbers[2] else { continue }
            return numbers[0] &+ (user - numbers[1])
        }
        return user
    }

    private func read(_ name: String) -> String {
        let descriptor = openFile("\(folder)/\(name)", O_RDONLY)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        return String(decoding: readToEnd(descriptor, limit: 1 << 20) ?? [], as: UTF8.self)
    }
}
