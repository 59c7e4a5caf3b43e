// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

/// Overrides reach the cells before anything is decoded.
@Suite struct `Overrides at start` {
    private let home: TemporaryDirectory
    private let file: OverridesFile

    init() throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: home("overrides.json"))
    }

    private func start(_ tweaks: SyntheticTweaks, with json: String) throws {
        try home.write("overrides.json", json)
        tweaks.store.keepOverrides(in: file)
    }

    @Test func `The cell has the override before the store is used`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .string("Text", "hello"), .double("Ratio", 0.5))
        try start(tweaks, with: #"{"Test": {"Values": {"Count": 6, "Text": "bye", "Ratio": 1}}}"#)
        #expect(tweaks.cell(0, as: Int32.self) == 6)
        #expect(tweaks.text(1) == "bye")
        #expect(tweaks.cell(2, as: Double.self) == 1)
    }

    @Test func `The store says where the value came from`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .integer("Other", 5))
        try start(tweaks, with: #"{"Test": {"Values": {"Count": 6}}}"#)
        #expect(try tweaks.store.status(of: .test("Count")).source == .overrides)
        #expect(try tweaks.store.status(of: .test("Count")).value == 6)
        #expect(try tweaks.store.status(of: .test("Other")).source == .binary)
    }

    @Test func `Names with a common prefix or suffix are distinguished`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Count", 1), .integer("Count 2", 2), .integer("Coun", 3),
            .integer("", 4).named("Test", "Value", "sCount"), .integer("", 5).named("Values", "Test", "Count")
        )
        try start(tweaks, with: #"{"Test": {"Values": {"Count": 6}}}"#)
        #expect((0..<5).map { tweaks.cell($0, as: Int32.self) } == [6, 2, 3, 4, 5])
    }

    @Test func `All records of a tweak get the override`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .integer("Count", 5))
        try start(tweaks, with: #"{"Test": {"Values": {"Count": 6}}}"#)
        #expect(tweaks.cell(0, as: Int32.self) == 6)
        #expect(tweaks.cell(1, as: Int32.self) == 6)
    }

    @Test func `An override outside the limits is clamped and reported once`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5, 0...10), .integer("Count", 5, 0...10))
        try start(tweaks, with: #"{"Test": {"Values": {"Count": 60}}}"#)
        #expect(tweaks.cell(as: Int32.self) == 10)
        #expect(try tweaks.store.value(of: .test("Count")) == 10)
        #expect(
            tweaks.messages.all == [
                "Test/Values/Count: the override is outside the limits and clamped to 10; allowed: an integer from 0 to 10"
            ])
    }

    @Test func `An override of the wrong type is reported once and the default stays`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .integer("Other", 5))
        try start(tweaks, with: #"{"Test": {"Values": {"Count": true, "Other": 6}}}"#)
        #expect(tweaks.cell(0, as: Int32.self) == 5)
        #expect(tweaks.cell(1, as: Int32.self) == 6)
        #expect(try tweaks.store.status(of: .test("Count")).source == .binary)
        #expect(tweaks.messages.all.count == 1)
        #expect(
            tweaks.messages.all.first?.hasPrefix("override ignored: Test/Values/Count: true is not an int32")
                == true)
    }

    @Test func `Overrides of unknown tweaks are accepted`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        try start(tweaks, with: #"{"Test": 5, "Other": {"Values": {"Count": 6}}, "More": [null]}"#)
        #expect(tweaks.cell(as: Int32.self) == 5)
        #expect(tweaks.messages.all.isEmpty)
    }

    @Test func `A tweak among thousands gets its override`() throws {
        var bytes: [UInt8] = []
        for number in 0..<3000 { bytes += Record.integer("Number \(number)", 0).bytes }
        let tweaks = SyntheticTweaks(.integer("First", 0), followedBy: bytes)
        try start(tweaks, with: #"{"Test": {"Values": {"Number 0": 1, "Number 2999": 2, "First": 3}}}"#)
        #expect(tweaks.cell(as: Int32.self) == 3)
        #expect(try tweaks.store.value(of: .test("Number 0")) == 1)
        #expect(try tweaks.store.value(of: .test("Number 1")) == 0)
        #expect(try tweaks.store.value(of: .test("Number 2999")) == 2)
    }

    @Test func `A choice and a colour get their overrides`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Rate", 1).with(choices: [1, 2]), .color("Accent", TweakColor(red: 9, green: 9, blue: 9))
        )
        try start(tweaks, with: ##"{"Test": {"Values": {"Rate": 2, "Accent": "#010203"}}}"##)
        #expect(tweaks.cell(0, as: Int32.self) == 2)
        #expect(tweaks.cell(1, as: UInt32.self).littleEndian == 0xFF03_0201)
        #expect(tweaks.messages.all.isEmpty)
    }

    @Test func `Invalid overrides are reported and change nothing`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Rate", 1).with(choices: [1, 2]), .integer("Fixed", 5).with("read-only"),
            .action("Restart"))
        try start(tweaks, with: #"{"Test": {"Values": {"Rate": 3, "Fixed": 6, "Restart": 7}}}"#)
        #expect(tweaks.cell(0, as: Int32.self) == 1)
        #expect(tweaks.cell(1, as: Int32.self) == 5)
        #expect(tweaks.cell(2, as: UInt64.self) == 0x1234)
        #expect(
            tweaks.messages.all.sorted() == [
                "override ignored: Test/Values/Fixed: the tweak is read-only; its value is 5",
                "override ignored: Test/Values/Rate: 3 is not among the choices; allowed: one of 1, 2",
                "override ignored: Test/Values/Restart: an action has no value",
            ])
        #expect(try tweaks.store.value(of: .test("Fixed")) == 5)
    }

    @Test func `Corrupt overrides are reported and the defaults stay`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        try start(tweaks, with: #"{"Test": {"Values": {"Count": 6}"#)
        #expect(tweaks.cell(as: Int32.self) == 5)
        #expect(tweaks.messages.all.count == 1)
    }
}
