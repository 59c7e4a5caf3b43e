// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `The order of providers` {
    private let tweaks = SyntheticTweaks(.integer("Count", 5, 0...100), .integer("Other", 1))
    private var store: TweakStore { tweaks.store }
    private let count = TweakKey.test("Count")

    private func value() throws -> TweakValue { try store.value(of: count) }
    private func source() throws -> TweakSource { try store.status(of: count).source }

    @Test func `A store has a session, the environment and overrides`() {
        #expect(store.sources == [.session, .environment, .overrides])
    }

    @Test func `The first provider with a value decides`() throws {
        try store.add(TestProvider("low", [count: 10]), above: nil)
        #expect(try value() == 10 && source() == TweakSource("low"))
        try store.set(20, for: count)
        #expect(try value() == 20 && source() == .overrides)
        try store.add(TestProvider("high", [count: 30]), above: .session)
        #expect(try value() == 30 && source() == TweakSource("high"))
        #expect(tweaks.cell(as: Int32.self) == 30)
        try store.remove(providerOf: TweakSource("high"))
        #expect(try value() == 20)
        try store.reset(count)
        #expect(try value() == 10)
        try store.remove(providerOf: TweakSource("low"))
        #expect(try value() == 5 && source() == .binary)
        #expect(tweaks.cell(as: Int32.self) == 5)
    }

    @Test func `A value set below a provider with a value is saved for later`() throws {
        try store.add(TestProvider("high", [count: 30]), above: .overrides)
        let changes = Locked<[TweakChange]>([])
        let observation = store.observe(count) { change in changes.withLock { $0.append(change) } }
        try store.set(20, for: count, in: .overrides)
        #expect(try value() == 30)
        #expect(changes.withLock { $0 }.isEmpty)
        try store.remove(providerOf: TweakSource("high"))
        #expect(try value() == 20)
        #expect(
            changes.withLock { $0 } == [
                TweakChange(key: count, oldValue: 30, newValue: 20, source: .overrides)
            ])
        observation.cancel()
    }

    @Test func `A session value is not saved, and ends with the next saved one`() throws {
        try store.set(20, for: count)
        try store.set(21, for: count, in: .session)
        #expect(try value() == 21 && source() == .session)
        try store.set(nil, for: count, in: .session)
        #expect(try value() == 20 && source() == .overrides)
        try store.set(21, for: count, in: .session)
        try store.set(20, for: count)
        #expect(try value() == 20 && source() == .overrides)
        try store.set(21, for: count, in: .session)
        try store.reset(count)
        #expect(try value() == 5 && source() == .binary)
    }

    @Test func `The order can be another one`() throws {
        try store.add(TestProvider("file", [count: 10]), below: .overrides)
        try store.set(20, for: count)
        let announced = Locked<[TweakChange]>([])
        let observation = store.observe(willChange: { change in announced.withLock { $0.append(change) } })
        try store.setOrder([TweakSource("file"), .overrides, .session, .environment])
        #expect(try value() == 10)
        #expect(tweaks.cell(as: Int32.self) == 10)
        #expect(store.sources.map(\.name) == ["file", "override", "session", "environment"])
        let expected = TweakChange(key: count, oldValue: 20, newValue: 10, source: TweakSource("file"))
        #expect(announced.withLock { $0 } == [expected])
        observation.cancel()
    }

    @Test func `An invalid order is refused with the names`() throws {
        let expected = TweakError.order("the order must have each of session, environment, override once")
        #expect(throws: expected) { try store.setOrder([.session]) }
        #expect(throws: expected) { try store.setOrder([.session, .session, .overrides]) }
        #expect(throws: TweakError.order("no provider x; known: session, environment, override")) {
            try store.add(TestProvider(), below: TweakSource("x"))
        }
        try store.add(TestProvider(), above: nil)
        #expect(throws: TweakError.order("there is a provider test already")) {
            try store.add(TestProvider(), above: nil)
        }
        #expect(throws: TweakError.order("no provider override was added")) {
            try store.remove(providerOf: .overrides)
        }
    }

    @Test func `A provider is in one store at a time`() throws {
        let provider = TestProvider()
        try store.add(provider, above: nil)
        let expected = TweakError.order("the provider test is in a store already; each store needs its own")
        #expect(throws: expected) { try TweakStore().add(provider, above: nil) }
        provider.change([count: .value(6)])
        #expect(try value() == 6)
        try store.remove(providerOf: provider.source)
        do {
            let other = TweakStore()
            try other.add(provider, above: nil)
        }
        // The store is gone.
        try store.add(provider, above: nil)
        #expect(try value() == 6)
    }

    @Test func `An invalid value is reported, and the next provider applies`() throws {
        try store.add(TestProvider("file", [count: 10]), above: nil)
        try store.add(TestProvider("bad", [count: "many"]), above: .overrides)
        #expect(try value() == 10)
        #expect(tweaks.messages.all.count == 1)
        #expect(
            tweaks.messages.all.first?.hasPrefix("bad ignored: Test/Values/Count: \"many\" is not an int32")
                == true)
    }

    @Test func `A number outside the limits is clamped and reported`() throws {
        try store.add(TestProvider("file", [count: 1000]), above: nil)
        #expect(try value() == 100)
        #expect(
            tweaks.messages.all.first?.contains("the file is outside the limits and clamped to 100") == true)
    }

    @Test func `The value of each provider can be queried`() throws {
        try store.add(TestProvider("file", [count: 1000]), above: nil)
        try store.add(TestProvider("bad", [count: true]), above: nil)
        try store.set(20, for: count)
        let opinions = try store.opinions(on: count)
        #expect(opinions.map(\.source.name) == ["override", "file", "bad", "default"])
        #expect(opinions.map(\.value) == [20, 100, nil, 5])
        #expect(opinions[2].problem != nil)
    }

    @Test func `The first mutable provider stores a set value`() throws {
        let keeper = TestProvider("keeper")
        try store.add(keeper, above: .overrides)
        #expect(try store.set(2000, for: count).value == 100)
        #expect(try value() == 100 && source() == TweakSource("keeper"))
        #expect(try keeper.value(for: count) == .value(100))
        try store.reset(count)
        #expect(try keeper.value(for: count) == nil)
        #expect(try value() == 5)
        keeper.fail(with: "disk full")
        #expect(
            throws: TweakError.notKept(count, TweakSource("keeper"), reason: "disk full")
        ) { try store.set(7, for: count) }
        #expect(try value() == 5)
        #expect(throws: TweakError.notMutable(.environment)) {
            try store.set(7, for: count, in: .environment)
        }
    }
}
