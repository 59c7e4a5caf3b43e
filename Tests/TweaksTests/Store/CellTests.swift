// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

/// What a program reads from a cell is the value in the type's own representation.
@Suite struct `Cells` {
    @Test func `A Bool is one byte`() throws {
        let tweaks = SyntheticTweaks(.bool("Flag", false))
        try tweaks.store.set(true, for: .test("Flag"))
        #expect(tweaks.cell(as: UInt64.self) == 1)
    }

    @Test(arguments: [TweakType.int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64])
    func `An integer takes as many bytes as its type has`(type: TweakType) throws {
        let range = try #require(type.integerRange)
        let tweaks = SyntheticTweaks(.integer("Number", 0, type: type))
        for number in [range.lowerBound, range.upperBound, 1] {
            try tweaks.store.set(.integer(number), for: .test("Number"))
            let bits = tweaks.cell(as: UInt64.self)
            let mask = UInt64.max >> UInt64(64 - type.byteCount * 8)
            #expect(bits & mask == UInt64(truncatingIfNeeded: number) & mask)
            #expect(bits & ~mask == 0)
        }
    }

    @Test func `A Float is four bytes`() throws {
        let tweaks = SyntheticTweaks(.float("Number", 1))
        try tweaks.store.set(0.1, for: .test("Number"))
        #expect(tweaks.cell(as: Float.self) == 0.1)
        #expect(try tweaks.store.value(of: .test("Number")) == 0.1)
    }

    @Test func `A Double is eight bytes`() throws {
        let tweaks = SyntheticTweaks(.double("Number", 1))
        try tweaks.store.set(0.1, for: .test("Number"))
        #expect(tweaks.cell(as: Double.self) == 0.1)
    }

    @Test func `An integer for a Double is written as a Double`() throws {
        let tweaks = SyntheticTweaks(.double("Number", 1))
        try tweaks.store.set(3, for: .test("Number"))
        #expect(tweaks.cell(as: Double.self) == 3)
    }

    @Test(arguments: ["", "bye", "你好", String(repeating: "long ", count: 10_000)])
    func `A string is the address of its text`(text: String) throws {
        let tweaks = SyntheticTweaks(.string("Text", "hello"))
        #expect(tweaks.text() == nil)
        try tweaks.store.set(.string(text), for: .test("Text"))
        #expect(tweaks.text() == text)
    }

    @Test func `A string that was read stays valid when the tweak changes`() throws {
        let tweaks = SyntheticTweaks(.string("Text", "hello"))
        try tweaks.store.set("first", for: .test("Text"))
        let address = try #require(tweaks.cell(as: UnsafePointer<CChar>?.self))
        try tweaks.store.set("second", for: .test("Text"))
        #expect(String(cString: address) == "first")
    }

    @Test func `A string that is reset reads as its default`() throws {
        let tweaks = SyntheticTweaks(.string("Text", "hello"))
        try tweaks.store.set("bye", for: .test("Text"))
        try tweaks.store.reset(.test("Text"))
        #expect((tweaks.text() ?? "hello") == "hello")
    }

    @Test func `A colour is its four bytes in order`() throws {
        let tweaks = SyntheticTweaks(.color("Accent", TweakColor(red: 9, green: 9, blue: 9)))
        #expect(try tweaks.store.value(of: .test("Accent")) == .color(TweakColor(red: 9, green: 9, blue: 9)))
        try tweaks.store.set("#01020380", for: .test("Accent"))
        let bytes = withUnsafeBytes(of: tweaks.cell(as: UInt64.self)) { Array($0) }
        #expect(bytes == [1, 2, 3, 0x80, 0, 0, 0, 0])
    }

    @Test func `Only the cell is written`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Before", 1, type: .int64), .integer("Number", 2, type: .int64),
            .integer("After", 3, type: .int64))
        try tweaks.store.set(.integer(Int128(Int64.min)), for: .test("Number"))
        #expect(tweaks.cell(0, as: Int64.self) == 1)
        #expect(tweaks.cell(2, as: Int64.self) == 3)
    }
}
