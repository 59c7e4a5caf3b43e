// SPDX-License-Identifier: BSD-3-Clause
import FBTweak
import Testing

@testable import Tweaks

@Suite struct `Tweaks that are optional` {
    private struct Arm: TweakGroup {
        var limit: Double?
        static let fields: [TweakField<Arm>] = [TweakField("Limit", \.limit)]
    }
    private let store = TweakStore()

    /// Makes a tweak, sets it and reads it as a program does.
    private func expect<Wrapped: TweakableWrapped>(_ first: Wrapped?, _ others: Wrapped?...) throws {
        let tweak = try store.make("A", "B", "C", default: first)
        #expect(tweak.value == first)
        for value in others + [nil, first] {
            #expect(try tweak.set(value) == value)
            #expect(tweak.value == value)
            let cell = try #require(UnsafeRawPointer(bitPattern: tweak.cell))
            #expect(Wrapped?.__load(cell, default: value) == value)
        }
        let found = try store.tweak("A", "B", "C", as: Wrapped?.self)
        #expect(found.defaultValue == first)
        #expect(found.description == "A/B/C = \(String(describing: first))")
        #expect(throws: TweakError.self) { try store.tweak("A", "B", "C", as: Wrapped.self) }
        try tweak.reset()
        try store.remove(tweak.key)
    }

    @Test func `have the value that was set, or none`() throws {
        try expect(nil, true, false)
        try expect(true)
        try expect(nil, 0, .max, .min + 1)
        try expect(nil, 0.5, -.greatestFiniteMagnitude, Double.leastNonzeroMagnitude)
        try expect(nil, Float(0.1), -0.0)
        try expect(nil, "", "none", "\\none", "\\", "None", "é\\none")
        try expect("none", "text")
    }

    @Test func `have limits, and take no mark of none as a value`() throws {
        let limit = try store.make("Robot", "Arm", "Limit", default: nil, in: 0.1...2, unit: "m/s")
        #expect(try limit.set(7) == 2)
        #expect(limit.limits.minimum == 0.1 && limit.limits.maximum == 2)
        #expect(throws: TweakError.self) { try limit.set(.nan) }
        #expect(limit.value == 2)
        #expect(try limit.set(nil) == nil)
        let count = try store.make(TweakKey("A", "B", "C"), default: 5 as Int?)
        #expect(try count.set(.min) == .min + 1)
        #expect(limit.declaration?.allowed == "a number from 0.1 to 2.0, or none")
    }

    @Test func `are set by a value of the store or by a text`() throws {
        let limit = try store.make("A", "B", "C", default: 0.5 as Double?)
        try store.set(.absent, for: limit.key)
        #expect(limit.value == nil)
        #expect(try store.value(of: limit.key) == .absent)
        try store.set(3, for: limit.key)
        #expect(limit.value == 3)
        #expect(throws: TweakError.self) { try store.set("some", for: limit.key) }
        let plain = try store.make("A", "B", "D", default: 0.5)
        #expect(throws: TweakError.self) { try store.set(.absent, for: plain.key) }
        #expect(throws: TweakError.self) { try store.tweak("A", "B", "D", as: Double?.self) }
    }

    @Test func `are in groups, in features, and in values of a task`() throws {
        let arm = try store.make(group: Arm(), "Robot", "Arm", "Safety")
        #expect(arm.value.limit == nil)
        try arm.limit.set(0.5)
        #expect(arm.value.limit == 0.5)
        arm.limit.withValue(nil) { #expect(arm.value.limit == nil) }
        @FeatureVariable("search", "depth", store: store) var depth: Int? = nil
        depth = 3
        #expect(depth == 3)
        depth = nil
        #expect(depth == nil)
    }

    @Test func `are observed, and change at once`() throws {
        let limit = try store.make("A", "B", "C", default: nil as Double?)
        let seen = Guarded<[Double?]>([])
        let observation = limit.observe { change in
            seen.withLock { $0 += [change.oldValue, change.newValue] }
        }
        try limit.set(0.5)
        try limit.set(nil)
        withExtendedLifetime(observation) { #expect(seen.withLock { $0 } == [nil, 0.5, 0.5, nil]) }
        #expect(
            limit.declaration?.obstacleToRamps?.hasPrefix("an optional double cannot be ramped")
                == true)
    }

    /// Sets a tweak, and lets C read it.
    private func inC<Wrapped: TweakableWrapped, Read>(
        _ value: Wrapped, _ read: (UnsafePointer<fbtweak>) -> Read
    ) throws -> (some: Read, none: Read, isRead: Bool) {
        let tweak = try store.make("A", "B", "\(Wrapped.self)", default: value as Wrapped?)
        let handle = try #require(store.handle(of: tweak.key))
        let some = read(handle)
        try tweak.set(nil)
        var anything = fbtweak_value()
        return (some, read(handle), fbtweak_read(handle, &anything))
    }

    @Test func `read in C as the fallback if there is none`() throws {
        #expect(try inC(0.5) { fbtweak_read_number($0, -1) } == (0.5, -1, false))
        #expect(try inC(Float(0.5)) { fbtweak_read_number($0, -1) } == (0.5, -1, false))
        #expect(try inC(7) { fbtweak_read_integer($0, -1) } == (7, -1, false))
        #expect(try inC(false) { fbtweak_read_bool($0, true) } == (false, true, false))
        let text = try inC("none") { String(cString: fbtweak_read_text($0, "fallback")) }
        #expect(text == ("\\none", "fallback", false))
    }
}
