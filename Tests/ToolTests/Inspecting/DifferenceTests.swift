// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak-dump --diff` {
    private let home: TemporaryDirectory
    private let old: String

    init() throws {
        home = try TemporaryDirectory()
        old = try AssembledTweak.object(
            [
                .integer("Same", 1), .integer("Gone", 1, "at=a.c:1"), .integer("Default", 1),
                .double("Limits", 1).limits(".double 0", ".double 1"),
                .integer("Choices", 1, "choice=", "choice=", choices: [1, 2]), .integer("Type", 1),
                .integer("Unit", 1, "unit=kg", "scale=linear"), .integer("Place", 1, "at=a.c:1"),
            ], name: "old", home: home)
    }

    private func new() throws -> String {
        try AssembledTweak.object(
            [
                .integer("Same", 1), .integer("Default", 2),
                .double("Limits", 1).limits(".double 0", ".double 2"),
                .integer("Choices", 1, "choice=", "label=one", "choice=", choices: [1, 3]),
                .double("Type", 1),
                .integer("Unit", 1, "unit=g", "pair=Same"), .integer("Place", 1, "at=b.c:9", "doc=new"),
                .double("Added", 1.5, "at=b.c:2").limits(".double 0", ".double 2"),
            ], name: "new", home: home)
    }

    @Test func `Of two files it says what is added, gone and changed`() throws {
        let result = try dump(["--diff", old, new()], home: home)
        #expect(result.status == 1)
        #expect(result.error.isEmpty)
        #expect(
            result.output == """
                Test/Values/Added: added, double 1.5 0.0…2.0, at b.c:2
                Test/Values/Choices: choices 1 | 2 → 1 (one) | 3
                Test/Values/Default: default 1 → 2
                Test/Values/Gone: removed, int64 1, at a.c:1
                Test/Values/Limits: maximum 1.0 → 2.0
                Test/Values/Type: type int64 → double, default 1 → 1.0
                Test/Values/Unit: unit kg → g, scale linear → none, pair none → Same

                """)
    }

    @Test func `Of the same it says nothing`() throws {
        let result = try dump(["--diff", old, old], home: home)
        #expect(result.status == 0)
        #expect(result.output.isEmpty && result.error.isEmpty)
    }

    @Test func `JSON has both sides`() throws {
        let result = try dump(["--diff", "--format", "json", old, new()], home: home)
        #expect(result.status == 1)
        let document =
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: [[String: Any]]]
        let differences = try #require(document?["differences"])
        #expect(
            differences.map { $0["kind"] as? String } == [
                "added", "changed", "changed", "gone", "changed", "changed", "changed",
            ])
        #expect(differences[0].keys.sorted() == ["kind", "new", "tweak"])
        #expect(differences[1].keys.sorted() == ["fields", "kind", "new", "old", "tweak"])
        #expect(differences[3].keys.sorted() == ["kind", "old", "tweak"])
        #expect(differences[4]["fields"] as? [String] == ["maximum"])
        #expect((differences[4]["new"] as? [String: Any])?["maximum"] as? Double == 2)
        let same = try dump(["--diff", "--format", "json", old, old], home: home)
        #expect(same.status == 0)
    }

    @Test func `A selection counts on both sides`() throws {
        let result = try dump(["--diff", "--name", "*/Default", old, new()], home: home)
        #expect(result.output == "Test/Values/Default: default 1 → 2\n")
    }

    @Test func `Folders are compared with --recursive`() throws {
        try FileManager.default.createDirectory(atPath: home("a"), withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: old, toPath: home("a/old.o"))
        #expect(try dump(["--diff", "--recursive", home("a"), old], home: home).status == 0)
    }

    @Test func `A side that is missing counts more than differences`() throws {
        let result = try dump(["--diff", home("missing"), old], home: home)
        #expect(result.status == 66)
    }
}

@Suite struct `tweak-dump --forbid` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    @Test func `A file without records passes`() throws {
        let object = try AssembledTweak.object([], home: home)
        let result = try dump(["--forbid", object], home: home)
        #expect(result.status == 0)
        #expect(result.output.isEmpty && result.error.isEmpty)
    }

    @Test func `Each record is said, and the status is 1`() throws {
        var unknown = AssembledTweak.integer("Later", 1)
        unknown.kind = 200
        let object = try AssembledTweak.object(
            [.integer("Count", 1, "at=a.c:1"), .action("Run"), unknown], home: home)
        let result = try dump(["--forbid", object], home: home)
        #expect(result.status == 1)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(
            lines.prefix(2) == [
                "\(object): Test/Values/Count, declared at a.c:1", "\(object): Test/Values/Run",
            ])
        #expect(lines.last?.hasSuffix(" of version 1 and kind 200") == true)
    }

    @Test func `JSON lists the same`() throws {
        let object = try AssembledTweak.object([.integer("Count", 1)], home: home)
        let result = try dump(["--forbid", "--format", "json", object], home: home)
        #expect(result.status == 1)
        #expect(result.output.contains(#""kind" : "forbiddenRecord""#))
    }

    @Test func `Of a folder all files are checked`() throws {
        _ = try AssembledTweak.object([.integer("Count", 1)], name: "sub/deep/a", home: home)
        _ = try AssembledTweak.object([], name: "sub/b", home: home)
        let result = try dump(["--forbid", "--recursive", home("sub")], home: home)
        #expect(result.status == 1)
        #expect(result.output.split(separator: "\n").count == 1)
    }

    @Test func `A record of impossible size does not pass`() throws {
        var bytes = [UInt8](repeating: 0, count: 64)
        bytes[0] = 7
        let file = ForgedELF([ForgedELF.Section("fbtweak", bytes)])
        let result = try dump(["--forbid", home.write("a.o", Data(file.bytes))], home: home)
        #expect(result.status != 0)
        #expect(result.output.contains("an invalid size of 7 bytes"))
    }
}
