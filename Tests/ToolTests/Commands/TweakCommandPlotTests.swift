// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// `tweak plot` on a terminal of its own, as a person sees it.
private final class PlotTerminal: Sendable {
    let process: Process
    private let leader: CInt
    private let follower: CInt
    private let received = Locked(Data())
    private let before: termios

    static let entering = "\u{1B}[?1049h"
    static let leaving = "\u{1B}[?1049l"

    init(_ arguments: [String], of setter: RunningSetter, columns: UInt16 = 70, rows: UInt16 = 20) throws {
        leader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2).
        var (isLocked, number) = (CInt(0), CUnsignedInt(0))
        try #require(ioctl(leader, 0x4004_5431, &isLocked) == 0 && ioctl(leader, 0x8004_5430, &number) == 0)
        follower = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(follower >= 0)
        var settings = termios()
        tcgetattr(follower, &settings)
        before = settings
        process = Process()
        // What starts the tests may ignore signals, and so would all that they start.
        process.executableURL = URL(fileURLWithPath: try Locations.program("env"))
        process.arguments =
            ["--default-signal", Locations.product("tweak"), "plot", "\(setter.pid)"] + arguments
        process.environment = [
            "HOME": setter.home.path, "XDG_RUNTIME_DIR": setter.home("runtime"), "TERM": "xterm",
            "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no",
        ]
        let terminal = FileHandle(fileDescriptor: follower)
        (process.standardInput, process.standardOutput, process.standardError) = (
            terminal, terminal, terminal
        )
        resize(columns, rows)
        // Until the other side has been open nothing but an error is read.
        try process.run()
        let descriptor = leader
        Thread.detachNewThread { [received] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else { return }
                received.withLock { $0.append(contentsOf: buffer.prefix(count)) }
            }
        }
    }

    deinit {
        endProcess()
        close(follower)
        close(leader)
    }

    /// Ends the process if it still runs.
    private func endProcess() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        _ = waitUntil { !process.isRunning }
    }

    func resize(_ columns: UInt16, _ rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(leader, UInt(TIOCSWINSZ), &size) == 0)
        // The kernel tells those of whom it is the terminal, and so not this process.
        if process.isRunning { kill(process.processIdentifier, SIGWINCH) }
    }

    func press(_ keys: String) { #expect(write(leader, keys, keys.utf8.count) == keys.utf8.count) }

    var output: String { received.withLock { String(decoding: $0, as: UTF8.self) } }

    /// The lines of the last whole picture, without colours.
    var lines: [String] {
        // It is among the last that came, and all that came may be much.
        let output = received.withLock { String(decoding: $0.suffix(1 << 16), as: UTF8.self) }
        let pictures = output.components(separatedBy: "\u{1B}[H").dropFirst().filter {
            $0.contains("\u{1B}[J")
        }
        let picture = pictures.last?.components(separatedBy: "\u{1B}[J").first ?? ""
        return picture.replacing(#/\u{1B}\[[0-9;]*[mK]/#, with: "").utf8
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            // The terminal adds one to each newline.
            .map { String(decoding: $0.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self) }
    }

    /// Waits for a picture.
    func expect(
        _ what: String, _ location: SourceLocation = #_sourceLocation,
        _ condition: @escaping ([String]) -> Bool
    ) {
        #expect(
            waitUntil { condition(lines) || !process.isRunning } && condition(lines),
            "\(what): \(lines.joined(separator: "\n"))", sourceLocation: location)
    }

    /// Waits for the end, and expects that the terminal is as it was.
    ///
    /// - Returns: The exit status, or 128 and the number of a signal.
    func end(_ location: SourceLocation = #_sourceLocation) -> Int32 {
        #expect(waitUntil { !process.isRunning }, sourceLocation: location)
        endProcess()
        var after = termios()
        tcgetattr(follower, &after)
        #expect(
            after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag, sourceLocation: location)
        // What was written last is on its way before this.
        let mark = "(end of the output)"
        #expect(write(follower, mark, mark.utf8.count) == mark.utf8.count, sourceLocation: location)
        #expect(waitUntil { output.contains(mark) }, sourceLocation: location)
        #expect(output.contains(Self.leaving), sourceLocation: location)
        return process.terminationReason == .exit
            ? process.terminationStatus : 128 + process.terminationStatus
    }
}

