// SPDX-License-Identifier: BSD-3-Clause
import FoundationEssentials
import SetterTweaks
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `A handle` {
    private let store = TweakStore()

    @Test func `has the value of its tweak, in every copy`() throws {
        let tweak = try store.make("A", "B", "C", default: 5, in: 0...10)
        let copy = tweak
        let found = try store.tweak("A", "B", "C", as: Int.self)
        try tweak.set(7)
        #expect(tweak.value == 7 && copy.value == 7 && found.value == 7)
        #expect(MemoryLayout<Tweak<Int>>.size <= 24)
    }

    @Test func `has the properties of its declaration`() throws {
        let tweak = try store.make(
            "A", "B", "C", default: 5.0, in: 0.5...10, step: 0.5, precision: 2, scale: .log, pair: "D",
            unit: "kg", description: "Mass", owner: "Ann", expires: "2030-01-31")
        #expect(tweak.key == TweakKey("A", "B", "C"))
        #expect(tweak.defaultValue == 5)
        #expect(tweak.limits == (0.5, 10))
        #expect(tweak.choices.isEmpty)
        let declaration = try #require(tweak.declaration)
        #expect(declaration.step == 0.5)
        #expect(declaration.precision == 2)
        #expect(declaration.scale == .log)
        #expect(declaration.pair == "D")
        #expect(declaration.unit == "kg")
        #expect(declaration.description == "Mass")
        #expect(declaration.owner == "Ann")
        #expect(declaration.expiryDate == "2030-01-31")
    }

    @Test func `prints its name and its value`() throws {
        let gain = try store.make("App", "Model", "Gain", default: 0.5, in: 0...1)
        try gain.set(0.75)
        #expect("\(gain)" == "App/Model/Gain = 0.75")
        #expect(String(reflecting: gain) == "App/Model/Gain = 0.75")
        let delay = try store.make("App", "A/B", "Delay", default: Duration.milliseconds(300))
        #expect("\(delay)" == "App/A%2FB/Delay = 0.3 seconds")
        try store.remove(gain.key)
        #expect("\(gain)" == "App/Model/Gain = 0.5")
        #expect("\(Tweak(__constant: 5))" == "5")
    }

    @Test func `clamps and says the value that it took`() throws {
        let tweak = try store.make("A", "B", "C", default: 5, in: 0...10)
        #expect(try tweak.set(11) == 10)
        #expect(tweak.value == 10)
        #expect(tweak.source == .overrides)
    }

    @Test func `can be reset`() throws {
        let tweak = try store.make("A", "B", "C", default: 5)
        try tweak.set(7)
        try tweak.reset()
        #expect(tweak.value == 5)
        #expect(tweak.source == .binary)
    }

    @Test func `refuses invalid values`() throws {
        let fixed = try store.make("A", "B", "C", default: 5, readOnly: true)
        #expect(throws: TweakError.self) { try fixed.set(6) }
        let choice = try store.make("A", "B", "D", default: 2, choices: [1, 2, 4])
        #expect(throws: TweakError.self) { try choice.set(3) }
        #expect(choice.choices == [1, 2, 4])
        #expect(choice.value == 2)
    }

    @Test func `reports an assigned value that is refused`() throws {
        let messages = CollectedMessages()
        store.logger = messages.logger
        let choice = try store.make("A", "B", "C", default: 2, choices: [1, 2])
        choice.value = 1
        choice.value = 3
        #expect(choice.value == 1)
        #expect(messages.all.count == 1)
    }

    @Test func `has the last change and when it was`() throws {
        let tweak = try store.make("A", "B", "C", default: 5)
        #expect(tweak.lastChange == nil)
        try tweak.set(6)
        try tweak.set(7)
        let last = try #require(tweak.lastChange)
        #expect(last.change == .init(oldValue: 6, newValue: 7, source: .overrides))
        #expect(last.time > .seconds(1_000_000_000))
    }

    @Test func `has the default when its tweak is removed, and the value when it is made again`() throws {
        let tweak = try store.make("A", "B", "C", default: 5)
        try tweak.set(7)
        try store.remove(tweak.key)
        #expect(tweak.value == 5)
        #expect(tweak.declaration == nil)
        #expect(throws: TweakError.self) { try tweak.set(6) }
        try store.make("A", "B", "C", default: 5)
        // Its override was kept.
        #expect(tweak.value == 7)
    }

    @Test func `keeps its store`() throws {
        var store: TweakStore? = TweakStore()
        weak let weakStore = store
        var tweak = try store?.make("A", "B", "C", default: "text")
        store = nil
        #expect(weakStore != nil)
        #expect(tweak?.value == "text")
        tweak = nil
        #expect(weakStore == nil)
    }

    @Test func `of a constant has its value and does nothing`() throws {
        let tweak = Tweak(__constant: 5)
        #expect(tweak.value == 5)
        #expect(try tweak.set(6) == 5)
        try tweak.reset()
        #expect(tweak.declaration == nil)
        #expect(tweak.lastChange == nil)
        #expect(tweak.source == .binary)
        let values = Recorded<Int>()
        let token = tweak.observe(initially: true) { values.append($0.newValue) }
        let both = TweakStore.observe(tweak, tweak, initially: true, onChange: { values.append($0 + $1) })
        #expect(values.all == [5, 10])
        token.cancel()
        both.cancel()
    }

    @Test func `of a record in the binary reads it and finds its tweak`() throws {
        let shared = try TweakStore.shared.tweak("Setter", "Values", "Count", as: Int32.self)
        #expect(shared.value == setter_count())
        #expect(shared.limits == (0, 1_000_000))
        let cHandle = try #require(shared.cHandle)
        let handle = Tweak<Int32>(__record: UnsafeRawPointer(cHandle), default: 5)
        #expect(handle.key == TweakKey("Setter", "Values", "Count"))
        #expect(handle.value == setter_count())
        #expect(handle.declaration == shared.declaration)
        #expect(try Tweak<Int32>(cHandle).value == setter_count())
        #expect(throws: TweakError.self) { try Tweak<Double>(cHandle) }
        #expect(throws: TweakError.self) { try Tweak<Double>(nil) }
    }

    @Test func `of a private store has no C handle`() throws {
        #expect(try store.make("A", "B", "C", default: 5).cHandle == nil)
    }
}

@Suite struct `Finding tweaks` {
    @Test func `A name that is not there is an error with the nearest names`() throws {
        let store = TweakStore()
        try store.make("Spring", "Physics", "Mass", default: 1.0)
        let error = #expect(throws: TweakError.self) {
            try store.tweak("Spring", "Physics", "Mess", as: Double.self)
        }
        #expect(error?.description.contains("did you mean Spring/Physics/Mass?") == true)
    }

    @Test func `Another type is an error that names both`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        let error = #expect(throws: TweakError.self) {
            try tweaks.store.tweak("Test", "Values", "Count", as: Double.self)
        }
        #expect(error?.description == "Test/Values/Count: it is of type int32, not double")
        #expect(try tweaks.store.tweak("Test", "Values", "Count", as: Int32.self).value == 5)
    }

    @Test func `A handle of a type that a second declaration has is refused by the store`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .double("Count", 2.5))
        let count = try tweaks.store.tweak("Test", "Values", "Count", as: Int32.self)
        let other = Tweak<Double>(
            cell: tweaks.address(1), default: 2.5, in: tweaks.store)
        try count.set(6)
        #expect(other.value == 2.5)
        #expect(other.declaration == nil)
        #expect(throws: TweakError.self) { try other.set(6) }
        #expect(count.value == 6)
    }
}
