// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C whose values become the defaults in its source.
private struct BakedProgram {
    let home: TemporaryDirectory

    static let source = """
        #include <fbtweak.h>
        #include <unistd.h>
        #define LIMIT 5

        int main(void) {
          double gain = FBTweakValue("Motor", "Control", "Gain", 1.50, 0, 10, FBTweakUnit("V"));
          int limit = FBTweakValue("Motor", "Control", "Limit", LIMIT);
          const char *name = FBTweakValue("Motor", "Names", "First", "one");
          if (gain < 0 || limit < 0 || !name) return 1;
          for (;;) pause();
        }

        """

    init() throws {
        home = try TemporaryDirectory()
        try home.write("motor.c", Self.source)
        try build()
    }

    func build() throws {
        let gcc = try run(
            Locations.program("gcc"), ["-DDEBUG", "-I", Locations.include, "motor.c", "-o", "motor"],
            home: home,
            in: home.path)
        try #require(gcc.succeeded, "\(gcc.error)")
    }

    func tweak(_ command: String, _ program: String = "./motor", _ arguments: String...) throws
        -> CommandResult
    {
        try run(Locations.product("tweak"), [command, program] + arguments, home: home, in: home.path)
    }

    func text() throws -> String { try String(contentsOfFile: home("motor.c"), encoding: .utf8) }

    /// The source with another gain.
    static func source(gain: String) -> String { source.replacing("1.50", with: gain) }
}

extension BakedProgram {
    /// Starts it with the library, and returns when it listens.
    func startWithLibrary() throws -> RunningCommand {
        if !FileManager.default.fileExists(atPath: home("runtime")) {
            try #require(mkdir(home("runtime"), 0o700) == 0)
        }
        let running = try start(Locations.product("tweak"), ["exec", "./motor"], home: home, in: home.path)
        let socket = home("runtime/tweaks/\(running.processID).sock")
        #expect(waitUntil { FileManager.default.fileExists(atPath: socket) })
        return running
    }

    /// The overrides and the notes in the file.
    func kept() throws -> String {
        try String(contentsOfFile: home("config/tweaks/motor/overrides.json"), encoding: .utf8)
    }
}

@Suite struct `tweak bake and overrides` {
    private let program: BakedProgram
    private let note = "baked, waits for a build"

    init() throws { program = try BakedProgram() }

    @Test func `A baked override is dropped when a program starts that has the default, and not before`()
        throws
    {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25", "First", "two").succeeded)
        #expect(!(try program.tweak("list").output.contains(note)))
        #expect(try program.tweak("bake", "./motor", "Gain", "--write").succeeded)
        #expect(try program.tweak("list").lines.filter { $0.contains(note) }.count == 1)
        let old = try program.startWithLibrary()
        defer { old.kill() }
        let list = try program.tweak("list", "\(old.processID)")
        #expect(list.lines.filter { $0.contains(note) && $0.contains("Gain") }.count == 1)
        let tweaks = try #require(
            try program.tweak("list", "\(old.processID)", "--format", "json").json["tweaks"]
                as? [[String: Any]])
        #expect(
            tweaks.filter { $0["waitsForBuild"] as? Bool == true }.map { $0["name"] as? String } == ["Gain"])
        old.kill()
        _ = old.wait()
        #expect(try program.kept().contains("\"Gain\" : 2.25"))

        try program.build()
        #expect(!(try program.tweak("list").output.contains(note)))
        let new = try program.startWithLibrary()
        defer { new.kill() }
        #expect(try waitUntil { !(try program.kept().contains("Gain")) })
        #expect(try program.kept().contains("\"First\" : \"two\""))
        let lines = try program.tweak("list", "\(new.processID)").lines
        #expect(
            lines.contains {
                $0.contains("Gain") && $0.contains("2.25 V  2.25 V") && !$0.contains("override")
            })
        #expect(lines.contains { $0.contains("First") && $0.contains("override") })
    }

    // The second is another one with the same value.
    @Test(arguments: ["3", "2.25"])
    func `An override that was changed since is kept`(value: String) throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25").succeeded)
        #expect(try program.tweak("bake", "./motor", "--write").succeeded)
        #expect(try program.tweak("set", "./motor", "Gain", "3").succeeded)
        #expect(try program.tweak("set", "./motor", "Gain", value).succeeded)
        #expect(!(try program.tweak("list").output.contains(note)))
        try program.build()
        let new = try program.startWithLibrary()
        defer { new.kill() }
        // What the start wrote is in the file with this one at the latest.
        #expect(try program.tweak("set", "\(new.processID)", "First", "two").succeeded)
        #expect(try waitUntil { try program.kept().contains("two") })
        #expect(try program.kept().contains("\"Gain\" : \(value)"))
    }

    @Test func `A patch that was applied counts at the next --write, a difference and a check do not`() throws
    {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25").succeeded)
        let difference = try program.tweak("bake").output
        #expect(try program.tweak("bake", "./motor", "--check").status == 1)
        #expect(!(try program.tweak("list").output.contains(note)))
        try program.home.write("gain.diff", difference)
        let git = try run(
            Locations.program("git"), ["apply", "gain.diff"], home: program.home, in: program.home.path)
        #expect(git.succeeded)
        #expect(try program.tweak("bake", "./motor", "--write").output == "")
        #expect(try program.tweak("list").output.contains(note))
    }
}

