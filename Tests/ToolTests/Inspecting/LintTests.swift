// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak-dump --lint` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func object(_ name: String = "tweaks", _ tweaks: AssembledTweak...) throws -> String {
        try AssembledTweak.object(tweaks, name: name, home: home)
    }

    private func lint(_ arguments: String...) throws -> CommandResult {
        // What is assembled here has none.
        try dump(["--lint", "--ignore", "noDescription"] + arguments, home: home)
    }

    /// A tweak with everything in it that is right.
    private let good = AssembledTweak.double("Good", 1, "at=a.c:1", "expires=9999-12-31")
        .limits(".double 0", ".double 1")

    @Test func `Nothing is said of what is right`() throws {
        let result = try lint(object("a", good, good))
        #expect(result.status == 0)
        #expect(result.output.isEmpty && result.error.isEmpty)
    }

    @Test func `Declarations that differ are found in all files, with both places`() throws {
        let first = try object("a", .integer("Count", 1, "at=a.c:1"), good)
        let second = try object("b", .integer("Count", 2, "at=b.c:2"), .integer("Count", 1, "at=b.c:3"), good)
        let result = try lint(first, second)
        #expect(result.status == 65)
        #expect(
            result.output
                == "\(second): Test/Values/Count: declared differently at a.c:1 and at b.c:2 [differentDeclarations]\n"
        )
        #expect(result.error.isEmpty)
    }

    @Test func `A place that is not known is the file`() throws {
        let first = try object("a", .integer("Count", 1))
        let second = try object("b", .integer("Count", 2))
        #expect(
            try lint(first, second).output
                == "\(second): Test/Values/Count: declared differently at \(first) and at \(second) [differentDeclarations]\n"
        )
    }

    @Test func `Defaults that the tweak could not be set to are found`() throws {
        let file = try object(
            "a", .double("Ratio", 1.5).limits(".double 0", ".double 1"),
            .integer("Level", 3, "choice=", "choice=", choices: [1, 2]),
            .string("Face", "serif", "choice=mono"))
        let result = try lint(file)
        #expect(result.status == 65)
        #expect(
            result.output == """
                \(file): Test/Values/Ratio: the default 1.5 is not allowed; allowed: a number from 0.0 to 1.0 [defaultNotAllowed]
                \(file): Test/Values/Level: the default 3 is not allowed; allowed: one of 1, 2 [defaultNotAllowed]
                \(file): Test/Values/Face: the default "serif" is not allowed; allowed: one of "mono" [defaultNotAllowed]

                """)
    }

    @Test func `An expired tweak is found once`() throws {
        let old = AssembledTweak.integer("Old", 1, "expires=2001-01-31", "owner=anna")
        let file = try object("a", old, old)
        #expect(
            try lint(file).output
                == "\(file): Test/Values/Old: expired on 2001-01-31 (owner: anna); remove it [expired]\n")
    }

    @Test func `An invalid record is found and not reported twice`() throws {
        let file = try object("a", AssembledTweak(type: "99", name: "Bad"), good)
        let result = try lint(file)
        #expect(result.status == 65)
        #expect(result.output == "\(file): record at offset 0: unknown type 99 [invalidRecord]\n")
        #expect(result.error.isEmpty)
    }

    @Test func `The JSON form is one document`() throws {
        let bad = AssembledTweak(type: "99", name: "Bad")
        let file = try object("a", .integer("Count", 1, "at=a.c:1"), .integer("Count", 2, "at=b.c:2"), bad)
        let result = try lint("--format", "json", file)
        #expect(result.status == 65)
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: [[String: Any]]])
        #expect(document.keys.sorted() == ["findings"])
        let findings = try #require(document["findings"])
        #expect(findings.map { $0["kind"] as? String } == ["differentDeclarations", "invalidRecord"])
        #expect(findings.allSatisfy { $0["path"] as? String == file && $0["message"] is String })
        #expect(findings[0]["category"] as? String == "Test")
        #expect(findings[0]["collection"] as? String == "Values")
        #expect(findings[0]["name"] as? String == "Count")
        #expect(findings[0]["locations"] as? [String] == ["a.c:1", "b.c:2"])
        #expect(findings[1].keys.sorted() == ["kind", "message", "path"])
    }

    @Test func `A clean JSON form has no findings`() throws {
        let result = try lint("--format", "json", object("a", good))
        #expect(result.status == 0)
        let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: [Any]]
        #expect(document?["findings"]?.isEmpty == true)
    }

    @Test func `A file that is missing counts more than what is found`() throws {
        let file = try object("a", AssembledTweak(type: "99", name: "Bad"))
        let result = try lint(file, home("missing"))
        #expect(result.status == 66)
        #expect(result.error == "tweak-dump: \(home("missing")): No such file or directory\n")
        #expect(result.output.contains("unknown type 99"))
    }
}
