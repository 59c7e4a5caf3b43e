// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak check` {
    private let home: TemporaryDirectory
    private let file: String

    init() throws {
        home = try TemporaryDirectory()
        file = try home.write(
            "features.json",
            """
            { "version": 7, "features": [
                { "key": "search", "enabled": true, "only-os-versions": ["11", "12"] },
                { "key": "login", "enabled": true, "only-device-family": ["server"] },
                { "key": "moon", "enabled": true, "only-moon": [] } ] }
            """)
    }

    private func check(_ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), ["check"] + arguments, home: home)
    }

    @Test func `It shows what a file says for a host with some facts, and why`() throws {
        let result = try check(
            "--facts", "os-version=13", "--facts", "device-family=server", "--facts", "os=", file)
        #expect(
            result.output == """
                FEATURE  IS   BECAUSE
                search   off  only-os-versions asks for 11 or 12; this is 13
                login    on   only-device-family asks for server; this is server
                moon     off  the filter only-moon is not known

                """)
        #expect(
            result.error.contains("the filter \"only-moon\" is not known, so these features are off: moon"))
    }

    @Test
    func `A filter that there is not is status 65, with the place, what is allowed, and what was meant`()
        throws
    {
        let file = try home.write(
            "wrong.json",
            #"{"features": [{"key": "a", "enabled": true}, {"key": "b", "enabled": true, "percentag": 5}]}"#)
        let result = try check(file)
        #expect(result.status == 65)
        #expect(
            result.error.contains("tweak: \(file): 1 mistake\n  \(file): features.1.percentag: "),
            "\(result.error)")
        #expect(result.error.contains("; allowed: only-os-versions, only-os, "))
        #expect(result.error.hasSuffix(", percentage; did you mean percentage?\n"))
        // What agents make of it is shown all the same.
        #expect(result.output.contains("\nb        off  the filter percentag is not known\n"))
        let json = try check("--format", "json", file)
        #expect(json.status == 65)
        #expect((try json.json["mistakes"] as? [String])?.count == 1)
    }

    @Test func `What a program cannot take is status 65, each with what is allowed`() throws {
        let values = try home.write(
            "values.json",
            #"{ "Setter": { "Values": { "Count": 1.5, "Cuont": 5, "Ratio": 2, "Flag": true, "Text": "a" } } }"#
        )
        #expect(try check(values).succeeded)
        let result = try check("--program", SetterProgram.path, values)
        #expect(result.status == 65)
        #expect(result.output.contains("Setter/Values/Ratio  2"))
        let lines = result.errorLines
        try #require(lines.count == 4, "\(result.error)")
        #expect(lines[0] == "tweak: \(values): 3 mistakes")
        #expect(lines[1].hasPrefix("  Setter/Values/Count: 1.5 is not "))
        #expect(lines[1].hasSuffix("; allowed: an integer from 0 to 1000000"))
        #expect(
            lines[2].hasPrefix(
                "  Setter/Values/Cuont: no such tweak; did you mean Setter/Values/Count"))
        #expect(
            lines[3] == "  Setter/Values/Ratio: 2 is outside the limits; allowed: a number from 0.0 to 1.0")
        let right = try home.write("right.json", #"{"Setter": {"Values": {"Count": 7, "Text": "a"}}}"#)
        #expect(try check("--program", SetterProgram.path, right).succeeded)
    }

    @Test func `A feature that a program does not have is status 65`() throws {
        let result = try check(
            "--program", SetterProgram.path, home.write("f.json", #"{"features": [{"key": "moon"}]}"#))
        #expect(result.status == 65)
        #expect(result.error.contains("Features/moon/enabled: no such tweak"), "\(result.error)")
        #expect(try check("--program", home("none"), file).status == 66)
    }

    @Test func `A file can have all facts, and others stand above it`() throws {
        let facts = try home.write("host.json", #"{ "os-version": "12", "device-family": "phone" }"#)
        #expect(try check("--facts", facts, file).output.contains("search   on "))
        #expect(try check("--facts", facts, "--facts", "os-version=13", file).output.contains("search   off"))
    }

    @Test func `As JSON it has the facts and the tweaks`() throws {
        let facts = try home.write("host.json", #"{ "os-version": "12" }"#)
        let json = try JSONSerialization.jsonObject(
            with: Data(check("--format", "json", "--facts", facts, file).output.utf8))
        let root = try #require(json as? [String: Any])
        #expect(root["version"] as? Int == 7)
        #expect(root["facts"] as? [String: String] == ["os-version": "12"])
        let features = try #require(root["features"] as? [[String: Any]])
        #expect(features.first?["tweak"] as? String == "Features/search/enabled")
        #expect(features.first?["enabled"] as? Bool == true)
        #expect((root["problems"] as? [String])?.count == 1)
    }

    @Test(arguments: [
        (#"{"features": {"search": {"enabled": false}}}"#, "features: "),
        (#"{"features": {}}"#, "features: "),
        (#"{"FEATURES": {"search": {"enabled": false}}}"#, "FEATURES: "),
        (#"{"version": 3, "features": {"a": {"b": 1}}, "Features": {"a": {"enabled": true}}}"#, "features: "),
    ])
    func `An object of features is refused, because it would switch nothing`(json: String, place: String)
        throws
    {
        let path = try home.write("object.json", json)
        let result = try check(path)
        #expect(result.status == 65)
        #expect(
            result.error.contains(
                "\(path): \(place)an array of features is expected here; values of features are in the category "
                    + "\"Features\""), "\(result.error)")
    }

    @Test(arguments: [
        (
            #"{"features": [{"key": "a", "enabled": true}, {"key": "a", "enabled": false}]}"#,
            "features.1: \"a\" is repeated"
        ),
        (
            #"{"features": [{"key": "Features/a/enabled"}]}"#,
            "features.0.key: \"Features/a/enabled\" is the name of a tweak"
        ),
        (#"{"features": [], "Features": {"a": {"enabled": false}}}"#, "Features: it is ignored"),
        (#"{"version": "7", "features": []}"#, "version: got \"7\", expected an integer up to "),
        (#"{"vesion": 3, "features": []}"#, "vesion: it is ignored; did you mean version?"),
        (
            #"{"Features": {"a": {"Enabled": false}}}"#,
            "Features.a.Enabled: the switch of a feature is named \"enabled\""
        ),
        (
            #"{"Features": {"a": {"enabled": "false"}}}"#,
            "Features.a.enabled: got \"false\", expected true or false"
        ),
    ])
    func `What has no effect is status 65, with the place`(json: String, message: String) throws {
        let path = try home.write("without-effect.json", json)
        let result = try check(path)
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak: \(path): 1 mistake\n  \(path): \(message)"), "\(result.error)")
        #expect(result.errorLines.count == 2, "\(result.error)")
    }

    @Test(arguments: [
        #"{"features": [{"key": "a/b"}, {"key": "A/B/C"}], "comment": {"by": "ann"}}"#, "{}",
        #"{"Features": {"a": {"enabled": false, "limit": 5, "Label": "x"}}, "Audio": {"features": {"enable": true}}}"#,
    ])
    func `What only looks unusual is allowed`(json: String) throws {
        let result = try check(home.write("unusual.json", json))
        #expect(result.succeeded && result.error.isEmpty, "\(result.error)")
    }

    @Test func `A feature that only agents know is unknown to the program`() throws {
        let program = try SetterProgram()
        for file in ["remote.json", "fleet.json"] {
            try program.home.write(
                "state/tweaks/tweak-setter/\(file)",
                """
                { "values": { "Features": { "moon": { "enabled": true } } },
                  "kills": { "Features": { "sun": { "enabled": false } } } }
                """)
        }
        let features = try program.home.write("f.json", #"{"features": [{"key": "moon"}, {"key": "sun"}]}"#)
        let running = try RunningSetter(program)
        for name in [SetterProgram.path, "\(running.pid)"] {
            let tweaks = try program.command(["list", name]).output
            #expect(tweaks.contains("moon") && tweaks.contains("sun"), "\(tweaks)")
            let result = try program.command(["check", "--program", name, features])
            #expect(result.status == 65)
            #expect(result.error.contains(": 2 mistakes\n"), "\(result.error)")
        }
    }

    @Test func `Values for all hosts`() throws {
        let values = try home.write("values.json", #"{ "Spring": { "Physics": { "Stiffness": 240 } } }"#)
        #expect(
            try check(values).output == "TWEAK                     VALUE\nSpring/Physics/Stiffness  240\n")
    }

    @Test(arguments: [
        ("{", "it is not JSON"), (#"{"features": [{}]}"#, "features.0: \"key\" is missing"),
        (#"{"features": [{"key": "a", "percentage": "10"}]}"#, "expected a number from 0 to 100"),
    ])
    func `A malformed file is status 65, with the place`(json: String, message: String) throws {
        let result = try check(home.write("broken.json", json))
        #expect(result.status == 65)
        #expect(result.error.contains(message))
    }

    @Test func `A fact that there is not is a usage error, and a file that there is not is status 66`() throws
    {
        let unknown = try check("--facts", "moon=full", file)
        #expect(unknown.status == 64)
        #expect(unknown.error.contains("\"moon\" is not a fact; allowed: os, os-version, kernel"))
        #expect(try check(home("none.json")).status == 66)
    }
}

@Suite struct `tweak explain and remote values` {
    private let program: SetterProgram
    private let file: String

    init() throws {
        program = try SetterProgram()
        file = try program.home.write(
            "state/tweaks/tweak-setter/remote.json",
            """
            { "from": "https://flags.example/features.json", "loaded": "2026-01-01T00:00:00Z",
              "checked": "yesterday", "version": 7, "problem": "HTTP status 503",
              "values": { "Setter": { "Values": { "Count": 6, "Text": 1 } } },
              "reasons": { "Setter/Values/Count": "the file has it on for all" } }
            """)
    }

    private func expectExplanation(_ result: CommandResult) {
        #expect(result.succeeded && result.error.isEmpty)
        #expect(result.output.contains("Setter/Values/Count: 6, from remote\n"))
        #expect(result.output.contains(file))
        #expect(
            result.output.contains(
                "remote: from https://flags.example/features.json; version 7; loaded 2026-01-01T00:00:00Z, "))
        #expect(result.output.contains(" days ago; checked yesterday\n"))
        #expect(
            result.output.hasSuffix(
                "remote: nothing newer: HTTP status 503\nremote: the value: the file has it on for all\n"))
    }

    @Test func `A program that does not run`() throws {
        expectExplanation(try program.tweak("explain", "Setter/Values/Count"))
    }

    @Test func `A program that runs`() throws {
        let running = try RunningSetter(program)
        expectExplanation(try running.tweak("explain", "Setter/Values/Count"))
    }

    @Test func `As JSON`() throws {
        let result = try program.tweak("explain", "--format", "json", "Setter/Values/Count")
        let json = try #require(
            JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(json["source"] as? String == "remote")
        let provided = try #require(json["provided"] as? [[String: Any]])
        #expect(provided.first?["file"] as? String == file)
        #expect(provided.first?["problem"] as? String == "HTTP status 503")
        #expect(provided.first?["reason"] as? String == "the file has it on for all")
    }

    private func provide(_ values: String, _ reason: String) throws {
        // As an agent does it: whole.
        let new = try program.home.write(
            "state/tweaks/tweak-setter/new",
            """
            { "values": { "Setter": { "Values": { \(values) } } }, "reasons": { "Setter/Values/Count": "\(reason)" } }
            """)
        rename(new, file)
    }

    @Test func `What a running program refuses is told apart from the value that it has`() throws {
        let running = try RunningSetter(program, environment: [:])
        running.expect("false 6 0.5 hello")
        try provide("\"Count\": 1.5, \"Flag\": true", "set by bob")
        running.expect("true 6 0.5 hello")
        let output = try running.tweak("explain", "Setter/Values/Count").output
        #expect(output.hasPrefix("Setter/Values/Count: 6, from remote\n"), "\(output)")
        let refused =
            "remote: the value now in the file is refused, and the previous one stays: Setter/Values/Count: 1.5 is not "
        #expect(output.contains(refused), "\(output)")
        #expect(output.hasSuffix("\nremote: the value in the file: set by bob\n"), "\(output)")
    }

    @Test func `A kill and a value of the fleet say who made them, when and why`() throws {
        try program.home.write(
            "state/tweaks/tweak-setter/fleet.json",
            """
            { "from": "etcd 1 /tweaks/production/tweak-setter/", "version": 110,
              "values": { "Setter": { "Values": { "Flag": true } } },
              "reasons": { "Setter/Values/Flag": "set by ann at 2026-11-25T17:00:00Z (revision 97): go live" },
              "kills": { "Setter": { "Values": { "Flag": false } } },
              "killReasons": { "Setter/Values/Flag": "killed by bob at 2026-11-25T18:00:00Z (revision 98): it is broken" } }
            """)
        let offline = try program.tweak("explain", "Setter/Values/Flag")
        let running = try RunningSetter(program)
        for result in [offline, try running.tweak("explain", "Setter/Values/Flag")] {
            #expect(result.output.hasPrefix("Setter/Values/Flag: false, from kill\n"), "\(result.output)")
            for line in [
                "kill: the value: killed by bob at 2026-11-25T18:00:00Z (revision 98): it is broken",
                "fleet: the value: set by ann at 2026-11-25T17:00:00Z (revision 97): go live",
            ] {
                #expect(result.lines.contains(line[...]), "\(result.output)")
            }
            // The revision of etcd is of no change.
            #expect(!result.output.contains("110"), "\(result.output)")
        }
        let json = try running.tweak("explain", "--format", "json", "Setter/Values/Flag").json
        let provided = try #require(json["provided"] as? [[String: Any]])
        #expect(provided.prefix(2).map { $0["source"] as? String } == ["kill", "fleet"])
        #expect((provided.first?["reason"] as? String)?.hasPrefix("killed by bob") == true)
    }

    @Test func `A number outside the limits is shown with what is allowed`() throws {
        try provide("\"Count\": 2000000", "set by bob")
        let offline = try program.tweak("explain", "Setter/Values/Count")
        for result in [offline, try RunningSetter(program).tweak("explain", "Setter/Values/Count")] {
            #expect(
                result.output.hasPrefix("Setter/Values/Count: 1000000, from remote\n"), "\(result.output)")
            let problem = "2000000 is outside the limits; allowed: an integer from 0 to 1000000"
            #expect(
                result.lines.contains { $0.hasPrefix("remote ") && $0.hasSuffix(problem) }, "\(result.output)"
            )
        }
    }

    @Test func `A file tells why it has no value for this host`() throws {
        try provide("", "not for this: percentage is 0; this host is at 33.7")
        let offline = try program.tweak("explain", "Setter/Values/Count")
        for result in [offline, try RunningSetter(program).tweak("explain", "Setter/Values/Count")] {
            #expect(result.output.hasPrefix("Setter/Values/Count: 5, from default\n"), "\(result.output)")
            let reason = "remote: no value: not for this: percentage is 0; this host is at 33.7\n"
            #expect(result.output.hasSuffix(reason), "\(result.output)")
        }
    }

    @Test func `An agent that has ended is told from one that is running`() throws {
        let lock = try program.home.write("state/tweaks/.agent/lock", "")
        let line = "remote: no tweak-agent is running, so nothing newer arrives\n"
        #expect(try program.tweak("explain", "Setter/Values/Count").output.hasSuffix(line))
        // Also where the file has no value.
        #expect(try program.tweak("explain", "Setter/Values/Flag").output.hasSuffix(line))
        let descriptor = open(lock, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        #expect(try !program.tweak("explain", "Setter/Values/Count").output.contains(line))
    }

    @Test func `A value that the tweak cannot take is not its value`() throws {
        let result = try program.tweak("get", "Setter/Values/Text")
        #expect(result.output.contains("hello"))
    }
}
