// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

/// What programs need that come from another system.
@Suite struct `Interfaces for ported programs` {
    private let store = TweakStore()
    private let mass = TweakKey("Spring", "Physics", "Mass")

    @Test func `A variable of a feature has a key`() throws {
        let key = TweakKey(feature: "search", variable: "limit")
        #expect(key == TweakKey("Features", "search", "limit"))
        @FeatureVariable("search", "limit", store: store) var limit = 20
        #expect($limit.key == key)
        #expect(try store.value(of: key) == 20)
    }

    @Test func `A tweak is made and found by its key`() throws {
        let made = try store.make(mass, default: 1.0, in: 0.1...100, unit: "kg")
        #expect(made.key == mass && made.declaration?.unit == "kg" && made.limits == (0.1, 100))
        try made.set(2)
        #expect(try store.tweak(mass, as: Double.self).value == 2)
        let mode = try store.make(TweakKey("A", "B", "C"), default: "x", choices: ["x", "y"])
        #expect(mode.choices == ["x", "y"])
    }

    @Test func `Limits may have one side`() throws {
        let least = try store.make("A", "B", "Least", default: 5, in: 1...)
        #expect(try least.set(-3) == 1 && least.set(1000) == 1000)
        let most = try store.make("A", "B", "Most", default: 0.5, in: ...1)
        #expect(try most.set(3) == 1 && most.set(-1000) == -1000)
        #expect(least.limits == (1, nil) && most.limits == (nil, 1))
    }

    @Test func `A value may be a Swift value`() {
        #expect(TweakValue.bool(true).swiftValue as? Bool == true)
        #expect(TweakValue.integer(-5).swiftValue as? Int == -5)
        #expect(TweakValue.integer(Int128(UInt64.max)).swiftValue as? UInt64 == .max)
        #expect(TweakValue.double(0.5).swiftValue as? Double == 0.5)
        #expect(TweakValue.string("a").swiftValue as? String == "a")
        let color = TweakColor(red: 1, green: 2, blue: 3)
        #expect(TweakValue.color(color).swiftValue as? TweakColor == color)
        #expect(TweakValue.nothing.swiftValue == nil)
    }

    @Test func `The overrides in a document can be listed`() {
        var document = OverridesDocument()
        document.set(2.5, for: mass)
        #expect(document.keys == [mass])
        #expect(document.value(of: mass) == 2.5 && document.value(of: TweakKey("A", "B", "C")) == nil)
    }

    @Test func `Providers of different files have different names without being given one`() throws {
        let home = try TemporaryDirectory()
        let files = try ["a.json", "b.json"].map { try home.write($0, "{}") }
        for file in files { try store.add(VariablesProvider(files: [file]), above: nil) }
        let features = try home.write("f.json", #"{ "default": {} }"#)
        try store.add(FeaturesProvider(file: features), above: nil)
        #expect(store.sources.suffix(3).map(\.name) == ["a.json", "b.json", "f.json"])
    }

    @Test func `An order may omit the standard providers`() throws {
        let (first, second) = (TestProvider("first", [mass: 1]), TestProvider("second", [mass: 2]))
        try store.make(mass, default: 0)
        try store.add(first, above: nil)
        try store.add(second, above: nil)
        try store.setOrder([second.source, first.source])
        #expect(store.sources.map(\.name) == ["session", "environment", "override", "second", "first"])
        #expect(try store.value(of: mass) == 2)
        #expect(throws: TweakError.self) { try store.setOrder([first.source]) }
        #expect(throws: TweakError.self) { try store.setOrder([first.source, second.source, .session]) }
    }

    @Test func `A status and a change can be made`() throws {
        try store.make(mass, default: 1.0)
        let status = try store.status(of: mass)
        #expect(status == TweakStatus(declaration: status.declaration, value: 1.0, source: .binary))
        let change = TweakChange(key: mass, oldValue: 1.0, newValue: 2.0, source: .session)
        #expect(change.newValue == 2.0)
    }

    @Test func `A colour is also made of components from 0 to 1`() {
        #expect(
            TweakColor(red: 1, green: 0.5, blue: 0, opacity: 0.2)
                == TweakColor(red: 255, green: 128, blue: 0, alpha: 51))
        #expect(
            TweakColor(red: .infinity, green: -1, blue: .nan, opacity: 7)
                == TweakColor(red: 255, green: 0, blue: 0, alpha: 255))
    }

    @Test func `Values for a test may be any of Swift`() async throws {
        let name = try store.make("A", "B", "Name", default: "x")
        let tweak = try store.make(mass, default: 1.0)
        let (plain, text) = (2.5, "y")
        try store.withValues([mass: plain, name.key: text]) {
            #expect(tweak.value == 2.5 && name.value == "y")
        }
        try await store.withValues([mass: plain]) {
            await Task.yield()
            #expect(tweak.value == 2.5)
        }
        try store.withValues([mass: 3, name.key: "z"]) { #expect(tweak.value == 3 && name.value == "z") }
        let color = try store.make("A", "B", "Ink", default: TweakColor(red: 0, green: 0, blue: 0))
        try store.withValues([color.key: TweakColor(red: 9, green: 0, blue: 0)]) {
            #expect(color.value.red == 9)
        }
        #expect(tweak.value == 1)
    }
}

private actor Listener {
    var heard: [TweakChange] = []
    func hear(_ change: TweakChange) { heard.append(change) }
}

@Suite struct `Observers of all tweaks` {
    private let store = TweakStore()
    private let keys = [TweakKey("A", "B", "First"), TweakKey("A", "B", "Second")]

    init() throws {
        for (number, key) in keys.enumerated() { try store.make(key, default: number) }
        try store.makeAction("A", "B", "Action") {}
    }

    @Test func `are told the current values first`() throws {
        let changes = Recorded<TweakChange>()
        let observation = store.observe(initially: true) { changes.append($0) }
        #expect(changes.all.map(\.key) == keys && changes.all.map(\.newValue) == [0, 1])
        try store.set(5, for: keys[1])
        observation.cancel()
        #expect(changes.all.last?.newValue == 5)
        let later = Recorded<TweakChange>()
        store.observe(TweakKey("A", "B", "None"), initially: true) { later.append($0) }.cancel()
        #expect(later.all.isEmpty)
    }

    @Test func `end with their owner`() throws {
        final class Owner: Sendable { let changes = Recorded<TweakValue>() }
        let owned: Recorded<TweakValue>
        do {
            let owner = Owner()
            owned = owner.changes
            store.observe(owner: owner, initially: true) { $0.changes.append($1.newValue) }
            try store.set(5, for: keys[0])
        }
        try store.set(6, for: keys[0])
        #expect(owned.all == [0, 1, 5])
    }

    @Test func `are called on an actor`() async throws {
        let listener = Listener()
        let observation = store.observe(on: listener, initially: true) { $0.hear($1) }
        while await listener.heard.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        try store.set(5, for: keys[1])
        while await listener.heard.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await listener.heard.map(\.newValue) == [0, 1, 5])
        observation.cancel()
    }

    @Test @MainActor func `are called on the main actor`() async throws {
        let (heard, owned) = (Recorded<TweakValue>(), Recorded<TweakValue>())
        final class Owner: Sendable {}
        let owner = Owner()
        let observation = store.observe(on: MainActor.self) { heard.append($0.newValue) }
        store.observe(keys[1], owner: owner, on: MainActor.self, initially: true) {
            owned.append($1.newValue)
        }
        try store.set(5, for: keys[1])
        while heard.all.isEmpty || owned.all.last != 5 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(heard.all == [5])
        observation.cancel()
        withExtendedLifetime(owner) {}
    }
}
