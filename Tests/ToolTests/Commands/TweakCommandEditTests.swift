// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak edit` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    /// Runs it with an editor that is a shell script, to which `$1` is the file.
    private func edit(_ script: String, variable: String = "EDITOR") throws -> CommandResult {
        let editor = try program.home.write("editor", "#!/bin/sh\nset -eu\n\(script)\n")
        chmod(editor, 0o700)
        return try program.command(
            ["edit", SetterProgram.path],
            environment: ["VISUAL": "", "EDITOR": "/bin/false", "TMPDIR": program.home.path].merging([
                variable: editor
            ]) { $1 })
    }

    private func write(_ text: String) -> String { "cat > \"$1\" <<'END'\n\(text)\nEND" }

    private var leftFiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: program.home.path)
                .filter { $0.hasPrefix("tweak-") }
        }
    }

    @Test(arguments: ProgramState.allCases)
    func `sets what was written and resets what was removed`(state: ProgramState) throws {
        let setter = try state.start(program)
        #expect(try program.tweak("set", "Count", "6", "Slot 1", "1").succeeded)
        let result = try edit(
            "cp \"$1\" '\(program.home("shown.json"))'\n"
                + write(#"{"Setter": {"Values": {"Count": 7, "Text": "bye"}}}"#))
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(result.output == "2 tweaks were set, 1 tweak was reset\n")
        let shown = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: program.home("shown.json"))))
        #expect(
            shown as? [String: [String: [String: Int]]] == [
                "Setter": ["Values": ["Count": 6], "Slots": ["Slot 1": 1]]
            ])
        #expect(try program.tweak("get", "Slot 1").output == "0\n")
        #expect(try program.tweak("get", "Text").output == "bye\n")
        setter?.expect("false 7 0.5 bye")
        #expect(try leftFiles.isEmpty)
    }

    @Test func `calculates as tweak set does`() throws {
        #expect(try program.tweak("set", "Count", "50").succeeded)
        let result = try edit(
            write(#"{"Setter": {"Values": {"Count": "+=10%", "Ratio": "1/4", "Flag": "toggle"}}}"#))
        #expect(result.output == "3 tweaks were set\n" && result.error.isEmpty, "\(result.error)")
        #expect(try program.tweak("get", "Count").output == "55\n")
        #expect(try program.tweak("get", "Ratio").output == "0.25\n")
        #expect(try program.tweak("get", "Flag").output == "true\n")
    }

    @Test func `changes nothing that the editor did not touch, whatever was set meanwhile`() throws {
        let setter = try RunningSetter(program)
        #expect(try program.tweak("set", "Count=6", "Ratio=0.75", "Text=one").succeeded)
        let tweak = "\(Locations.product("tweak")) set \(setter.pid)"
        let result = try edit(
            "\(tweak) Count=9 Ratio=0.25 > /dev/null\n" + #"sed -i 's/"one"/"two"/' "$1""#)
        #expect(result.output == "1 tweak was set\n" && result.error.isEmpty, "\(result.error)")
        #expect(try setter.tweak("get", "Count").output == "9\n")
        #expect(try setter.tweak("get", "Ratio").output == "0.25\n")
        #expect(try setter.tweak("get", "Text").output == "two\n")
    }

    @Test(arguments: [
        "s/6/6.0/", "s/1.0$/1/", "s/ 1$/ 1.0/", "s/$/ /", "s/ : /:/", "s/^  *//", "1s/^/\\n/", "s/6/60e-1/",
        "s/0.25/25e-2/", "s/Ratio/Rati\\\\u006f/",
    ])
    func `takes the same number in another form for no change`(edit: String) throws {
        try program.writeOverrides(
            Data(
                #"{"Setter": {"Values": {"Count": 6, "Ratio": 0.25}, "Slots": {"Slot 1": 1.0}}}"#.utf8))
        let before = try Data(contentsOf: URL(fileURLWithPath: program.overridesPath))
        let result = try self.edit("sed -i '\(edit)' \"$1\"")
        #expect(result.output == "nothing was changed\n", "\(result.error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.overridesPath)) == before)
    }

    @Test func `names the option for an editor that does not wait`() throws {
        let result = try edit("exit 0")
        #expect(result.status == 0 && result.output == "nothing was changed\n")
        #expect(result.error.contains("--wait"))
        #expect(try edit(write(#"{"Setter": {"Values": {"Count": 7}}}"#)).error.isEmpty)
        #expect(try leftFiles.isEmpty)
    }

    @Test func `does nothing if nothing was changed`() throws {
        let result = try edit("grep -q '^{$' \"$1\"", variable: "VISUAL")
        #expect(result.output == "nothing was changed\n")
        #expect(!FileManager.default.fileExists(atPath: program.overridesPath))
        #expect(try leftFiles.isEmpty)
    }

    @Test(arguments: [
        ("{ \"Setter\": }", "it is not JSON: "), ("", "it is empty"),
        ("[1]", "holds an array where an object is expected"),
        (#"{"Setter": 7}"#, "the category \"Setter\" is 7, but an object is expected"),
        (
            #"{"Setter": {"Values": {"Count": "many"}}}"#,
            "\n  Setter/Values/Count: \"many\" is not an int32; allowed:"
        ),
        (
            #"{"Setter": {"Values": {"Cuont": 7}}}"#,
            "\n  Setter/Values/Cuont: no such tweak; did you mean"
        ),
    ])
    func `65 is for a mistake; then nothing is set and the text is kept`(text: String, message: String) throws
    {
        #expect(try program.tweak("set", "Count", "6").succeeded)
        let result = try edit(text.isEmpty ? ": > \"$1\"" : write(text))
        #expect(result.status == 65)
        #expect(result.error.contains(message), "\(result.error)")
        #expect(try program.tweak("get", "Count").output == "6\n")
        let directory = try #require(try leftFiles.first)
        let file = program.home("\(directory)/overrides.json")
        #expect(result.error.hasSuffix("\n  the text is kept in \(file)\n"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text + (text.isEmpty ? "" : "\n"))
    }

    @Test func `asks on a terminal whether to edit again`() throws {
        let count = program.home("count")
        let editor = try program.home.write(
            "editor",
            """
            #!/bin/sh
            if [ -e '\(count)' ]; then printf '{"Setter": {"Values": {"Count": 7}}}' > "$1"; else echo bad > "$1"; fi
            touch '\(count)'
            """)
        chmod(editor, 0o700)
        let command =
            "printf 'what\\ny\\n' | script -qec \"'\(Locations.product("tweak"))' edit '\(SetterProgram.path)'\" /dev/null"
        let result = try run(
            "/bin/sh", ["-c", command], home: program.home,
            environment: ["VISUAL": "", "EDITOR": editor, "TMPDIR": program.home.path])
        #expect(result.status == 0)
        #expect(result.output.contains("Edit again? [Y/n]"))
        #expect(result.output.contains("1 tweak was set"))
        #expect(try program.tweak("get", "Count").output == "7\n")
        #expect(try leftFiles.isEmpty)
    }

    @Test func `clamps with a warning, and keeps what this build does not know`() throws {
        try program.writeOverrides(Data(#"{"Setter": {"Values": {"Older": 1}}, "note": "mine"}"#.utf8))
        let result = try edit("sed -i 's/\"Older\"/\"Ratio\" : 3, \"Older\"/' \"$1\"")
        #expect(result.status == 0)
        #expect(result.error.contains("Setter/Values/Ratio: the value is outside the limits"))
        let text = try String(contentsOfFile: program.overridesPath, encoding: .utf8)
        #expect(text.contains("\"Older\" : 1"))
        #expect(text.contains("\"note\" : \"mine\""))
        #expect(try program.tweak("get", "Ratio").output == "1.0\n")
        #expect(try edit("printf '{\"note\": \"mine\"}' > \"$1\"").output == "2 tweaks were reset\n")
        #expect(try String(contentsOfFile: program.overridesPath, encoding: .utf8).contains("Older") == false)
    }

    @Test func `70 is for an editor that fails, and what it wrote is kept`() throws {
        let failed = try edit("exit 1")
        #expect(failed.status == 70)
        #expect(failed.error == "tweak: the editor failed, and nothing was set\n")
        #expect(try leftFiles.isEmpty)
        let crashed = try edit("echo x > \"$1\"; kill -9 $$")
        #expect(crashed.status == 70)
        #expect(crashed.error.contains("the text is kept in "))
        #expect(try leftFiles.count == 1)
    }
}
