// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Leases in a program` {
    private let program: LiveProgram
    private let client: ControlClient

    init() throws {
        program = try LiveProgram()
        client = try program.connect()
    }

    private func value(_ tweak: String = LiveProgram.text, of client: ControlClient? = nil) throws -> String?
    {
        try (client ?? self.client).request("get", ["tweak": tweak]).result["value"].map { "\($0)" }
    }

    private func tweak(_ arguments: String...) throws -> RunningCommand {
        try start(
            Locations.product("tweak"),
            [arguments[0], "\(program.process.processID)"] + arguments.dropFirst(),
            home: program.home)
    }

    private var overrides: String {
        (try? String(
            contentsOfFile: program.home("config/tweaks/live-program/overrides.json"), encoding: .utf8)) ?? ""
    }

    @Test func `A client that is killed at any moment leaves no value`() throws {
        #expect(try client.request("set", ["tweak": LiveProgram.text, "value": "kept"]).errorCode == nil)
        var random = SeededGenerator(seed: 4)
        for _ in 1...(isLong ? 1000 : 30) {
            let command = try tweak("set", "text", "leased", "--while", "--", "sleep", "1")
            usleep(UInt32.random(in: 0...60_000, using: &random))
            command.kill()
            while command.isRunning { usleep(500) }
            #expect(try waitUntil { try value() == "kept" })
            #expect(!overrides.contains("leased"))
        }
        let tweak = try client.request("get", ["tweak": LiveProgram.text]).result
        #expect(tweak["source"] as? String == "override")
        #expect(tweak["lease"] == nil)
    }

    @Test func `A command has the value while it runs, and its status is that of the whole`() throws {
        let get = "\(Locations.product("tweak")) get \(program.process.processID) text"
        let result = try tweak("set", "text", "leased", "--while", "--", "sh", "-c", "\(get); exit 7").wait()
        #expect(result.status == 7)
        #expect(result.output == "Live/Values/Text: \"run\" → \"leased\", while the command runs\nleased\n")
        #expect(try value() == "run")
        #expect(try tweak("set", "text", "leased", "--while", "--", "no-such-command").wait().status == 127)
        #expect(try value() == "run")
        #expect(try tweak("set", "text", "leased", "--while", "--").wait().status == 64)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1])
    func `Signals are passed on to the command`(number: Int32) throws {
        let script = "trap 'exit \(number + 40)' \(number); echo ready; while :; do sleep 0.01; done"
        let command = try tweak("set", "text", "leased", "--while", "--", "sh", "-c", script)
        #expect(waitUntil { command.written.output.contains("ready") })
        #expect(try value() == "leased")
        kill(command.processID, number)
        #expect(command.wait().status == number + 40)
        #expect(try value() == "run")
    }

    @Test func `A program holds a value for a time, and says whose it is`() throws {
        let result = try tweak("set", "text", "leased", "--for", "1 min").wait()
        #expect(result.output == "Live/Values/Text: \"run\" → \"leased\", for 1 min\n")
        #expect(try value() == "leased")
        let list = try tweak("list").wait().output
        #expect(list.contains("a lease of tweak ") && list.contains(" for another "))
        let explained = try tweak("explain", "text").wait().output
        #expect(explained.contains("\"leased\", from a lease of tweak "))
        let kept = try tweak("set", "text", "kept").wait()
        #expect(kept.error.contains("the value is kept, but a lease of tweak "))
        #expect(try value() == "leased")
        #expect(
            try tweak("reset", "text", "--leases").wait().output
                == "Live/Values/Text: \"leased\" → \"kept\"\n")
        #expect(try tweak("set", "text", "leased", "--for", "50ms").wait().status == 0)
        #expect(try waitUntil { try value() == "kept" })
    }

    @Test func `A negative value, options behind it and a command are told apart`() throws {
        let result = try tweak("set", "step", "-5", "--for", "1s", "--while", "--", "true").wait()
        #expect(result.status == 0)
        #expect(result.output.contains("0 → -5, for 1s, while the command runs"))
        #expect(try value(LiveProgram.step) == "0")
    }

    @Test func `A program that does not run cannot hold a value`() throws {
        let home = try TemporaryDirectory()
        for option in [["--for", "1s"], ["--ramp", "1s"], ["--while", "--", "true"]] {
            let result = try run(
                Locations.product("tweak"), ["set", LiveProgram.path, "step", "1"] + option, home: home)
            #expect(result.status == 69)
            #expect(result.error.contains("so it can hold neither leases nor ramps"))
        }
    }

    @Test func `A forked child has the values below`() throws {
        let program = try LiveProgram("fork")
        let client = try program.connect()
        #expect(
            try client.request("set", ["tweak": LiveProgram.step, "value": 1, "until": "closed"]).errorCode
                == nil)
        #expect(try waitUntil { try program.processes().count == 2 })
        for process in try program.processes() {
            let isChild = process != program.process.processID
            let tweak = try ControlClient(program.socket(of: process)).request(
                "get", ["tweak": LiveProgram.step]
            ).result
            #expect(tweak["value"] as? Int == (isChild ? 0 : 1))
            #expect(tweak["source"] as? String == (isChild ? "default" : "lease"))
        }
        _ = try program.end()
    }

    @Test func `A program that executes another has no leases left`() throws {
        let program = try LiveProgram("exec", LiveProgram.path)
        let client = try program.connect()
        try client.post("set", ["tweak": LiveProgram.step, "value": 1, "until": "closed"])
        // The program may execute the other one before its library has answered.
        while let answer = try client.next() { #expect(answer["error"] == nil) }
        #expect(try value(LiveProgram.step, of: program.connect()) == "0")
        _ = try program.end()
    }
}
