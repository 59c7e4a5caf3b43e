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
