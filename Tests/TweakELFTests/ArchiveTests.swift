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

    @Test func `A nested archive is noted as not read`() throws {
        try ar("rc", "inner.a", "one.o")
        try ar("rcT", "thin.a", "one.o")
        try ar("rc", "outer.a", "inner.a", "two.o", "thin.a")
        let found = try inspect("outer.a")
        #expect(found.members == ["outer.a(two.o)"])
        #expect(
            found.notes == [
                "outer.a(inner.a): not read: an archive in an archive",
                "outer.a(thin.a): not read: an archive in an archive",
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

    @Test func `Other members of a thin archive are noted as not read`() throws {
        try home.write("notes.txt", "no object\n")
        let members = ["notes.txt", "sub", "one.o", "/dev/null"].map { ($0, Int?.none) }
        try home.write("thin.a", Data(ForgedArchive.thin(members)))
        let found = try inspect("thin.a")
        #expect(found.names == ["one"])
        #expect(
            found.notes
                == ["notes.txt", "sub", "/dev/null"].map { "thin.a(\($0)): not read: not an ELF file" })
    }

    @Test func `Members that are not ELF objects are noted as not read, and the others read`() throws {
        let bitcode: [UInt8] = [0x42, 0x43, 0xC0, 0xDE, 0, 0, 0, 0]
        let object = Self.object("one")
        try home.write(
            "lib.a",
            Data(
                ForgedArchive.bytes([
                    ("text", Array("no object".utf8)), ("empty", []), ("bitcode", bitcode),
                    ("wrapped", [0xDE, 0xC0, 0x17, 0x0B] + bitcode), ("start", [0x7F, 0x45, 0x4C, 0x46]),
                    ("cut", Array(object.prefix(100))), ("one", object),
                ])))
        let found = try inspect("lib.a")
        #expect(found.names == ["one"])
        #expect(found.notes.count == 6)
        let reasons = [
            "text): not read: not an ELF file", "empty): not read: it is empty",
            "bitcode): not read: not compiled yet: it holds LLVM bitcode",
            "wrapped): not read: not compiled yet: it holds LLVM bitcode", "start): broken ELF file: ",
            "cut): broken ELF file: ",
        ]
        for (note, reason) in zip(found.notes, reasons) { #expect(note.hasPrefix("lib.a(" + reason)) }
    }

    @Test func `An unread member is an error for a reader that notes none`() throws {
        try home.write("lib.a", Data(ForgedArchive.bytes([("text", Array("no object".utf8))])))
        #expect(throws: ELFError.unread(path: home("lib.a") + "(text)", reason: "not an ELF file")) {
            try ELFFile(path: home("lib.a")).forEachObject { _ in }
        }
    }

    @Test func `The names of an archive in the form of BSD are in front of the members`() throws {
        let (object, name) = (Self.object("one"), "a name with blanks, and a long one.o")
        var bytes = Array("!<arch>\n".utf8)
        let table = ForgedELF.little(UInt32(0)) + ForgedELF.little(UInt32(0))
        bytes += ForgedArchive.header("__.SYMDEF", size: table.count) + table
        for padding in [0, 3] {
            let size = name.utf8.count + padding
            bytes += ForgedArchive.header("#1/\(size)", size: size + object.count)
            bytes += Array(name.utf8) + [UInt8](repeating: 0, count: padding) + object
            if (size + object.count) % 2 == 1 { bytes.append(UInt8(ascii: "\n")) }
        }
        bytes += ForgedArchive.header("short.o", size: object.count) + object
        try home.write("bsd.a", Data(bytes))
        let found = try inspect("bsd.a")
        #expect(found.members == ["bsd.a(\(name))", "bsd.a(\(name))", "bsd.a(short.o)"])
        #expect(found.names == ["one", "one", "one"])
        #expect(found.notes == [])
        try home.write(
            "bsd.a", Data("!<arch>\n".utf8) + Data(ForgedArchive.header("#1/90", size: 8)) + Data(count: 8))
        #expect(throws: ELFError.self) { try inspect("bsd.a") }
    }

    @Test(arguments: ["rc", "rcT"])
    func `An archive that is cut off anywhere is an error`(operation: String) throws {
        try ar(operation, "whole.a", "one.o", "two.o", "sub/three.o")
        let whole = try Data(contentsOf: URL(fileURLWithPath: home("whole.a")))
        // The start alone is an archive without members.
        for count in stride(from: 9, to: whole.count, by: 1) {
            try home.write("cut.a", whole.prefix(count))
            let found = try? inspect("cut.a")
            // Without symbols, nothing tells that members are missing at the end.
            #expect(found == nil || found?.members.count ?? 0 < 3, "cut off at \(count)")
        }
    }

    @Test(arguments: [false, true], ["/", "/SYM64/", "__.SYMDEF", "__.SYMDEF_64"])
    func `A table that names a member beyond the end shows that the archive is cut off`(
        isCut: Bool, name: String
    ) throws {
        let object = Self.object("one")
        let offset = isCut ? 100_000 : 100
        let big = { (number: UInt32) in Array(ForgedELF.little(number).reversed()) }
        let table: [UInt8]
        switch name {
        case "/": table = big(1) + big(UInt32(offset)) + [0x61, 0, 0, 0]
        case "/SYM64/": table = big(0) + big(1) + big(0) + big(UInt32(offset)) + [0x61, 0, 0, 0]
        case "__.SYMDEF":
            table = [8, 0, UInt32(offset), 2].flatMap { ForgedELF.little(UInt32($0)) } + [0x61, 0]
        default: table = [16, 0, UInt64(offset), 2].flatMap { ForgedELF.little(UInt64($0)) } + [0x61, 0]
        }
        try home.write(
            "lib.a",
            Data(
                Array("!<arch>\n".utf8) + ForgedArchive.header(name, size: table.count) + table
                    + ForgedArchive.header("one.o/", size: object.count) + object))
        if isCut {
            let error = #expect(throws: ELFError.self) { try inspect("lib.a") }
            #expect(error?.description.contains("its table names a member at 100000, beyond its end") == true)
        } else {
            #expect(try inspect("lib.a").names == ["one"])
        }
    }

    @Test func `Whole archives in a thin archive are noted as not read`() throws {
        try ar("rc", "inner.a", "one.o")
        try home.write("thin.a", Data(ForgedArchive.thin([("inner.a", nil), ("two.o", nil)])))
        let found = try inspect("thin.a")
        #expect(found.names == ["two"])
        #expect(found.notes == ["thin.a(inner.a): not read: an archive in an archive"])
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
