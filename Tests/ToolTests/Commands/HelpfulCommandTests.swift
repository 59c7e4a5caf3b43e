// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Suggestions of the tweak command` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    @Test(arguments: ["tweak", "tweak-dump"]) func `--version is that of the packaging`(_ command: String)
        throws
    {
        let version = try String(
            contentsOfFile: Locations.package + "/tools/development/packaging/VERSION", encoding: .utf8)
        let result = try run(Locations.product(command), ["--version"], home: program.home)
        #expect(result.output == "\(command) \(version.trimmingCharacters(in: .whitespacesAndNewlines))\n")
        #expect(result.status == 0)
    }

    @Test(arguments: ["tweak", "tweak-dump"])
    func `Exit statuses in help fit 80 columns`(_ command: String) throws {
        let help = try run(Locations.product(command), ["--help"], home: program.home)
        let lines = help.output.split(separator: "\n", omittingEmptySubsequences: false)
        let statuses = lines.drop { $0 != "EXIT STATUS" }.dropFirst().prefix { !$0.isEmpty }
        // The parser would break a longer line, and go on at its beginning.
        #expect(statuses.count > 5 && statuses.allSatisfy { $0.hasPrefix("  ") }, "\(statuses)")
    }

    @Test(arguments: [
        "bake", "exec", "explain", "get", "list", "log", "measure", "plot", "record", "replay", "set",
        "sweep", "watch",
    ])
    func `Help of a command has examples`(_ command: String) throws {
        let help = try program.command("help", command)
        #expect(help.output.contains("\n\nFor example:\n\n  tweak \(command) "), "\(help)")
    }

    @Test(arguments: [
        ("lst", "Unknown command 'lst'; did you mean list?"),
        ("exprot", "Unknown command 'exprot'; did you mean export?"),
        ("ls", "Unknown command 'ls'; did you mean list or ps?"),
        ("Show", "Unknown command 'Show'; did you mean list or get?"),
        ("unset", "Unknown command 'unset'; did you mean reset?"),
        ("save", "Unknown command 'save'; did you mean preset save or export?"),
        ("diff", "Unknown command 'diff'; did you mean preset diff or list --changed?"),
        ("version", "Unknown command 'version'; did you mean --version?"),
        ("./spring", "Unknown command './spring'; the command comes first: tweak list ./spring"),
        ("4711", "Unknown command '4711'; the command comes first: tweak list 4711"),
        ("frobnicate", "Unknown command 'frobnicate'."),
    ])
    func `A command that there is not`(_ name: String, _ message: String) throws {
        let result = try program.command(name)
        #expect(result.error.hasPrefix("Error: \(message)\n"))
        #expect(result.status == 64)
    }

    @Test(arguments: [("spring", "get"), ("./spring", "set")])
    func `A program before the command`(_ name: String, _ command: String) throws {
        let message = "Unknown command '\(name)'; the command comes first: tweak \(command) \(name)"
        #expect(try program.command(name, command, "x").error.hasPrefix("Error: \(message)\n"))
    }

    @Test func `A command of a command that there is not`() throws {
        #expect(
            try program.command("preset", "rm", "x", "y").error.hasPrefix(
                "Error: Unknown command 'rm'; did you mean remove?\n"))
        #expect(
            try program.command("preset", "laod", "x", "y").error.hasPrefix(
                "Error: Unknown command 'laod'; did you mean load?\nUsage: tweak preset <subcommand>\n"))
    }

    @Test(arguments: [(["lst"], "lst", "list"), (["preset", "laod"], "laod", "load")])
    func `Help for a command that there is not`(_ words: [String], _ name: String, _ meant: String) throws {
        let result = try program.command(["help"] + words)
        #expect(
            result.error.hasPrefix("Error: Unknown command '\(name)'; did you mean \(meant)?\n"),
            "\(result)")
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
    }

    @Test(arguments: [
        (["list", "--json", "x"], "--json", "; did you mean --format json?"),
        (["list", "--json"], "--json", "; did you mean --format json?"),
        (["log", "--csv=1", "x"], "--csv", "; did you mean --format csv?"),
        (["list", "--csv", "x"], "--csv", "; the formats of list are table, json, optuna, mlos"),
        (["export", "x", "--format", "json"], "--format", "; export takes no format"),
        (["export", "--json", "x"], "--json", "; export takes no format"),
        (["get", "--formt", "json", "x", "y"], "--formt", "; did you mean --format?"),
        (["list", "x", "--since", "3"], "--since", "; log has it"),
        (["--format", "json", "list", "x"], "--format", "; options follow the command"),
        (["set", "x", "--value", "3"], "--value", "; <value> is written without an option"),
        (["--list"], "--list", "; did you mean list?"),
        (["preset", "--format", "json", "list", "x"], "--format", "; options follow the command"),
        (["--hlep"], "--hlep", "; did you mean --help?"),
        (["-v"], "-v", "; did you mean --version?"),
        (["list", "x", "-j"], "-j", "; did you mean --format json?"),
        (["export", "x", "-d"], "-d", "; did you mean --defaults?"),
        (["measure", "x", "y", "--mean"], "--mean", "; did you mean --stat mean?"),
        (["measure", "x", "y", "--statistic", "p95"], "--statistic", "; did you mean --stat?"),
    ])
    func `An option of another command, or a mistyped one, gets a suggestion`(
        _ words: [String], _ option: String, _ end: String
    ) throws {
        let result = try program.command(words)
        let error = "Error: Unknown option '\(option)'\(end)\n"
        #expect(result.error.hasPrefix(error + "Usage: tweak "), "\(result)")
        #expect(result.status == 64)
    }

    @Test func `The usage after a suggestion is that of the command`() throws {
        let lines = try program.command("preset", "list", "--json", "x").error.split(separator: "\n")
        #expect(
            lines.dropFirst() == [
                "Usage: tweak preset list [--format <format>] [--all-processes] <program>",
                "  See 'tweak preset list --help' for more information.",
            ])
    }

    @Test func `Words of a program to start are not options of tweak`() throws {
        let result = try program.command("exec", "/bin/echo", "--json")
        #expect(result.output == "--json\n")
        #expect(result.status == 0)
    }

    @Test func `environment, an article and a manual explain each variable that the library reads`() throws {
        var names: Set<String> = []
        for folder in ["Library", "Formats"].map({ Locations.package + "/Sources/" + $0 }) {
            for case let file as String in try #require(FileManager.default.enumerator(atPath: folder))
            where file.hasSuffix(".swift") {
                let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                names.formUnion(text.matches(of: /"(TWEAKS(?:_[A-Z]+)?)"/).map { String($0.output.1) })
            }
        }
        #expect(names.isSuperset(of: ["TWEAKS", "TWEAKS_CONTROL", "TWEAKS_HISTORY", "TWEAKS_PROVIDED"]))
        let article = try String(
            contentsOfFile: Article.catalogue + "/ValuesFromElsewhere.md", encoding: .utf8)
        let manual = try String(
            contentsOfFile: Locations.package + "/tools/development/packaging/man/fbtweak.3.in",
            encoding: .utf8)
        let output = try program.command("environment").output
        for name in names.sorted() {
            #expect(output.contains("\n\(name) "), "\(name)")
            #expect(article.contains(try Regex("`\(name)\\b")), "\(name)")
            #expect(manual.contains(try Regex("Ev .*\\b\(name)\\b")), "\(name)")
        }
        #expect(try program.command("help", "environment").output.contains("TWEAKS_CONTROL"))
    }

    @Test func `A program, a group and a preset that there are not`() throws {
        try program.writeOverrides(Data("{}".utf8))
        #expect(
            try program.command("list", "tweak-stter").error.hasSuffix(
                "no such file exists; did you mean tweak-setter?\n"))
        #expect(try program.tweak("list", "Vaules/").error.hasSuffix("did you mean Values/?\n"))
        #expect(try program.command("preset", "save", SetterProgram.path, "quick").succeeded)
        #expect(
            try program.command("preset", "load", SetterProgram.path, "qiuck").error.hasSuffix(
                "; did you mean quick?\n"))
    }

    @Test(arguments: [("Raito", "Ratio"), ("ati", "Ratio"), ("Fgal", "Flag")])
    func `Letters in another order, and a part of a word`(_ name: String, _ meant: String) throws {
        let result = try program.tweak("get", "Setter/Values/\(name)")
        #expect(result.error.contains("did you mean Setter/Values/\(meant)"))
    }

    @Test func `get --raw prints a text as it is`() throws {
        #expect(try program.tweak("set", "Text", "a\u{1B}[1mb").succeeded)
        #expect(try program.tweak("get", "Text").output == "a\\u{1b}[1mb\n")
        #expect(try program.tweak("get", "--raw", "Text").output == "a\u{1B}[1mb\n")
    }

    @Test func `set --format json tells what became of each value`() throws {
        let result = try program.tweak("set", "--format", "json", "Count", "2000000", "Text", "bye")
        let changes = try #require(try result.json["changes"] as? [[String: Any]])
        #expect(changes.map { $0["tweak"] as? String } == ["Setter/Values/Count", "Setter/Values/Text"])
        #expect(changes[0]["oldValue"] as? Int == 5 && changes[0]["newValue"] as? Int == 1_000_000)
        #expect(changes[0]["clampedTo"] as? String == "maximum" && changes[1]["clampedTo"] == nil)
        #expect(changes[1]["source"] as? String == "override")
    }

    @Test func `explain --format json tells where values are`() throws {
        #expect(try program.tweak("set", "Count", "6").succeeded)
        let opinions = try #require(
            try program.tweak("explain", "--format", "json", "Count").json["opinions"] as? [[String: Any]])
        #expect(opinions.map { $0["source"] as? String } == ["override", "default"])
        #expect(opinions[0]["location"] as? String == program.overridesPath)
        #expect((opinions[1]["location"] as? String)?.contains("setter_tweaks.c:") == true)
    }

    @Test func `An action has no value to get`() throws {
        let setter = try RunningSetter(program)
        let result = try setter.tweak("get", "Count up")
        #expect(result.status == 65)
        #expect(result.error == "tweak: Setter/Actions/Count up: an action has no value\n")
    }

    @Test func `A process without tweaks is said to have none`() throws {
        let process = try start("/bin/sleep", ["60"], home: program.home)
        defer { process.kill() }
        let result = try program.command("get", "\(process.processID)", "Count")
        #expect(result.error.hasSuffix("/sleep: it has no tweaks\n"))
        #expect(result.status == 65)
    }
}

