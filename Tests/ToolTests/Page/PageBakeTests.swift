// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program with two sources, in and outside a folder, whose values the page makes the defaults there.
private struct BakedPage {
    let home: TemporaryDirectory

    static let source = """
        #include <fbtweak.h>
        #define LIMIT 5
        double outside(void);
        int main(void) {
        \treturn FBTweakValue("Motor", "Control", "Gain", 1.50, 0, 10) < outside() &&
        \t       FBTweakValue("Motor", "Control", "Limit", LIMIT) < 3 && FBTweakValue("Motor", "Names", "First", "<b>one</b>");
        }

        """
    static let other = """
        #include <fbtweak.h>
        double outside(void) { return FBTweakValue("Motor", "Control", "Outside", 3.0); }

        """

    init() throws {
        home = try TemporaryDirectory()
        try home.write("project/motor.c", Self.source)
        try home.write("other/outside.c", Self.other)
        // The project contains the other source only by a link.
        try FileManager.default.createSymbolicLink(
            atPath: home("project/link"), withDestinationPath: home("other"))
        let gcc = try run(
            Locations.program("gcc"),
            ["-g", "-DDEBUG", "-I", Locations.include, "motor.c", "link/outside.c", "-o", "motor"],
            home: home,
            in: home("project"))
        try #require(gcc.succeeded, "\(gcc.error)")
        try set("Gain", "2.25", "Limit", "6", "First", "<i>two</i>", "Outside", "4")
    }

    func set(_ words: String...) throws {
        #expect(try tweak(["set", home("project/motor")] + words).succeeded)
    }

    func tweak(_ words: [String]) throws -> CommandResult {
        try run(Locations.product("tweak"), words, home: home)
    }

    func source(_ name: String = "project/motor.c") throws -> String {
        try String(contentsOfFile: home(name), encoding: .utf8)
    }

    /// The options that let the page write.
    var writing: [String] { ["--sources", home("project")] }

    func serve(_ options: [String]) throws -> (page: ServedPage, program: String) {
        let page = try ServedPage(options + [home("project/motor")], home: home)
        let hello = try page.events().first("hello")
        return (page, try #require(hello["first"] as? String))
    }

    /// Whether git takes the difference.
    func applies(_ difference: String, _ options: String...) throws -> Bool {
        try home.write("shown.diff", difference)
        let arguments = ["apply", "--check"] + options + [home("shown.diff")]
        return try run(Locations.program("git"), arguments, home: home, in: home("project")).succeeded
    }
}

@Suite struct `The page keeps values in the sources` {
    private let baked: BakedPage

    init() throws { baked = try BakedPage() }

    private func plan(
        _ served: (page: ServedPage, program: String), _ tweaks: [String]? = nil
    ) throws -> [String: Any] {
        var body: [String: Any] = ["program": served.program]
        body["tweaks"] = tweaks
        return try served.page.api("bake/plan", body).json
    }

    private func write(
        _ served: (page: ServedPage, program: String), _ plan: [String: Any]
    ) throws -> HTTPAnswer {
        try served.page.api("bake", ["program": served.program, "plan": plan["plan"] ?? "1"])
    }

    @Test func `shows the difference of tweak bake with places and reasons, and writes nothing`() throws {
        let served = try baked.serve([])
        let shown = try plan(served)
        let command = try baked.tweak(["bake", baked.home("project/motor")])
        #expect(command.status == 65)
        #expect(shown["difference"] as? String == command.output)
        #expect(shown["messages"] as? String == command.error)
        #expect(
            command.error.contains(
                "motor.c:6: Motor/Control/Limit is skipped: its default is the macro LIMIT"))
        #expect(command.output.contains("\"<i>two</i>\""))
        // Its file is neither below the folder where the compiler ran nor below the working directory.
        #expect(
            !command.output.contains("Outside")
                && command.error.contains("link/outside.c:2: Motor/Control/Outside is skipped: the file "))
        let one = try plan(served, ["Motor/Control/Gain"])
        #expect((one["difference"] as? String)?.contains("<i>two</i>") == false)
        #expect(one["messages"] as? String == "")
        #expect(one["plan"] == nil && one["folder"] == nil)
        #expect(try write(served, one).status == 403)
        #expect(try baked.source() == BakedPage.source)
        // It can be done by hand.
        let shell = try run(
            "/bin/sh", ["-c", try #require(one["command"] as? String)], home: baked.home,
            environment: ["PATH": "\(Locations.commands):/usr/bin:/bin"])
        #expect(shell.succeeded, "\(shell.error)")
        #expect(try baked.source() == BakedPage.source.replacing("1.50", with: "2.25"))
    }

