// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The tweak command reads` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    @Test func `list shows a table under headings`() throws {
        let result = try program.tweak("list")
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(
            result.output == """
                    NAME    VALUE    DEFAULT  TYPE    LIMITS
                  Setter / Slots
                    Slot 0  0        0        int32
                    Slot 1  0        0        int32
                    Slot 2  0        0        int32
                    Slot 3  0        0        int32
                    Slot 4  0        0        int32
                    Slot 5  0        0        int32
                    Slot 6  0        0        int32
                    Slot 7  0        0        int32
                  Setter / Values
                    Flag    false    false    bool
                    Count   5        5        int32   0…1000000
                    Ratio   0.5      0.5      double  0.0…1.0
                    Text    "hello"  "hello"  string

                """)
    }

    @Test func `list shows what was set, and that it was`() throws {
        #expect(try program.tweak("set", "Setter/Values/Count", "6").succeeded)
        let lines = try program.tweak("list").output.split(separator: "\n")
        let count = lines.first { $0.contains("Count") }
        #expect(count?.split(separator: " ") == ["Count", "6", "5", "int32", "0…1000000", "override"])
    }

    @Test func `list has a JSON form with everything`() throws {
        #expect(try program.tweak("set", "Setter/Values/Count", "6").succeeded)
        let result = try program.tweak("list", "--format", "json")
        let json = try #require(
            JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(json["application"] as? String == "tweak-setter")
        #expect(json["overrides"] as? String == program.overridesPath)
        let tweaks = try #require(json["tweaks"] as? [[String: Any]])
        #expect(tweaks.count == 12)
        let count = try #require(tweaks.first { $0["name"] as? String == "Count" })
        #expect(count["category"] as? String == "Setter")
        #expect(count["collection"] as? String == "Values")
        #expect(count["type"] as? String == "int32")
        #expect(count["value"] as? Int == 6)
        #expect(count["default"] as? Int == 5)
        #expect(count["minimum"] as? Int == 0)
        #expect(count["maximum"] as? Int == 1_000_000)
        #expect(count["source"] as? String == "override")
        #expect((count["location"] as? String)?.contains("setter_tweaks.c:") == true)
    }

    @Test(arguments: [("Flag", "false"), ("Count", "5"), ("Ratio", "0.5"), ("Text", "hello")])
    func `get prints the value alone`(name: String, value: String) throws {
        let result = try program.tweak("get", "Setter/Values/\(name)")
        #expect(result.status == 0)
        #expect(result.output == value + "\n")
        #expect(result.error.isEmpty)
    }

    @Test func `get has a JSON form`() throws {
        let result = try program.tweak("get", "--format", "json", "Setter/Values/Flag")
        let json = try #require(
            JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(json["value"] as? Bool == false)
        #expect(json["source"] as? String == "default")
    }

    @Test func `An escaped slash belongs to the name`() throws {
        let result = try program.tweak("get", "Setter/Values/Count%2F2")
        #expect(result.status == 65)
        #expect(result.error.contains("Setter/Values/Count%2F2: no such tweak"))
    }

    @Test func `A link to a program has the program's overrides`() throws {
        #expect(try program.tweak("set", "Setter/Values/Count", "6").succeeded)
        let link = program.home("another-name")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: SetterProgram.path)
        let result = try run(
            Locations.product("tweak"), ["get", link, "Setter/Values/Count"], home: program.home)
        #expect(result.output == "6\n")
    }

    @Test func `Corrupt overrides are a warning, the defaults are shown and the file is left alone`() throws {
        try program.writeOverrides(Data("bad".utf8))
        let result = try program.tweak("list")
        #expect(result.status == 0)
        #expect(result.errorLines.count == 1)
        #expect(result.error.hasPrefix("tweak: warning: \(program.overridesPath): "))
        #expect(!result.output.contains("override"))
        #expect(try program.names() == ["overrides.json"])
    }

    @Test(arguments: [
        ("", "list", "No space left on device"), ("", "export", "No space left on device"),
        // Lines that are written one by one are lost before the end.
        ("stdbuf -oL", "list", "part of the output was not written"),
    ])
    func `74 is for a full disk`(buffering: String, command: String, reason: String) throws {
        let result = try run(
            "/bin/sh",
            [
                "-c", "\(buffering) \"$0\" \(command) \"$1\" > /dev/full", Locations.product("tweak"),
                SetterProgram.path,
            ],
            home: program.home)
        #expect(result.status == 74)
        #expect(result.error == "tweak: standard output: \(reason)\n")
    }

    @Test func `A program without tweaks has none`() throws {
        let result = try run(
            Locations.product("tweak"), ["list", try Locations.program("ls")], home: program.home)
        #expect(result.status == 0)
        #expect(result.output.hasSuffix(": no tweaks\n"))
    }

    @Test(arguments: [
        ["--help"], ["ps", "--help"], ["list", "--help"], ["get", "--help"], ["set", "--help"],
        ["reset", "--help"], ["watch", "--help"], ["run", "--help"], ["edit", "--help"],
        ["explain", "--help"],
        ["export", "--help"], ["import", "--help"], ["preset", "--help"], ["preset", "diff", "--help"],
        ["generate", "--help"], ["generate", "plist", "--help"], ["generate", "settings", "--help"],
        ["generate", "accessors", "--help"], ["generate", "category", "--help"],
    ])
    func `Everything has help`(arguments: [String]) throws {
        let result = try run(Locations.product("tweak"), arguments, home: program.home)
        #expect(result.status == 0)
        #expect(result.output.contains("USAGE: tweak"))
        #expect(result.error.isEmpty)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `There are completions for the shell`(shell: String) throws {
        let result = try run(
            Locations.product("tweak"), ["--generate-completion-script", shell], home: program.home)
        #expect(result.status == 0)
        #expect(result.output.contains("tweak"))
    }
}
