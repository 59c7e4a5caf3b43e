// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakSystem

/// The running pager, if any. Commands print on one thread.
nonisolated(unsafe) private var pager: UnsafeMutablePointer<FILE>?

/// Sends further output through a pager if standard output is a terminal: the one in `PAGER`, or less, which exits if
/// everything fits on the screen.
package func startPager() {
    let command = getenv("PAGER").map { String(cString: $0) } ?? "less || cat"
    // An empty variable, or cat, turns the pager off.
    guard isatty(STDOUT_FILENO) == 1, isCursorMovable, !["", "cat"].contains(command) else { return }
    // Evaluated now, because standard output will be a pipe.
    _ = isEmphasisShown
    setenv("LESS", "FRX", 0)
    guard let file = popen(command, "w") else { return }
    dup2(fileno(file), STDOUT_FILENO)
    pager = file
}

/// Waits until the user has quit the pager.
func finishPager() {
    guard let file = pager else { return }
    pager = nil
    close(STDOUT_FILENO)
    // The pager handles Ctrl-C.
    signal(SIGINT, SIG_IGN)
    pclose(file)
}
