internal import Glibc
internal import TweakSystem

/// The program that shows what is printed, once there is one. Commands print on one thread.
nonisolated(unsafe) private var pager: UnsafeMutablePointer<FILE>?

/// Has a pager show what is printed from now on, if standard output is a terminal: that of `PAGER`, or less, which ends by
/// itself where all fits on the screen.
package func startPager() {
    let command = getenv("PAGER").map { String(cString: $0) } ?? "less || cat"
    // Whoever wants no pager sets it to nothing, or to cat.
    guard isatty(STDOUT_FILENO) == 1, isCursorMovable, !["", "cat"].contains(command) else { return }
    // Later the terminal is behind the pager.
    _ = isEmphasisShown
    setenv("LESS", "FRX", 0)
    guard let file = popen(command, "w") else { return }
    dup2(fileno(file), STDOUT_FILENO)
    pager = file
}

/// Waits until the person has seen everything.
func finishPager() {
    guard let file = pager else { return }
    pager = nil
    close(STDOUT_FILENO)
    // Ctrl-C is the pager's.
    signal(SIGINT, SIG_IGN)
    pclose(file)
}
