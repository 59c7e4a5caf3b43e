// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc

/// The exit status of a process as a shell reports it: 128 and the number of the signal that ended it.
///
/// - Parameter status: The status from wait(2).
package func shellStatus(ofWait status: Int32) -> Int32 {
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
}

/// Returns whether this process ignores a signal.
package func isIgnored(_ signal: CInt) -> Bool { fbtweak__ignores(signal) }

/// The fields of `/proc/PID/stat` behind the name, of which the first is the third in proc_pid_stat(5); `nil` if the
/// process does not exist.
package func statusFields(of process: Int32) -> [String]? {
    // The name may contain anything.
    guard let bytes = readWhole("/proc/\(process)/stat"), let end = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    return bytes[end...].dropFirst().split(separator: UInt8(ascii: " ")).map {
        String(decoding: $0, as: UTF8.self)
    }
}

/// Whether a process has ended or is about to. A zombie has ended; a process whose first thread alone has ended has not.
///
/// Source: proc_pid_stat(5), and `PF_EXITING` of Linux's sched.h.
package func hasEnded(process: Int32) -> Bool {
    guard let fields = statusFields(of: process), fields.count > 17 else {
        // Others' processes may be hidden.
        return kill(process, 0) != 0 && errno == ESRCH
    }
    let isExiting = fields[0] == "Z" || fields[0] == "X" || (UInt(fields[6]) ?? 0) & 4 != 0
    return isExiting && fields[17] == "1"
}

/// Waits until a process ends, another descriptor can be read, or a signal arrives.
///
/// - Parameters:
///   - process: A pidfd. Kernels before 5.3 have none: with -1 this returns after at most 20 milliseconds, so that the
///     caller can check the process.
///   - others: The other descriptors; -1 for none.
///   - patience: The maximum time.
/// - Returns: Whether the process has ended, and for each of the others whether it can be read or is closed.
@discardableResult
package func waitForEnd(
    of process: CInt, or others: [CInt] = [], atMost patience: Duration
) -> (hasEnded: Bool, others: [Bool]) {
    let longest: Duration = process < 0 ? .milliseconds(20) : .seconds(3600)
    let pause = max(min(patience, longest), .zero)
    var awaited = ([process] + others).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = fbtweak__poll(&awaited, awaited.count, Int64(pause / .nanoseconds(1)))
    return (awaited[0].revents != 0, awaited.dropFirst().map { $0.revents != 0 })
}

/// The open descriptors of this process, except the three standard ones.
package var openDescriptors: [CInt] {
    directoryEntries("/proc/self/fd").compactMap { CInt($0) }.filter { $0 > STDERR_FILENO }
}

/// Lets exec close the open descriptors, except the three standard ones. Some libraries do not ask for that.
package func closeDescriptorsOnExec() {
    for descriptor in openDescriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}
