// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `Types of tweaks` {
    private enum Curve: String, CaseIterable, TweakableEnum {
        case linear
        case easeIn = "ease-in"
    }
    private enum Level: Int, CaseIterable, TweakableEnum {
        case easy = 1
        case hard = 3
    }
    private enum Channel: UInt8, CaseIterable, TweakableEnum { case left, right }
    private struct Percent: TweakableRawRepresentable { var rawValue: Double }
    private struct Angle: TweakableValue {
        var degrees: Double
        static var tweakType: TweakType { .double }
        init(degrees: Double) { self.degrees = degrees }
        init?(tweakValue: TweakValue) {
            guard let degrees = Double(tweakValue: tweakValue) else { return nil }
            self.degrees = degrees
        }
        var tweakValue: TweakValue { .double(degrees) }
    }

    /// Makes a tweak, sets it and reads it as a program does.
    private func expect<Value: TweakableValue>(_ first: Value, _ others: Value..., type: TweakType) throws {
        let store = TweakStore()
        let tweak = try store.make("A", "B", "C", default: first)
        #expect(tweak.declaration?.type == type)
        #expect(tweak.value == first)
        for value in others + [first] {
            try tweak.set(value)
            #expect(tweak.value == value)
            let cell = try #require(UnsafeRawPointer(bitPattern: tweak.cell))
            #expect(Value.__load(cell, default: first) == value)
            #expect(try store.value(of: tweak.key) == value.tweakValue)
        }
        let found = try store.tweak("A", "B", "C", as: Value.self)
        #expect(found.value == first)
        #expect(found.defaultValue == first)
    }

    @Test func `A Bool`() throws { try expect(false, true, type: .bool) }
    @Test func `Integers of every width`() throws {
        try expect(Int(0), .min, .max, -1, type: .int64)
        try expect(Int8(0), .min, .max, -1, type: .int8)
        try expect(Int16(0), .min, .max, -1, type: .int16)
        try expect(Int32(0), .min, .max, -1, type: .int32)
        try expect(Int64(0), .min, .max, -1, type: .int64)
        try expect(UInt(0), .max, 1, type: .uint64)
        try expect(UInt8(0), .max, 1, type: .uint8)
        try expect(UInt16(0), .max, 1, type: .uint16)
        try expect(UInt32(0), .max, 1, type: .uint32)
        try expect(UInt64(0), .max, 1, type: .uint64)
    }
    @Test func `Floating-point numbers`() throws {
        try expect(0.5, 0.1, -1e300, .leastNonzeroMagnitude, type: .double)
        try expect(Float(0.5), 0.1, -1e30, .greatestFiniteMagnitude, type: .float)
    }
    @Test func `A text`() throws {
        try expect("hello", "", "你好", String(repeating: "long", count: 1000), type: .string)
    }
    @Test func `A colour`() throws {
        try expect(
            TweakColor(red: 1, green: 2, blue: 3), TweakColor(red: 255, green: 128, blue: 0, alpha: 7),
            type: .color)
    }
    @Test func `A duration, in seconds`() throws {
        try expect(
            Duration.milliseconds(300), .zero, .seconds(-2), .milliseconds(1), .microseconds(1500),
            .seconds(86_400),
            type: .double)
        let tweak = try TweakStore().make("A", "B", "C", default: Duration.milliseconds(250))
        #expect(tweak.declaration?.unit == "s")
        #expect(tweak.declaration?.defaultValue == 0.25)
    }
    @Test(arguments: [1e300, -1e300, .greatestFiniteMagnitude])
    func `A number of seconds that no duration has becomes the longest`(seconds: Double) throws {
        let store = TweakStore()
        let tweak = try store.make("A", "B", "C", default: Duration.zero)
        try store.set(.double(seconds), for: tweak.key)
        #expect(abs(tweak.value.components.seconds) == 1 << 62)
        #expect(Duration(tweakValue: .double(.nan)) == nil)
    }
    @Test(arguments: [
        0.3, -0.3, 5.3, 1e-18, 0.001, -12345.678901, 1e9, 0x1p61, -0x1p61, 0.009_007_199_254_740_993,
    ])
    func `A duration is read as the standard library makes one of seconds`(seconds: Double) {
        let factors = [1, 1.000_000_1, 0.999, .pi / 4, 0.1, 1e-9]
        for seconds in factors.map({ seconds * $0 }) {
            #expect(Duration(clamping: seconds) == .seconds(seconds))
        }
    }
    @Test func `Only a number of seconds is a duration`() {
        #expect(Duration(clamping: .nan) == .zero)
    }
    @Test func `Enumerations of texts and integers`() throws {
        try expect(Curve.linear, .easeIn, type: .string)
        try expect(Level.hard, .easy, type: .int64)
        try expect(Channel.left, .right, type: .uint8)
    }
    @Test func `A type that is kept as its raw value`() throws {
        try expect(Percent(rawValue: 90), Percent(rawValue: -12.5), type: .double)
    }
    @Test func `A type of the program`() throws {
        try expect(Angle(degrees: 90), Angle(degrees: -12.5), type: .double)
    }

    @Test func `The cases of an enumeration are the choices, with their names where these differ`() throws {
        let store = TweakStore()
        let curve = try store.make("A", "B", "Curve", default: Curve.linear)
        #expect(curve.choices == [.linear, .easeIn])
        #expect(
            curve.declaration?.choices == [
                TweakChoice("linear"), TweakChoice("ease-in", label: "easeIn"),
            ])
        let level = try store.make("A", "B", "Level", default: Level.easy)
        #expect(level.choices == [.easy, .hard])
        #expect(level.declaration?.choices.map(\.label) == ["easy", "hard"])
        #expect(throws: TweakError.self) { try store.set(2, for: level.key) }
        #expect(throws: TweakError.self) { try store.set("bounce", for: curve.key) }
    }

    @Test func `A value that is not a case reads as the default`() throws {
        let tweaks = SyntheticTweaks(.string("Curve", "linear"))
        let curve = try tweaks.store.tweak("Test", "Values", "Curve", as: Curve.self)
        try tweaks.store.set("bounce", for: .test("Curve"))
        #expect(curve.value == .linear)
    }
}
