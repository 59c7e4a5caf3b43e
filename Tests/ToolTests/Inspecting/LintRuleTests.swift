import Foundation
import TestSupport
import Testing

@Suite struct `Rules of tweak-dump --lint` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// The kinds and messages of what is found, without the path.
    private func findings(_ tweaks: [AssembledTweak], _ arguments: String...) throws -> [String] {
        let object = try AssembledTweak.object(tweaks, home: home)
        let result = try dump(["--lint"] + arguments + [object], home: home)
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
                "Test/Values/\(name): named like Test/Values/Count at a.c:1 but for case or blanks [similarNames]"
            ])
    }

    @Test func `A tweak without a description is found once`() throws {
        #expect(
            try findings([.integer("Count", 1), .integer("Count", 1), .integer("Good", 1, Self.described)])
                == [
                    "Test/Values/Count: there is no description [noDescription]"
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
            found.first?.hasSuffix("unknown kind 200, which a program passes over [unknownRecord]") == true)
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
                "Test/Values/Load: a monitor is stored at a.c:1 and at a.c:2; the first one counts [severalMonitors]"
            ])
    }

    @Test func `A rule that is ignored does not count`() throws {
        #expect(try findings([.integer("Count", 1)], "--ignore", "noDescription").isEmpty)
        #expect(
            try findings([.integer("Count", 1, "expires=2001-01-01")], "--ignore", "noDescription")
                .map { $0.hasSuffix("[expired]") } == [true])
    }

    @Test func `The kinds of JSON are the names of the rules`() throws {
        let object = try AssembledTweak.object([.integer("Count", 1)], home: home)
        let output = try dump(["--lint", "--format", "json", object], home: home).output
        #expect(output.contains(#""kind" : "noDescription""#))
    }

    @Test func `The help names every rule`() throws {
        let help = try dump(["--help"], home: home).output
        for rule in ["similarNames", "noDescription", "notUTF8", "unknownRecord", "severalMonitors"] {
            #expect(help.contains(rule))
        }
    }
}
