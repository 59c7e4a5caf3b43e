// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `A program killed while writing` {
    @Test func `The overrides stay complete, and no files accumulate`() throws {
        let program = try SetterProgram()
        for kill in 0..<(isLong ? 1000 : 25) {
            let process = try start(
                SetterProgram.path, ["count", "Setter/Values/Count", "1", "1000000"], home: program.home)
            // Most die while they start or at their first write, some at a later one.
            usleep(.random(in: 0...(kill % 5 == 0 ? 200_000 : 40_000)))
            process.kill()
            let result = process.wait()
            #expect(result.error.isEmpty)
            guard FileManager.default.fileExists(atPath: program.overridesPath) else { continue }
            let overrides = try program.overrides()
            let count = try #require(overrides["Setter"]?["Values"]?["Count"])
            #expect((1...1_000_000).contains(count))
            #expect(overrides == ["Setter": ["Values": ["Count": count]]])
        }
        let set = try program.setter("set", "Setter/Values/Flag", "true")
        #expect(set.succeeded && set.error.isEmpty)
        #expect(try program.names() == ["overrides.json", "overrides.json.lock"])
    }
}
