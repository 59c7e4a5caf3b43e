// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakELF

@Suite struct `Kinds of files` {
    @Test(
        arguments: Compiler.allCases,
        [["-c"], ["-shared", "-fPIC"], ["-pie", "-fPIE"], ["-no-pie"], ["-static"], ["-g", "-c"]])
    func `Tweaks are found in objects, libraries and all kinds of executables`(
        compiler: Compiler, flags: [String]
    ) throws {
        let binaries = try Binaries()
        let file = try Inspection(binaries.build(flags, with: compiler))
        #expect(file.objects.count == 1)
        #expect(file.names == ["One", "Two"])
        #expect(file.objects.flatMap(\.recordErrors) == [])
    }

    @Test func `A stripped executable keeps its tweaks`() throws {
        let binaries = try Binaries()
        #expect(try Inspection(binaries.build(["-s", "-O2"])).names == ["One", "Two"])
    }

    @Test func `Tweaks survive the removal of unused code`() throws {
        let binaries = try Binaries()
        let flags = ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
        #expect(try Inspection(binaries.build(flags)).names == ["One", "Two"])
    }

    @Test func `A program without tweaks has none`() throws {
        let binaries = try Binaries()
        #expect(try Inspection(binaries.build(["-DFB_TWEAK_ENABLED=0"])).names == [])
    }

    @Test func `The objects of an archive are read, and other members noted`() throws {
        let binaries = try Binaries()
        let directory = binaries.directory
        let members = [
            try binaries.build(["-c"], name: "first.o"), try directory.write("notes.txt", "no object\n"),
            try directory.write("empty.txt", ""),
            try binaries.build(["-c"], with: .clang, name: "second with a long name.o"),
        ]
        let archive = directory("lib.a")
        #expect(try run(Locations.program("ar"), ["rc", archive] + members, home: directory).succeeded)
        let file = try Inspection(archive)
        #expect(
            file.objects.map(\.path) == ["\(archive)(first.o)", "\(archive)(second with a long name.o)"])
        #expect(file.names == ["One", "One", "Two", "Two"])
        #expect(
            file.notes.map(\.description)
                == ["notes.txt): not read: not an ELF file", "empty.txt): not read: it is empty"].map {
                    "\(archive)(\($0)"
                })
    }

    @Test func `Objects that only the linker compiles are noted, and their records read if they have any`()
        throws
    {
        let binaries = try Binaries()
        func build(_ compiler: Compiler, _ flags: String...) throws -> Inspection {
            try Inspection(binaries.build(["-c"] + flags, with: compiler, name: flags.joined() + ".o"))
        }
        let slim = try build(.gcc, "-flto", "-fno-fat-lto-objects")
        #expect(slim.objects.isEmpty)
        #expect(slim.notes.count == 1)
        #expect(slim.notes.first?.description.contains(".o: not read: not compiled yet: ") == true)
        let fat = try build(.gcc, "-flto", "-ffat-lto-objects")
        #expect(fat.names == ["One", "Two"] && fat.notes.isEmpty)
        let bitcode = #expect(throws: ELFError.self) { try build(.clang, "-flto") }
        #expect(bitcode?.description.contains(".o: not read: not compiled yet: ") == true)
        let directory = binaries.directory
        let plain = try binaries.build(["-c"], name: "plain.o")
        let arguments = ["-r", "-o", directory("mixed.o"), directory("-flto-fno-fat-lto-objects.o"), plain]
        try #require(try run(Locations.program("ld"), arguments, home: directory).succeeded)
        let mixed = try Inspection(directory("mixed.o"))
        #expect(mixed.names == ["One", "Two"] && mixed.notes.count == 1)
    }

    @Test func `An archive without members has no objects`() throws {
        let directory = try TemporaryDirectory()
        #expect(try Inspection(directory.write("lib.a", "!<arch>\n")).objects.isEmpty)
    }

    @Test func `The build id is the one given to the linker`() throws {
        let binaries = try Binaries()
        let file = try Inspection(binaries.build(["-Wl,--build-id=0x0123456789abcdef"]))
        #expect(file.objects.map(\.buildID) == [[0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]])
    }

    @Test func `A file without a build id has none`() throws {
        let binaries = try Binaries()
        #expect(try Inspection(binaries.build(["-Wl,--build-id=none"])).objects.map(\.buildID) == [nil])
    }

    @Test(
        arguments: Compiler.allCases, [["-shared", "-fPIC"], ["-pie", "-fPIE"], ["-no-pie"], ["-static"]])
    func `Without section headers, the note locates the tweaks`(
        compiler: Compiler, flags: [String]
    ) throws {
        let binaries = try Binaries()
        let whole = try binaries.build(flags, with: compiler)
        let file = try Inspection(
            binaries.copy(of: whole) { data in
                data.patch(40, UInt64(0))  // e_shoff
                data.patch(60, UInt16(0))  // e_shnum
                data.patch(62, UInt16(0))  // e_shstrndx
            })
        #expect(file.objects.map(\.hasSectionHeaders) == [false])
        #expect(file.names == ["One", "Two"])
        #expect(try file.objects.map(\.buildID) == Inspection(whole).objects.map(\.buildID))
    }
}
