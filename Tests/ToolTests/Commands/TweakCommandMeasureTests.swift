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
            "measure", "Count", "--for", "200ms", "--rate", "500", "--stat", "p99.9", "--format", "json"
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
        #expect(90...101 ~= samples + lost, "\(measured)")
        #expect(measured["tweak"] as? String == "Setter/Values/Count")
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
