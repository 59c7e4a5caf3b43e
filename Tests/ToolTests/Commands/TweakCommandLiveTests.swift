// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The tweak command asks a running program` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    private var fileExists: Bool { FileManager.default.fileExists(atPath: setter.program.overridesPath) }

    @Test func `list has what the program has made, and its values`() throws {
        #expect(try setter.tweak("set", "Count", "6").succeeded)
        let result = try setter.tweak("list")
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(result.lines.contains { $0.split(separator: " ") == ["Setter", "/", "More"] })
        let count = result.lines.first { $0.hasPrefix("    Count  ") }
        #expect(count?.split(separator: " ") == ["Count", "6", "5", "int32", "0…1000000", "override"])
    }

    @Test func `list shows a category or a collection`() throws {
        #expect(try setter.tweak("list", "Setter/More/").lines.count == 5)
        #expect(try setter.tweak("list", "setter/more").lines.count == 5)
        #expect(try setter.tweak("list", "Setter/").lines.count == 23)
        #expect(try setter.tweak("list", "more").lines.count == 5)
        #expect(try setter.tweak("list", "Set/Mo").lines.count == 5)
        #expect(try setter.tweak("list", "Stter/").status == 65)
        #expect(try setter.tweak("list", "Setter/More/Port").lines.count == 3)
        #expect(try setter.tweak("list", "Port").lines.count == 3)
        #expect(
            try setter.tweak("list", "Cuont").error
                == "tweak: Cuont: no such tweak; did you mean Setter/Values/Count?\n")
    }

    @Test func `list shows what fits a pattern, and what has been changed`() throws {
        #expect(try setter.tweak("list", "*/Slots/Slot [12]*").lines.count { $0.contains("Slot ") } == 2)
        #expect(
            try setter.tweak("list", "*nothing*").output == "\(setter.title): no tweaks match *nothing*\n")
        #expect(
            try setter.tweak("list", "Slot*").output
                == "\(setter.title): no tweaks match Slot*; */Slot* would match\n")
        #expect(
            try setter.tweak("list", "--search", "no such").output
                == "\(setter.title): no tweaks match the words no such\n")
        #expect(
            try setter.tweak("list", "--changed").output
                == "\(setter.title): none of 18 tweaks differs from its default\n")
        #expect(
            try setter.tweak("list", "Count", "--changed").output
                == "\(setter.title): the tweak has its default\n")
        #expect(try setter.tweak("set", "Count", "6").succeeded)
        let lines = try setter.tweak("list", "--changed").lines.filter { $0.contains("override") }
        #expect(lines.map { $0.split(separator: " ").first } == ["Count"])
    }

    @Test func `Concurrent sets of two tweaks lose none of their increments`() throws {
        let failures = Locked<[CommandResult]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<10 {
                guard let result = try? setter.tweak("set", "Count+=1", "Slot 1+=1") else { continue }
                // A warning would be a wrong one, too.
                if result.status != 0 || !result.error.isEmpty { failures.withLock { $0.append(result) } }
            }
        }
        #expect(failures.withLock { $0.isEmpty })
        #expect(try setter.tweak("get", "Count").output == "45\n")
        #expect(try setter.tweak("get", "Slot 1").output == "40\n")
    }

    @Test func `A repeated tweak is set in order`() throws {
        #expect(try setter.tweak("set", "Count+=1", "Count*=10").lines == ["Setter/Values/Count: 5 → 60"])
    }

    @Test func `A group that is not clear is an error with those that are meant`() throws {
        // Both begin with it.
        let result = try setter.tweak("list", "S")
        #expect(result.status == 65)
        #expect(
            result.error == """
                tweak: S: 2 groups match; give more of the name
                  Setter/
                  Setter/Slots/

                """)
    }

    @Test func `list has a JSON form with the process`() throws {
        let json = try setter.tweak("list", "--format", "json").json
        #expect(json["pid"] as? Int32 == setter.pid)
        #expect(json["application"] as? String == "tweak-setter")
        #expect((json["program"] as? String)?.hasSuffix("/tweak-setter") == true)
        #expect(json["overrides"] as? String == setter.program.overridesPath)
        #expect((json["tweaks"] as? [Any])?.count == 18)
    }

    @Test(arguments: ["path", "name", "id"])
    func `A program that has just been started is waited for`(way: String) throws {
        let home = try LiveProgram.home()
        let process = try start(LiveProgram.path, [], home: home, environment: ProgramBuild.usual.environment)
        defer { process.kill() }
        let name = ["path": LiveProgram.path, "name": "live-program"][way] ?? "\(process.processID)"
        let result = try run(Locations.product("tweak"), ["set", name, LiveProgram.text, "on"], home: home)
        #expect(result.error.isEmpty)
        #expect(result.output == "\(LiveProgram.text): \"run\" → \"on\"\n")
        let own = try run(Locations.product("tweak"), ["get", "\(process.processID)", "Text"], home: home)
        #expect(own.output == "on\n")
    }

    @Test func `A program that listens late is waited for`() throws {
        let home = try LiveProgram.home()
        let process = try start(LiveProgram.path, [], home: home, environment: ProgramBuild.usual.environment)
        defer { process.kill() }
        #expect(
            waitUntil {
                (try? String(contentsOfFile: "/proc/\(process.processID)/maps", encoding: .utf8))?
                    .contains("libtweaks") == true
            })
        // As on a busy machine.
        process.pause()
        let command = try start(
            Locations.product("tweak"), ["set", LiveProgram.path, LiveProgram.text, "on"], home: home)
        usleep(1_500_000)
        process.resume()
        #expect(command.wait().output == "\(LiveProgram.text): \"run\" → \"on\"\n")
        let own = try run(Locations.product("tweak"), ["get", "\(process.processID)", "Text"], home: home)
        #expect(own.output == "on\n")
    }

    @Test(arguments: [SetterProgram.path, "tweak-setter"])
    func `A path or a name is the program that runs`(name: String) throws {
        #expect(
            try setter.program.command("set", name, "Count", "6").output == "Setter/Values/Count: 5 → 6\n")
        setter.expect("false 6 0.5 hello")
    }

    @Test func `set changes the program at once and keeps the value`() throws {
        let result = try setter.tweak("set", "Setter/Values/Text", "bye")
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(result.output == "Setter/Values/Text: \"hello\" → \"bye\"\n")
        setter.expect("false 5 0.5 bye")
        setter.process.kill()
        _ = setter.process.wait()
        #expect(try setter.program.tweak("get", "Text").output == "bye\n")
    }

    @Test func `set says that it clamped`() throws {
        let result = try setter.tweak("set", "Ratio", "1.5")
        #expect(result.status == 0)
        #expect(result.output == "Setter/Values/Ratio: 0.5 → 1.0\n")
        #expect(
            result.error
                == "tweak: warning: Setter/Values/Ratio: 1.5 is outside the limits; allowed: a number from 0.0 to 1.0\n"
        )
        setter.expect("false 5 1.0 hello")
    }

    @Test func `What needs a restart waits for it, and can be taken back`() throws {
        #expect(try setter.tweak("set", "Port", "81").output == "Setter/More/Port: 80, after a restart 81\n")
        #expect(try setter.tweak("get", "Port").output == "80\n")
        let lines = try setter.tweak("list", "Setter/More").lines
        #expect(lines.first?.contains("AFTER A RESTART") == true)
        #expect(lines.contains { $0.contains("Port") && $0.contains("81") })
        #expect(try setter.tweak("explain", "Port").output.contains("after a restart: 81\n"))
        #expect(try setter.tweak("reset", "Port").output == "Setter/More/Port: 80, also after a restart\n")
    }

    @Test func `Several tweaks are set with one command, as one change`() throws {
        let client = try ControlClient(setter.socketPath)
        _ = try client.request("subscribe")
        let result = try setter.tweak("set", "Count", "-7", "Text", "bye", "Level", "high")
        #expect(result.status == 0)
        #expect(
            result.output == """
                Setter/Values/Count: 5 → 0
                Setter/Values/Text: "hello" → "bye"
                Setter/More/Level: 1 (low) → 2 (high)

                """)
        setter.expect("false 0 0.5 bye")
        #expect(try client.nextChanges().count == 3)
    }

    @Test func `Of a tweak that is named twice the last value is set`() throws {
        let result = try setter.tweak("set", "Count", "6", "Text", "bye", "Count", "7")
        #expect(result.output == "Setter/Values/Count: 5 → 7\nSetter/Values/Text: \"hello\" → \"bye\"\n")
    }

    @Test(arguments: [
        (["Count", "6", "Text"], 64), (["Count", "6", "Txt", "bye"], 65),
        (["Count", "6", "Flag", "maybe"], 65),
        (["Count", "6", "Fixed", "8"], 65), (["Count", "6", "Wait", "1"], 65),
    ])
    func `If one of several cannot be set none is`(arguments: [String], status: Int) throws {
        let result = try setter.program.command(["set", "\(setter.pid)"] + arguments)
        #expect(Int(result.status) == status)
        #expect(result.output.isEmpty)
        #expect(try setter.tweak("get", "Count").output == "5\n")
        #expect(!fileExists)
    }

    @Test func `65 is for more than a program takes at a time`() throws {
        let result = try setter.tweak("set", "Text", String(repeating: "x", count: 100_000))
        #expect(result.status == 0)
        let values = #"{"Setter": {"Values": {"Text": "\#(String(repeating: "x", count: 1 << 20))"}}}"#
        let refused = try setter.tweak("import", setter.home.write("values.json", values))
        #expect(refused.status == 65)
        #expect(refused.error.contains("a program takes at most 1048576 bytes per request"))
    }

    @Test func `reset takes one override away, those of a collection, and all`() throws {
        #expect(try setter.tweak("set", "Count", "6", "Text", "bye", "Slot 0", "1").succeeded)
        #expect(try setter.tweak("reset", "Count").output == "Setter/Values/Count: 6 → 5\n")
        #expect(
            try setter.tweak("reset", "values/").output == "Setter/Values/Text: \"bye\" → \"hello\"\n")
        #expect(try setter.tweak("reset", "--all").output == "Setter/Slots/Slot 0: 1 → 0\n")
        setter.expect("false 5 0.5 hello")
        #expect(try setter.tweak("reset", "Wait").status == 65)
    }

    @Test func `run runs an action, and waits until it is done`() throws {
        let result = try setter.tweak("run", "Setter/Actions/Count up")
        #expect(result.status == 0)
        #expect(result.output == "Setter/Actions/Count up: done\n")
        #expect(try setter.tweak("get", "Count").output == "6\n")
    }

    @Test func `run waits for an action longer than for another answer`() throws {
        let result = try setter.tweak("run", "Wait")
        #expect(result.status == 0)
        #expect(result.output == "Setter/Actions/Wait: done\n")
    }

    @Test func `69 is for an action that ends the program`() throws {
        let result = try setter.tweak("run", "End")
        #expect(result.status == 69)
        #expect(result.error.contains("it ended"))
        #expect(setter.process.wait().status == 3)
    }

    @Test func `Only an action runs, and only in a program that does`() throws {
        let result = try setter.tweak("run", "Count")
        #expect(result.status == 65)
        #expect(result.error.contains("it is not an action"))
        #expect(try setter.tweak("run", "Cont up").status == 65)
        setter.process.kill()
        _ = setter.process.wait()
        let ended = try setter.program.tweak("run", "Count")
        #expect(ended.status == 69)
        #expect(ended.error.contains("is not running"))
    }

    @Test func `explain says who has which opinion`() throws {
        #expect(try setter.tweak("set", "Count", "6").succeeded)
        let result = try setter.tweak("explain", "Count")
        #expect(result.status == 0)
        let lines = result.lines
        #expect(lines.first == "Setter/Values/Count: 6, from override")
        #expect(
            lines.contains {
                $0.split(separator: " ") == ["override", "6", Substring(setter.program.overridesPath)]
            })
        #expect(lines.contains { $0.hasPrefix("default   5") && $0.contains("setter_tweaks.c:") })
        let json = try setter.tweak("explain", "Count", "--format", "json").json
        #expect(json["value"] as? Int == 6)
        #expect(
            (json["opinions"] as? [[String: Any]])?.compactMap { $0["source"] as? String } == [
                "override", "default",
            ])
    }
}