    @Test func `writes what it has shown, below the folder alone`() throws {
        let served = try baked.serve(baked.writing)
        let shown = try plan(served)
        let difference = try #require(shown["difference"] as? String)
        #expect(!difference.contains("Outside"))
        let messages = try #require(shown["messages"] as? String)
        #expect(
            messages.contains("link/outside.c:2: Motor/Control/Outside is skipped: the file ")
                && messages.contains("/other/outside.c is not below "))
        #expect(try baked.applies(difference))
        let answer = try write(served, shown)
        #expect(answer.status == 200, "\(answer.body)")
        let written = try #require(try answer.json["answer"] as? [String: Any])
        #expect(written["written"] as? Bool == true)
        #expect(
            (written["changes"] as? [[String: Any]])?.map { $0["tweak"] as? String }
                == ["Motor/Control/Gain", "Motor/Names/First"])
        #expect(try answer.json["messages"] as? String == messages)
        #expect(
            try baked.source()
                == BakedPage.source.replacing("1.50", with: "2.25").replacing(
                    "\"<b>one</b>\"", with: "\"<i>two</i>\""))
        #expect(try baked.source("other/outside.c") == BakedPage.other)
        #expect(try baked.applies(difference, "--reverse"))
        #expect(
            try baked.tweak(["list", baked.home("project/motor")]).lines.filter {
                $0.contains("baked, waits for a build")
            }.count == 2)
        // A difference is confirmed once.
        #expect(try write(served, shown).status == 409)
        #expect(try plan(served)["plan"] == nil)
    }

    @Test func `writes nothing if a value or a source has changed since it was shown`() throws {
        let served = try baked.serve(baked.writing)
        let first = try plan(served, ["Motor/Control/Gain"])
        try baked.set("Gain", "3")
        let other = try write(served, first)
        #expect(other.status == 409)
        #expect(other.body.contains("the difference has changed; nothing was written"))
        #expect(try baked.source() == BakedPage.source)
        let second = try plan(served, ["Motor/Control/Gain"])
        let edited = BakedPage.source.replacing("LIMIT 5", with: "LIMIT 6")
        try baked.home.write("project/motor.c", edited)
        #expect(try write(served, second).status == 409)
        #expect(try baked.source() == edited)
        // Only what was shown last can be confirmed.
        let (third, fourth) = (try plan(served, ["Motor/Control/Gain"]), try plan(served))
        #expect(try write(served, third).status == 409)
        #expect(try baked.source() == edited)
        #expect(try write(served, fourth).status == 200)
        #expect(try baked.source().contains("\"Gain\", 3.0, 0, 10"))
    }

    @Test func `refuses a folder that is missing, and unknown programs and tweaks`() throws {
        let result = try run(ServedPage.path, ["--sources", baked.home("nowhere")], home: baked.home)
        #expect(result.status == 66)
        #expect(result.error == "tweak-ui: \(baked.home("nowhere")): no such folder\n")
        #expect(
            try run(ServedPage.path, ["--sources", baked.home("project/motor.c")], home: baked.home).status
                == 66)
        let served = try baked.serve(baked.writing)
        #expect(try served.page.api("bake/plan", ["program": "nothing"]).status == 404)
        #expect(try served.page.api("bake", ["program": "nothing", "plan": "1"]).status == 404)
        #expect(try served.page.api("bake/plan", ["program": served.program, "tweaks": ["x"]]).status == 400)
        let unknown = try plan(served, ["Motor/Control/Nothing"])
        #expect(unknown["difference"] as? String == "" && unknown["plan"] == nil)
        #expect((unknown["messages"] as? String)?.contains("Motor/Control/Nothing") == true)
    }
}

/// With a command instead of `tweak` that tells what it is asked.
@Suite struct `The command of a page that keeps values` {
    private let scripted: ScriptedPage
    private var home: TemporaryDirectory { scripted.home }
    private var ui: String { scripted.ui }

    init() throws { scripted = try ScriptedPage("tweak") }

    private func answer(_ script: String) throws { try scripted.answer(script) }

