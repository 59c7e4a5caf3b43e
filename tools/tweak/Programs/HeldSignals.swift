// SPDX-License-Identifier: BSD-3-Clause
import CTweakSystem
import Glibc

/// Signals that are blocked until the command has taken them or lets them through.
struct HeldSignals {
    /// The signals by which people and services end a command.
    static let ending = [SIGHUP, SIGINT, SIGTERM]

    private let numbers: [CInt]
    private var held = sigset_t()
    /// The signals that were blocked before, for commands to start.
    private(set) var mask = sigset_t()

    init(_ numbers: [CInt]) {
        self.numbers = numbers
        sigemptyset(&held)
        for number in numbers { sigaddset(&held, number) }
        sigprocmask(SIG_BLOCK, &held, &mask)
    }

    /// Whether one has come.
    var isPending: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return numbers.contains { sigismember(&pending, $0) == 1 }
    }

    /// Takes one that has come.
    func take() -> CInt? {
        var none = timespec()
        let number = withUnsafePointer(to: held) { sigtimedwait($0, nil, &none) }
        return number > 0 ? number : nil
    }

    /// Waits for one.
    ///
    /// - Returns: Its number and origin; a number below 0 if the wait was interrupted.
    func wait() -> (number: CInt, info: siginfo_t) {
        var info = siginfo_t()
        let number = withUnsafePointer(to: held) { sigwaitinfo($0, &info) }
        return (number, info)
    }

    /// Lets them through.
    func release() {
        _ = withUnsafePointer(to: mask) { sigprocmask(SIG_SETMASK, $0, nil) }
    }
}
