// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `Observers` {
    private let tweaks = SyntheticTweaks(.integer("Count", 5, 0...100), .integer("Other", 1))
    private let events = Recorded<String>()
    private var store: TweakStore { tweaks.store }

    @Test func `Will-change comes before the cell and did-change after it`() throws {
        let token = store.observe(
            .test("Count"),
            willChange: { [tweaks, events] _ in events.append("will \(tweaks.cell(as: Int32.self))") },
            didChange: { [tweaks, events] _ in events.append("did \(tweaks.cell(as: Int32.self))") })
        try store.set(6, for: .test("Count"))
        #expect(events.all == ["will 5", "did 6"])
        token.cancel()
    }

    @Test func `The store has the old value in will-change and the new one in did-change`() throws {
        let values = Recorded<TweakValue>()
        let token = store.observe(
            .test("Count"),
            willChange: { [store] _ in values.append(store.value(of: .test("Count"), default: 0)) },
            didChange: { [store] _ in values.append(store.value(of: .test("Count"), default: 0)) })
        try store.set(6, for: .test("Count"))
        #expect(values.all == [5, 6])
        token.cancel()
    }

    @Test func `A change has the old and the new value and the source`() throws {
        let changes = Recorded<TweakChange>()
        let token = store.observe(.test("Count"), willChange: changes.append, didChange: changes.append)
        try store.set(1000, for: .test("Count"))
        let expected = TweakChange(key: .test("Count"), oldValue: 5, newValue: 100, source: .overrides)
        #expect(changes.all == [expected, expected])
        token.cancel()
    }

    @Test func `A reset comes from the binary`() throws {
        try store.set(6, for: .test("Count"))
        let changes = Recorded<TweakChange>()
        let token = store.observe(.test("Count"), didChange: changes.append)
        try store.reset(.test("Count"))
        #expect(changes.all == [TweakChange(key: .test("Count"), oldValue: 6, newValue: 5, source: .binary)])
        token.cancel()
    }

    @Test func `Setting the same value notifies nobody`() throws {
        let changes = Recorded<TweakChange>()
        let token = store.observe(willChange: changes.append, didChange: changes.append)
        try store.set(5, for: .test("Count"))
        try store.reset(.test("Count"))
        store.resetAll()
        #expect(changes.all.isEmpty)
        token.cancel()
    }

    @Test func `A refused value notifies nobody`() {
        let changes = Recorded<TweakChange>()
        let token = store.observe(willChange: changes.append, didChange: changes.append)
        #expect(throws: TweakError.self) { try store.set("many", for: .test("Count")) }
        #expect(changes.all.isEmpty)
        token.cancel()
    }

    @Test func `An observer of one tweak is not notified of others`() throws {
        let changes = Recorded<TweakChange>()
        let token = store.observe(.test("Count"), didChange: changes.append)
        try store.set(2, for: .test("Other"))
        #expect(changes.all.isEmpty)
        token.cancel()
    }

    @Test func `An observer of everything is notified of every tweak`() throws {
        let changes = Recorded<TweakKey>()
        let token = store.observe(didChange: { changes.append($0.key) })
        try store.set(2, for: .test("Other"))
        try store.set(2, for: .test("Count"))
        #expect(changes.all == [.test("Other"), .test("Count")])
        token.cancel()
    }

    @Test func `Observers are called in order of registration`() throws {
        let tokens = (1...3).map { number in
            store.observe(.test("Count"), didChange: { [events] _ in events.append("\(number)") })
        }
        try store.set(6, for: .test("Count"))
        #expect(events.all == ["1", "2", "3"])
        tokens.forEach { $0.cancel() }
    }

    @Test func `A cancelled observer is not called`() throws {
        let changes = Recorded<TweakChange>()
        let token = store.observe(willChange: changes.append, didChange: changes.append)
        token.cancel()
        token.cancel()
        try store.set(6, for: .test("Count"))
        #expect(changes.all.isEmpty)
    }

    @Test func `An observer ends with its token`() throws {
        let changes = Recorded<TweakChange>()
        var token: TweakObservation? = store.observe(didChange: changes.append)
        try store.set(6, for: .test("Count"))
        withExtendedLifetime(token) {}
        token = nil
        try store.set(7, for: .test("Count"))
        #expect(changes.all.count == 1)
    }

    @Test func `A token may outlive its store`() {
        var store: TweakStore? = TweakStore()
        let token = store?.observe(didChange: { _ in })
        store = nil
        token?.cancel()
    }

    @Test func `An observer that owns another one can be released`() throws {
        let inner = Recorded<TweakChange>()
        var owned: TweakObservation? = store.observe(didChange: inner.append)
        let outer = store.observe(didChange: { [owned] _ in withExtendedLifetime(owned) {} })
        owned = nil
        outer.cancel()
        try store.set(6, for: .test("Count"))
        #expect(inner.all.isEmpty)
    }
}
