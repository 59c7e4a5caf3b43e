// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import Glibc
import TweakSystem

/// A program that must succeed for a rollout to go on.
///
/// It runs in a process group of its own, so that all of it can be ended, without input, and with its output in the
/// standard error of this process.
struct RolloutCheck: Sendable {
    private let file: String
    private let arguments: [String]
    private let name: String
    private let patience: Duration

    /// The timeout of a check.
    private static let patience: Duration = .seconds(60)
    private static let shortestPause: Duration = .milliseconds(1)
    private static let longestPause: Duration = .milliseconds(50)

    /// A shell command from the command line.
    static func command(_ text: String, every seconds: Int) -> RolloutCheck {
        RolloutCheck(
            file: "/bin/sh", arguments: ["sh", "-c", text], name: "the command",
            patience: max(patience, .seconds(seconds)))
    }

    /// An executable that the agent's configuration names, without arguments.
    static func executable(_ path: String, name: String) -> RolloutCheck {
        RolloutCheck(file: path, arguments: [path], name: "the check \(name)", patience: patience)
    }

    /// Runs the program to its end; cancelling the task kills it.
    ///
    /// - Returns: The reason of a failure; `nil` if it succeeded.
    func run() async -> String? {
        let pid: pid_t
        switch start() {
        case .success(let started): pid = started
        case .failure(let problem): return "\(name) could not be executed: \(systemMessage(problem.number))"
        }
        let deadline = ContinuousClock.now + patience
        var pause = Self.shortestPause
        var status: Int32 = 0
        while waitpid(pid, &status, WNOHANG) != pid {
            if Task.isCancelled || .now > deadline {
                kill(-pid, SIGKILL)
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                return Task.isCancelled ? nil : "\(name) took longer than \(patience)"
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
        let signal = status & 0x7F
        if signal != 0 { return "\(name) was ended by the signal \(signal)" }
        let code = status >> 8 & 0xFF
        return code == 0 ? nil : "\(name) failed with the status \(code)"
    }

    /// An error number of the system.
    private struct Problem: Error {
        let number: CInt
    }

    private func start() -> Result<pid_t, Problem> {
        // Replacing the file must not permit more than changing the configuration.
        if let status = stat(path: file), status.st_mode & 0o002 != 0 {
            return .failure(Problem(number: EPERM))
        }
        // The program must not have connections to etcd, which NIO does not close by exec.
        closeDescriptorsOnExec()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, defaults) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        // The program would inherit ignored signals.
        sigfillset(&defaults)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        let words = arguments.map { (word: String) in strdup(word) }
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let number = posix_spawn(&pid, file, &actions, &attributes, words + [nil], environ)
        return number == 0 ? .success(pid) : .failure(Problem(number: number))
    }
}
#endif
