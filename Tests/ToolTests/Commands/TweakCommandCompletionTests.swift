// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Shells complete the tweak command` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    /// Asks as a completion script does: for the last word, which is the argument of a number.
    private func complete(
        _ words: [String], argument: Int, shell: String = ""
    ) throws -> [Substring] {
        let command = words.prefix(words.first == "preset" ? 2 : 1)
        let word = words.last ?? ""
        let result = try run(
            Locations.product("tweak"),
            ["---completion"] + command + [
                "--", "positional@\(argument)", "\(words.count)", "\(word.count)", "tweak",
            ]
                + words,
            home: setter.home, environment: ["SAP_SHELL": shell], in: setter.home.path)
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        return result.lines
    }

    private var pid: String { "\(setter.pid)" }

    @Test func `with programs that run, and files`() throws {
        try setter.home.write("program", "")
        chmod(setter.home("program"), 0o700)
        try setter.home.write("text", "")
        try setter.home.write("directory/one", "")
        try setter.home.write("directory/two", "")
        chmod(setter.home("directory/one"), 0o700)
        chmod(setter.home("directory/two"), 0o700)
        let all = try complete(["get", ""], argument: 0)
        // Programs of other tests run meanwhile.
        let own: [Substring] = ["tweak-setter", pid[...]]
        #expect(all.filter { own.contains($0) } == own)
        #expect(all.contains("program"))
        #expect(!all.contains("text"))
        #expect(all.contains("directory/"))
        #expect(try complete(["get", "dir"], argument: 0).suffix(2) == ["directory/one", "directory/two"])
        let path = setter.home("pro")
        #expect(try complete(["get", path], argument: 0).last == "\(setter.home("program"))")
    }

    @Test func `with tweaks`() throws {
        #expect(try complete(["get", pid, ""], argument: 1).count == 18)
        #expect(try complete(["get", "--format", "json", pid, ""], argument: 1).count == 18)
        #expect(try complete(["set", pid, ""], argument: 1).count == 14)
        #expect(try complete(["sweep", pid, ""], argument: 1).count == 14)
        #expect(
            try complete(["run", pid, ""], argument: 1)
                == ["Setter/Actions/Count up", "Setter/Actions/Wait", "Setter/Actions/End"])
        #expect(try complete(["reset", pid, ""], argument: 1).isEmpty)
        #expect(try setter.tweak("set", "Count", "6", "Port", "81").succeeded)
        #expect(
            try complete(["reset", pid, ""], argument: 1) == ["Setter/Values/Count", "Setter/More/Port"])
        #expect(
            try complete(["list", pid, ""], argument: 1)
                == ["Setter/", "Setter/Actions/", "Setter/More/", "Setter/Slots/", "Setter/Values/"])
    }

    @Test func `with shorter names once a part of one is typed`() throws {
        #expect(try complete(["set", pid, "Cou"], argument: 1, shell: "bash") == ["Count"])
        #expect(try complete(["run", pid, "Count"], argument: 1, shell: "bash") == [#"Count\ up"#])
        #expect(
            try complete(["get", pid, "Setter/V"], argument: 1, shell: "bash").allSatisfy {
                $0.hasPrefix("Setter/")
            })
    }

    @Test func `with tweaks of a program that does not run`() throws {
        setter.process.kill()
        _ = setter.process.wait()
        try setter.program.writeOverrides(Data("bad".utf8))
        #expect(try complete(["get", SetterProgram.path, ""], argument: 1).count == 12)
        #expect(try complete(["get", "'\(SetterProgram.path)'", ""], argument: 1).count == 12)
        #expect(try complete(["get", "missing", ""], argument: 1).isEmpty)
    }

    @Test(arguments: [
        (["Flag"], ["true", "false"]), (["Level"], ["1", "2", "low", "high"]),
        (["Count"], ["6", "5", "0", "1000000"]),
        (["Text"], ["hello"]), (["Nothing"], []),
    ])
    func `with values`(tweaks: [String], values: [Substring]) throws {
        #expect(try setter.tweak("set", "Count", "6").succeeded)
        #expect(try complete(["set", pid] + tweaks + [""], argument: 2) == values)
    }

    @Test func `with more tweaks and their values`() throws {
        #expect(try complete(["set", pid, "Count", "6", ""], argument: 3).count == 14)
        #expect(try complete(["set", pid, "Count", "6", "Flag", ""], argument: 3) == ["true", "false"])
        #expect(try complete(["set", pid, "Count", "-6", "'Flag'", ""], argument: 3) == ["true", "false"])
    }

    @Test func `with presets`() throws {
        #expect(try setter.program.command("preset", "save", pid, "mine").succeeded)
        #expect(try complete(["preset", "load", pid, ""], argument: 1) == ["mine"])
    }

    @Test func `in the form that each wants`() throws {
        #expect(try setter.program.command("preset", "save", pid, "it's $(reboot): \\").succeeded)
        let words = ["preset", "load", pid, ""]
        #expect(try complete(words, argument: 1, shell: "bash") == [#"it\'s\ \$\(reboot\)\:\ \\"#])
        #expect(try complete(words, argument: 1, shell: "zsh") == [#"it's $(reboot)\: \\"#, " "])
        #expect(try complete(words, argument: 1, shell: "fish") == [#"it's $(reboot): \"#])
        #expect(
            try complete(["run", pid, ""], argument: 1, shell: "fish").first == "Setter/Actions/Count up")
        #expect(try complete(["set", pid, "Level", ""], argument: 2, shell: "fish").first == "1\tlow")
        #expect(try complete(["set", pid, "Level", ""], argument: 2, shell: "zsh").first == "1:low")
        #expect(
            try complete(["set", pid, ""], argument: 1, shell: "zsh").contains(
                "Setter/More/Level:1 (low)  how loud"))
    }

    @Test(arguments: [
        (#"Setter/A"#, #"Setter/Actions/Count\ up"#), (#"'Setter/A"#, #"'Setter/Actions/Count up"#),
        (#""Setter/A"#, #""Setter/Actions/Count up"#), (#"Sett"er"/A"#, #"Sett"er"/Actions/Count\ up"#),
        (#"Setter/Actions/Count\"#, #"Setter/Actions/Count\ up"#), (#"$'Setter/A"#, nil),
    ])
    func `behind what is typed, in bash`(typed: String, completed: String?) throws {
        #expect(
            try complete(["run", pid, typed], argument: 1, shell: "bash").first.map(String.init) == completed)
    }

    @Test func `without waiting for a program that is stopped`() throws {
        setter.process.pause()
        defer { setter.process.resume() }
        #expect(try complete(["get", pid, ""], argument: 1).isEmpty)
    }

    @Test func `bash`() throws {
        #expect(
            try setter.program.command("preset", "save", pid, "it's $(touch '\(setter.home("bad"))')")
                .succeeded)
        let script = #"""
            PATH="$1:$PATH"
            source <(tweak --generate-completion-script bash)
            try() {
              COMP_WORDS=(tweak "$@") COMP_CWORD=$# COMP_LINE="tweak $*" COMPREPLY=()
              COMP_POINT=${#COMP_LINE}
              _tweak tweak "${!#}" ""
              printf '%s\n' "${COMPREPLY[@]}"
            }
            try get "$2" Setter/V
            try set "$2" Flag t
            try preset load "$2" ""
            """#
        let result = try run(
            try Locations.program("bash"), ["--norc", "-c", script, "bash", Locations.commands, pid],
            home: setter.home)
        #expect(
            result.lines == [
                "Setter/Values/Flag", "Setter/Values/Count", "Setter/Values/Ratio", "Setter/Values/Text",
                "true",
                #"it\'s\ \$\(touch\ \'\#(setter.home("bad"))\'\)"#,
            ], "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: setter.home("bad")))
    }
}