@Suite struct `The tweak command waits until a program runs` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    @Test(arguments: [
        (["get", SetterProgram.path, "Count", "--wait", "60"], "9\n"),
        (["get", "--wait=1min", "tweak-setter", "Count"], "9\n"),
        (
            ["set", "--wait", "1", "min", SetterProgram.path, "Ratio", "-1"],
            "Setter/Values/Ratio: 0.5 → 0.0\n"
        ),
        (["set", SetterProgram.path, "Ratio", "-1", "--wait", "60s"], "Setter/Values/Ratio: 0.5 → 0.0\n"),
        (["measure", SetterProgram.path, "Count", "--wait", "60s", "--for", "0.05"], "9.0\n"),
    ])
    func `and then asks or changes it`(arguments: [String], output: String) throws {
        let command = try start(Locations.product("tweak"), arguments, home: program.home)
        let setter = try RunningSetter(
            program, environment: ["TWEAKS_WATCH": "0", "TWEAK_SETTER__VALUES__COUNT": "9"])
        let result = command.wait()
        #expect(result.succeeded && result.output == output, "\(result)")
        if arguments[0] == "set" { setter.expect("false 9 0.0 hello") }
    }

    @Test func `and gives up after a time, without a change`() throws {
        for command in [["get"], ["set", "Count=6"], ["measure"]] {
            let result = try program.command(
                [command[0], "--wait", "10ms", SetterProgram.path]
                    + (command.count > 1 ? command.dropFirst() : ["Count"]))
            #expect(result.status == 69 && result.output.isEmpty, "\(result)")
            #expect(result.error == "tweak: \(SetterProgram.path): it did not start within 10ms\n")
        }
        #expect(!FileManager.default.fileExists(atPath: program.overridesPath))
    }

    @Test func `but not for one that nobody knows in the end, nor for a process`() throws {
        let unknown = try program.command("get", "--wait", "10ms", "tweak-stter", "Count")
        #expect(
            unknown.status == 66 && unknown.error.contains("no program of this name is running"), "\(unknown)"
        )
        let ended = try start("/bin/true", [], home: program.home)
        _ = ended.wait()
        let result = try program.command("get", "--wait", "60s", "\(ended.processID)", "Count")
        #expect(result.status == 69 && result.error.contains("no such process"), "\(result)")
    }
}

@Suite struct `The tweak command explains a program that does not run` {
    @Test func `With what its overrides and its binary say`() throws {
        let program = try SetterProgram()
        try program.writeOverrides(Data(#"{"Setter": {"Values": {"Count": "many", "Ratio": 3}}}"#.utf8))
        let count = try program.tweak("explain", "Count")
        #expect(count.status == 0)
        #expect(count.lines.first == "Setter/Values/Count: 5, from default")
        #expect(count.lines.contains { $0.hasPrefix("override") && $0.contains("\"many\" is not an int32") })
        let ratio = try program.tweak("explain", "Ratio")
        #expect(ratio.lines.first == "Setter/Values/Ratio: 1.0, from override")
    }
}
