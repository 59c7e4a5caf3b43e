// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakSystem

/// A command that runs while leases last, in the foreground like this process.
struct AttendedCommand {
    /// The signals that are passed on.
    private static let passedOn = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH]

    /// The words of the command, as bytes: an argument need not be text.
    let words: [[UInt8]]

    /// Runs the command to its end.
    ///
    /// - Returns: Its exit status, or 128 and the number of the signal that ended it.
    func run() throws(Failure) -> Int32 {
        let signals = HeldSignals(Self.passedOn + [SIGCHLD])
        let process: ChildProcess
        do throws(ChildProcess.StartProblem) {
            closeReservedDescriptorsOnExec()
            process = try withUnsafePointer(to: signals.mask) { mask throws(ChildProcess.StartProblem) in
                try ChildProcess(words, group: .same, signals: .inherited(blocked: mask))
            }
        } catch {
            signals.release()
            let name = words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
            throw Failure(
                "\(name): it cannot be executed: \(error.message)",
                error.number == ENOENT ? .notFound : .notExecutable)
        }
        while true {
            let (number, info) = signals.wait()
            if number == SIGCHLD {
                guard let status = process.endedStatus() else { continue }
                return shellStatus(ofWait: status)
            }
            // The terminal has sent it to the command, too.
            if number > 0, info.si_code != SI_KERNEL { kill(process.pid, number) }
        }
    }
}
