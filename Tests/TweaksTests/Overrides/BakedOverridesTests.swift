// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

/// Overrides that are defaults in the sources, and perhaps in the binary.
@Suite struct `Baked overrides at start` {
    private let home: TemporaryDirectory
    private let file: OverridesFile

    init() throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: home("overrides.json"))
    }

    /// Starts a program, and returns the text of the file afterwards.
    private func start(_ tweaks: SyntheticTweaks, with json: String) throws -> String {
        try home.write("overrides.json", json)
        tweaks.store.keepOverrides(in: file)
        tweaks.store.flush()
        return String(decoding: try file.load().json(), as: UTF8.self).filter { !$0.isWhitespace }
    }

    private let baked = #"{"Test":{"Values":{"Count":6,"Other":6}},"baked":{"Test/Values/Count":6}}"#

    @Test func `One that the binary has as its default is dropped`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 6), .integer("Other", 6))
        #expect(try start(tweaks, with: baked) == #"{"Test":{"Values":{"Other":6}}}"#)
        #expect(tweaks.cell(0, as: Int32.self) == 6)
        #expect(try tweaks.store.status(of: .test("Count")).source == .binary)
        #expect(try tweaks.store.status(of: .test("Other")).source == .overrides)
    }

    @Test func `One that the binary does not have is kept`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        #expect(try start(tweaks, with: baked) == baked)
        #expect(tweaks.cell(0, as: Int32.self) == 6)
        let other = SyntheticTweaks(.integer("Other", 6))
        #expect(try start(other, with: baked) == baked)
    }

    @Test func `One that was changed since is kept`() throws {
        let json = #"{"Test":{"Values":{"Count":7}},"baked":{"Test/Values/Count":6}}"#
        for value: Int128 in [6, 7] {
            #expect(try start(SyntheticTweaks(.integer("Count", value)), with: json) == json)
        }
    }

    @Test func `The value is compared as the tweak has it`() throws {
        let json = #"{"Test":{"Values":{"Ratio":1}},"baked":{"Test/Values/Ratio":1}}"#
        #expect(try start(SyntheticTweaks(.double("Ratio", 1)), with: json) == "{}")
        #expect(try start(SyntheticTweaks(.string("Ratio", "1")), with: json) == json)
    }
}
