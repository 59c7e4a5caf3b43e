// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `Setting tweaks` {
    @Test(arguments: [(11, 10), (-1, 0), (Int64.max, 10)] as [(Int64, Int64)])
    func `A number outside the limits is clamped and reported`(given: Int64, expected: Int64) throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5, 0...10))
        let admission = try tweaks.store.set(.integer(Int128(given)), for: .test("Count"))
        #expect(admission.value == .integer(Int128(expected)))
        #expect(admission.wasClamped)
        #expect(try tweaks.store.value(of: .test("Count")) == admission.value)
        #expect(tweaks.cell(as: Int32.self) == Int32(expected))
    }

    @Test func `A number inside the limits is not clamped`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5, 0...10))
        let admission = try tweaks.store.set(10, for: .test("Count"))
        #expect(admission.value == 10)
        #expect(!admission.wasClamped)
    }

    @Test func `A value of the wrong type is refused and the tweak keeps its value`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5, 0...10))
        let error = #expect(throws: TweakError.self) { try tweaks.store.set("many", for: .test("Count")) }
        #expect(
            error?.description
                == "Test/Values/Count: \"many\" is not an int32; allowed: an integer from 0 to 10")
        #expect(try tweaks.store.value(of: .test("Count")) == 5)
        #expect(tweaks.cell(as: Int32.self) == 5)
    }

    @Test func `A Bool is not a number, and a number is not a Bool`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .bool("Flag", true), .double("Ratio", 1))
        #expect(throws: TweakError.self) { try tweaks.store.set(true, for: .test("Count")) }
        #expect(throws: TweakError.self) { try tweaks.store.set(0, for: .test("Flag")) }
        #expect(throws: TweakError.self) { try tweaks.store.set(0.0, for: .test("Flag")) }
        #expect(throws: TweakError.self) { try tweaks.store.set(false, for: .test("Ratio")) }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `A non-finite number is refused`(number: Double) throws {
        let tweaks = SyntheticTweaks(.double("Ratio", 0.5, 0...1))
        #expect(throws: TweakError.self) { try tweaks.store.set(.double(number), for: .test("Ratio")) }
        #expect(tweaks.cell(as: Double.self) == 0.5)
    }

    @Test func `A string with a NUL is refused`() {
        let tweaks = SyntheticTweaks(.string("Text", "hello"))
        #expect(throws: TweakError.self) { try tweaks.store.set("a\0b", for: .test("Text")) }
        #expect(tweaks.text() == nil)
    }

    @Test func `An unknown tweak cannot be set or reset`() {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        #expect(throws: TweakError.self) { try tweaks.store.set(1, for: .test("Missing")) }
        #expect(throws: TweakError.self) { try tweaks.store.reset(.test("Missing")) }
    }

    @Test func `A reset restores the default`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        try tweaks.store.set(6, for: .test("Count"))
        try tweaks.store.reset(.test("Count"))
        #expect(try tweaks.store.value(of: .test("Count")) == 5)
        #expect(try tweaks.store.status(of: .test("Count")).source == .binary)
        #expect(tweaks.cell(as: Int32.self) == 5)
    }

    @Test func `Everything can be reset together`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .string("Text", "hello"), .bool("Flag", false))
        try tweaks.store.set(6, for: .test("Count"))
        try tweaks.store.set("bye", for: .test("Text"))
        try tweaks.store.set(true, for: .test("Flag"))
        tweaks.store.resetAll()
        #expect(try tweaks.store.value(of: .test("Count")) == 5)
        #expect(try tweaks.store.value(of: .test("Text")) == "hello")
        #expect(tweaks.cell(2, as: Bool.self) == false)
    }
}

@Suite struct `Several records of one tweak` {
    @Test func `All cells are written together`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Count", 5), .bool("Flag", false), .integer("Count", 5).at("b.c:2"))
        try tweaks.store.set(6, for: .test("Count"))
        #expect(tweaks.cell(0, as: Int32.self) == 6)
        #expect(tweaks.cell(2, as: Int32.self) == 6)
        #expect(tweaks.messages.all.isEmpty)
    }

    @Test func `They are one tweak`() {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .integer("Count", 5))
        #expect(tweaks.store.categories.first?.collections.first?.tweaks.count == 1)
    }

    @Test func `A conflicting declaration is reported once and the first one applies`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Count", 5, 0...10).at("a.c:1"), .integer("Count", 7, 0...100).at("b.c:2"))
        #expect(try tweaks.store.value(of: .test("Count")) == 5)
        try tweaks.store.set(50, for: .test("Count"))
        #expect(tweaks.cell(0, as: Int32.self) == 10)
        #expect(tweaks.cell(1, as: Int32.self) == 10)
        #expect(
            tweaks.messages.all == [
                "Test/Values/Count: declared differently at a.c:1 and at b.c:2; the first declaration is used"
            ])
    }

    @Test func `Further conflicting declarations are counted, not reported individually`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Count", 5).at("a.c:1"), .integer("Count", 6).at("b.c:2"),
            .integer("Count", 7).at("c.c:3"),
            .integer("Count", 8).at("d.c:4"))
        #expect(try tweaks.store.value(of: .test("Count")) == 5)
        #expect(
            tweaks.messages.all == [
                "Test/Values/Count: declared differently at a.c:1, at b.c:2 and at 2 more; the first declaration is used"
            ])
    }

    @Test func `A cell of another type is left alone`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .double("Count", 2.5))
        try tweaks.store.set(6, for: .test("Count"))
        #expect(tweaks.cell(0, as: Int32.self) == 6)
        #expect(tweaks.cell(1, as: Double.self) == 2.5)
        #expect(tweaks.messages.all.count == 1)
    }
}
