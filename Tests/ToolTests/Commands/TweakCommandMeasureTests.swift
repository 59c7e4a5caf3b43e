// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak measure` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    @Test func `prints one number`() throws {
        #expect(try setter.tweak("set", "Count", "7").succeeded)
        let result = try setter.tweak("measure", "Count", "--for", "100ms", "--settle", "0.05")
        #expect(result.output == "7.0\n" && result.error.isEmpty)
    }

    @Test func `prints all statistics as JSON, from as many samples as were asked for`() throws {
        #expect(try setter.tweak("set", "Count", "7").succeeded)
        let measured = try setter.tweak(
            "measure", "Count", "--for", "600ms", "--rate", "500", "--stat", "p99.9", "--format", "json"
        ).json
        let statistics = try #require(measured["statistics"] as? [String: Double])
        #expect(
            statistics.keys.sorted() == [
                "iae", "last", "max", "mean", "min", "p50", "p95", "p99", "p99.9", "rms", "sd",
            ])
        #expect(statistics["p99.9"] == 7 && statistics["sd"] == 0)
        let seconds = try #require(measured["seconds"] as? Double)
        #expect(try abs(#require(statistics["iae"]) - 7 * seconds) < 1e-6)
        let (samples, lost) = (measured["samples"] as? Int ?? 0, measured["lost"] as? Int ?? 0)
        // Some may be lost on a busy machine: 100 suffice for p99.
        #expect(290...301 ~= samples + lost && samples >= 100, "\(measured)")
        #expect(measured["tweak"] as? String == "Setter/Values/Count")
        #expect(measured["changes"] as? Int == 0 && measured["changesPerSecond"] as? Double == 0)
        // A tweak has its value also while nobody sets it, so only the samples count.
        #expect(measured["insufficient"] as? [String] == ["p99.9"])
    }

    @Test func `says that there are too few samples, and measures`() throws {
        #expect(try setter.tweak("set", "Count", "7").succeeded)
        let result = try setter.tweak("measure", "Count", "--for", "10ms", "--stat", "p95")
        #expect(result.status == 0 && result.output == "7.0\n")
        #expect(
            result.error.contains(
                "tweak: warning: Setter/Values/Count: p95 needs 20 samples, but there "), "\(result)")
        let error = try setter.tweak(
            "measure", "Count", "--for", "10ms", "--stat", "p95", "--format", "json"
        ).error
        let warnings = try error.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let few = try #require(warnings.first { $0["kind"] as? String == "few" })
        #expect(few["process"] as? Int32 == setter.pid && few["tweak"] as? String == "Setter/Values/Count")
    }

    @Test(
        arguments: [
            (["Text"], 65), (["Count", "--stat", "average"], 64), (["Count", "--for", "-1s"], 64),
            (["Count", "--rate", "0"], 64), (["Nothing"], 65),
        ] as [([String], Int32)])
    func `refuses what cannot be measured`(arguments: [String], status: Int32) throws {
        let result = try setter.program.command(["measure", "\(setter.pid)"] + arguments)
        #expect(result.status == status && result.output.isEmpty && !result.error.isEmpty)
    }
}

/// A program that stores a monitor twenty times a second.
@Suite struct `tweak measure of a slow monitor` {
    private let home: TemporaryDirectory
    private let process: RunningCommand

    private static let source = """
        #include <fbtweak.h>
        #include <unistd.h>

        int main(void) {
          for (int count = 0;; count++) {
            FBTweakMonitor("Slow", "State", "Count", count);
            usleep(50000);
          }
        }

        """

    init() throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let result = try run(
            Locations.program("gcc"),
            [
                "-std=gnu11", "-DDEBUG", home.write("slow.c", Self.source), "-o", home("slow"),
                "-I" + (try Installation.path("include")),
            ] + (try Installation.linkerFlags), home: home)
        try #require(result.succeeded, "\(result.error)")
        process = try start(home("slow"), home: home)
        let socket = home("runtime/tweaks/\(process.processID).sock")
        #expect(waitUntil { FileManager.default.fileExists(atPath: socket) })
    }

    private func measure(_ arguments: String...) throws -> CommandResult {
        try run(
            Locations.product("tweak"),
            ["measure", "\(process.processID)", "Count", "--for", "500ms"] + arguments, home: home)
    }

    @Test func `Equal samples are not lost, and too few updates are named`() throws {
        defer { process.kill() }
        let result = try measure("--rate", "200", "--stat", "p95")
        #expect(result.status == 0 && Double(result.output.dropLast()) != nil)
        #expect(result.error.contains("p95 needs 20 updates, but there are "), "\(result)")
        let measured = try measure("--rate", "200", "--format", "json").json
        let (samples, lost) = (measured["samples"] as? Int ?? 0, measured["lost"] as? Int ?? 0)
        let changes = measured["changes"] as? Int ?? 0
        #expect(1...11 ~= changes && samples > changes && samples + lost <= 101, "\(measured)")
        #expect((measured["insufficient"] as? [String])?.contains("p95") == true)
        #expect((measured["insufficient"] as? [String])?.contains("mean") == false)
    }
}
