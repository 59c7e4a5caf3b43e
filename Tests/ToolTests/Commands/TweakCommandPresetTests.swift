// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Whether the program runs.
enum ProgramState: String, CaseIterable, CustomTestStringConvertible {
    case running, notRunning

    var testDescription: String { self == .running ? "a program that runs" : "a program that does not run" }

    func start(_ program: SetterProgram) throws -> RunningSetter? {
        self == .running ? try RunningSetter(program) : nil
    }
}

@Suite struct `Values are exported and imported` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    @Test(arguments: ProgramState.allCases)
    func `What export writes import reads`(state: ProgramState) throws {
        let setter = try state.start(program)
        #expect(try program.tweak("set", "Count", "6", "Text", "bye").succeeded)
        let file = program.home("values.json")
        #expect(try program.tweak("export", file).output.isEmpty)
        let text = try program.tweak("export").output
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        #expect(
            text == """
                {
                  "name" : "tweak-setter",
                  "tweaks" : {
                    "Setter" : {
                      "Values" : {
                        "Count" : 6,
                        "Text" : "bye"
                      }
                    }
                  }
                }

                """)
        #expect(try program.tweak("reset", "--all").succeeded)
        #expect(try program.tweak("set", "Slot 1", "1").succeeded)
        #expect(try program.tweak("import", file).output == "2 tweaks were set\n")
        #expect(try program.tweak("get", "Text").output == "bye\n")
        #expect(try program.tweak("get", "Slot 1").output == "1\n")
        #expect(try program.tweak("import", "--reset-others", file).succeeded)
        #expect(try program.tweak("get", "Slot 1").output == "0\n")
        setter?.expect("false 6 0.5 bye")
    }

    @Test func `export can have the defaults too`() throws {
        let values = try program.tweak("export", "--defaults").json["tweaks"] as? [String: [String: Any]]
        #expect(values?["Setter"]?.values.compactMap { ($0 as? [String: Any])?.count }.reduce(0, +) == 12)
    }

    @Test(arguments: ProgramState.allCases)
    func `import says what it did and what not`(state: ProgramState) throws {
        let setter = try state.start(program)
        let file = try program.home.write(
            "values.json",
            #"{"Setter": {"Values": {"Count": 2000000, "Flag": 1, "Text": "bye", "Older": 1}}}"#)
        let result = try program.tweak("import", file)
        #expect(result.status == 65)
        #expect(result.output == "2 tweaks were set\n")
        #expect(
            result.error == """
                tweak: warning: Setter/Values/Count: the value was outside the limits and has been clamped
                tweak: 2 values were not applied
                  Setter/Values/Older: no such tweak
                  Setter/Values/Flag: 1 is not a bool; allowed: true or false

                """)
        #expect(try program.tweak("get", "Count").output == "1000000\n")
        let json = try program.tweak("import", "--format", "json", file).json
        #expect(json["applied"] as? [String] == ["Setter/Values/Count", "Setter/Values/Text"])
        #expect(json["clamped"] as? [String] == ["Setter/Values/Count"])
        #expect(json["unknown"] as? [String] == ["Setter/Values/Older"])
        #expect((json["refused"] as? [[String: Any]])?.first?["tweak"] as? String == "Setter/Values/Flag")
        setter?.expect("false 1000000 0.5 bye")
    }

    @Test func `import reads standard input`() throws {
        let file = try program.home.write("values.json", #"{"Setter": {"Values": {"Count": 6}}}"#)
        let script = "\"$0\" import \"$1\" - < \"$2\""
        let result = try run(
            "/bin/sh", ["-c", script, Locations.product("tweak"), SetterProgram.path, file],
            home: program.home)
        #expect(result.output == "1 tweak was set\n")
    }

    @Test(arguments: [
        ("", 65), ("[]", 65), ("{", 65), (#"{"A": 1}"#, 65), (#"{"name": "x"}"#, 65),
        (#"{"name": "x", "tweaks": []}"#, 65),
        (String(repeating: "[", count: 5000), 65),
    ])
    func `65 is for a file that holds no values`(text: String, status: Int) throws {
        let file = try program.home.write("values.json", text)
        let result = try program.tweak("import", file)
        #expect(Int(result.status) == status)
        #expect(result.error.hasPrefix("tweak: \(file): "))
    }

    @Test func `66 is for no file, 74 for one that cannot be written`() throws {
        #expect(try program.tweak("import", program.home("missing.json")).status == 66)
        #expect(try program.tweak("export", program.home("missing/values.json")).status == 74)
    }

    @Test func `A pipe is written to and not replaced`() throws {
        let pipe = program.home("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let result = try run(
            "/bin/sh",
            ["-c", "\"$0\" export \"$1\" \"$2\" & cat \"$2\""]
                + [Locations.product("tweak"), SetterProgram.path, pipe], home: program.home)
        #expect(result.output.hasPrefix("{\n"))
        var status = stat()
        #expect(stat(pipe, &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFIFO)
    }
}

@Suite struct `Presets of the tweak command` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    private func preset(_ verb: String, _ arguments: String...) throws -> CommandResult {
        try program.command(["preset", verb, SetterProgram.path] + arguments)
    }

    private var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(
                atPath: program.home("config/tweaks/tweak-setter/presets")
            )
            .filter { $0 != ".lock" }.sorted()
        }
    }

    @Test(arguments: ProgramState.allCases)
    func `save keeps the values, and load gives them back`(state: ProgramState) throws {
        let setter = try state.start(program)
        #expect(try program.tweak("set", "Count", "6", "Text", "bye").succeeded)
        #expect(try preset("save", "mine").output == "mine: 2 values saved\n")
        #expect(try program.tweak("reset", "--all").succeeded)
        #expect(try program.tweak("set", "Slot 1", "1").succeeded)
        #expect(try preset("load", "mine").output == "2 tweaks were set\n")
        #expect(try program.tweak("get", "Slot 1").output == "1\n")
        #expect(
            try preset("load", "mine", "--reset-others").output
                == "2 tweaks were set, all others have their defaults\n")
        #expect(try program.tweak("get", "Slot 1").output == "0\n")
        setter?.expect("false 6 0.5 bye")
    }

    @Test(arguments: ProgramState.allCases)
    func `load sets what it can, and says what it did not`(state: ProgramState) throws {
        let setter = try state.start(program)
        try program.home.write(
            "config/tweaks/tweak-setter/presets/mine.json",
            #"{"name": "mine", "tweaks": {"Setter": {"Values": {"Count": 6, "Flag": 1, "Older": 1}}}}"#)
        #expect(try program.tweak("set", "Flag", "true").succeeded)
        let problems = """
            tweak: 2 values were not applied
              Setter/Values/Older: no such tweak
              Setter/Values/Flag: 1 is not a bool; allowed: true or false

            """
        let loaded = try preset("load", "mine")
        #expect(loaded.status == 65 && loaded.output == "1 tweak was set\n")
        #expect(loaded.error == problems)
        setter?.expect("true 6 0.5 hello")
        #expect(try program.tweak("get", "Flag").output == "true\n")
        let alone = try preset("load", "mine", "--reset-others")
        #expect(alone.status == 65)
        #expect(alone.output == "1 tweak was set, all others have their defaults\n")
        #expect(alone.error == problems)
        #expect(try program.tweak("get", "Flag").output == "false\n")
        let json = try preset("load", "mine", "--format", "json").json
        #expect(json["applied"] as? [String] == ["Setter/Values/Count"])
        #expect(json["unknown"] as? [String] == ["Setter/Values/Older"])
        #expect((json["refused"] as? [[String: Any]])?.first?["tweak"] as? String == "Setter/Values/Flag")
    }

    @Test func `load prints a line of JSON for each process`() throws {
        try program.home.write(
            "config/tweaks/tweak-setter/presets/mine.json",
            #"{"name": "mine", "tweaks": {"Setter": {"Values": {"Count": 6}}}}"#)
        let setters = [try RunningSetter(program), try RunningSetter(program)].sorted { $0.pid < $1.pid }
        let lines = try preset("load", "mine", "--all-processes", "--format", "json").lines
        let forms = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        #expect(forms.map { $0?["pid"] as? Int32 } == setters.map(\.pid))
        for setter in setters { setter.expect("false 6 0.5 hello") }
    }

    @Test func `save over a preset with values for other tweaks needs --replace`() throws {
        #expect(try program.tweak("set", "Count", "6", "Text", "bye").succeeded)
        #expect(try preset("save", "mine").succeeded)
        #expect(try program.tweak("set", "Count", "7").succeeded)
        // The same tweaks, or more.
        #expect(try preset("save", "mine").output == "mine: 2 values saved\n")
        #expect(try program.tweak("set", "Slot 1", "1").succeeded)
        #expect(try preset("save", "mine").output == "mine: 3 values saved\n")
        let file = program.home("config/tweaks/tweak-setter/presets/mine.json")
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(try program.tweak("reset", "Text", "Slot 1").succeeded)
        let result = try preset("save", "mine")
        #expect(result.status == 73 && result.output.isEmpty)
        #expect(
            result.error == """
                tweak: mine: the preset has 2 values that would be lost; --replace replaces it
                  Setter/Slots/Slot 1
                  Setter/Values/Text

                """)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        #expect(try preset("save", "mine", "--replace").output == "mine: 1 value saved\n")
        #expect(try preset("load", "mine", "--reset-others").succeeded)
    }

    @Test func `save over a file that cannot be read needs --replace, and other members stay`() throws {
        #expect(try program.tweak("set", "Count", "6").succeeded)
        let file = "config/tweaks/tweak-setter/presets/mine.json"
        try program.home.write(file, "{")
        let result = try preset("save", "mine")
        #expect(result.status == 73 && result.error.contains("line 1, column 2: "), "\(result.error)")
        #expect(try String(contentsOfFile: program.home(file), encoding: .utf8) == "{")
        #expect(try preset("save", "mine", "--replace").succeeded)
        try program.home.write(file, #"{"name": "mine", "by": "ada", "tweaks": {}}"#)
        #expect(try preset("save", "mine").succeeded)
        let object = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: program.home(file))))
        #expect((object as? [String: Any])?["by"] as? String == "ada")
    }

    @Test func `A sweep replaces no preset with values for other tweaks`() throws {
        #expect(try program.tweak("set", "Count", "6", "Text", "bye").succeeded)
        #expect(try preset("save", "mine").succeeded)
        let result = try program.tweak(
            "sweep", "Count=1,2", "--command", "echo 1 >> \(program.home("measured")); echo 1", "--preset",
            "mine")
        #expect(result.status == 73, "\(result.error)")
        #expect(result.error.contains("mine: the preset has a value that would be lost; "))
        #expect(!FileManager.default.fileExists(atPath: program.home("measured")))
    }

    @Test func `list shows them, with what is wrong in their files`() throws {
        #expect(try preset("list").output == "\(try #require(realPath)): no presets\n")
        #expect(try program.tweak("set", "Count", "6").succeeded)
        #expect(try preset("save", "mine").succeeded)
        try program.home.write("config/tweaks/tweak-setter/presets/bad.json", "{")
        let result = try preset("list")
        #expect(result.status == 0)
        #expect(result.lines.map { $0.split(separator: " ").first } == ["NAME", "bad", "mine"])
        #expect(result.lines.last?.split(separator: " ") == ["mine", "1"])
        let presets = try #require(try preset("list", "--format", "json").json["presets"] as? [[String: Any]])
        #expect(presets.map { $0["name"] as? String } == ["bad", "mine"])
        #expect(presets.map { $0["tweaks"] as? Int } == [nil, 1])
    }

    private var realPath: String? {
        SetterProgram.path.withCString { path in realpath(path, nil).map { String(cString: $0) } }
    }

    @Test func `diff shows where values differ`() throws {
        #expect(try program.tweak("set", "Count", "6", "Text", "bye").succeeded)
        #expect(try preset("save", "mine").succeeded)
        #expect(try preset("diff", "mine").output == "no differences\n")
        #expect(try program.tweak("set", "Count", "7", "Flag", "on").succeeded)
        #expect(try program.tweak("reset", "Text").succeeded)
        let result = try preset("diff", "mine")
        #expect(result.status == 0)
        #expect(
            result.output == """
                TWEAK                VALUE    PRESET
                Setter/Values/Count  7        6
                Setter/Values/Flag   true
                Setter/Values/Text   "hello"  "bye"

                """)
        let differences = try #require(
            try preset("diff", "mine", "--format", "json").json["differences"] as? [[String: Any]])
        #expect(differences.map { $0["tweak"] as? String }.contains("Setter/Values/Flag"))
        #expect(differences.map { $0["newValue"] as? Int } == [6, nil, nil])
    }

    @Test(arguments: ProgramState.allCases)
    func `diff shows where two presets differ`(state: ProgramState) throws {
        let setter = try state.start(program)
        defer { setter?.process.kill() }
        func write(_ name: String, _ values: String) throws {
            try program.home.write(
                "config/tweaks/tweak-setter/presets/\(name).json",
                #"{"name": "\#(name)", "tweaks": {"Setter": {"Values": {\#(values)}}}}"#)
        }
        try write("slow", #""Count": 6, "Ratio": 1, "Text": "a", "Old": 1, "Older": 2, "Flag": 5"#)
        try write("fast", #""Count": 7, "Ratio": 1.0, "Slot": "b", "Old": 1, "Older": 3, "Flag": true"#)
        #expect(try program.tweak("set", "Count", "9").succeeded)
        let result = try preset("diff", "slow", "fast")
        #expect(
            result.output == """
                TWEAK                slow  fast  PROBLEM
                Setter/Values/Count  6     7
                Setter/Values/Flag   5     true  Setter/Values/Flag: 5 is not a bool; allowed: true or false
                Setter/Values/Older  2     3     not declared by the program
                Setter/Values/Slot         "b"   not declared by the program
                Setter/Values/Text   "a"

                """)
        let json = try preset("diff", "fast", "slow", "--format", "json").json
        let differences = try #require(json["differences"] as? [[String: Any]])
        #expect(differences.map { $0["oldValue"] as? Int } == [7, 1, 3, nil, nil])
        #expect(differences.map { $0["newValue"] as? Int } == [6, 5, 2, nil, nil])
        #expect(try preset("diff", "slow", "slow").output == "no differences\n")
        let missing = try preset("diff", "slow", "fats")
        #expect(missing.status == 66 && missing.error.hasSuffix("; did you mean fast?\n"))
    }

    @Test func `remove removes them`() throws {
        #expect(try preset("save", "one").succeeded)
        #expect(try preset("save", "two").succeeded)
        #expect(try preset("remove", "one", "two").succeeded)
        #expect(try files == [])
        #expect(try preset("remove", "one").status == 66)
        #expect(try preset("load", "one").status == 66)
        #expect(try preset("diff", "one").status == 66)
    }

    @Test(arguments: [
        ("../../evil", "%2E.%2F..%2Fevil.json"), (".hidden", "%2Ehidden.json"), ("..", "%2E..json"),
        ("100%", "100%25.json"), ("a b", "a b.json"), ("tab\u{9}", "tab%09.json"), ("Größe", "Größe.json"),
        ("-", "-.json"), ("a.json", "a.json.json"),
    ])
    func `No name leaves the directory`(name: String, file: String) throws {
        #expect(try preset("save", name).succeeded)
        #expect(try files == [file])
        #expect(try preset("load", name).succeeded)
        let presets = try #require(try preset("list", "--format", "json").json["presets"] as? [[String: Any]])
        #expect(presets.first?["name"] as? String == name)
        #expect(try preset("remove", name).succeeded)
    }

    @Test func `64 is for a name that no file can have`() throws {
        #expect(try preset("save", "").status == 64)
        #expect(try preset("save", String(repeating: "x", count: 300)).status == 64)
        #expect(try preset("save", String(repeating: "x", count: 246)).succeeded)
    }

    @Test func `A preset is for its user alone`() throws {
        #expect(try preset("save", "mine").succeeded)
        var status = stat()
        #expect(stat(program.home("config/tweaks/tweak-setter/presets/mine.json"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try files == ["mine.json"])
    }
}
