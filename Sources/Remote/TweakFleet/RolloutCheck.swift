// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import Glibc
import TweakSystem

/// A program that must succeed for a rollout to go on.
///
/// It runs in a process group of its own, so that all of it can be ended, without input, and with its output in the
/// standard error of this process.
package struct RolloutCheck: Sendable {
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
    package static func executable(_ path: String, name: String) -> RolloutCheck {
        RolloutCheck(file: path, arguments: [path], name: "the check \(name)", patience: patience)
    }

    /// Runs the program to its end; cancelling the task kills it.
    ///
    /// - Returns: The reason of a failure; `nil` if it succeeded.
    package func run() async -> String? {
        let process: ChildProcess
        do throws(ChildProcess.StartProblem) { process = try start() } catch {
            return "\(name) could not be executed: \(error.message)"
        }
        let deadline = ContinuousClock.now + patience
        var pause = Self.shortestPause
        var ended = process.endedStatus()
        while ended == nil {
            if Task.isCancelled || .now > deadline {
                process.endGroup(after: .zero)
                return Task.isCancelled ? nil : "\(name) took longer than \(patience)"
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
            ended = process.endedStatus()
        }
        let status = ended ?? 0
        let signal = status & 0x7F
        if signal != 0 { return "\(name) was killed by signal \(signal)" }
        let code = status >> 8 & 0xFF
        return code == 0 ? nil : "\(name) failed with the status \(code)"
    }
    private func start() throws(ChildProcess.StartProblem) -> ChildProcess {
        // Replacing the file must not permit more than changing the configuration.
        if let status = stat(path: file), status.st_mode & 0o002 != 0 {
            throw ChildProcess.StartProblem(number: EPERM)
        }
        // The program must not have connections to etcd, which NIO does not close by exec.
        closeDescriptorsOnExec()
        let nothing = openFile("/dev/null", O_RDONLY)
        defer { close(nothing) }
        return try ChildProcess(
            arguments.map { Array($0.utf8) }, of: file, standard: [nothing, STDERR_FILENO, -1], group: .own,
            signals: .defaults)
    }
}
#endif
