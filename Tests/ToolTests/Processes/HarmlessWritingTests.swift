// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What a shell does to replace itself by the program with a standard error that is a pipe.
enum BrokenPipe: String, CaseIterable, Sendable {
    case withoutReader = #"mkfifo "$HOME/pipe"; exec 3<>"$HOME/pipe" 2>"$HOME/pipe" 3<&-; exec "$@""#
    case full = """
        mkfifo "$HOME/pipe"
        exec 3<>"$HOME/pipe"
        dd if=/dev/zero of="$HOME/pipe" bs=4096 count=1000 oflag=nonblock 2>/dev/null || exec "$@" 2>"$HOME/pipe"
        """
}

@Suite struct `Output of the library never harms its program` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    @Test(arguments: BrokenPipe.allCases) func `A warning at the start that nobody reads`(pipe: BrokenPipe)
        throws
    {
        try program.writeOverrides(Data("bad".utf8))
        let result = try program.setter(in: pipe.rawValue, ["show"])
        #expect(result.status == 0)
        #expect(result.output == "false 5 0.5 hello\n")
    }

    @Test func `A warning on a stopped terminal`() throws {
        try program.writeOverrides(Data("bad".utf8))
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(terminal) }
        var (lock, number): (CInt, CInt) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), which Swift does not import.
        try #require(ioctl(terminal, 0x4004_5431, &lock) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
        let path = "/dev/pts/\(number)"
        let other = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(other) }
        // As Ctrl-S does.
        try #require(tcflow(other, TCOOFF) == 0)
        let result = try program.setter(in: "exec \"$@\" 2>\(path)", ["show"])
        #expect(result.status == 0)
        #expect(result.output == "false 5 0.5 hello\n")
    }

    @Test(arguments: BrokenPipe.allCases) func `A later warning that nobody reads`(pipe: BrokenPipe) throws {
        let blocked = try program.home.write("file", "")
        let result = try program.setter(
            in: pipe.rawValue, ["print", "Setter/Values/Count", "1", "200"],
            environment: ["XDG_CONFIG_HOME": blocked])
        #expect(result.status == 0)
        #expect(result.lines.last == "number 200")
    }

    @Test func `Overrides beyond the limit on file sizes`() throws {
        let script = #"ulimit -f 0; exec "$@""#
        let result = try program.setter(in: script, ["print", "Setter/Values/Count", "1", "200"])
        #expect(result.status == 0)
        #expect(result.lines.last == "number 200")
        #expect(result.errorLines.count == 1)
        #expect(result.error.contains("File too large"))
        #expect(try program.names() == ["overrides.json.lock"])
    }

    @Test func `A warning that makes a log exceed the limit on file sizes`() throws {
        try program.writeOverrides(Data("bad".utf8))
        let script = #"ulimit -f 0; exec "$@" 2>"$HOME/log""#
        let result = try program.setter(in: script, ["show"])
        #expect(result.status == 0)
    }

    private func pendingSignals(of process: Int32) throws -> UInt64 {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let masks = status.split(separator: "\n").filter {
            $0.hasPrefix("SigPnd:") || $0.hasPrefix("ShdPnd:")
        }
        return masks.reduce(0) { $0 | (UInt64($1.split(separator: "\t").last ?? "", radix: 16) ?? 0) }
    }

    @Test(arguments: [false, true]) func `A signal is pending afterwards if and only if it was before`(
        isRaised: Bool
    ) throws {
        try program.writeOverrides(Data("bad".utf8))
        // A shell unblocks signals when it starts another program, so it does nothing else.
        let raising = (isRaised ? "kill -XFSZ $$; " : "") + "exec \"$@\""
        let process = try start(
            "/bin/sh",
            [
                "-euc", #"ulimit -f 0; exec "$@" 2>"$HOME/log""#, "sh", "env", "--default-signal=XFSZ",
                "--block-signal=XFSZ", "sh", "-c", raising, "sh", SetterProgram.path, "follow",
            ], home: program.home)
        #expect(waitUntil { process.written.output == "false 5 0.5 hello\n" })
        let isPending = try pendingSignals(of: process.processID) & 1 << (SIGXFSZ - 1) != 0
        #expect(isPending == isRaised)
        process.kill()
        _ = process.wait()
    }
}
