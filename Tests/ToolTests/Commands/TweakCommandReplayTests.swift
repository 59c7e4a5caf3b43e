// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak replay` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    private func replay(_ name: String, _ arguments: String...) throws -> CommandResult {
        try setter.program.command(["replay", setter.home(name), "\(setter.pid)"] + arguments)
    }

    private func history() throws -> (changes: [[String: Any]], marks: [[String: Any]]) {
        let history = try setter.tweak("log", "--format", "json").json
        return (
            try #require(history["changes"] as? [[String: Any]]),
            try #require(history["marks"] as? [[String: Any]])
        )
    }

    /// The changes that something makes, without their numbers and times.
    private func changes(_ body: () throws -> Void) throws -> [String] {
        let count = try history().changes.count
        try body()
        return try history().changes.dropFirst(count).map { change in
            ["tweak", "oldValue", "newValue", "source", "isOfLease", "endsLease"].map {
                "\(change[$0] ?? "")"
            }.joined(separator: " ")
        }
    }

    private let start0 = #"{"type":"program","application":"a","host":"h","time":1000,"monotonicTime":10}"#

    private func change(
        _ number: Int, _ tweak: String, _ old: String, _ new: String, from source: String,
        _ more: String = "",
        at time: Double
    ) -> String {
        #"{"type":"change","number":\#(number),"tweak":"Setter/Values/\#(tweak)","oldValue":\#(old),"#
            + #""newValue":\#(new),"source":"\#(source)","by":"a","time":1000,"monotonicTime":\#(time)\#(more)}"#
    }

    private func sample(_ value: Double, of name: String = "Setter/Values/Ratio", at time: Double) -> String {
        #"{"type":"sample","time":\#(time),"values":{"\#(name)":\#(value)}}"#
    }

    private func write(_ lines: [String]) throws -> String {
        _ = try setter.home.write("run.jsonl", ([start0] + lines).joined(separator: "\n") + "\n")
        return "run.jsonl"
    }

    // MARK: Leases and marks

    @Test(arguments: ["run.mcap", "run.jsonl"])
    func `A lease is replayed as one, which ends when it ended`(name: String) throws {
        let first = try changes {
            try setter.record(name, until: "end of it") { () throws in
                #expect(try setter.tweak("set", "Ratio", "0.75", "--while", "--", "sleep", "0.2").succeeded)
                #expect(try setter.tweak("set", "Text", "end of it").succeeded)
            }
        }
        #expect(first.count == 3 && first[0].contains("lease"))
        #expect(try setter.tweak("reset", "--all").succeeded)
        let second = try changes {
            let result = try replay(name)
            #expect(result.succeeded && result.error.isEmpty, "\(result.error)")
        }
        #expect(first == second)
        #expect(try setter.tweak("get", "Ratio").output == "0.5\n")
    }

    @Test func `A lease that the recording does not end ends with the replay`() throws {
        let name = try write([
            change(1, "Ratio", "0.5", "0.75", from: "lease", #","isOfLease":true"#, at: 10.1),
            change(2, "Count", "5", "6", from: "override", at: 10.2),
        ])
        let made = try changes { () throws in #expect(try replay(name).succeeded) }
        #expect(
            made == [
                "Setter/Values/Ratio 0.5 0.75 lease 1 ", "Setter/Values/Count 5 6 override  ",
                "Setter/Values/Ratio 0.75 0.5 default 1 ",
            ])
    }

    @Test func `A value below a lease stays below it, and one that ends the lease counts at once`() throws {
        let name = try write([
            change(1, "Ratio", "0.5", "0.75", from: "lease", #","isOfLease":true"#, at: 10.1),
            change(2, "Ratio", "0.5", "0.25", from: "override", at: 10.2),
            change(3, "Ratio", "0.25", "1", from: "override", #","endsLease":true"#, at: 10.3),
        ])
        let made = try changes {
            let result = try replay(name)
            #expect(result.succeeded && result.error.isEmpty, "\(result.error)")
        }
        #expect(
            made == [
                "Setter/Values/Ratio 0.5 0.75 lease 1 ", "Setter/Values/Ratio 0.5 0.25 override  ",
                "Setter/Values/Ratio 0.25 1 override  1",
            ])
        #expect(try setter.tweak("get", "Ratio").output == "1.0\n")
    }

    @Test(arguments: ["run.mcap", "run.jsonl"])
    func `Marks are set again between the same changes`(name: String) throws {
        try setter.record(name, until: "end of it") { () throws in
            #expect(try setter.tweak("set", "Count", "6").succeeded)
            #expect(try setter.tweak("mark", "calm").succeeded)
            #expect(try setter.tweak("set", "Count", "7").succeeded)
            #expect(try setter.tweak("set", "Text", "end of it").succeeded)
        }
        #expect(try setter.tweak("reset", "--all").succeeded)
        let before = try history()
        #expect(try replay(name).succeeded)
        let after = try history()
        let numbers = after.changes.dropFirst(before.changes.count).compactMap { $0["number"] as? Int }
        #expect(after.marks.map { $0["name"] as? String } == ["calm"])
        #expect(after.marks.first?["number"] as? Int == numbers.first)
        #expect(try setter.tweak("revert", "calm").succeeded)
        #expect(try setter.tweak("get", "Count").output == "6\n")
    }

    @Test func `A recording behind the program gets a hint`() throws {
        let recording = try setter.home.write("run.mcap", "")
        let result = try setter.program.command("replay", "tweak-setter", recording)
        #expect(
            result.error.hasPrefix(
                "Error: \(recording) is a recording; write the recording before the program.\n"))
        #expect(result.status == 64)
    }

    // MARK: Checks

    @Test(arguments: ["run.mcap", "run.jsonl"])
    func `A check holds for the same run, and fails for another one`(name: String) throws {
        try setter.record(name, "--monitors", "Ratio", "--rate", "200", until: "end of it") { () throws in
            usleep(200_000)
            #expect(try setter.tweak("set", "Ratio", "0.75").succeeded)
            usleep(200_000)
            #expect(try setter.tweak("set", "Text", "end of it").succeeded)
        }
        #expect(try setter.tweak("reset", "--all").succeeded)
        // A busy machine makes a change late.
        let same = try replay(name, "--check", "--shift", "2 s", "--format", "json")
        #expect(same.status == 0, "\(same.output) \(same.error)")
        let monitors = try #require(try same.json["monitors"] as? [[String: Any]])
        #expect(monitors.map { $0["tweak"] as? String } == ["Setter/Values/Ratio"])
        #expect(monitors.first?["holds"] as? Bool == true && monitors.first?["recorded"] as? Int ?? 0 > 10)

        #expect(try setter.tweak("reset", "--all").succeeded)
        #expect(try setter.tweak("set", "Ratio", "1", "--for", "1min").succeeded)
        let other = try replay(name, "--check", "--tolerance", "1/5", "--shift", "2s")
        #expect(other.status == 1, "\(other.output) \(other.error)")
        #expect(other.output.contains("deviates") && other.output.contains("0.5 "), "\(other.output)")
        #expect(other.error.contains("not as recorded: 1 of 1 monitor"))
        #expect(other.error.contains("Setter/Values/Ratio is 1.0, not 0.5"))
    }

    @Test func `A check says what it cannot compare`() throws {
        let times = (0..<10).map { 1000 + Double($0) / 20 }
        func check(_ lines: [String], _ arguments: String...) throws -> CommandResult {
            let name = try write(lines)
            return try setter.program.command(
                ["replay", setter.home(name), "\(setter.pid)", "--check"] + arguments)
        }
        let none = try check([change(1, "Count", "5", "6", from: "override", at: 10)])
        #expect(none.status == 65 && none.error.contains("it has no monitors to compare"))
        #expect(try setter.tweak("get", "Count").output == "5\n")
        #expect(try check([sample(0.5, at: 1000)]).error.contains("too few samples to compare"))
        let missing = try check(times.map { sample(1, of: "Setter/Values/Nobody's", at: $0) })
        #expect(missing.status == 1 && missing.output.contains("not declared by the program"))
        let text = try check(times.map { sample(1, of: "Setter/Values/Text", at: $0) })
        #expect(text.status == 1 && text.output.contains("cannot be sampled"))
        let refused = try check(
            times.map { sample(0.5, at: $0) } + [change(1, "Flag", "false", "7", from: "override", at: 10.1)])
        #expect(refused.status == 65 && refused.output.contains("ok"), "\(refused.output) \(refused.error)")
        #expect(try check(times.map { sample(0.5, at: $0) }, "--shift", "1ms").status == 64)
        #expect(try check(times.map { sample(0.5, at: $0) }, "--speed", "2").status == 64)
        #expect(try check(times.map { sample(0.5, at: $0) }, "--tolerance", "-1").status == 64)
        #expect(try replay("run.jsonl", "--tolerance", "1").status == 64)
    }

    @Test func `A check of a program that ends says so`() throws {
        let name = try write(
            (0..<600).map { sample(0.5, at: 1000 + Double($0) / 20) }
                + [change(1, "Count", "5", "6", from: "override", at: 10.1)])
        let check = try start(
            Locations.product("tweak"), ["replay", setter.home(name), "\(setter.pid)", "--check"],
            home: setter.home)
        setter.expect("false 6 0.5 hello")
        setter.process.kill()
        let result = check.wait()
        #expect(result.status == 1, "\(result.output) \(result.error)")
        #expect(result.output.contains("too few samples") && result.error.contains("it ended after "))
    }
}
