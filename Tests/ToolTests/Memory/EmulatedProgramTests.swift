// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Programs of other machines that QEMU runs, whose memory is in QEMU's. `tools/test --toolchains` installs what they need.
@Suite struct `A process of an emulated machine` {
    /// A program of a machine; `nil` where its compiler or QEMU is not installed.
    private func program(of machine: String, by emulator: String) throws -> BareProgram? {
        guard let compiler = try? Locations.program("\(machine)-linux-gnu-gcc"),
            let emulator = try? Locations.program(emulator)
        else { return nil }
        let program = try BareProgram(named: "bare") { source, path, home in
            let flags = ["-DDEBUG", "-std=gnu11", "-static", "-I", Locations.package + "/CSupport/include"]
            let built = try run(compiler, flags + [source, "-o", path], home: home)
            try #require(built.succeeded, "\(built.error)")
        }
        try program.start(by: [emulator])
        program.expect(BareProgram.defaults)
        return program
    }

    @Test func `is set where it has the byte order of this one`() throws {
        guard let program = try program(of: "aarch64", by: "qemu-aarch64") else { return }
        #expect(try program.tweak("set", "Count", "7").status == 0)
        program.expect("7 0.5 0 slow hello 1 1 80 7")
    }

    @Test func `is read only where it has another byte order, which is said`() throws {
        guard let program = try program(of: "s390x", by: "qemu-s390x") else { return }
        #expect(try program.tweak("get", "Count").output == "5\n")
        for command in [["set", "Count", "7"], ["set", "Flag", "on", "Count", "7"]] {
            let result = try program.command([command[0], "\(program.pid)"] + command.dropFirst())
            #expect(result.status == 65 && result.output.isEmpty)
            #expect(
                result.error.contains("Bare/Values/Count: the program is emulated, and of another byte order")
            )
        }
        program.expect(BareProgram.defaults)
    }
}
