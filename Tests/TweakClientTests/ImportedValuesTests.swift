// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Testing
import TweakClient
import TweakOverrides
import TweakRecords

@Suite struct `Values that are imported from a file` {
    private let step = TweakKey("Game", "Ball", "Step")

    @Test func `of this system need nothing known about the program`() throws {
        let file = #"{"Game": {"Ball": {"Step": 5}}}"#
        let (values, leftOut) = try importedValues(Array(file.utf8), path: "values.json") {
            () throws(Failure) in
            Issue.record("The tweaks of the program are not needed")
            return []
        }
        #expect(values.keys == [step])
        #expect(values.value(of: step) == .integer(5))
        #expect(leftOut.isEmpty)
    }

    @Test func `are refused with the path of the file if it is damaged`() throws {
        let failure = try #require(throws: Failure.self) {
            try importedValues(Array(#"{"Game": {"Ball": 7"#.utf8), path: "values.json") { [] }
        }
        #expect(failure.message.contains("values.json"))
        #expect(failure.kind == .invalid)
    }
}
