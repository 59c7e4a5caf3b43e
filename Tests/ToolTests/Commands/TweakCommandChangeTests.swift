// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The tweak command changes` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    @Test func `set prints the old and the new value`() throws {
        let result = try program.tweak("set", "Setter/Values/Text", "bye")
        #expect(result.status == 0)
        #expect(result.output == "Setter/Values/Text: \"hello\" → \"bye\"\n")
        #expect(result.error.isEmpty)
    }

    @Test func `A value outside the limits is clamped with a warning`() throws {
        let result = try program.tweak("set", "Setter/Values/Ratio", "1.5")
        #expect(result.status == 0)
        #expect(
            result.error
                == "tweak: warning: Setter/Values/Ratio: 1.5 is outside the limits; allowed: a number from 0.0 to 1.0\n"
        )
        #expect(try program.tweak("get", "Setter/Values/Ratio").output == "1.0\n")
    }

    @Test func `With JSON a warning is an object, also of a reset`() throws {
        let result = try program.tweak("set", "Setter/Values/Ratio", "1.5", "--format", "json")
        #expect(result.status == 0)
        #expect(
            result.error
                == #"{"kind":"clamped","message":"Setter/Values/Ratio: 1.5 is outside the limits; allowed: a number from "#
                + #"0.0 to 1.0","tweak":"Setter/Values/Ratio"}"# + "\n")
        let reset = try program.tweak("reset", "Setter/Values/Ratio", "--format", "json")
        #expect(reset.error.isEmpty)
        let form = try #require(
            try JSONSerialization.jsonObject(with: Data(reset.output.utf8)) as? [String: Any])
        let change = try #require((form["changes"] as? [[String: Any]])?.first)
        #expect(change["tweak"] as? String == "Setter/Values/Ratio")
        #expect(change["oldValue"] as? Double == 1)
        #expect((form["removed"] as? [String])?.isEmpty == true)
    }

    @Test func `Values may be calculated, and stand behind the name`() throws {
        let result = try program.tweak("set", "Count=2*3", "Values/Ratio", "max/4", "Text=a=b", "Flag=toggle")
        #expect(result.error.isEmpty)
        #expect(
            result.output == """
                Setter/Values/Count: 5 → 6
                Setter/Values/Ratio: 0.5 → 0.25
                Setter/Values/Text: "hello" → "a=b"
                Setter/Values/Flag: false → true

                """)
        #expect(try program.tweak("set", "Count+=50%").output == "Setter/Values/Count: 6 → 9\n")
        #expect(
            try program.tweak("set", "Setter/Values/Count", "*=2").output == "Setter/Values/Count: 9 → 18\n")
        #expect(try program.tweak("set", "Setter/Values/Count-=1").output == "Setter/Values/Count: 18 → 17\n")
    }

    @Test(arguments: [
        (["Count", "=", "6"], "Count: 5 → 6"), (["Count", "+=", "5"], "Count: 5 → 10"),
        (["Count", "=6"], "Count: 5 → 6"), (["Count=", "6"], "Count: 5 → 6"),
        (["Count+=", "5"], "Count: 5 → 10"),
        (["Flag", "=", "on"], "Flag: false → true"), (["Text", "=", "a b"], "Text: \"hello\" → \"a b\""),
        (["Text", "="], "Text: \"hello\" → \"=\""), (["Text="], "Text: \"hello\" → \"\""),
        (["Text", "=a"], "Text: \"hello\" → \"=a\""), (["Text==", "Count=6"], "Text: \"hello\" → \"=\""),
        (["Count=", "6", "Flag", "=", "on"], "Count: 5 → 6"),
    ])
    func `A sign between a name and a value is understood`(arguments: [String], line: String) throws {
        let result = try run(
            Locations.product("tweak"), ["set", SetterProgram.path] + arguments, home: program.home)
        #expect(result.error.isEmpty)
        #expect(result.output.hasPrefix("Setter/Values/\(line)\n"))
    }

    @Test(arguments: [
        (["+=", "5"], "tweak: +=: the tweak is missing before +=; write NAME+=VALUE\n", 64),
        (["Count", "="], "tweak: Setter/Values/Count: its value is missing; write NAME=VALUE\n", 64),
        (
            ["Count=+10%"],
            """
            tweak: Setter/Values/Count: "+10%" is not an int32: write +=10% to change the current value by that, or 0.1; \
            allowed: an integer from 0 to 1000000

            """, 65
        ),
        (["Count", "6", "kg"], "tweak: kg: no such tweak", 65),
    ])
    func `A value in other words is answered in its own terms`(
        arguments: [String], error: String, status: Int32
    ) throws {
        let result = try run(
            Locations.product("tweak"), ["set", SetterProgram.path] + arguments, home: program.home)
        #expect(result.error.hasPrefix(error))
        #expect(result.status == status)
        #expect(!FileManager.default.fileExists(atPath: program.overridesPath))
    }

    @Test(arguments: [
        (["--for", "10", "minutes"], "10 minutes"), (["--for=10", "s"], "10 s"), (["--for", "2", "m"], "2m"),
    ])
    func `A time may be two words`(time: [String], text: String) throws {
        let setter = try RunningSetter(program)
        let words = ["set"] + time + ["\(setter.pid)", "Count", "6"]
        let result = try run(Locations.product("tweak"), words, home: program.home)
        #expect(result.output == "Setter/Values/Count: 5 → 6, for \(text)\n")
        #expect(result.error.isEmpty)
    }

    @Test(arguments: [
        (["Count"], "tweak: Setter/Values/Count: its value is missing; write NAME=VALUE\n", 64),
        (
            ["Count=1/0"],
            "tweak: Setter/Values/Count: \"1/0\" is not an int32: it divides by 0; allowed: an integer from 0 to 1000000\n",
            65
        ),
        (
            ["Ratio=0,5"],
            "tweak: Setter/Values/Ratio: \"0,5\" is not a double: write 0.5; allowed: a number from 0.0 to 1.0\n",
            65
        ),
        (["Cuont=1"], "tweak: Cuont: no such tweak; did you mean Setter/Values/Count?\n", 65),
        (["Count=1", "Ratio"], "tweak: Setter/Values/Ratio: its value is missing; write NAME=VALUE\n", 64),
    ])
    func `What cannot be set is named`(arguments: [String], error: String, status: Int32) throws {
        let result = try run(
            Locations.product("tweak"), ["set", SetterProgram.path] + arguments, home: program.home)
        #expect(result.error == error)
        #expect(result.status == status)
    }

    @Test func `A negative number is a value and no option`() throws {
        #expect(try program.tweak("set", "Setter/Slots/Slot 0", "-5").status == 0)
        #expect(try program.tweak("get", "Setter/Slots/Slot 0").output == "-5\n")
    }

    @Test func `A text may begin with a dash after two dashes`() throws {
        #expect(try program.tweak("set", "--", "Setter/Values/Text", "--help").status == 0)
        #expect(try program.tweak("get", "Setter/Values/Text").output == "--help\n")
    }

    @Test(arguments: ["on", "YES", "1", "true"])
    func `A Bool may be written in several ways`(text: String) throws {
        #expect(try program.tweak("set", "Setter/Values/Flag", text).status == 0)
        #expect(try program.tweak("get", "Setter/Values/Flag").output == "true\n")
    }

    @Test func `A value that the tweak has already is kept too`() throws {
        #expect(try program.tweak("set", "Setter/Values/Count", "5").status == 0)
        #expect(try program.overrides() == ["Setter": ["Values": ["Count": 5]]])
    }

    @Test func `reset takes one override away`() throws {
        #expect(try program.tweak("set", "Setter/Values/Count", "6").succeeded)
        #expect(try program.tweak("set", "Setter/Slots/Slot 0", "1").succeeded)
        let result = try program.tweak("reset", "Setter/Values/Count")
        #expect(result.status == 0)
        #expect(result.output == "Setter/Values/Count: 6 → 5\n")
        #expect(try program.overrides() == ["Setter": ["Slots": ["Slot 0": 1]]])
    }

    @Test(arguments: [["Count", "Setter/Values/Count"], ["Count", "Setter/Values/"], ["count", "count"]])
    func `reset says once what has become of a tweak that is named twice`(names: [String]) throws {
        #expect(try program.tweak("set", "Count", "6").succeeded)
        let result = try program.command(["reset", SetterProgram.path] + names)
        #expect(result.status == 0 && result.output == "Setter/Values/Count: 6 → 5\n")
    }

    @Test func `A reset of what is not declared resets nothing if the file cannot be read`() throws {
        let setter = try RunningSetter(program)
        #expect(try program.tweak("set", "Count", "6").succeeded)
        setter.expect("false 6 0.5 hello")
        try program.writeOverrides(Data("{".utf8))
        #expect(try program.tweak("reset", "--all", "--undeclared").status == 65)
        #expect(try program.tweak("get", "Count").output == "6\n")
    }

    @Test(arguments: ["Count", "Setter/Values/", "--all", "--undeclared"])
    func `A reset that finds nothing says so`(_ tweaks: String) throws {
        #expect(try program.tweak("reset", tweaks).output == "nothing to reset\n")
    }

    @Test func `A reset of a value that is also the default says where it is from now`() throws {
        #expect(try program.tweak("set", "Count", "5").succeeded)
        #expect(try program.tweak("reset", "Count").output == "Setter/Values/Count: 5, now from default\n")
    }

    @Test func `reset takes all overrides of the program away and nothing else`() throws {
        try program.writeOverrides(
            Data(#"{"Setter": {"Values": {"Count": 6, "Older": 1}, "Slots": {"Slot 0": 1}}}"#.utf8))
        #expect(try program.tweak("reset", "--all").status == 0)
        #expect(try program.overrides() == ["Setter": ["Values": ["Older": 1]]])
    }

    @Test(arguments: [
        ["set", "Count", "6"], ["set", "Count=6", "Ratio=1"], ["reset", "Count"], ["reset", "--all"],
        ["import", "values.json"], ["preset", "load", "mine"], ["edit"], ["reset", "--undeclared"],
        ["export", "values.json"], ["preset", "save", "mine", "--replace"],
    ])
    func `Without the program nothing is written over overrides that cannot be read`(words: [String]) throws {
        let values = #"{"name": "mine", "tweaks": {"Setter": {"Values": {"Count": 6}}}}"#
        try program.home.write("values.json", values)
        try program.home.write("config/tweaks/tweak-setter/presets/mine.json", values)
        let broken = "{\n  \"Setter\": {\n    \"Values\": { \"Count\": 7 \"Ratio\": 0.25 }\n  }\n}\n"
        try program.writeOverrides(Data(broken.utf8))
        let verbs = words[0] == "preset" ? 2 : 1
        let result = try run(
            Locations.product("tweak"), words.prefix(verbs) + [SetterProgram.path] + words.dropFirst(verbs),
            home: program.home, environment: ["EDITOR": "false", "VISUAL": ""], in: program.home.path)
        #expect(result.status == 65, "\(result.error)")
        #expect(result.output.isEmpty)
        #expect(result.error.contains("tweak: \(program.overridesPath): it is not JSON: line 3, column 28: "))
        #expect(try String(contentsOfFile: program.overridesPath, encoding: .utf8) == broken)
        #expect(try !program.names().contains { $0.contains("broken") })
        // Nor is what cannot be read written elsewhere.
        for file in ["values.json", "config/tweaks/tweak-setter/presets/mine.json"] {
            #expect(try String(contentsOfFile: program.home(file), encoding: .utf8) == values)
        }
    }
}

@Suite struct `Exit statuses of the tweak command` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    private func tweak(_ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), arguments, home: program.home)
    }

    @Test(arguments: [
        ["frobnicate"], ["get"], ["list", "--format", "xml", "/bin/ls"], ["reset", SetterProgram.path],
        ["reset", SetterProgram.path, "--all", "Setter/Values/Count"],
        ["get", SetterProgram.path, "A/Setter/Values/Count"],
        ["set", SetterProgram.path, "Count", "6", "Text"],
        ["get", SetterProgram.path, "Setter/Values/Co%unt"],
    ])
    func `64 is for a wrong command line`(arguments: [String]) throws {
        let result = try run(Locations.product("tweak"), arguments, home: program.home)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(!result.error.isEmpty)
    }

    @Test(arguments: ["get", "reset"])
    func `65 is for an unknown tweak, with suggestions`(command: String) throws {
        let result = try program.tweak(command, "Setter/Values/Cuont")
        #expect(result.status == 65)
        #expect(
            result.error.hasPrefix(
                "tweak: Setter/Values/Cuont: no such tweak; did you mean Setter/Values/Count")
        )
    }

    @Test func `65 is for a value that the tweak cannot take, and nothing is written`() throws {
        let result = try program.tweak("set", "Setter/Values/Count", "many")
        #expect(result.status == 65)
        #expect(
            result.error
                == "tweak: Setter/Values/Count: \"many\" is not an int32; allowed: an integer from 0 to 1000000\n"
        )
        #expect(!FileManager.default.fileExists(atPath: program.overridesPath))
    }

    @Test func `65 is for a file that is not a program`() throws {
        #expect(try tweak("list", program.home.write("text", "text")).status == 65)
        #expect(try tweak("list", program.home.write("empty", "")).status == 65)
        #expect(try tweak("list", program.home.path).status == 65)
    }

    @Test func `66 is for a program that is not there`() throws {
        let result = try tweak("list", program.home("missing"))
        #expect(result.status == 66)
        #expect(result.error.contains(program.home("missing")))
    }

    @Test func `74 is for overrides that cannot be read or written`() throws {
        let blocked = try program.home.write("file", "")
        let environment = ["XDG_CONFIG_HOME": blocked]
        #expect(try program.tweak("list", environment: environment).status == 74)
        #expect(try program.tweak("set", "Setter/Values/Count", "6", environment: environment).status == 74)
        #expect(
            try program.tweak("set", "Setter/Values/Count", "6", environment: ["XDG_CONFIG_HOME": "/proc"])
                .status == 74)
    }

    @Test func `74 is for a user without a home`() throws {
        let result = try program.tweak("list", environment: ["XDG_CONFIG_HOME": "", "HOME": ""])
        #expect(result.status == 74)
        #expect(result.error.contains("neither XDG_CONFIG_HOME nor HOME"))
    }
}
