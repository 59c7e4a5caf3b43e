// SPDX-License-Identifier: BSD-3-Clause
internal import CCommandSupport
internal import CTweakSystem
internal import Glibc
internal import TweakSystem

/// A process that this one has started.
package final class ChildProcess: Sendable {
    package let pid: Int32
    /// Can be read when the process has ended; -1 on kernels before 5.3.
    package let descriptor: Int32

    /// The process group of the new process.
    package enum Group {
        /// The group of this process: Ctrl-C in a terminal reaches both.
        case same
        /// A new group, so that the process can be ended with all that it starts.
        case own
        /// A new session, which has no terminal, with a new group.
        case session
    }

    /// The signals that are blocked or ignored when the process starts.
    package enum Signals {
        /// No signal.
        case defaults
        /// The signals in a set, given by the address of a `sigset_t`, are blocked. Those that this process ignores stay
        /// ignored.
        case inherited(blocked: UnsafeRawPointer)
    }

    /// An error number of the system.
    package struct StartProblem: Error {
        package let number: CInt
        package var message: String { systemMessage(number) }

        package init(number: CInt) { self.number = number }
    }

    /// Starts a process, which inherits the descriptors that exec does not close.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, beginning with the program's name.
    ///   - program: A path, or a name to look up in the search path; `nil` for the first argument.
    ///   - variables: The environment; `nil` for that of this process.
    ///   - directory: The working directory; `nil` for that of this process.
    ///   - standard: Standard input, output and error; -1 for those of this process.
    package init(
        _ arguments: [[UInt8]], of program: String? = nil, variables: [[UInt8]]? = nil,
        directory: String? = nil, standard: [CInt] = [-1, -1, -1], group: Group, signals: Signals
    ) throws(StartProblem) {
        fflush(nil)
        // The status would be lost where a parent has left it ignored.
        signal(SIGCHLD, SIG_DFL)
        var none = sigset_t()
        sigemptyset(&none)
        let group =
            switch group {
            case .same: FBTWEAK__SAME_GROUP
            case .own: FBTWEAK__OWN_GROUP
            case .session: FBTWEAK__OWN_SESSION
            }
        var pid = pid_t()
        let problem = withCStrings(arguments) { arguments in
            withCStrings(variables ?? []) { texts in
                let texts = variables == nil ? nil : texts
                return switch signals {
                case .defaults:
                    fbtweak__start(
                        &pid, program, arguments, texts, directory, standard, group, &none, 1)
                case .inherited(let blocked):
                    fbtweak__start(
                        &pid, program, arguments, texts, directory, standard, group, blocked, 0)
                }
            }
        }
        guard problem == 0 else { throw StartProblem(number: problem) }
        self.pid = pid
        descriptor = fbtweak__open_process(pid)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The status of wait(2) of the process if it has ended, which is returned once; `nil` before.
    package func endedStatus() -> CInt? {
        var status: CInt = 0
        return waitpid(pid, &status, WNOHANG) == pid ? status : nil
    }

    /// Waits for the end of the process.
    ///
    /// - Returns: The status of wait(2).
    @discardableResult
    package func wait() -> CInt {
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Ends the process and those that it has started, all of which are of its own group.
    ///
    /// - Parameter patience: The time that they have after SIGTERM; with none they are killed at once.
    package func endGroup(after patience: Duration) {
        let deadline = ContinuousClock.now + patience
        if patience > .zero { kill(-pid, SIGTERM) }
        while endedStatus() == nil {
            if .now >= deadline { kill(-pid, SIGKILL) }
            waitForEnd(of: descriptor, atMost: .milliseconds(20))
        }
    }
}

/// Makes a pipe whose ends are closed by exec and are no standard descriptors.
///
/// - Returns: Its ends; `nil` with errno if there are no more descriptors.
package func makePipe() -> (read: CInt, write: CInt)? {
    var ends: [CInt] = [-1, -1]
    let problem = fbtweak__pipe(&ends)
    guard problem == 0 else {
        errno = problem
        return nil
    }
    ends = ends.map(fbtweak__above_standard)
    return (ends[0], ends[1])
}

/// Makes an empty file in memory, closed by exec.
///
/// - Returns: Its descriptor, or -1 with errno.
package func makeMemoryFile() -> CInt { fbtweak__memory_file(programName) }

/// Calls a function with C strings, ended by a null pointer.
private func withCStrings<Result>(
    _ texts: [[UInt8]], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { text in
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.count + 1)
        _ = copy.initialize(from: text.map { CChar(truncatingIfNeeded: $0) } + [0])
        return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    return body(copies.map(\.baseAddress) + [nil])
}