    /// A page that shows `tweak-setter`, and may write in the home.
    private func serve() throws -> (page: ServedPage, program: String) {
        let page = try ServedPage(["--sources", home.path, SetterProgram.path], home: home, command: [ui])
        return (page, try #require(try page.events().first("hello")["first"] as? String))
    }

    @Test func `is needed to write, and missed only when asked without that`() throws {
        let result = try run(ui, ["--sources", home.path], home: home)
        #expect(result.status == 69)
        #expect(result.error.hasPrefix("tweak-ui: tweak is not installed; searched "), "\(result.error)")
        let page = try ServedPage([SetterProgram.path], home: home, command: [ui])
        let program = try #require(try page.events().first("hello")["first"] as? String)
        let answer = try page.api("bake/plan", ["program": program])
        #expect(answer.status == 502)
        #expect(answer.body.contains("tweak is not installed"))
    }

    @Test func `passes each text as one argument that is no option, and no folder of a request`() throws {
        try answer(#"printf '%s\n' "$PWD" "$@" - "$(cat)""#)
        let (page, program) = try serve()
        let hostile: [String: Any] = [
            "program": program, "tweaks": ["--write/--within=%2F/$(touch x)"], "folder": "/", "within": "/",
            "from": "/", "sources": "/", "path": "/etc/passwd",
        ]
        let plan = try page.api("bake/plan", hostile).json
        let asked = [
            home.path, "bake", "--within=\(home.path)", "--", SetterProgram.path,
            "--write/--within=%2F/$(touch x)", "-", "", "",
        ]
        #expect((plan["difference"] as? String)?.components(separatedBy: "\n") == asked)
        try answer(#"printf '%s\n' "$PWD" "$@" - >"$HOME/asked"; cat >>"$HOME/asked"; echo '{}'"#)
        let write: [String: Any] = [
            "program": program, "plan": plan["plan"] ?? "", "tweaks": ["A/B/C"], "within": "/",
        ]
        #expect(try page.api("bake", write).status == 200)
        let written = try String(contentsOfFile: home("asked"), encoding: .utf8)
        #expect(
            written.components(separatedBy: "\n") == [
                home.path, "bake", "--write", "--if-difference=-", "--format=json", "--within=\(home.path)",
                "--",
                SetterProgram.path, "--write/--within=%2F/$(touch x)", "-",
            ] + asked)
        #expect(try page.api("bake/plan", ["program": program, "tweaks": ["A/B/C\0"]]).status == 409)
    }

    @Test func `is not run without a session, or for other sites`() throws {
        try answer("touch \(home("asked")); echo '{}'")
        let (page, program) = try serve()
        let json = "Content-Type: application/json"
        let session = "Authorization: Bearer \(page.session)"
        let body = #"{"program":"\#(program)","plan":"1"}"#
        for name in ["bake", "bake/plan"] {
            #expect(try page.ask("POST", "/api/" + name, [json], body).status == 401)
            for header in [
                "Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site",
                "Host: evil.example",
            ] {
                #expect(try page.ask("POST", "/api/" + name, [json, session, header], body).status == 403)
            }
            let form = ["Content-Type: text/plain", session]
            #expect(try page.ask("POST", "/api/" + name, form, body).status == 415)
        }
        #expect(!FileManager.default.fileExists(atPath: home("asked")))
        #expect(try page.api("bake/plan", ["program": program]).status == 200)
        #expect(FileManager.default.fileExists(atPath: home("asked")))
    }

    @Test func `is reported as it fails`() throws {
        try answer("echo 'tweak: <b>it</b> \u{1B}[31m fails' >&2; exit 69")
        let (page, program) = try serve()
        let failed = try page.api("bake/plan", ["program": program])
        #expect(failed.status == 502)
        let message = (try failed.json["error"] as? [String: Any])?["message"] as? String
        #expect(message == "tweak: <b>it</b> \u{1B}[31m fails\n(exit status 69)")
        // What was written is told also if the command then fails.
        try answer(
            "[[ $* == *--write* ]] || { echo x; exit; }; echo '{\"written\": true}'; echo 'tweak: no notes' >&2; exit 74"
        )
        let plan = try page.api("bake/plan", ["program": program]).json
        let written = try page.api("bake", ["program": program, "plan": plan["plan"] ?? ""])
        #expect(written.status == 200)
        #expect(try written.json["messages"] as? String == "tweak: no notes\n")
    }
}
