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

    @Test(arguments: 1..<8) func `is a command that says so and does its work`(closed: Int) throws {
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
}
