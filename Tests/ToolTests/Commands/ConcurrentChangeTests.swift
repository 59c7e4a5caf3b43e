// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Commands that increment at the same time` {
    private let commandCount = isLong ? 25 : 5

    /// Has four writers run commands that each increment two tweaks.
    ///
    /// - Returns: What the commands wrote to the standard error.
    private func increment(_ names: [String], of program: String, home: TemporaryDirectory) throws -> String {
        let loop = #"for i in $(seq "$1"); do "$0" set "$2" "$3+=1" "$4+=1" || exit 1; done"#
        let words = ["-c", loop, Locations.product("tweak"), "\(commandCount)", program] + names
        let writers = try (0..<4).map { _ in try start("/bin/sh", words, home: home) }
        return writers.map { writer in
            let result = writer.wait()
            #expect(result.status == 0)
            return result.error
        }.joined()
    }

    @Test func `lose nothing in the overrides file`() throws {
        let program = try SetterProgram()
        let error = try increment(["Slot 0", "Slot 1"], of: SetterProgram.path, home: program.home)
        #expect(error.isEmpty)
        let slots = try program.overrides()["Setter"]?["Slots"]
        #expect(slots == ["Slot 0": 4 * commandCount, "Slot 1": 4 * commandCount])
    }

    @Test func `lose nothing in the memory of a process`() throws {
        let program = try BareProgram(
            #"""
            #include <fbtweak.h>
            #include <stdio.h>
            #include <unistd.h>

            int main(void) {
              for (;;) {
                printf("%d %d\n", FBTweakValue("Bare", "Values", "A", 0), FBTweakValue("Bare", "Values", "B", 0));
                fflush(stdout);
                usleep(10000);
              }
            }
            """#)
        try program.start()
        let error = try increment(["A", "B"], of: "\(program.pid)", home: program.home)
        #expect(error == String(repeating: program.notice, count: 4 * commandCount))
        program.expect("\(4 * commandCount) \(4 * commandCount)")
    }
}
