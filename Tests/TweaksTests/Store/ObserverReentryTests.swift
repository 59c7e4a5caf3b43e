// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `Observers that call the store` {
    private let tweaks = SyntheticTweaks(.integer("Count", 0), .integer("Other", 0))
    private var store: TweakStore { tweaks.store }

    @Test func `An observer added in a callback receives the next change`() throws {
        let added = Recorded<TweakObservation>()
        let changes = Recorded<TweakValue>()
        let token = store.observe(
            .test("Count"),
            didChange: { [store] change in
                guard change.newValue == 1 else { return }
                added.append(store.observe(.test("Count"), didChange: { changes.append($0.newValue) }))
            })
        try store.set(1, for: .test("Count"))
        try store.set(2, for: .test("Count"))
        #expect(changes.all == [2])
        token.cancel()
        added.all.forEach { $0.cancel() }
    }

    @Test func `An observer may cancel itself in a callback`() throws {
        let token = Locked<TweakObservation?>(nil)
        let changes = Recorded<TweakValue>()
        let observation = store.observe(
            .test("Count"),
            didChange: { change in
                changes.append(change.newValue)
                token.withLock { $0 }?.cancel()
            })
        token.withLock { $0 = observation }
        try store.set(1, for: .test("Count"))
        try store.set(2, for: .test("Count"))
        #expect(changes.all == [1])
    }

    @Test func `An observer removed by another one is no longer called`() throws {
        let later = Locked<TweakObservation?>(nil)
        let changes = Recorded<TweakValue>()
        let first = store.observe(.test("Count"), didChange: { _ in later.withLock { $0 }?.cancel() })
        let second = store.observe(.test("Count"), didChange: { changes.append($0.newValue) })
        later.withLock { $0 = second }
        try store.set(1, for: .test("Count"))
        #expect(changes.all.isEmpty)
        first.cancel()
    }

    @Test func `All observers see a change made in a callback after its cause`() throws {
        let seen = (Recorded<TweakValue>(), Recorded<TweakValue>())
        let first = store.observe(
            .test("Count"),
            didChange: { [store] change in
                seen.0.append(change.newValue)
                if change.newValue == 1 { _ = try? store.set(2, for: .test("Count")) }
            })
        let second = store.observe(.test("Count"), didChange: { seen.1.append($0.newValue) })
        try store.set(1, for: .test("Count"))
        #expect(seen.0.all == [1, 2])
        #expect(seen.1.all == [1, 2])
        #expect(tweaks.cell(as: Int32.self) == 2)
        first.cancel()
        second.cancel()
    }

    @Test func `Another tweak can be set in a callback`() throws {
        let token = store.observe(
            .test("Count"), didChange: { [store] in _ = try? store.set($0.newValue, for: .test("Other")) })
        try store.set(3, for: .test("Count"))
        #expect(try store.value(of: .test("Other")) == 3)
        token.cancel()
    }

    @Test func `The same tweak can be set in will-change`() throws {
        let token = store.observe(
            .test("Count"),
            willChange: { [store] in
                if $0.newValue == 1 { _ = try? store.set(7, for: .test("Count")) }
            })
        try store.set(1, for: .test("Count"))
        #expect(try store.value(of: .test("Count")) == 1)
        token.cancel()
    }
}
