// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `A program that is started with closed standard descriptors` {
    /// Each bit is a descriptor.
    private func redirections(_ closed: Int) -> String {
        ["0<&-", "1>&-", "2>&-"].enumerated().filter { closed & 1 << $0.offset != 0 }.map(\.element)
            .joined(separator: " ")
    }

    @Test(arguments: 1..<8) func `prints nothing into the files of the library`(closed: Int) throws {
        let program = try SetterProgram()
        try program.makeRuntimeDirectory()
        let result = try program.setter(
            in: "exec \"$@\" \(redirections(closed))", ["print", "Setter/Slots/Slot 0", "1", "700"])
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(result.lines.count == (closed & 2 == 0 ? 700 : 0))
        #expect(try program.overrides() == ["Setter": ["Slots": ["Slot 0": 700]]])
        #expect(try program.names() == ["overrides.json", "overrides.json.lock"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.overridesPath + ".lock")).isEmpty)
    }

    @Test(arguments: 1..<8) func `is a command that reports it and does its work`(closed: Int) throws {
        let program = try SetterProgram()
        let result = try run(
            "/bin/sh",
            [
                "-euc", "exec \"$@\" \(redirections(closed))", "sh", Locations.product("tweak"), "set",
                SetterProgram.path, "Setter/Slots/Slot 0", "6",
            ], home: program.home)
        // 74 is for an output that cannot be written.
        #expect(result.status == (closed & 2 == 0 ? 0 : 74))
        #expect(try program.overrides() == ["Setter": ["Slots": ["Slot 0": 6]]])
        #expect(try program.names() == ["overrides.json", "overrides.json.lock"])
    }

    @Test(arguments: 1..<8) func `is tweak-dump, whose files do not reuse the numbers`(closed: Int) throws {
        let home = try TemporaryDirectory()
        // What is said of it goes to standard error, and what is shown of the other one to standard output.
        let files = try ["none": "x", "other": "y"].map { try home.write($0, $1) }.sorted()
        let result = try run(
            "/bin/sh",
            ["-euc", "exec \"$@\" \(redirections(closed))", "sh", Locations.product("tweak-dump")] + files,
            home: home)
        #expect(result.status == 65)
        #expect(result.error.isEmpty == (closed & 4 != 0))
        #expect(try files.map { try String(contentsOfFile: $0, encoding: .utf8) } == ["x", "y"])
    }

    @Test(arguments: [2, 6]) func `is tweak-dump, which reports that its output is lost`(closed: Int) throws {
        let home = try TemporaryDirectory()
        let object = try AssembledTweak.object([.integer("Count", 1)], home: home)
        let result = try run(
            "/bin/sh",
            ["-euc", "exec \"$@\" \(redirections(closed))", "sh", Locations.product("tweak-dump"), object],
            home: home)
        #expect(result.status == 74)
        #expect(result.error.contains("standard output") == (closed & 4 == 0))
    }
}
