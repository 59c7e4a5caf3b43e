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
package func isIgnored(_ signal: CInt) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        == unsafeBitCast(SIG_IGN, to: Int.self)
}

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

/// The open descriptors of this process, except the three standard ones.
package var openDescriptors: [CInt] {
    directoryEntries("/proc/self/fd").compactMap { CInt($0) }.filter { $0 > STDERR_FILENO }
}

/// Lets exec close the open descriptors, except the three standard ones. Some libraries do not ask for that.
package func closeDescriptorsOnExec() {
    for descriptor in openDescriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}
