// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@Suite struct `Handles of Swift and C` {
    @Test func `What one side sets, makes and removes the other has`() throws {
        let program = try SetterProgram()
        let result = try program.setter("handles")
        #expect(result.error.isEmpty)
        #expect(
            result.output == """
                Swift hears 0 → 3
                C reads 3 3
                Swift hears 3 → 4
                C sets true
                Swift reads 4
                C reads 0.25 0.25
                C finds 7
                C finds 8
                C finds -1

                """)
        // All was kept.
        #expect(try program.tweak("get", "Setter/Slots/Slot 0").output == "4\n")
        #expect(try program.tweak("get", "Setter/Values/Ratio").output == "0.25\n")
    }
}
