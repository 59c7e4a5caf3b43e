// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program that makes optional tweaks, and waits.
private final class OptionalProgram {
    let home: TemporaryDirectory
    let process: RunningCommand

    init() throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let source = Locations.package + "/tools/python/tests/optionals.c"
        let result = try TestSupport.run(
            Locations.program("gcc"),
            [
                "-DDEBUG", source, "-o", home("robot"), "-I" + (try Installation.path("include")),
            ] + (try Installation.linkerFlags), home: home)
        try #require(result.succeeded, "\(result.error)")
        let process = try start(home("robot"), ["web"], home: home, in: home.path)
        self.process = process
        let socket = home("runtime/tweaks/\(process.processID).sock")
        #expect(waitUntil { FileStatus(socket) != nil && process.written.output.contains("runs") })
    }

    deinit { process.kill() }

    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try TestSupport.run(
            Installation.path("bin/tweak"), [command, "\(process.processID)"] + arguments, home: home)
    }

    var values: String { get throws { try tweak("get", "Robot/Arm/").output } }
}

@Suite struct `Optional tweaks of a program` {
    private let program: OptionalProgram

    init() throws { program = try OptionalProgram() }

    @Test func `have none in presets and recordings`() throws {
        let recorded = program.home("run.jsonl")
        let record = try start(
            Installation.path("bin/tweak"), ["record", "\(program.process.processID)", recorded],
            home: program.home)
        defer { if record.isRunning { record.kill() } }
        func content() -> String { (try? String(contentsOfFile: recorded, encoding: .utf8)) ?? "" }
        #expect(waitUntil { content().contains("snapshot") })
        #expect(try program.tweak("set", "Limit", "none", "Host", "none", "Quiet", "none").succeeded)
        let none = try program.values
        #expect(waitUntil { content().contains(#""newValue":"none""#) })
        record.kill()
        _ = record.wait()
        #expect(try preset("save").succeeded)
        #expect(try program.tweak("reset", "--all").succeeded)
        #expect(
            try preset("diff").output == """
                TWEAK            VALUE  PRESET
                Robot/Arm/Host   "web"  none
                Robot/Arm/Limit  0.5    none
                Robot/Arm/Quiet  false  none

                """)
        #expect(try preset("load").succeeded)
        #expect(try program.values == none)
        #expect(try program.tweak("reset", "--all").succeeded)
        let replay = try run(
            Installation.path("bin/tweak"), ["replay", recorded, "\(program.process.processID)"],
            home: program.home)
        #expect(replay.succeeded, "\(replay.error)")
        #expect(try program.values == none)
    }

    private func preset(_ command: String) throws -> CommandResult {
        try run(
            Installation.path("bin/tweak"), ["preset", command, "\(program.process.processID)", "free"],
            home: program.home)
    }

    @Test func `are completed with none`() throws {
        let words = ["set", "\(program.process.processID)", "Limit", ""]
        let result = try run(
            Installation.path("bin/tweak"),
            ["---completion", "set", "--", "positional@2", "4", "0", "tweak"] + words, home: program.home)
        #expect(result.lines.contains("none"), "\(result.output)")
    }

    @Test func `are flags without a value, and no metrics, while it is none`() throws {
        #expect(try program.tweak("set", "Limit", "none", "Host", #"\none"#).succeeded)
        let flags = try ServedFlags(
            ["--metrics", "\(program.process.processID)"], home: program.home)
        let limit = try flags.flag("Robot%2FArm%2FLimit")
        #expect(limit["value"] == nil && limit["reason"] as? String == "STATIC")
        #expect(try flags.flag("Robot%2FArm%2FHost")["value"] as? String == "none")
        let arm = try flags.flag("Robot%2FArm")["value"] as? [String: Any]
        #expect(arm?["Limit"] == nil && arm?["Host"] as? String == "none" && arm?["Quiet"] as? Bool == false)
        #expect(try !flags.ask("/metrics", method: "GET").body.contains("Limit"))
    }
}
