// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The command, and a program that does not run, beside which a file lists providers.
@Suite struct `A file beside a program that does not run` {
    private let home: TemporaryDirectory
    private let path: String

    init() throws {
        home = try TemporaryDirectory()
        path = home("flip")
        #expect(try run("/bin/cp", [SetterProgram.path, path], home: home).succeeded)
        try home.write(
            "features.json",
            """
            { "default": { "disabled_feature": { "enabled": false, "description": "to be switched on",
                                                 "part": { "enabled": true } } },
              "beta": { "inherits_from": "default", "disabled_feature": { "part": { "enabled": false } } } }
            """)
        try home.write(
            "variables.json",
            #"{ "general": { "answer": { "Title": "The answer", "Value": 42 } } }"#)
        try home.write(
            "values.json",
            """
            { "values": { "Features": { "search": { "limit": 20 } },
                          "Setter": { "Values": { "Count": 6 } } } }
            """)
        try list(
            #""override", { "features": "features.json", "environment": "beta" }, { "variables": ["variables.json"] }"#,
            #"{ "name": "fetched", "values": "values.json" }"#)
    }

    private func list(_ providers: String...) throws {
        try home.write(
            "flip.tweaks.json", "{ \"providers\": [ \(providers.joined(separator: ", ")) ] }")
    }

    private func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), [command, path] + arguments, home: home)
    }

    private func get(_ name: String) throws -> String {
        let result = try tweak("get", name)
        #expect(result.error.isEmpty)
        return result.output
    }

    @Test func `It says what features and variables there are`() throws {
        #expect(try get("disabled_feature") == "false\n")
        #expect(try get("disabled_feature/part") == "false\n")
        #expect(try get("general/answer") == "42\n")
        #expect(try get("search/limit") == "20\n")
        #expect(try get("Setter/Values/Count") == "6\n")
        let tweaks = try #require(try tweak("list", "--format", "json").json["tweaks"] as? [[String: Any]])
        let feature = tweaks.first { $0["tweak"] as? String == "Features/disabled_feature/enabled" }
        #expect(feature?["description"] as? String == "to be switched on")
        #expect(feature?["source"] as? String == "features.json")
        let explained = try tweak("explain", "general/answer").output
        #expect(explained.contains(home("variables.json")))
    }

    @Test func `What is encrypted there only the program knows`() throws {
        try home.write(
            "variables.json", #"{ "general": { "secret": { "Value": "olleh", "Encrypted": true } } }"#)
        #expect(try tweak("get", "general/secret").status == 65)
    }

    @Test func `What is set of them counts when the program starts`() throws {
        for (name, value) in [
            ("disabled_feature/enabled", "on"), ("general/answer", "7"), ("search/limit", "3"),
        ] {
            let result = try tweak("set", name, value)
            #expect(result.succeeded && result.error.isEmpty)
        }
        #expect(try get("disabled_feature") == "true\n")
        let set = try run(path, ["set", "Features/general/answer", "8"], home: home)
        #expect(set.succeeded && set.error.isEmpty)
        #expect(try get("general/answer") == "8\n")
        #expect(try tweak("set", "general/answer", "many").status == 65)
        #expect(try tweak("reset", "Features/").succeeded)
        #expect(try get("general/answer") == "42\n")
    }

    @Test func `What was set in an older system is imported`() throws {
        let older = try home.write(
            "older.json",
            #"{ "FTS_FEATURE_disabled_feature": true, "lib.fragments.userDefaultsKey.answer": 7 }"#)
        let result = try tweak("import", older)
        #expect(result.output == "2 tweaks were set\n" && result.error.isEmpty)
        #expect(try get("disabled_feature") == "true\n")
        #expect(try get("general/answer") == "7\n")
    }

    @Test func `A start can have values of them`() throws {
        let result = try run(
            Locations.product("tweak"),
            ["exec", "--set", "general/answer=7", "--set", "disabled_feature=on", path, "show"], home: home)
        #expect(result.succeeded && result.error.isEmpty)
        #expect(
            try run(Locations.product("tweak"), ["exec", "--set", "nothing/answer=7", path], home: home)
                .status
                == 65)
    }

    @Test func `Its order is the program's`() throws {
        #expect(try tweak("set", "Setter/Values/Count", "7").succeeded)
        func count(_ providers: String...) throws -> String {
            try home.write(
                "flip.tweaks.json", "{ \"providers\": [ \(providers.joined(separator: ", ")) ] }")
            let shown = try run(path, ["show"], home: home).output.split(separator: " ")[1]
            #expect(try get("Setter/Values/Count") == shown + "\n")
            return String(shown)
        }
        let fetched = #"{ "name": "fetched", "values": "values.json" }"#
        #expect(try count(fetched) == "7")
        #expect(try count(fetched, #""override""#) == "6")
        try home.write(
            "state/tweaks/flip/remote.json", #"{ "values": { "Setter": { "Values": { "Count": 8 } } } }"#)
        #expect(try tweak("reset", "Setter/Values/Count").succeeded)
        #expect(try count(fetched) == "8")
        #expect(try count(fetched, #""override""#) == "6")
        #expect(try count(#""override""#, fetched, #""remote""#) == "6")
    }

    @Test func `One that is broken is said, and left out as the program does`() throws {
        try list(#"{ "features": "features.json", "environment": "x" }"#)
        let result = try tweak("get", "Setter/Values/Count")
        #expect(result.output == "5\n")
        #expect(result.error.contains("unknown environment \"x\"; it has beta, default"))
    }
}