@Suite struct `tweak bake makes values the defaults` {
    private let program: BakedProgram

    init() throws { program = try BakedProgram() }

    @Test func `It prints a difference and changes nothing`() throws {
        #expect(try program.tweak("bake").output == "")
        #expect(try program.tweak("set", "./motor", "Gain", "2.25").succeeded)
        let result = try program.tweak("bake")
        #expect(result.succeeded)
        #expect(
            result.output == """
                --- a/motor.c
                +++ b/motor.c
                @@ -3,7 +3,7 @@
                 #define LIMIT 5
                \u{20}
                 int main(void) {
                -  double gain = FBTweakValue("Motor", "Control", "Gain", 1.50, 0, 10, FBTweakUnit("V"));
                +  double gain = FBTweakValue("Motor", "Control", "Gain", 2.25, 0, 10, FBTweakUnit("V"));
                   int limit = FBTweakValue("Motor", "Control", "Limit", LIMIT);
                   const char *name = FBTweakValue("Motor", "Names", "First", "one");
                   if (gain < 0 || limit < 0 || !name) return 1;

                """)
        #expect(try program.text() == BakedProgram.source)
        try program.home.write("gain.diff", result.output)
        let git = try run(
            Locations.program("git"), ["apply", "gain.diff"], home: program.home, in: program.home.path)
        #expect(git.succeeded, "\(git.error)")
        #expect(try program.text() == BakedProgram.source(gain: "2.25"))
    }

    @Test func `Written and built again, the program has the new default`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25", "First", "two \"2\"").succeeded)
        let check = try program.tweak("bake", "./motor", "--check")
        #expect(check.status == 1)
        #expect(check.error == "tweak: 2 defaults differ; tweak bake --write changes the sources\n")
        #expect(try program.text() == BakedProgram.source)
        let lines = """
            motor.c:6: Motor/Control/Gain: 1.50 → 2.25
            motor.c:8: Motor/Names/First: "one" → "two \\"2\\""

            """
        #expect(check.output == lines)
        #expect(try program.tweak("bake", "./motor", "--write").output == lines)
        #expect(
            try program.text()
                == BakedProgram.source(gain: "2.25").replacing("\"one\"", with: #""two \"2\"""#))
        for isBuilt in [false, true] {
            if isBuilt { try program.build() }
            for option in ["--write", "--check", "--format=diff"] {
                let again = try program.tweak("bake", "./motor", option)
                #expect(again.succeeded && again.output == "" && again.error == "")
            }
        }
        let dump = try run(
            Locations.product("tweak-dump"), ["motor"], home: program.home, in: program.home.path)
        #expect(dump.output.contains(/Gain +double +2.25 V/))
        #expect(dump.output.contains(/First +string +"two \\"2\\""/))
    }

    @Test func `The values are those of a running program`() throws {
        let running = try start(program.home("motor"), home: program.home)
        defer { running.kill() }
        let pid = "\(running.processID)"
        #expect(try waitUntil { try program.tweak("set", pid, "Gain", "3").succeeded })
        #expect(
            try program.tweak("bake", pid, "--write").output == "motor.c:6: Motor/Control/Gain: 1.50 → 3.0\n")
        #expect(try program.text() == BakedProgram.source(gain: "3.0"))
    }

    @Test func `The values are those of a preset or a file`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "4").succeeded)
        #expect(try program.tweak("preset", "save", "./motor", "strong").succeeded)
        #expect(try program.tweak("reset", "./motor", "--all").succeeded)
        #expect(try program.tweak("bake", "./motor").output == "")
        let preset = try program.tweak("bake", "./motor", "--preset", "strong", "--check")
        #expect(preset.output == "motor.c:6: Motor/Control/Gain: 1.50 → 4.0\n")
        try program.home.write(
            "values.json", #"{"Motor": {"Control": {"Gain": 20, "Older": 1}, "Names": {"First": "x"}}}"#)
        let file = try program.tweak("bake", "./motor", "--values", "values.json", "--write")
        #expect(file.status == 65)
        #expect(file.output == "motor.c:8: Motor/Names/First: \"one\" → \"x\"\n")
        #expect(
            file.error == """
                tweak: 2 tweaks skipped
                  motor.c:6: Motor/Control/Gain is skipped: the value is outside the limits; allowed: a number from 0.0 to 10.0
                  Motor/Control/Older is skipped: the program does not declare it

                """)
        #expect(try program.tweak("bake", "./motor", "--preset", "weak").status == 66)
    }

    @Test func `A default that is no literal stays, and the place and the reason are said`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25", "Limit", "6").succeeded)
        let result = try program.tweak("bake", "./motor", "--write")
        #expect(result.status == 65)
        #expect(
            result.error == """
                tweak: 1 tweak skipped
                  motor.c:7: Motor/Control/Limit is skipped: its default is the macro LIMIT

                """)
        #expect(try program.text() == BakedProgram.source(gain: "2.25"))
    }

    @Test func `Names restrict it`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25", "First", "two").succeeded)
        func names(_ names: String...) throws -> CommandResult {
            try run(
                Locations.product("tweak"), ["bake", "./motor", "--check"] + names, home: program.home,
                in: program.home.path)
        }
        #expect(try names("First").output == "motor.c:8: Motor/Names/First: \"one\" → \"two\"\n")
        #expect(try names("Names/").output == "motor.c:8: Motor/Names/First: \"one\" → \"two\"\n")
        #expect(try names("Control/Limit").succeeded)
        #expect(try names("Second").status == 65)
    }

    @Test func `--from names the folder of the sources`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25").succeeded)
        try FileManager.default.createDirectory(
            atPath: program.home("elsewhere"), withIntermediateDirectories: false)
        func bake(_ arguments: String...) throws -> CommandResult {
            try run(
                Locations.product("tweak"), ["bake", program.home("motor"), "--check"] + arguments,
                home: program.home,
                in: program.home("elsewhere"))
        }
        #expect(try bake().status == 65)
        #expect(
            try bake().error.contains("no such file; give the source folder with --from"))
        #expect(try bake("--from", "..").status == 1)
    }

    @Test func `--within keeps to sources below a folder, wherever links lead`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25").succeeded)
        let home = program.home
        try home.write("sources/readme", "")
        try FileManager.default.createSymbolicLink(
            atPath: home("sources/motor.c"), withDestinationPath: home("motor.c"))
        try FileManager.default.createSymbolicLink(atPath: home("link"), withDestinationPath: home.path)
        for options in [["--write"], []] {
            let result = try run(
                Locations.product("tweak"),
                ["bake", home("motor"), "--within", home("sources"), "--from", home("sources")] + options,
                home: home)
            #expect(result.status == 65 && result.output == "")
            #expect(
                result.error == """
                    tweak: 1 tweak skipped
                      motor.c:6: Motor/Control/Gain is skipped: the file \(home("motor.c")) is not below \(home("sources"))

                    """)
        }
        #expect(try program.text() == BakedProgram.source)
        #expect(try program.tweak("bake", "./motor", "--within", "motor.c").status == 66)
        // The difference is that of --write.
        chmod(home("motor.c"), 0o444)
        let readOnly = try program.tweak("bake", "./motor", "--within", "link")
        #expect(readOnly.output == "" && readOnly.error.contains(": the file is not writable"))
        chmod(home("motor.c"), 0o644)
        #expect(try program.tweak("bake", "./motor", "--within", "link", "--write").succeeded)
        #expect(try program.text() == BakedProgram.source(gain: "2.25"))
    }

    @Test func `--within finds the sources of a program that was built elsewhere`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25").succeeded)
        let home = program.home
        // The record has the absolute path.
        let gcc = try run(
            Locations.program("gcc"),
            ["-DDEBUG", "-I", Locations.include, home("motor.c"), "-o", home("motor")], home: home)
        try #require(gcc.succeeded, "\(gcc.error)")
        try home.write("moved/motor.c", BakedProgram.source)
        try FileManager.default.removeItem(atPath: home("motor.c"))
        let result = try program.tweak("bake", "./motor", "--within", "moved", "--write")
        #expect(result.succeeded, "\(result.error)")
        #expect(
            try String(contentsOfFile: home("moved/motor.c"), encoding: .utf8)
                == BakedProgram.source(gain: "2.25"))
    }

    @Test func `--if-difference writes only what was reviewed`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25").succeeded)
        let difference = try program.tweak("bake").output
        try program.home.write("reviewed.diff", difference)
        func write() throws -> CommandResult {
            try program.tweak("bake", "./motor", "--write", "--if-difference", "reviewed.diff")
        }
        let changed = "tweak: the difference has changed; nothing was written\n"
        // Another value, and another file.
        #expect(try program.tweak("set", "./motor", "First", "two").succeeded)
        let other = try write()
        #expect(other.status == 75 && other.output == "" && other.error == changed)
        #expect(try program.tweak("reset", "./motor", "First").succeeded)
        try program.home.write("motor.c", "// \n" + BakedProgram.source)
        #expect(try write().status == 75)
        #expect(try program.text() == "// \n" + BakedProgram.source)
        try program.home.write("motor.c", BakedProgram.source)
        #expect(chmod(program.home("motor.c"), 0o444) == 0)
        let readOnly = try write()
        #expect(readOnly.status == 75)
        #expect(
            readOnly.error == changed
                + "  motor.c:6: Motor/Control/Gain is skipped: the file is not writable\n")
        #expect(chmod(program.home("motor.c"), 0o644) == 0)
        #expect(try write().succeeded)
        #expect(try program.text() == BakedProgram.source(gain: "2.25"))
        #expect(try program.tweak("bake", "./motor", "--if-difference", "reviewed.diff").status == 64)
        #expect(
            try program.tweak("bake", "./motor", "--write", "--if-difference", "-", "--values", "-").status
                == 64)
    }

    @Test func `JSON and replacements are for other programs`() throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25", "Limit", "6").succeeded)
        let json = try program.tweak("bake", "./motor", "--format", "json").json
        let change = try #require((json["changes"] as? [[String: Any]])?.first)
        #expect(change["tweak"] as? String == "Motor/Control/Gain")
        #expect(change["oldText"] as? String == "1.50" && change["newText"] as? String == "2.25")
        #expect(change["oldValue"] as? Double == 1.5 && change["newValue"] as? Double == 2.25)
        #expect(
            change["line"] as? Int == 6 && change["column"] as? Int == 58 && change["length"] as? Int == 4)
        #expect(change["declared"] as? String == "motor.c:6")
        let offset = try #require(change["offset"] as? Int)
        #expect(BakedProgram.source.utf8.dropFirst(offset).starts(with: "1.50".utf8))
        #expect(
            (json["staying"] as? [[String: Any]])?.first?["reason"] as? String
                == "its default is the macro LIMIT")
        #expect(json["written"] as? Bool == false)
        let yaml = try program.tweak("bake", "./motor", "--format", "replacements", "Gain").output
        #expect(
            yaml.contains(
                "Offset:          \(offset)\n    Length:          4\n    ReplacementText: \"2.25\"\n"))
    }

    /// Runs a review on a terminal, and presses keys when it asks.
    private func review(_ first: String, _ second: String) throws -> CommandResult {
        let command = "'\(Locations.product("tweak"))' bake ./motor --review"
        // Of the first keys each but the last leads to the same question again.
        let count = first.replacing("\\n", with: "n").count + 1
        return try run(
            "/bin/sh",
            [
                "-c",
                """
                asked() { until [ "$(grep -o 'quit (q)' shown | wc -l)" -ge $1 ]; do sleep 0.02; done; }
                touch shown
                {
                  asked 1
                  printf '\(first)'
                  \(second.isEmpty ? "" : "asked \(count); printf '\(second)'")
                } | script -qfec "\(command)" shown
                """,
            ], home: program.home, environment: ["TERM": "xterm", "NO_COLOR": "1"], in: program.home.path)
    }

    @Test(arguments: [
        ("a", "r", "2.25", "one"), ("y", "n", "2.25", "one"), ("r", "a", "1.50", "two"),
        ("s", " ", "1.50", "one"),
        ("A", "", "2.25", "two"), ("R", "", "1.50", "one"), ("s", "A", "1.50", "two"),
        ("id\\n", "\\n", "2.25", "two"),
        ("a", "q", "1.50", "one"), ("a", "\\003", "1.50", "one"),
    ])
    func `A review asks about each tweak`(first: String, second: String, gain: String, name: String) throws {
        #expect(try program.tweak("set", "./motor", "Gain", "2.25", "First", "two").succeeded)
        let result = try review(first, second)
        #expect(result.output.contains("1 of 2: Motor/Control/Gain"))
        #expect(result.output.contains("motor.c:6: 1.5 V → 2.25 V"))
        #expect(first != "id\\n" || result.output.contains("allowed: a number from 0.0 to 10.0"))
        #expect(
            try program.text() == BakedProgram.source(gain: gain).replacing("\"one\"", with: "\"\(name)\""))
        let accepted = [gain != "1.50", name != "one"].count(where: \.self)
        let waiting = try program.tweak("list").lines.filter { $0.contains("baked, waits for a build") }
        #expect(waiting.count == accepted)
    }

    @Test func `A review needs a terminal`() throws {
        let result = try program.tweak("bake", "./motor", "--review")
        #expect(result.status == 64)
        #expect(result.error.contains("use --write to write all changes"))
    }

    @Test(arguments: [["--write", "--check"], ["--preset", "a", "--values", "b"], ["--all-processes"]])
    func `Contradicting options are refused`(options: [String]) throws {
        let result = try run(
            Locations.product("tweak"), ["bake", "./motor"] + options, home: program.home,
            in: program.home.path)
        #expect(result.status == 64)
    }
}
