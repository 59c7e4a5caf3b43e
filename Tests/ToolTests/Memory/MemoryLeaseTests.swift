// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Leases in a process without the library` {
    private let program: BareProgram

    init() throws {
        program = try BareProgram(compiling: ["-static"])
        try program.start()
        program.expect(BareProgram.defaults)
    }

    private func tweak(_ arguments: String...) throws -> RunningCommand {
        try start(
            Locations.product("tweak"), [arguments[0], "\(program.pid)"] + arguments.dropFirst(),
            home: program.home)
    }

    /// The guard processes, by the command line.
    private func guards() -> [Int32] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
            .filter {
                (try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8))?
                    .contains("---guard\0\(program.pid)\0") ?? false
            }
    }

    @Test func `A guard puts the value back when the time is over, and says so`() throws {
        let result = try tweak("set", "Count", "7", "--for", "3s").wait()
        #expect(result.status == 0 && result.output == "Bare/Values/Count: 5 → 7, for 3s\n")
        #expect(result.error.contains("the Tweaks library is not in the process, so the process "))
        program.expect("7 0.5 0 slow hello 1 1 80 7")
        program.expect(BareProgram.defaults)
        #expect(waitUntil { guards().isEmpty })
    }

    @Test func `The values are there while a command runs`() throws {
        let result = try tweak("set", "Count", "7", "Mode", "fast", "--while", "--", "sh", "-c", "exit 3")
            .wait()
        #expect(result.status == 3)
        program.expect(BareProgram.defaults)
        #expect(guards().isEmpty)
    }

    @Test func `A guard puts the value back when the command is killed, at any moment`() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 1...(isLong ? 300 : 10) {
            let command = try tweak("set", "Count", "7", "--while", "--", "sleep", "1")
            usleep(UInt32.random(in: 0...80_000, using: &random))
            command.kill()
            while command.isRunning { usleep(500) }
            #expect(waitUntil { guards().isEmpty })
            #expect(try program.tweak("get", "Count").output == "5\n")
        }
        program.expect(BareProgram.defaults)
    }

    @Test func `A value that somebody has set meanwhile stays`() throws {
        #expect(try tweak("set", "Count", "7", "Ratio", "2", "--for", "5s").wait().status == 0)
        #expect(try tweak("set", "Count", "9").wait().status == 0)
        program.expect("9 2 0 slow hello 1 1 80 9")
        program.expect("9 0.5 0 slow hello 1 1 80 9")
    }

    @Test func `A guard ends with the program`() throws {
        #expect(try tweak("set", "Count", "7", "--for", "1h").wait().status == 0)
        #expect(guards().count == 1)
        program.end()
        #expect(waitUntil { guards().isEmpty })
    }

    @Test func `A guard that is asked to end puts the value back`() throws {
        #expect(try tweak("set", "Count", "7", "--for", "1h").wait().status == 0)
        for process in guards() { kill(process, SIGTERM) }
        program.expect(BareProgram.defaults)
    }

    @Test func `A value cannot be ramped there`() throws {
        let result = try tweak("set", "Count", "7", "--ramp", "1s").wait()
        #expect(result.status == 69)
        #expect(
            result.error.contains("without the Tweaks library in the process a value cannot be ramped")
        )
        #expect(try program.tweak("get", "Count").output == "5\n")
    }
}
