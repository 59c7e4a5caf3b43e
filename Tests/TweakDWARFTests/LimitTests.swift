// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakDWARF
import TweakELF

@Suite struct `Debug information made to exhaust memory` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let source = "int level = 3; int main(void) { return level; }\n"

    private func build(_ flags: String...) throws -> String {
        try Compiler.gcc.compile(
            [home.write("program.c", Self.source)], to: home("program"), ["-g"] + flags, home: home)
        return home("program")
    }

    /// Has a compressed section expand to a gigabyte, by its header.
    private func inflate(_ section: String, of path: String) throws {
        let sections = try run(Locations.program("readelf"), ["-SW", path], home: home).output
        let pattern = try Regex(
            #"\] \#(section) +PROGBITS +[0-9a-f]+ ([0-9a-f]+) "#, as: (Substring, Substring).self)
        let match = try #require(sections.firstMatch(of: pattern))
        let offset = try #require(Int(match.1, radix: 16))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(
            offset + 8..<offset + 16, with: withUnsafeBytes(of: UInt64(1 << 30).littleEndian) { Data($0) })
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    private func checkIsRefused(_ path: String) {
        do throws(DebugFileError) {
            _ = try ProgramVariables(path: path)
            Issue.record("it is read")
        } catch {
            guard case .file(.broken(_, let reason)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(reason == "its compressed sections have 1024 MiB; at most 64 MiB are read")
        }
    }

    @Test(arguments: [".debug_info", ".debug_str"])
    func `in compressed sections is refused before they are expanded`(section: String) throws {
        let path = home("program")
        let large = Self.source + (0..<2000).map { "int name_of_variable_\($0);\n" }.joined()
        try Compiler.gcc.compile([home.write("program.c", large)], to: path, ["-g", "-gz=zlib"], home: home)
        #expect(try ProgramVariables(path: path).variables.count == 2001)
        try inflate(section, of: path)
        checkIsRefused(path)
    }

    @Test func `in a section of the former compression is refused, too`() throws {
        let path = try build()
        // A header after which nothing is compressed: "ZLIB", and the size.
        try home.write("section", Data("ZLIB".utf8) + Data([0, 0, 0, 0, 0x40, 0, 0, 0]) + Data(count: 20))
        let result = try run(
            Locations.program("objcopy"), ["--add-section", ".zdebug_loc=\(home("section"))", path],
            home: home)
        try #require(result.succeeded, "\(result.error)")
        checkIsRefused(path)
    }

    @Test func `in a separate file is not read`() throws {
        let large = Self.source + (0..<2000).map { "int name_of_variable_\($0);\n" }.joined()
        let path = home("program")
        try Compiler.gcc.compile([home.write("program.c", large)], to: path, ["-g", "-gz=zlib"], home: home)
        let objcopy = try Locations.program("objcopy")
        #expect(try run(objcopy, ["--only-keep-debug", path, path + ".debug"], home: home).succeeded)
        #expect(try run(Locations.program("strip"), ["--strip-debug", path], home: home).succeeded)
        #expect(
            try run(objcopy, ["--add-gnu-debuglink=\(path).debug", path], home: home, in: home.path).succeeded
        )
        #expect(try ProgramVariables(path: path).variables.count == 2001)
        let before = try Data(contentsOf: URL(fileURLWithPath: path + ".debug"))
        try inflate(".debug_info", of: path + ".debug")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".debug")) != before)
        checkIsRefused(path)
    }

    @Test func `in structures of many members is listed in part`() throws {
        let members = (0..<4000).map { "int m\($0);" }.joined()
        let variables = (0..<20).map { "struct large v\($0);" }.joined()
        let source = "struct large { \(members) }; \(variables) int main(void) { return v0.m1; }"
        try Compiler.gcc.compile([home.write("large.c", source)], to: home("large"), ["-g"], home: home)
        let program = try ProgramVariables(path: home("large"))
        let some = program.values { _ in true }
        #expect(!some.areAll && some.parts.count >= 50_000 && some.parts.count < 80_000)
        let one = program.values { $0.name == "v19.m3999" }
        #expect(one.areAll && one.parts.count == 1)
    }
}
