// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `A program is forgotten` {
    private let program: SetterProgram

    init() throws {
        program = try SetterProgram()
        #expect(try program.tweak("set", "Count", "6").succeeded)
        #expect(try program.command("preset", "save", SetterProgram.path, "quick").succeeded)
    }

    private var folder: String { program.home("config/tweaks/tweak-setter") }
    private var isKept: Bool { FileManager.default.fileExists(atPath: folder + "/presets/quick.json") }
    /// What is beside the folder.
    private var applications: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: program.home("config/tweaks")) }
    }

    @Test(arguments: ["tweak-setter", SetterProgram.path])
    func `forget removes everything that is kept`(name: String) throws {
        let result = try program.command("forget", name, "--yes")
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
        let lines = result.lines.map { $0.split(separator: " ").first }
        #expect(
            lines.map { $0.map(String.init) } == [
                folder, "FILE", "overrides.json", "overrides.json.lock", "presets/.lock",
                "presets/quick.json", folder,
            ])
        #expect(try applications.isEmpty)
        #expect(try program.tweak("get", "Count").output == "5\n")
        let again = try program.command("forget", SetterProgram.path, "--yes")
        #expect(again.status == 66 && again.error.hasSuffix(": nothing is kept for it\n"))
    }

    @Test func `--dry-run only shows the files`() throws {
        let result = try program.command("forget", "tweak-setter", "--dry-run", "--format", "json")
        #expect(result.succeeded && isKept)
        let json = try result.json
        #expect(json["folder"] as? String == folder && json["isRemoved"] as? Bool == false)
        let files = try #require(json["files"] as? [[String: Any]])
        let preset = try #require(files.last)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/presets/quick.json")
        #expect(preset["path"] as? String == "presets/quick.json")
        #expect(preset["size"] as? Int == attributes[.size] as? Int)
    }

    @Test func `Without a terminal nothing is removed unless --yes is given`() throws {
        let result = try program.command("forget", "tweak-setter")
        #expect(
            result.error == "tweak: nothing was removed; --yes removes the files without asking\n")
        #expect(result.status == 64 && isKept)
    }

    @Test(arguments: [("y", true, 0), ("n", false, 1)])
    func `A person is asked`(_ answer: String, _ isRemoved: Bool, _ status: Int32) throws {
        let command = "'\(Locations.product("tweak"))' forget tweak-setter"
        let result = try run(
            "/bin/sh",
            ["-c", "echo \(answer) | '\(Locations.program("script"))' -qec \"\(command)\" /dev/null"],
            home: program.home)
        #expect(result.output.contains("presets/quick.json"))
        #expect(result.output.contains("Remove the files? This cannot be undone. [y/N]"))
        #expect(result.status == status && isKept == !isRemoved, "\(result)")
    }

    @Test(arguments: [[:], ["TWEAKS_CONTROL": "0"], ["TWEAKS_WATCH": "0"]])
    func `A program that runs is not forgotten`(environment: [String: String]) throws {
        let setter = try RunningSetter(program, environment: environment)
        for name in ["tweak-setter", SetterProgram.path] {
            let result = try program.command("forget", name, "--yes")
            #expect(
                result.error
                    == "tweak: \(setter.title): nothing was removed, because it is running; stop it, or "
                    + "reset its tweaks\n"
            )
            #expect(result.status == 75 && isKept)
        }
    }

    @Test func `A folder that is a link stays, and so do the targets of links in it`() throws {
        let file = try program.home.write("mine/notes.txt", "keep me")
        let mine = program.home("mine")
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/presets/linked", withDestinationPath: mine)
        try FileManager.default.createSymbolicLink(
            atPath: program.home("config/tweaks/other"), withDestinationPath: mine)
        let refused = try program.command("forget", "other", "--yes")
        #expect(refused.status == 77 && refused.error.contains("it is not a folder"), "\(refused)")
        let result = try program.command("forget", "tweak-setter", "--yes")
        #expect(result.succeeded && result.output.contains("a link; \(mine) stays"), "\(result)")
        #expect(try applications == ["other"])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "keep me")
    }

    @Test(arguments: [".", "..", "", "tweak-setter/", "../tweaks/tweak-setter"])
    func `Only the name of a program names its folder`(name: String) throws {
        let result = try program.command("forget", name, "--yes")
        #expect(result.status != 0 && result.output.isEmpty && isKept, "\(result)")
    }

    @Test func `What a killed command left is removed, too`() throws {
        try program.home.write("config/tweaks/.forgotten-tweak-setter/overrides.json", "{}")
        #expect(try program.command("forget", "tweak-setter", "--yes").succeeded)
        #expect(try applications.isEmpty)
    }

    @Test(.enabled(if: getuid() == 0)) func `Files of other users stay`() throws {
        #expect(chown(folder + "/presets/quick.json", 12345, 12345) == 0)
        let result = try program.command("forget", "tweak-setter", "--yes")
        #expect(result.status == 77 && result.error.hasSuffix("\n  presets/quick.json\n"), "\(result)")
        #expect(isKept)
    }

    @Test func `The name of a program that is kept is corrected and completed`() throws {
        let result = try program.command("forget", "tweak-stter", "--yes")
        #expect(result.status == 66 && result.error.hasSuffix("; did you mean tweak-setter?\n"))
        let completed = try program.command("---complete", "forget", "tweak-s")
        #expect(completed.lines.contains("tweak-setter"), "\(completed)")
    }
}
