// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What the commands show of tweaks that say more than a type, a default and limits.
@Suite struct `Tweaks with choices, units and descriptions` {
    private let home: TemporaryDirectory
    private let object: String

    init() throws {
        home = try TemporaryDirectory()
        object = try AssembledTweak.object(
            [
                .double(
                    "Mass", 1, "unit=kg", "precision=2", "scale=log", "pair=Plain", "doc=what hangs on it",
                    "at=a.c:1"
                )
                .limits(".double 0.125", ".double 100"),
                .integer(
                    "Level", 2, "choice=", "label=easy", "choice=", "label=hard", "needs-restart", "at=a.c:2",
                    choices: [1, 2]),
                .string("Face", "mono", "choice=mono", "choice=sans", "label=Sans Serif", "at=a.c:3"),
                .color("Accent", "0x33, 0x66, 0xcc, 0xff", "read-only", "at=a.c:4"),
                .action("Clear", "at=a.c:5"),
                .integer("Plain", 7, "owner=anna", "expires=9999-12-31", "at=a.c:6"),
            ], home: home)
    }

    private func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), [command] + arguments, home: home)
    }

    private func json(_ result: CommandResult) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    }

    @Test func `tweak-dump shows them in its table`() throws {
        let result = try dump([object], home: home)
        #expect(result.status == 0)
        #expect(
            result.output == """
                \(object) (x86_64)
                    NAME    TYPE    DEFAULT   LIMITS                        NOTES          DECLARED AT  DESCRIPTION
                  Test / Values
                    Mass    double  1.00 kg   0.125…100.0                                  a.c:1        what hangs on it
                    Level   int64   2 (hard)  1 (easy) | 2 (hard)           needs restart  a.c:2
                    Face    string  "mono"    "mono" | "sans" (Sans Serif)                 a.c:3
                    Accent  color   #3366cc                                 read-only      a.c:4
                    Clear   action                                                         a.c:5
                    Plain   int64   7                                                      a.c:6

                """)
    }

    @Test func `tweak list shows them in its table`() throws {
        #expect(try tweak("set", object, "Test/Values/Mass", "1.2345").status == 0)
        let result = try tweak("list", object)
        #expect(result.error.isEmpty)
        #expect(
            result.output == """
                    NAME    VALUE     DEFAULT   TYPE    LIMITS                        FROM      NOTES          DESCRIPTION
                  Test / Values
                    Mass    1.23 kg   1.00 kg   double  0.125…100.0                   override                 what hangs on it
                    Level   2 (hard)  2 (hard)  int64   1 (easy) | 2 (hard)                     needs restart
                    Face    "mono"    "mono"    string  "mono" | "sans" (Sans Serif)
                    Accent  #3366cc   #3366cc   color                                           read-only
                    Clear                       action
                    Plain   7         7         int64

                """)
    }

    @Test func `Many choices are not all in the table`() throws {
        var many = AssembledTweak.integer("Many", 1000, choices: Array(1000..<1030))
        many.attributes = many.choices.map { _ in "choice=" }
        let object = try AssembledTweak.object([many], name: "many", home: home)
        #expect(
            try dump([object], home: home).output.contains(
                " 1000 | 1001 | 1002 | 1003 | 1004 | 1005 | … 24 more\n"))
    }

    @Test func `get prints the value as it is`() throws {
        #expect(try tweak("set", object, "Test/Values/Mass", "1.2345").status == 0)
        #expect(try tweak("get", object, "Test/Values/Mass").output == "1.2345\n")
        #expect(try tweak("get", object, "Test/Values/Level").output == "2\n")
        #expect(try tweak("get", object, "Test/Values/Accent").output == "#3366cc\n")
        #expect(try tweak("get", object, "Test/Values/Clear").status == 65)
    }

    @Test func `The JSON forms say all of it, and nothing that is not there`() throws {
        let images = try #require(
            try json(dump(["--format", "json", object], home: home))["images"] as? [[String: Any]])
        let dumped = try #require(images.first?["tweaks"] as? [[String: Any]])
        let listed = try #require(
            try json(tweak("list", "--format", "json", object))["tweaks"] as? [[String: Any]])
        // A dump has them by name.
        let declared = dumped.sorted { left, right in
            func place(_ tweak: [String: Any]) -> Int {
                listed.firstIndex { $0["tweak"] as? String == tweak["tweak"] as? String } ?? 0
            }
            return place(left) < place(right)
        }
        for tweaks in [declared, listed] {
            let keys = tweaks.map { tweak in
                Set(tweak.keys).subtracting([
                    "tweak", "category", "collection", "name", "type", "default", "location", "value",
                    "source",
                ])
            }
            #expect(
                keys == [
                    ["minimum", "maximum", "unit", "precision", "scale", "pair", "description"],
                    ["choices", "needsRestart"],
                    ["choices"], ["readOnly"], [], ["owner", "expires"],
                ])
            #expect(tweaks[0]["unit"] as? String == "kg")
            #expect(tweaks[0]["precision"] as? Int == 2)
            #expect(tweaks[0]["scale"] as? String == "log")
            #expect(tweaks[0]["pair"] as? String == "Plain")
            #expect(tweaks[0]["description"] as? String == "what hangs on it")
            let choices = try #require(tweaks[1]["choices"] as? [[String: Any]])
            #expect(choices.map { $0["value"] as? Int } == [1, 2])
            #expect(choices.map { $0["label"] as? String } == ["easy", "hard"])
            #expect(tweaks[1]["needsRestart"] as? Bool == true)
            #expect((tweaks[2]["choices"] as? [[String: Any]])?.first?.keys.sorted() == ["value"])
            #expect(tweaks[3]["default"] as? String == "#3366cc")
            #expect(tweaks[3]["readOnly"] as? Bool == true)
            #expect(tweaks[4]["type"] as? String == "action")
            #expect(tweaks[4]["default"] is NSNull)
            #expect(tweaks[5]["owner"] as? String == "anna")
            #expect(tweaks[5]["expires"] as? String == "9999-12-31")
        }
        #expect(listed[4]["value"] is NSNull)
    }

    @Test(arguments: [
        ("Level", "easy", "2 (hard) → 1 (easy)"), ("Level", "1", "2 (hard) → 1 (easy)"),
        ("Face", "Sans Serif", "\"mono\" → \"sans\" (Sans Serif)"), ("Mass", "1.001", "1.0 kg → 1.001 kg"),
    ])
    func `set says what it did`(name: String, value: String, change: String) throws {
        let result = try tweak("set", object, "Test/Values/" + name, value)
        #expect(result.status == 0)
        #expect(result.output == "Test/Values/\(name): \(change)\n")
    }

    @Test(arguments: [
        ("Level", "3", "3 is not among the choices; allowed: one of 1 (easy), 2 (hard)"),
        ("Accent", "#fff", "the tweak is read-only; its value is #3366cc"),
        ("Clear", "1", "an action has no value"),
    ])
    func `set refuses what a tweak cannot take`(name: String, value: String, message: String) throws {
        let result = try tweak("set", object, "Test/Values/" + name, value)
        #expect(result.status == 65)
        #expect(result.error == "tweak: Test/Values/\(name): \(message)\n")
    }

    @Test func `An action cannot be reset, but does not stop a reset of all`() throws {
        #expect(try tweak("set", object, "Test/Values/Plain", "8").status == 0)
        let result = try tweak("reset", object, "Test/Values/Plain", "Test/Values/Clear")
        #expect(result.status == 65)
        #expect(result.error == "tweak: Test/Values/Clear: an action has no value\n")
        #expect(try tweak("get", object, "Test/Values/Plain").output == "8\n")
        #expect(try tweak("reset", object, "--all").output == "Test/Values/Plain: 8 → 7\n")
    }

    @Test func `A colour is kept as a text`() throws {
        let object = try AssembledTweak.object([.color("Accent", "0, 0, 0, 0xff")], name: "c", home: home)
        #expect(
            try tweak("set", object, "Test/Values/Accent", "#36C8").output
                == "Test/Values/Accent: #000000 → #3366cc88\n")
        #expect(
            try String(contentsOfFile: home("config/tweaks/c.o/overrides.json"), encoding: .utf8)
                .contains("\"Accent\" : \"#3366cc88\""))
    }

    @Test func `Control characters of choices, units and descriptions do not reach the terminal`() throws {
        let object = try AssembledTweak.object(
            [
                .string("A", "x", "choice=x", #"label=\033[1m"#, #"choice=\007"#, #"doc=\033[2J\n"#),
                .double("B", 1, #"unit=\033]0"#),
            ], name: "evil", home: home)
        for result in try [
            dump([object], home: home), dump(["--lint", "--ignore", "noDescription", object], home: home),
            tweak("list", object),
            tweak("set", object, "Test/Values/A", "y"), tweak("set", object, "Test/Values/B", "2"),
        ] {
            let text = result.output + result.error
            #expect(text.contains(#"\u{"#) || text.isEmpty)
            #expect(
                text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        }
    }
}
