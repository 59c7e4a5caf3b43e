// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Metrics of tweak serve` {
    private let program: ViewedProgram
    private let served: ServedFlags

    private static let openMetrics = "Accept: application/openmetrics-text; version=1.0.0, text/plain;q=0.5"

    init() throws {
        program = try ViewedProgram()
        served = try ServedFlags(["\(program.process.processID)", "--metrics"], home: program.home)
    }

    private func metrics(_ headers: [String] = [], method: String = "GET") throws -> HTTPAnswer {
        try HTTPAnswer(
            served.port, method, "/metrics", ["Authorization: Bearer \(served.token)"] + headers, "")
    }

    private struct Sample: Decodable {
        let family, type, help, name: String
        let labels: [String: String]
        let value: String

        var number: Double? { Double(value) }
    }

    /// What Python's parser reads.
    private func samples() throws -> [Sample] {
        let answer = try metrics([Self.openMetrics])
        #expect(answer.status == 200)
        #expect(
            answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        let file = try program.home.write("metrics.txt", answer.body)
        let result = try run(
            Locations.program("bash"),
            [
                "-c", "exec /usr/bin/python3 -B \"$0\" <\"$1\"",
                "\(Locations.package)/Tests/Programs/viewers/openmetrics.py", file,
            ], home: program.home)
        try #require(result.succeeded, "\(result.error)\(answer.body)")
        return try result.lines.map { try JSONDecoder().decode(Sample.self, from: Data($0.utf8)) }
    }

    /// The states of a state set, and the active ones.
    private func states(_ samples: [Sample], _ name: String) -> (all: [String], active: [String]) {
        let states = samples.filter { $0.labels["name"] == name && $0.type == "stateset" }
        func names(_ samples: [Sample]) -> [String] { samples.compactMap { $0.labels[$0.family] } }
        return (names(states), names(states.filter { $0.number == 1 }))
    }

    @Test func `Python's parser of OpenMetrics reads numbers as gauges and named values as state sets`()
        throws
    {
        let samples = try samples()
        func gauge(_ name: String) -> Sample? {
            samples.first { $0.labels["name"] == name && $0.type == "gauge" }
        }
        #expect(samples.first { $0.name == "tweak_program_up" }?.number == 1)
        let speed = try #require(gauge("Motor/State/Speed"))
        #expect(speed.family == "tweak_monitor" && speed.number == 18.75 && speed.labels["unit"] == "rpm")
        #expect(speed.labels["program"] == "motor" && speed.labels["source"] == nil && !speed.help.isEmpty)
        #expect(gauge("Motor/State/Infinite")?.number == .infinity)
        let gain = try #require(gauge("Motor/PID/Gain: a,b|c;d"))
        #expect(gain.family == "tweak_value" && gain.number == 1.5 && gain.labels["source"] == "default")
        #expect(gauge("timestamp/a%2Fb/On")?.number == 1 && gauge("Motor/PID/Steps")?.number == 4)
        #expect(gauge("Motor/State/Phase") == nil && gauge("Motor/PID/Text") == nil)
        let phase = states(samples, "Motor/State/Phase")
        #expect(phase.all == ["idle", "running", "done"] && phase.active == ["running"])
        // A value without a name is a state, too, because one state is always active.
        let stray = states(samples, "Motor/State/Stray")
        #expect(stray.all == ["idle", "running", "7"] && stray.active == ["7"])
        let level = states(samples, "Motor/PID/Level")
        #expect(level.all == ["low", "same", "same (3)"] && level.active == ["same"])
        let mode = states(samples, "Motor/PID/Mode")
        #expect(mode.all == ["fast", "slow\\ \"x\"\n"] && mode.active == ["fast"])
        #expect(try program.tweak("set", ["Gain: a,b|c;d", "2"]).succeeded)
        #expect(
            try waitUntil {
                try self.samples().contains {
                    $0.labels["name"] == "Motor/PID/Gain: a,b|c;d" && $0.number == 2
                        && $0.labels["source"] == "override"
                }
            })
        #expect(
            try waitUntil {
                try self.samples().contains {
                    $0.labels["name"] == "Motor/State/Speed" && $0.number == 25
                }
            })
    }

    @Test func `promtool finds nothing wrong in the older format`() throws {
        let answer = try metrics()
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let file = try program.home.write("metrics.txt", answer.body)
        let result = try run(
            Locations.program("bash"), ["-c", "exec promtool check metrics <\"$0\"", file],
            home: program.home)
        #expect(result.succeeded && result.output.isEmpty && result.error.isEmpty, "\(result)")
        #expect(answer.body.contains("# TYPE tweak_monitor_state gauge\n"))
        #expect(!answer.body.contains("# EOF"))
    }

    @Test func `need the token and a name of this machine`() throws {
        for header in ["X-Nothing: 1", "Authorization: Bearer \(served.token)x", "X-API-Key: x"] {
            let answer = try HTTPAnswer(served.port, "GET", "/metrics", [header], "")
            #expect(answer.status == 401 && !answer.body.contains("tweak_"))
        }
        for header in ["Host: evil.example", "Host: 10.0.0.1:1", "Origin: http://evil.example"] {
            let answer = try metrics([header])
            #expect(answer.status == 403 && !answer.body.contains("tweak_"))
        }
        #expect(try metrics(method: "POST").status == 405)
        let head = try metrics(method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(try served.ask("/metrics/").status == 404)
        // Flags are served as without metrics.
        #expect(try served.flag("Motor/PID/Steps")["value"] as? Int == 4)
        let other = try ServedFlags(["\(program.process.processID)"], home: program.home)
        let answer = try HTTPAnswer(
            other.port, "GET", "/metrics", ["Authorization: Bearer \(other.token)"], "")
        #expect(answer.status == 404)
    }

    @Test func `A program that does not answer is not up, and holds up nobody else`() throws {
        let process = program.process
        // In the other format, because metrics count as current for a moment.
        #expect(
            try metrics([Self.openMetrics]).body.contains("tweak_program_up{program=\"motor\"} 1\n"))
        process.pause()
        defer { process.resume() }
        let slow = try HTTPClient(
            served.port, "GET", "/metrics", ["Authorization: Bearer \(served.token)"], "")
        #expect(try served.flag("Motor/PID/Steps")["value"] as? Int == 4)
        #expect(try HTTPAnswer(slow.readToEnd()).body.contains("tweak_program_up{program=\"motor\"} 0\n"))
        process.resume()
        #expect(try waitUntil { try metrics().body.contains("tweak_monitor{") })
        process.kill()
        _ = process.wait()
        #expect(try waitUntil { try metrics([Self.openMetrics]).body.contains("\"motor\"} 0\n# EOF\n") })
    }
}
