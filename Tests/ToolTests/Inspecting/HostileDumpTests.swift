// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Files that would take all time or memory, or keep something from being seen.
@Suite struct `tweak-dump and hostile files` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Runs `tweak-dump` with 200 MB of addresses at most.
    private func dumpWithLimit(_ arguments: String...) throws -> CommandResult {
        // A sanitizer takes more than there is.
        let limit = sanitizer == nil ? "ulimit -v 200000; " : ""
        return try run(
            "/bin/sh", ["-c", "\(limit)exec \"$0\" \"$@\"", Locations.product("tweak-dump")] + arguments,
            home: home)
    }

    /// The bytes of the section of an object file with tweaks.
    private func records(_ tweaks: [AssembledTweak]) throws -> [UInt8] {
        let object = try AssembledTweak.object(tweaks, name: UUID().uuidString, home: home)
        let bytes = object + ".bytes"
        let result = try run(
            Locations.program("objcopy"), ["-O", "binary", "-j", "fbtweak", object, bytes], home: home)
        try #require(result.succeeded, "\(result.error)")
        return Array(try Data(contentsOf: URL(fileURLWithPath: bytes)))
    }

    private func object(_ name: String, _ sections: [ForgedELF.Section]) throws -> String {
        try home.write(name, Data(ForgedELF(sections).bytes))
    }

    /// The same records with another default.
    private static func records(_ bytes: [UInt8], withDefault value: UInt8) -> [UInt8] {
        var bytes = bytes
        var offset = 0
        while offset + 48 <= bytes.count {
            let size = Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
            if size > 0 { bytes[offset + 16] = value }
            offset += max(size, 8)
        }
        return bytes
    }

    private let good = AssembledTweak.integer("Good", 1)

    @Test func `3,000 sections that share 1,000 records are one line`() throws {
        let records = ForgedELF.Section("fbtweak", try records((0..<1000).map { .integer("\($0)", 1) }))
        let path = try object(
            "shared.o", [records] + (0..<2999).map { _ in ForgedELF.Section("fbtweak", nil) })
        for arguments in [["--lint"], ["--format", "json"], []] {
            let result = try dump(arguments + [path], home: home)
            #expect(result.status == 65)
            #expect(
                result.error
                    == "tweak-dump: \(path): broken ELF file: sections 1 and 2, both fbtweak, overlap at offset 64\n"
            )
            #expect(result.output.utf8.count < 100)
        }
    }

    @Test func `200,000 tweaks are written with less memory than they would take at once`() throws {
        let some = try records((0..<1000).map { .integer("\($0)", 1) })
        // Each thousand has a default of its own, or they would be one row for each name.
        let section = ForgedELF.Section("fbtweak", (0..<200).flatMap { Self.records(some, withDefault: $0) })
        let path = try object("many.o", [section])
        let table = try dumpWithLimit(path)
        #expect(table.status == 0)
        #expect(table.output.split(separator: "\n").count == 200_003)
        let json = try dumpWithLimit("--format", "json", path)
        #expect(json.status == 0)
        #expect(json.output.split(separator: "\n").filter { $0.contains("\"tweak\" :") }.count == 200_000)
        #expect(json.output.hasSuffix("\n}\n"))
    }

    @Test func `One long name makes no other row long`() throws {
        let long = AssembledTweak.integer(String(repeating: "x", count: 60_000), 1)
        let path = try AssembledTweak.object([long] + (0..<500).map { .integer("\($0)", 1) }, home: home)
        let lines = try dump([path], home: home).output.split(separator: "\n")
        #expect(lines.count == 504)
        #expect(lines.filter { $0.utf8.count > 100 }.map(\.utf8.count).max() ?? 0 > 60_000)
        #expect(lines.filter { $0.utf8.count > 300 }.count == 1)
    }

    @Test func `A long place is not said in whole with each declaration that differs`() throws {
        let long = AssembledTweak.integer("Count", 0, "at=" + String(repeating: "x", count: 60_000))
        let path = try AssembledTweak.object(
            [long] + (1...500).map { .integer("Count", $0, "at=\($0)") }, home: home)
        let result = try dump(["--lint", "--ignore", "noDescription", path], home: home)
        #expect(result.output.split(separator: "\n").count == 500)
        #expect(result.output.utf8.count < 500_000)
    }

    @Test func `A section that cannot hold records is said, and is a finding`() throws {
        var section = ForgedELF.Section("fbtweak", try records([good]))
        section.flags = 0x403
        let path = try object("local.o", [section, ForgedELF.Section("fbtweak", try records([good]))])
        let message = "\(path): section 1, fbtweak: it is thread-local"
        let shown = try dump([path], home: home)
        #expect(shown.status == 65)
        #expect(shown.error == "tweak-dump: \(message)\n")
        #expect(shown.output.contains("Good"))
        let linted = try dump(["--lint", "--ignore", "noDescription", path], home: home)
        #expect(linted.status == 65)
        #expect(linted.output == "\(message) [unusableSection]\n")
        #expect(linted.error == "")
        let json = try dump(["--lint", "--format", "json", path], home: home)
        #expect(json.output.contains(#""kind" : "unusableSection""#))
    }

    /// An archive with a good member, one whose sections overlap, and another good one.
    private func halfBrokenArchive() throws -> String {
        let good = try Data(contentsOf: URL(fileURLWithPath: AssembledTweak.object([good], home: home)))
        let sections = [
            ForgedELF.Section("fbtweak", try records([self.good])), ForgedELF.Section("fbtweak", nil),
        ]
        let members = [("a.o", Array(good)), ("b.o", ForgedELF(sections).bytes), ("c.o", Array(good))]
        return try home.write("half.a", Data(ForgedArchive.bytes(members)))
    }

    @Test func `What comes before something broken is shown`() throws {
        let path = try halfBrokenArchive()
        let result = try dump([path], home: home)
        #expect(result.status == 65)
        #expect(result.output.contains("\(path)(a.o) (x86_64)\n"))
        #expect(result.error.contains("\(path)(b.o): broken ELF file: sections 1 and 2"))
    }

    @Test(arguments: [["--format", "json"], ["--format", "json", "--lint", "--ignore", "noDescription"]])
    func `JSON is whole whatever is broken`(arguments: [String]) throws {
        let result = try dump(arguments + [halfBrokenArchive(), home("missing")], home: home)
        #expect(result.status == 66)
        let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: [Any]]
        #expect(json?.values.first?.count == (arguments.contains("--lint") ? 0 : 1))
    }

    @Test func `JSON that comes bit by bit is what it would be at once`() throws {
        let first = try AssembledTweak.object(
            [good, .string("Text", "a\u{1}\n")], name: "a\u{9}b", home: home)
        let second = try AssembledTweak.object([], name: "empty", home: home)
        let output = try dump(["--format", "json", first, second, first], home: home).output
        let value = try JSONSerialization.jsonObject(with: Data(output.utf8))
        let expected = try JSONSerialization.data(
            withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        #expect(output == String(decoding: expected, as: UTF8.self) + "\n")
    }

    @Test func `An archive in an archive is named and fails, and the others are shown`() throws {
        let object = try AssembledTweak.object([good], home: home)
        let ar = try Locations.program("ar")
        for arguments in [
            ["rc", home("inner.a"), object], ["rc", home("outer.a"), home("inner.a"), object],
        ] {
            #expect(try run(ar, arguments, home: home).succeeded)
        }
        let result = try dump([home("outer.a")], home: home)
        #expect(result.status == 65)
        #expect(
            result.error == "tweak-dump: \(home("outer.a"))(inner.a): not read: an archive in an archive\n")
        #expect(result.output.contains("\(home("outer.a"))(tweaks.o) (x86_64)\n"))
    }

    @Test func `Of a thin archive a member that is missing ends with status 66, and the others are shown`()
        throws
    {
        _ = try AssembledTweak.object([good], name: "sub/one", home: home)
        _ = try AssembledTweak.object([good], name: "two", home: home)
        let result = try run(
            Locations.program("ar"), ["rcT", "thin.a", "sub/one.o", "two.o"], home: home, in: home.path)
        try #require(result.succeeded)
        let whole = try run(Locations.product("tweak-dump"), ["thin.a"], home: home, in: home.path)
        #expect(whole.status == 0)
        #expect(
            whole.output.contains("thin.a(sub/one.o) (x86_64)\n") && whole.output.contains("thin.a(two.o) "))
        try FileManager.default.removeItem(atPath: home("sub/one.o"))
        let rest = try dump([home("thin.a")], home: home)
        #expect(rest.status == 66)
        #expect(rest.error == "tweak-dump: \(home("thin.a"))(sub/one.o): No such file or directory\n")
        #expect(rest.output.contains("\(home("thin.a"))(two.o) (x86_64)\n"))
    }
}
