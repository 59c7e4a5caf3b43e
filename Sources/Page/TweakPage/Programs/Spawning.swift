// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Dispatch
import Glibc
import Synchronization
import TweakSystem

/// A child process.
final class StartedProcess: Sendable {
    let pid: pid_t
    private let end = Mutex<CInt?>(nil)
    private let ending = DispatchSemaphore(value: 0)

    /// The status of waitpid(2); `nil` while it is running.
    var status: CInt? { end.withLock { $0 } }

    /// Its exit status, or the signal that killed it.
    var statusText: String? {
        status.map { status in
            status & 0x7F == 0 ? "exit status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
        }
    }

    /// Starts a process that outlives this one: in a session of its own, with no signal blocked or ignored, and without
    /// the descriptors of this process.
    ///
    /// - Parameters:
    ///   - executable: A path, or a name to look up in the search path.
    ///   - arguments: The arguments, beginning with the program's name.
    ///   - variables: The environment; `nil` for that of this process.
    ///   - standard: Standard input, output and error.
    ///   - whenEnded: Called when the process has ended.
    // Swift 6.3.1 crashes when it inlines this where the process is released at once.
    @inline(never)
    init(
        _ executable: String, _ arguments: [[UInt8]], variables: [[UInt8]]? = nil, directory: String? = nil,
        standard: [CInt], whenEnded: @escaping @Sendable () -> Void = {}
    ) throws(Failure) {
        closeDescriptorsOnExec()
        let process: ChildProcess
        do throws(ChildProcess.StartProblem) {
            process = try ChildProcess(
                arguments, of: executable, variables: variables, directory: directory, standard: standard,
                group: .session, signals: .defaults)
        } catch {
            throw Failure("\(executable) cannot be started: \(error.message)", .invalid)
        }
        pid = process.pid
        onThread { [self] in
            let status = process.wait()
            end.withLock { $0 = status }
            ending.signal()
            whenEnded()
        }
    }

    /// Waits for the end of the process.
    ///
    /// - Returns: `false` after the timeout.
    func waitForEnd(_ patience: Duration) -> Bool {
        let nanoseconds = Int(patience / .nanoseconds(1))
        guard ending.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return false }
        ending.signal()
        return true
    }

    /// The output of a command.
    ///
    /// - Returns: `nil` if there is no such command, or after the timeout.
    static func output(of command: [String], _ patience: Duration) -> (succeeded: Bool, text: String)? {
        guard let ends = makePipe() else { return nil }
        let nothing = openFile("/dev/null", O_RDONLY)
        defer { for descriptor in [ends.read, nothing] where descriptor >= 0 { close(descriptor) } }
        let started = try? StartedProcess(
            command.first ?? "", command.map { Array($0.utf8) }, standard: [nothing, ends.write, ends.write])
        close(ends.write)
        guard let started, started.waitForEnd(patience) else {
            if let started { kill(started.pid, SIGTERM) }
            return nil
        }
        // As much as a pipe holds; more output is not waited for.
        _ = fcntl(ends.read, F_SETFL, O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(ends.read, &bytes, bytes.count)
        return (started.status == 0, String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
    }
}
