// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakELF
import TweakRecords

@Suite struct `Archives` {
    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        for name in ["one", "two", "sub/three"] { try home.write("\(name).o", Data(Self.object(name))) }
    }

    private static func object(_ name: String) -> [UInt8] {
        ForgedELF([ForgedELF.Section("fbtweak", record(name))]).bytes
    }

    /// Runs `ar` in the folder of the objects.
    private func ar(_ arguments: String...) throws {
        let result = try run(Locations.program("ar"), arguments, home: home, in: home.path)
        try #require(result.succeeded, "\(result.error)")
    }

    /// Inspects a file, whose path is not shown.
    private func inspect(_ name: String) throws -> (members: [String], names: [String], notes: [String]) {
        let file = try Inspection(home(name))
        let shown = { (text: String) in text.replacingOccurrences(of: home.path + "/", with: "") }
        return (
            file.objects.map { shown($0.path) }, file.objects.flatMap(\.tweaks).map(\.key.name),
            file.notes.map { shown("\($0)") }
        )
    }

    @Test func `A nested archive is skipped with a message`() throws {
        try ar("rc", "inner.a", "one.o")
        try ar("rcT", "thin.a", "one.o")
        try ar("rc", "outer.a", "inner.a", "two.o", "thin.a")
        let found = try inspect("outer.a")
        #expect(found.members == ["outer.a(two.o)"])
        #expect(
            found.notes == [
                "outer.a(inner.a): skipped: an archive in an archive",
                "outer.a(thin.a): skipped: an archive in an archive",
            ])
    }

    @Test func `The members of a thin archive are relative to its folder`() throws {
        try ar("rcT", "thin.a", "one.o", "sub/three.o")
        try ar("rcT", "sub/thin.a", "one.o", home("two.o"))
        #expect(try inspect("thin.a").members == ["thin.a(one.o)", "thin.a(sub/three.o)"])
        #expect(try inspect("thin.a").names == ["one", "sub/three"])
        #expect(try inspect("thin.a").notes == [])
        #expect(try inspect("sub/thin.a").names == ["one", "two"])
    }

    @Test func `The members of a thin archive may be in other archives`() throws {
        try ar("rc", "inner.a", "one.o", "two.o")
        try ar("rcT", "thin.a", "inner.a", "sub/three.o")
        let found = try inspect("thin.a")
        #expect(
            found.members == ["thin.a(inner.a(one.o))", "thin.a(inner.a(two.o))", "thin.a(sub/three.o)"])
        #expect(found.names == ["one", "two", "sub/three"])
    }

    @Test func `The members of a thin archive may be in other thin archives`() throws {
        let headers = ForgedArchive.thin([("one.o", nil), ("two.o", nil)])
        try home.write("inner.a", Data(headers))
        let second = headers.count - 60
        try home.write("sub/middle.a", Data(ForgedArchive.thin([("../inner.a", second)])))
        let middle = ForgedArchive.thin([("../inner.a", second)]).count - 60
        try home.write(
            "outer.a", Data(ForgedArchive.thin([("sub/middle.a", middle), ("inner.a", second - 60)])))
        #expect(try inspect("outer.a").names == ["two", "one"])
    }

    @Test func `A thin archive that contains itself is an error`() throws {
        let origin = ForgedArchive.thin([("thin.a", 100)]).count - 60
        let bytes = ForgedArchive.thin([("thin.a", origin)])
        try #require(bytes.count - 60 == origin)
        try home.write("thin.a", Data(bytes))
        let error = #expect(throws: ELFError.self) { try inspect("thin.a") }
        #expect(error?.description.contains("more than 8 archives are nested") == true)
    }

    @Test func `A missing member of a thin archive is reported and the others read`() throws {
        try ar("rcT", "thin.a", "one.o", "two.o")
        try FileManager.default.removeItem(atPath: home("one.o"))
        let found = try inspect("thin.a")
        #expect(found.members == ["thin.a(two.o)"])
        #expect(found.notes == ["thin.a(one.o): No such file or directory"])
    }

    @Test func `A member of a thin archive is read once, under any paths`() throws {
        try FileManager.default.createSymbolicLink(atPath: home("link.o"), withDestinationPath: home("one.o"))
        let members = ["one.o", "./one.o", "sub/../one.o", "link.o", home("one.o")].map { ($0, Int?.none) }
        try home.write("thin.a", Data(ForgedArchive.thin(members)))
        let found = try inspect("thin.a")
        #expect(found.names == ["one"])
        #expect(found.notes.count == 4)
        #expect(found.notes.allSatisfy { $0.hasSuffix("): skipped: it is listed twice") })
    }

    @Test func `Other members of a thin archive are skipped`() throws {
        try home.write("notes.txt", "no object\n")
        let members = ["notes.txt", "sub", "one.o", "/dev/null"].map { ($0, Int?.none) }
        try home.write("thin.a", Data(ForgedArchive.thin(members)))
        let found = try inspect("thin.a")
        #expect(found.names == ["one"])
        #expect(found.notes == [])
    }

    @Test func `Whole archives in a thin archive are skipped with a message`() throws {
        try ar("rc", "inner.a", "one.o")
        try home.write("thin.a", Data(ForgedArchive.thin([("inner.a", nil), ("two.o", nil)])))
        let found = try inspect("thin.a")
        #expect(found.names == ["two"])
        #expect(found.notes == ["thin.a(inner.a): skipped: an archive in an archive"])
    }

    @Test(arguments: [-1, 0, 7, 8, 9, 100, 1 << 40, Int.max])
    func `An offset in another archive where no member begins is an error`(origin: Int) throws {
        try home.write("inner.a", Data(ForgedArchive.bytes([("text", Array("no member".utf8))])))
        try home.write("thin.a", Data(ForgedArchive.thin([("inner.a", origin)])))
        if origin == 8 {
            #expect(try inspect("thin.a").members == [])
        } else {
            #expect(throws: ELFError.self) { try inspect("thin.a") }
        }
    }

    @Test func `An offset in a file that is not an archive is an error`() throws {
        try home.write("thin.a", Data(ForgedArchive.thin([("one.o", 8)])))
        let error = #expect(throws: ELFError.self) { try inspect("thin.a") }
        #expect(error?.description.contains("one.o is not an archive") == true)
    }

    @Test func `A thin archive without members has no objects`() throws {
        try home.write("thin.a", "!<thin>\n")
        #expect(try inspect("thin.a").members == [])
    }

    @Test func `A long name shared by many members is an error`() throws {
        let name = Array(String(repeating: "x", count: 100_000).utf8)
        var bytes = Array("!<arch>\n".utf8) + ForgedArchive.header("//", size: name.count + 2) + name
        bytes += Array("/\n".utf8)
        for _ in 0..<1000 { bytes += ForgedArchive.header("/0", size: 0) }
        try home.write("long.a", Data(bytes))
        let error = #expect(throws: ELFError.self) { try inspect("long.a") }
        #expect(error?.description.contains("is too long") == true)
    }

    @Test func `Corrupt bytes give a result or an error`() throws {
        try ar("rc", "inner.a", "one.o", "two.o")
        let archives = [
            ForgedArchive.bytes([("one.o", Self.object("one")), ("two.o", Self.object("two"))]),
            ForgedArchive.thin([("one.o", nil), ("inner.a", 70), ("sub/three.o", nil)]),
        ]
        for bytes in archives.flatMap({ damaged($0, count: isLong ? 4000 : 500) }) {
            try home.write("archive.a", Data(bytes))
            _ = try? Inspection(home("archive.a"))
        }
    }
}
