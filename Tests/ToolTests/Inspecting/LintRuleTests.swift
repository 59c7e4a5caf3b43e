// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Rules of tweak-dump --lint` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// The kinds and messages of what is found, without the path.
    private func findings(_ tweaks: [AssembledTweak], _ arguments: String...) throws -> [String] {
        let object = try AssembledTweak.object(tweaks, home: home)
        let result = try dump(["--lint", "--strict"] + arguments + [object], home: home)
        #expect(result.status == (result.output.isEmpty ? 0 : 65))
        return result.output.split(separator: "\n").map {
            $0.hasPrefix("\(object): ") ? String($0.dropFirst(object.utf8.count + 2)) : String($0)
        }
    }

    private static let described = "doc=what it does"

    @Test(arguments: ["count", "Co unt", " COUNT "])
    func `Names that differ in case or blanks are found, with both places`(name: String) throws {
        #expect(
            try findings([
                .integer("Count", 1, Self.described, "at=a.c:1"),
                .integer(name, 1, Self.described, "at=b.c:2"),
                .integer("Counts", 1, Self.described),
            ]) == [
                "Test/Values/\(name): differs from Test/Values/Count at a.c:1 only in case or spaces "
                    + "[similarNames]"
            ])
    }

    @Test func `A tweak without a description is found once`() throws {
        #expect(
            try findings([.integer("Count", 1), .integer("Count", 1), .integer("Good", 1, Self.described)])
                == [
                    "Test/Values/Count: it has no description [noDescription]"
                ])
    }

    @Test func `A text that is not UTF-8 is found`() throws {
        #expect(
            try findings([.integer("Count", 1, "doc=\\377"), .integer("Good", 1, "doc=Größe")])
                == ["Test/Values/Count: a text is not UTF-8 [notUTF8]"])
        #expect(
            try findings([.integer("Level", 1, Self.described, "choice=", "choice=", choices: [1, -1])])
                .isEmpty)
    }

    @Test func `A record of an unknown kind is found, and padding is not`() throws {
        var unknown = AssembledTweak.integer("Later", 1)
        unknown.kind = 200
        var padding = AssembledTweak.integer("Padding", 1)
        padding.kind = 0
        let found = try findings([padding, unknown])
        #expect(found.count == 1)
        #expect(
            found.first?.hasSuffix("unknown kind 200, which programs ignore [unknownRecord]") == true)
    }

    @Test func `A record of an unknown version is found`() throws {
        let object = try AssembledTweak.object([.integer("Later", 1, Self.described)], home: home)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: object))
        let text = try #require(bytes.range(of: Data("Test\0Values".utf8)))
        bytes[text.lowerBound - 48 + 4] = 9
        let result = try dump(["--lint", home.write("later.o", bytes)], home: home)
        #expect(result.status == 65)
        #expect(result.output.contains(": record at offset 0: unknown version 9, "))
    }

    @Test func `A monitor that is stored in several places is found`() throws {
        var monitors = [1, 2, 2].map { AssembledTweak.integer("Load", 0, Self.described, "at=a.c:\($0)") }
        for index in monitors.indices { monitors[index].kind = 3 }
        #expect(
            try findings(monitors) == [
                "Test/Values/Load: a monitor is stored at a.c:1 and at a.c:2; the first one is used [severalMonitors]"
            ])
    }

    @Test func `An option that is not taken is found`() throws {
        #expect(
            try findings([
                .integer("Few", 1, Self.described, "precision=2"),
                .double("Cubic", 1, Self.described, "scale=cubic"),
                .double("Zero", 1, Self.described, "scale=log").limits(".double 0", ".double 10"),
                .double("Good", 1, Self.described, "scale=log", "precision=2").limits(
                    ".double 1", ".double 10"),
                .string("Text", "a", Self.described, "scale=linear", "pair=Good"),
            ]) == [
                #"Test/Values/Few: the precision "2" is ignored; allowed: 0 to 17, of a float or double [ignoredOption]"#,
                #"Test/Values/Cubic: the scale "cubic" is ignored; "# + Self.scales,
                #"Test/Values/Zero: the scale "log" is ignored; "# + Self.scales,
                #"Test/Values/Text: the scale "linear" is ignored; "# + Self.scales,
                #"Test/Values/Text: the pair "Good" is ignored; allowed: a name, of a number [ignoredOption]"#,
            ])
    }

    private static let scales =
        "allowed: linear, or log with a minimum above 0, of a number [ignoredOption]"

    @Test func `A pair that is not another number of the collection is found`() throws {
        var monitor = AssembledTweak.integer("Load", 0, Self.described)
        monitor.kind = 3
        let found = try findings([
            .integer("X", 1, Self.described, "pair=Y"), .integer("Y", 1, Self.described),
            .integer("Self", 1, Self.described, "pair=Self"), .integer("Lost", 1, Self.described, "pair=Z"),
            .integer("Text", 1, Self.described, "pair=Word"), .string("Word", "a", Self.described),
            .integer("Fixed", 1, Self.described, "pair=Constant"),
            .integer("Constant", 1, Self.described, "read-only"),
            .integer("Seen", 1, Self.described, "pair=Load"), monitor,
        ])
        let ignored = [
            ("Self", "Self"), ("Lost", "Z"), ("Text", "Word"), ("Fixed", "Constant"), ("Seen", "Load"),
        ]
        #expect(
            found
                == ignored.map { name, pair in
                    "Test/Values/\(name): the pair \"\(pair)\" is ignored; "
                        + "allowed: another number of the collection, which can be set [ignoredOption]"
                })
    }

    @Test func `A rule that is ignored does not count`() throws {
        #expect(try findings([.integer("Count", 1)], "--ignore", "noDescription").isEmpty)
        #expect(
            try findings([.integer("Count", 1, "expires=2001-01-01")], "--ignore", "noDescription")
                .map { $0.hasSuffix("[expired]") } == [true])
    }

    @Test func `Advice fails only where that is asked for`() throws {
        let advised = try AssembledTweak.object([.integer("Count", 1)], home: home)
        #expect(try dump(["--lint", advised], home: home).status == 0)
        #expect(try dump(["--lint", "--strict", advised], home: home).status == 65)
        #expect(
            try dump(["--lint", "--strict", "--ignore", "noDescription", advised], home: home).status == 0)
        let wrong = try AssembledTweak.object([.integer("Count", 1, "expires=2001-01-01")], home: home)
        #expect(try dump(["--lint", wrong], home: home).status == 65)
        #expect(try dump(["--strict", advised], home: home).status == 64)
    }

    @Test func `The kinds of JSON are the names of the rules`() throws {
        let object = try AssembledTweak.object([.integer("Count", 1)], home: home)
        let output = try dump(["--lint", "--format", "json", object], home: home).output
        #expect(output.contains(#""kind" : "noDescription""#))
    }

    @Test func `The help names every rule`() throws {
        let help = try dump(["--help"], home: home).output
        for rule in [
            "similarNames", "noDescription", "notUTF8", "unknownRecord", "severalMonitors", "ignoredOption",
            "severalGates", "idleGate",
        ] {
            #expect(help.contains(rule))
        }
    }
}
