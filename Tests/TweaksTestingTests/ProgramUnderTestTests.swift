// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import Tweaks
import TweaksTesting

private let speed = TweakKey("Tested", "Motor", "Speed")
private let running = TweakKey("Tested", "Motor", "Running")
private let turns = TweakKey("Tested", "Motor", "Turns")
private let greet = TweakKey("Tested", "Motor", "Greet")

@Suite struct `A program under test` {
    private static let path = Locations.product("tested-program")

    @Test func `can be read and set, and shows its monitors`() throws {
        let program = try ProgramUnderTest(Self.path, ["--fast"])
        #expect(try program.value(of: speed) == 10)
        #expect(try program.wait(for: turns) { $0 == 20 } == 20)
        try program.set(30, for: speed)
        try program.wait(for: turns) { $0 == 60 }
        try program.set(1000, for: speed)
        #expect(try program.value(of: speed) == 100)
        try program.reset(speed)
        #expect(try program.value(of: speed) == 10)
        #expect(
            Set(try program.tweaks.map(\.declaration.key)) == [speed, running, turns, greet])
        #expect(program.output == "starts with 10 --fast\n")
        try program.run(greet)
        #expect(program.output.hasSuffix("hello\n"))
    }

    @Test func `has its values from the start, and a home of its own`() throws {
        let programs = try [40, 50].map { try ProgramUnderTest(Self.path, values: [speed: $0]) }
        #expect(try programs.map { try $0.value(of: speed) } == [40, 50])
        #expect(programs.map(\.output) == ["starts with 40 \n", "starts with 50 \n"])
        #expect(programs[0].home != programs[1].home)
    }

    @Test func `ends by itself or by SIGTERM`() throws {
        let program = try ProgramUnderTest(Self.path)
        #expect(program.exitStatus == nil)
        // It may end before it answers.
        try? program.set(false, for: running)
        #expect(try program.waitForEnd() == 3)
        #expect(program.exitStatus == 3)
        #expect(throws: ProgramUnderTest.Failure.self) { try program.value(of: speed) }
        #expect(try ProgramUnderTest(Self.path).end() == 128 + SIGTERM)
    }

    @Test func `leaves nothing behind`() throws {
        var program: ProgramUnderTest? = try ProgramUnderTest(Self.path)
        let (home, process) = try (#require(program?.home), #require(program?.processID))
        #expect(FileManager.default.fileExists(atPath: home))
        program = nil
        #expect(!FileManager.default.fileExists(atPath: home))
        #expect(waitUntil { kill(process, 0) != 0 })
    }

    @Test func `says why it cannot be asked`() throws {
        func failure(_ path: String, _ arguments: [String]) -> String {
            let failure = #expect(throws: ProgramUnderTest.Failure.self) {
                try ProgramUnderTest(path, arguments, patience: .milliseconds(200))
            }
            return failure?.description ?? ""
        }
        #expect(failure("/no/such/program", []).hasPrefix("/no/such/program: cannot be started: "))
        let ended = failure("/bin/sh", ["-c", "echo no disk >&2; exit 4"])
        #expect(ended.contains("ended with status 4") && ended.contains("no disk"), "\(ended)")
        let silent = failure("/bin/sleep", ["60"])
        #expect(silent.contains("Is the Tweaks library in it?"), "\(silent)")
    }

    @Test func `says what it was asked in vain`() throws {
        let program = try ProgramUnderTest(Self.path)
        let unknown = #expect(throws: ProgramUnderTest.Failure.self) {
            try program.set(1, for: TweakKey("Tested", "Motor", "Sped"))
        }
        #expect(unknown?.description.contains("Tested/Motor/Speed") == true, "\(unknown?.description ?? "")")
        let late = #expect(throws: ProgramUnderTest.Failure.self) {
            try program.wait(for: speed, patience: .milliseconds(20)) { $0 == 11 }
        }
        #expect(late?.description.contains("Tested/Motor/Speed is 10") == true)
    }
}