@Suite(.serialized) struct `tweak plot` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    private func plot(_ arguments: String...) throws -> PlotTerminal {
        let terminal = try PlotTerminal(arguments, of: setter)
        terminal.expect("the first picture") {
            $0[0].hasPrefix("Setter/Values/") && $0.last?.hasPrefix("tweak-setter (") == true
        }
        return terminal
    }

    @Test func `draws a tweak, and says who changed it`() throws {
        let terminal = try plot("Count", "--window", "600")
        terminal.expect("a scale") { lines in lines.contains { $0.hasPrefix("1000000 ┤") } }
        #expect(try setter.tweak("set", "Count", "500000").succeeded)
        terminal.expect("the new value") { $0[0].contains("500000") }
        terminal.expect("the letter") { lines in lines.contains { $0.contains("└") && $0.contains("A") } }
        terminal.expect("what the letter is of") { lines in
            lines.contains {
                $0.hasPrefix("A ") && $0.hasSuffix("Setter/Values/Count: 5 → 500000 (override)")
            }
        }
        terminal.press("q")
        #expect(terminal.end() == 0)
    }

    @Test func `leaves its last picture behind, and the terminal as it was`() throws {
        let terminal = try plot("Count", "Flag")
        #expect(!terminal.output.contains(PlotTerminal.leaving))
        terminal.press("q")
        #expect(terminal.end() == 0)
        let left = try #require(terminal.output.components(separatedBy: PlotTerminal.leaving).last)
        #expect(left.contains("Setter/Values/Count") && left.contains("off ┤") && left.contains("0 s"))
        #expect(!left.contains("q quits"))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM])
    func `gives the terminal back when a signal ends it`(number: Int32) throws {
        let terminal = try plot("Count")
        kill(terminal.process.processIdentifier, number)
        #expect(terminal.end() == 128 + number)
    }

    @Test func `gives the terminal back when it is stopped, and takes it again`() throws {
        let terminal = try plot("Count")
        kill(terminal.process.processIdentifier, SIGTSTP)
        // Before it has stopped, it would stop again.
        #expect(
            waitUntil {
                hasStopped(terminal.process.processIdentifier)
                    && terminal.output.contains(PlotTerminal.leaving)
            })
        kill(terminal.process.processIdentifier, SIGCONT)
        #expect(
            waitUntil {
                terminal.output.components(separatedBy: PlotTerminal.leaving).last?.contains(
                    PlotTerminal.entering) == true
            })
        terminal.press("q")
        #expect(terminal.end() == 0)
    }

    @Test func `stands still while the user looks`() throws {
        let terminal = try plot("Count")
        terminal.press(" ")
        terminal.expect("the pause") { $0.last?.contains("paused, space resumes") == true }
        #expect(try setter.tweak("set", "Count", "77").succeeded)
        terminal.press("+")
        terminal.expect("another window") { $0.last?.contains("  5 s  ") == true }
        #expect(!terminal.lines[0].contains("77"))
        terminal.press(" ")
        terminal.expect("what has happened meanwhile") { $0[0].contains("77") }
    }

    @Test func `shows more or less time`() throws {
        let terminal = try plot("Count", "--window", "20")
        for (key, seconds) in [("+", "10 s"), ("+", "5 s"), ("-", "10 s"), ("-", "20 s"), ("-", "30 s")] {
            terminal.press(key)
            terminal.expect(seconds) { $0.last?.contains("  \(seconds)  ") == true }
        }
    }

    @Test func `fits into a terminal that is made smaller`() throws {
        let terminal = try plot("Count", "Ratio", "Flag")
        terminal.resize(30, 8)
        terminal.expect("a smaller picture") { $0.count == 8 && $0.contains { $0.contains("2 more") } }
        terminal.press("\u{1B}[B")
        terminal.expect("the next series") {
            $0[0].hasPrefix("Setter/Values/Ratio") || $0[0].contains("/Ratio")
        }
        terminal.resize(1, 1)
        terminal.expect("hardly a picture") { $0.count == 1 }
    }

    @Test func `ends with the program`() throws {
        let terminal = try plot("Count")
        setter.process.kill()
        #expect(terminal.end() == 0)
    }

    @Test func `prints rows where there is no terminal`() throws {
        let plot = try start(
            Locations.product("tweak"), ["plot", "\(setter.pid)", "Count", "Flag", "--rate", "20"],
            home: setter.home, environment: ["LC_ALL": "C"])
        #expect(waitUntil { plot.written.output.split(separator: "\n").count >= 2 })
        #expect(try setter.tweak("set", "Count", "7").succeeded)
        #expect(waitUntil { plot.written.output.contains("* Setter/Values/Count: 5 -> 7 (override)") })
        setter.process.kill()
        let result = plot.wait()
        #expect(result.status == 0 && result.error.isEmpty && !result.output.contains("\u{1B}"))
        #expect(
            result.lines[0].split(separator: " ") == ["seconds", "Setter/Values/Count", "Setter/Values/Flag"])
        #expect(result.lines[1].split(separator: " ") == ["0.000", "5", "off"])
    }

    @Test func `ends when its time is over`() throws {
        #expect(try setter.tweak("plot", "Count", "--duration", "0.2").succeeded)
        let terminal = try PlotTerminal(["Count", "--duration", "0.2"], of: setter)
        #expect(terminal.end() == 0)
    }

    @Test func `refuses what has no numbers`() throws {
        let result = try setter.tweak("plot", "Text")
        #expect(result.status == EX_DATAERR)
        #expect(
            result.error == "tweak: Setter/Values/Text: a string cannot be sampled, only numbers and Bools\n")
        for options in [["--rate", "0"], ["--rate", "1001"], ["--window", "0"], ["--duration", "-1"]] {
            #expect(
                try setter.program.command(["plot", "\(setter.pid)", "Count"] + options).status == EX_USAGE)
        }
    }
}
