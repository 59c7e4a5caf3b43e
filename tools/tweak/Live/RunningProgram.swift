import Glibc
import Tweaks

/// A process that listens, or did, by its socket.
struct RunningProgram {
    let pid: pid_t
    let socketPath: String
    /// The path of its executable; `nil` if there is no such process, or if it is somebody else's.
    let executable: String?

    private init(pid: pid_t, in directory: ControlDirectory) {
        self.pid = pid
        socketPath = directory.socket(of: pid)
        executable = executablePath(of: "\(pid)")
    }

    var title: String { executable.map { "\(lastComponent(of: $0)) (\(pid))" } ?? "\(pid)" }
    var hasEnded: Bool { kill(pid, 0) != 0 && errno == ESRCH }

    /// - Returns: `nil` if there can be no socket, as the user has no directory for them.
    init?(pid: pid_t) {
        guard let directory = ControlDirectory.ofUser else { return nil }
        self.init(pid: pid, in: directory)
    }

    /// All that have a socket, by process id.
    static func all() -> [RunningProgram] {
        guard let directory = ControlDirectory.ofUser else { return [] }
        return directory.processes.map { RunningProgram(pid: $0, in: directory) }
    }
}
