// SPDX-License-Identifier: BSD-3-Clause
// For standard output, which only one thread writes to.
@preconcurrency internal import Glibc

/// The output for the pager, if any. Commands print on one thread.
nonisolated(unsafe) private var paged: (command: String, output: CInt, terminal: CInt)?

/// Collects further output for a pager if standard output is a terminal: the one in `PAGER`, or less, which exits if
/// everything fits on the screen.
package func startPager() {
    let command = getenv("PAGER").map { String(cString: $0) } ?? "less || cat"
    // An empty variable, or cat, turns the pager off.
    guard isatty(STDOUT_FILENO) == 1, isCursorMovable, !["", "cat"].contains(command) else { return }
    // Evaluated now, because standard output will be a file.
    _ = (isEmphasisShown, terminalWidth)
    setenv("LESS", "FRX", 0)
    // Names and units are UTF-8 in every locale; less would show their bytes.
    setenv("LESSCHARSET", "utf-8", 0)
    // In memory, nothing is lost if the pager fails.
    let name = "/tweak-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    let output = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
    guard output >= 0 else { return }
    shm_unlink(name)
    let terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    guard terminal >= 0, fflush(stdout) == 0, dup2(output, STDOUT_FILENO) >= 0 else {
        close(output)
        close(terminal)
        return
    }
    paged = (command, output, terminal)
}

/// Shows the output in the pager until the user quits it; without the pager, if that cannot be executed, fails, or reads
/// nothing.
func finishPager() {
    guard let (command, output, terminal) = paged else { return }
    paged = nil
    dup2(terminal, STDOUT_FILENO)
    let input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
    guard lseek(output, 0, SEEK_END) > 0 else { return }
    lseek(output, 0, SEEK_SET)
    dup2(output, STDIN_FILENO)
    // The pager handles Ctrl-C.
    let status = system(command)
    if input >= 0 { dup2(input, STDIN_FILENO) }
    guard status != 0 || lseek(output, 0, SEEK_CUR) == 0 else { return }
    lseek(output, 0, SEEK_SET)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(output, &buffer, buffer.count)
        guard count > 0, fwrite(buffer, 1, count, stdout) == count else { break }
    }
    fflush(stdout)
}
