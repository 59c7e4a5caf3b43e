// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakSystem

/// A command that runs while leases last, in the foreground like this process.
struct AttendedCommand {
    /// The signals that are passed on.
    private static let passedOn = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH]

    /// The words of the command, as bytes: an argument need not be text.
    let words: [UnsafeMutablePointer<CChar>?]

    /// Runs the command to its end.
    ///
    /// - Returns: Its exit status, or 128 and the number of the signal that ended it.
    func run() throws(Failure) -> Int32 {
        fflush(nil)
        signal(SIGCHLD, SIG_DFL)
        let signals = HeldSignals(Self.passedOn + [SIGCHLD])
        var pid: pid_t = 0
        let problem = spawn(&pid, mask: signals.mask)
        guard problem == 0 else {
            signals.release()
            let name = words.first.flatMap { $0 }.map { pathText($0) } ?? ""
            throw Failure(
                "\(name): it cannot be executed: \(systemMessage(problem))",
                problem == ENOENT ? .notFound : .notExecutable)
        }
        while true {
            let (number, info) = signals.wait()
            if number == SIGCHLD {
                var status: Int32 = 0
                guard waitpid(pid, &status, WNOHANG) == pid else { continue }
                return shellStatus(ofWait: status)
            }
            // The terminal has sent it to the command, too.
            if number > 0, info.si_code != SI_KERNEL { kill(pid, number) }
        }
    }

    /// - Returns: A number of errno, or 0.
    private func spawn(_ pid: inout pid_t, mask: sigset_t) -> CInt {
        var mask = mask
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        for descriptor in reservedDescriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        guard let file = words.first.flatMap({ $0 }) else { return ENOENT }
        return posix_spawnp(&pid, file, nil, &attributes, words + [nil], environ)
    }
}