@Suite struct `Overrides of tweaks that are no longer declared` {
    private let program: SetterProgram

    init() throws {
        program = try SetterProgram()
        try program.writeOverrides(
            Data(#"{"Setter": {"Values": {"Count": 6}}, "Old": {"A": {"B": 7, "C": "gone"}}}"#.utf8))
    }

    private func expectReset(_ tweak: (String, [String]) throws -> CommandResult) throws {
        #expect(
            try tweak("list", []).output.hasSuffix(
                "\n  kept, but not declared\n    Old/A/B  7\n    Old/A/C  \"gone\"\n"))
        let form = try tweak("list", ["--format", "json"]).json["undeclared"] as? [[String: Any]]
        #expect(form?.map { $0["tweak"] as? String } == ["Old/A/B", "Old/A/C"])
        #expect(
            try tweak("reset", ["Old/A/B"]).output == "Old/A/B: 7 was removed; no such tweak is declared\n"
        )
        #expect(try tweak("reset", ["--all"]).output == "Setter/Values/Count: 6 → 5\n")
        #expect(
            try tweak("reset", ["--undeclared"]).output
                == "Old/A/C: \"gone\" was removed; no such tweak is declared\n")
        #expect(try !tweak("list", []).output.contains("kept, though"))
        #expect(waitUntil { (try? program.overrides().isEmpty) == true })
    }

    @Test func `Of a program that does not run it is listed and reset`() throws {
        try expectReset { try program.command([$0, SetterProgram.path] + $1) }
    }

    @Test func `Of a program that runs it is listed and reset`() throws {
        let setter = try RunningSetter(program)
        try expectReset { try program.command([$0, "\(setter.pid)"] + $1) }
    }
}
