// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakELF

@Suite struct `Needed libraries` {
    /// Builds `lib<name>.so` in a folder, linked with other libraries by their paths.
    private func library(_ name: String, in folder: String, _ flags: [String], _ home: TemporaryDirectory)
        throws -> String
    {
        let source = try home.write("\(folder)/\(name).c", "int \(name)(void) { return 0; }\n")
        let output = home("\(folder)/lib\(name).so")
        try Compiler.gcc.compile(
            [source], to: output,
            ["-shared", "-fPIC", "-Wl,-soname,lib\(name).so", "-Wl,--no-as-needed"] + flags, home: home)
        return output
    }

    private func program(_ flags: [String], _ home: TemporaryDirectory) throws -> String {
        let source = try home.write("bin/main.c", "int main(void) { return 0; }\n")
        let output = home("bin/main")
        try Compiler.gcc.compile([source], to: output, ["-Wl,--no-as-needed"] + flags, home: home)
        return output
    }

    private func needed(_ path: String, below home: TemporaryDirectory) throws -> [String] {
        try ELFFile(path: path).neededLibraries().map(\.path).map {
            URL(fileURLWithPath: $0).standardizedFileURL.path
        }.filter { $0.hasPrefix(home.path) }
    }

    @Test(arguments: ["--enable-new-dtags", "--disable-new-dtags"], ["$ORIGIN", "${ORIGIN}"])
    func `A library beside the program is found through RUNPATH and RPATH`(tag: String, origin: String) throws
    {
        let home = try TemporaryDirectory()
        let library = try library("one", in: "lib", [], home)
        let program = try program(["-Wl,\(tag),-rpath,\(origin)/../lib", library], home)
        #expect(try needed(program, below: home) == [library])
    }

    @Test func `The libraries of a library follow it, each once`() throws {
        let home = try TemporaryDirectory()
        let rpath = ["-Wl,--enable-new-dtags,-rpath,$ORIGIN"]
        let inner = try library("inner", in: "lib", rpath, home)
        let outer = try library("outer", in: "lib", rpath + [inner], home)
        let program = try program(["-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib", outer, inner], home)
        #expect(try needed(program, below: home) == [outer, inner])
    }

    @Test func `RPATH is passed on to the libraries, RUNPATH is not`() throws {
        for (tag, isPassedOn) in [("--disable-new-dtags", true), ("--enable-new-dtags", false)] {
            let home = try TemporaryDirectory()
            let inner = try library("inner", in: "lib", [], home)
            let outer = try library("outer", in: "lib", [inner], home)
            let program = try program(
                ["-Wl,\(tag),-rpath,$ORIGIN/../lib", "-Wl,--allow-shlib-undefined", outer], home)
            #expect(try needed(program, below: home) == (isPassedOn ? [outer, inner] : [outer]))
        }
    }

    @Test func `A library's own RPATH precedes that of its loader`() throws {
        let home = try TemporaryDirectory()
        let decoy = try library("inner", in: "lib", [], home)
        let inner = try library("inner", in: "own", [], home)
        let outer = try library(
            "outer", in: "lib", ["-Wl,--disable-new-dtags,-rpath,\(home("own"))", inner], home)
        let program = try program(["-Wl,--disable-new-dtags,-rpath,\(home("lib"))", outer], home)
        #expect(try needed(program, below: home) == [outer, inner])
        let loaded = try run(program, home: home, environment: ["LD_TRACE_LOADED_OBJECTS": "1"]).output
        #expect(loaded.contains(inner) && !loaded.contains(decoy), "ld.so does so")
    }

    @Test func `A missing library is left out`() throws {
        let home = try TemporaryDirectory()
        let library = try library("one", in: "lib", [], home)
        let program = try program(["-Wl,-rpath,$ORIGIN/../lib", library], home)
        try FileManager.default.removeItem(atPath: library)
        #expect(try needed(program, below: home) == [])
    }

    @Test func `A file of that name that is not ELF is skipped`() throws {
        let home = try TemporaryDirectory()
        let library = try library("one", in: "lib", [], home)
        try home.write("first/libone.so", "no library\n")
        let program = try program(["-Wl,-rpath,$ORIGIN/../first:$ORIGIN/../lib", library], home)
        #expect(try needed(program, below: home) == [library])
    }

    @Test func `The system's libraries are found`() throws {
        let home = try TemporaryDirectory()
        let libraries = try ELFFile(path: program([], home)).neededLibraries().map(\.path)
        #expect(libraries.contains { $0.hasSuffix("/libc.so.6") })
    }

    @Test func `A static executable needs none`() throws {
        let home = try TemporaryDirectory()
        #expect(try ELFFile(path: program(["-static"], home)).neededLibraries().map(\.path) == [])
    }
}
