// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak record and replay` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    private func objects(_ name: String) throws -> [[String: Any]] {
        try String(contentsOfFile: setter.home(name), encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// What Python's `mcap` reads: the topic, the time and the JSON of each message.
    private func messages(_ name: String) throws -> [[String: Any]] {
        let program = """
            import json, sys
            from mcap.reader import make_reader
            with open(sys.argv[1], "rb") as file:
                reader = make_reader(file)
                for schema, channel, message in reader.iter_messages():
                    assert schema.encoding == "jsonschema" and channel.message_encoding == "json"
                    json.loads(schema.data)
                    print(json.dumps({"topic": channel.topic, "time": message.log_time, "content": json.loads(message.data)}))
            """
        let result = try run(
            "\(Locations.package)/.build/mcap/bin/python3", ["-c", program, setter.home(name)],
            home: setter.home)
        try #require(result.status == 0, "\(result.error)")
        return try result.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func `Lines of JSON have the program, all values, each change and the samples`() throws {
        try setter.record("run.jsonl", "--monitors", "Setter/Values/R*", "--rate", "500", until: "bye") {
            () throws in
            #expect(try setter.tweak("set", "Ratio", "0.75").succeeded)
            #expect(waitUntil { setter.count(of: #""Setter/Values/Ratio":0.75"#, in: "run.jsonl") > 0 })
            #expect(try setter.tweak("set", "Count=6", "Text=bye").succeeded)
        }
        let lines = try objects("run.jsonl")
        #expect(lines.prefix(2).map { $0["type"] as? String } == ["program", "snapshot"])
        #expect(lines[0]["pid"] as? Int32 == setter.pid && lines[0]["host"] is String)
        let tweaks = try #require(lines[1]["tweaks"] as? [[String: Any]])
        #expect(
            tweaks.contains {
                $0["name"] as? String == "Count" && $0["value"] as? Int == 5 && $0["default"] as? Int == 5
            })
        let changes = lines.filter { $0["type"] as? String == "change" }
        #expect(
            changes.map { $0["tweak"] as? String } == [
                "Setter/Values/Ratio", "Setter/Values/Count", "Setter/Values/Text",
            ])
        #expect(changes.map { $0["number"] as? Int } == [1, 2, 2])
        let samples = lines.filter { $0["type"] as? String == "sample" }.compactMap {
            $0["values"] as? [String: Double]
        }
        #expect(samples.contains { $0["Setter/Values/Ratio"] == 0.75 })
    }

    @Test func `MCAP has the same values for Python's mcap, also of a recording that was killed`() throws {
        try setter.record("run.mcap", "--monitors", "Ratio", until: "bye") { () throws in
            #expect(try setter.tweak("set", "Ratio", "0.75").succeeded)
            // Among the tweaks and among the monitors.
            let ratio = #"{"Setter":{"Values":{"Ratio":0.75}}}"#
            #expect(waitUntil { setter.count(of: ratio, in: "run.mcap") > 1 })
            #expect(try setter.tweak("set", "Text", "bye").succeeded)
        }
        let messages = try messages("run.mcap")
        func contents(_ topic: String) -> [[String: Any]] {
            messages.filter { $0["topic"] as? String == topic }.compactMap { $0["content"] as? [String: Any] }
        }
        #expect(contents("/program").first?["pid"] as? Int32 == setter.pid)
        let tweaks = try #require(contents("/snapshot").first?["tweaks"] as? [[String: Any]])
        #expect(tweaks.contains { $0["name"] as? String == "Text" && $0["value"] as? String == "hello" })
        #expect(
            contents("/changes").map { $0["newValue"] as? String ?? "\($0["newValue"] ?? "")" } == [
                "0.75", "bye",
            ])
        func ratio(_ content: [String: Any]) -> Double? {
            ((content["Setter"] as? [String: Any])?["Values"] as? [String: Any])?["Ratio"] as? Double
        }
        #expect(contents("/tweaks").compactMap(ratio) == [0.5, 0.75])
        #expect(contents("/monitors").compactMap(ratio).last == 0.75)
        #expect(messages.allSatisfy { $0["time"] as? Int ?? 0 > 1_600_000_000_000_000_000 })
    }

    @Test func `tweak watch writes the same MCAP, which Python's mcap reads, and a replay`() throws {
        let watch = try start(
            Locations.product("tweak"),
            ["watch", "\(setter.pid)", "Values/R*", "--rate", "200", "--output", setter.home("run.mcap")],
            home: setter.home)
        defer {
            if watch.isRunning { watch.kill() }
            _ = watch.wait()
        }
        func has(_ text: String) -> Bool { setter.count(of: text, in: "run.mcap") > 0 }
        #expect(waitUntil { has(#"{"Setter":{"Values":{"Ratio":0.5}}}"#) })
        #expect(try setter.tweak("set", "Ratio=0.75", "Text=bye").succeeded)
        #expect(waitUntil { has(#"{"Setter":{"Values":{"Ratio":0.75}}}"#) && has("bye") })
        watch.kill()
        _ = watch.wait()
        let messages = try messages("run.mcap")
        let topics = Set(messages.compactMap { $0["topic"] as? String })
        #expect(topics == ["/program", "/snapshot", "/changes", "/tweaks", "/monitors"])
        let changes = messages.filter { $0["topic"] as? String == "/changes" }
        #expect(changes.count == 2)
        #expect(try setter.tweak("reset", "--all").succeeded)
        #expect(try setter.program.command(["replay", setter.home("run.mcap"), "\(setter.pid)"]).succeeded)
        #expect(try setter.tweak("get", "Ratio").output == "0.75\n")
        #expect(try setter.tweak("get", "Text").output == "bye\n")
    }

    @Test func `A recording ends with the program, and a full disk leaves what was written`() throws {
        #expect(try setter.tweak("record", "/dev/full").status == 73)
        #expect(try setter.tweak("record", setter.home("none/run.mcap")).status == 73)
        // A file of at most eight kilobytes, as ulimit allows it, is the disk.
        let limited = try start(
            Locations.program("bash"),
            [
                "-c",
                "trap '' XFSZ; ulimit -f 24; exec \"$0\" record \(setter.pid) run.mcap --monitors Ratio --rate 1000",
                Locations.product("tweak"),
            ], home: setter.home, in: setter.home.path)
        let result = limited.wait()
        #expect(result.status == 74, "\(result.error)")
        let before = try messages("run.mcap")
        #expect(before.count > 10 && before.last?["topic"] as? String == "/monitors")

        let record = try start(
            Locations.product("tweak"), ["record", "\(setter.pid)", setter.home("end.jsonl")],
            home: setter.home)
        #expect(waitUntil { (try? objects("end.jsonl").count) == 2 })
        setter.process.kill()
        #expect(record.wait().status == 0)
    }

    @Test(arguments: ["run.mcap", "run.jsonl"])
    func `A replay makes the changes again, together and in time`(name: String) throws {
        try setter.record(name, until: "end of it") { () throws in
            for number in 10..<30 {
                #expect(try setter.tweak("set", "Count", "\(number)").succeeded)
            }
            #expect(try setter.tweak("set", "Count=40", "Ratio=0.25").succeeded)
            #expect(try setter.tweak("reset", "Count").succeeded)
            #expect(try setter.tweak("set", "Text", "end of it").succeeded)
        }
        func log() throws -> [[String: Any]] {
            let output = try setter.tweak("log", "--format", "json").output
            let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
            return try #require(object?["changes"] as? [[String: Any]])
        }
        let first = try log()
        #expect(try setter.tweak("revert").succeeded)
        let last = try #require(try log().last?["number"] as? Int)
        let result = try setter.program.command(["replay", setter.home(name), "\(setter.pid)"])
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        let second = try log().filter { $0["number"] as? Int ?? 0 > last }
        for key in ["tweak", "oldValue", "newValue", "source"] {
            #expect(first.map { "\($0[key] ?? "")" } == second.map { "\($0[key] ?? "")" })
        }
        let times = [first, second].map { $0.compactMap { $0["monotonicTime"] as? Double } }
        let errors = zip(times[0], times[1]).map { $0.0 - times[0][0] - ($0.1 - times[1][0]) }.map(abs)
            .sorted()
        print(
            "replay \(name): median error \(errors[errors.count / 2] * 1e3) ms, largest \((errors.last ?? 0) * 1e3) ms"
        )
    }

    @Test(arguments: ["run.mcap", "run.jsonl"])
    func `A gradual change is replayed as one`(name: String) throws {
        try setter.record(name, until: "end of it") { () throws in
            #expect(try setter.tweak("set", "Ratio", "1", "--ramp", "20min").succeeded)
            #expect(try setter.tweak("set", "Text", "end of it").succeeded)
        }
        #expect(try setter.tweak("reset", "--all").succeeded)
        #expect(
            try setter.program.command(["replay", setter.home(name), "\(setter.pid)", "--speed", "2"])
                .succeeded)
        let ramp = try setter.tweak("explain", "Ratio").output
        #expect(ramp.contains("ramping to 1.0, "), "\(ramp)")
        let changes = try #require(
            try setter.tweak("log", "--format", "json").json["changes"] as? [[String: Any]])
        #expect(changes.map { $0["ramp"] as? Double } == [1200, nil, nil, nil, 600, nil])
    }

    @Test func `A replay reports what is clamped, refused or missing, and does the rest`() throws {
        let start = #"{"type":"program","application":"a","host":"h","time":1000,"monotonicTime":10}"#
        func change(_ tweak: String, _ value: String, at time: Double) -> String {
            #"{"type":"change","number":0,"tweak":"Setter/Values/\#(tweak)","oldValue":0,"newValue":\#(value),"#
                + #""source":"override","by":"program","time":1000,"monotonicTime":\#(time)}"#
        }
        let file = try setter.home.write(
            "run.jsonl",
            [
                start, change("Ratio", "7", at: 10.1), change("Flag", "7", at: 10.1),
                change("Nobody's", "7", at: 10.2),
                change("Text", "\"bye\"", at: 10.3), change("Count", "9", at: 1000), #"{"type":"cha"#,
            ].joined(separator: "\n"))
        let result = try setter.program.command([
            "replay", file, "\(setter.pid)", "--until", "5", "--speed", "2",
        ])
        #expect(result.status == 65)
        for text in [
            "Setter/Values/Ratio: 7 is outside the limits; allowed: ", "Setter/Values/Flag: 7 is not a bool",
            "Setter/Values/Nobody's: the program has no such tweak", "2 changes were not made",
        ] { #expect(result.error.contains(text), "\(result.error)") }
        #expect(try setter.tweak("get", "Text").output == "bye\n")
        #expect(try setter.tweak("get", "Ratio").output == "1.0\n")
        #expect(try setter.tweak("get", "Count").output == "5\n")
        let other = try setter.home.write("other.txt", "hello\n")
        #expect(try setter.program.command(["replay", other, "\(setter.pid)"]).status == 65)
    }
}
