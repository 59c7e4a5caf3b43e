// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `A batch` {
    private struct Failure: Error {}
    private let store = TweakStore()
    private let width: Tweak<Int>
    private let height: Tweak<Int>

    init() throws {
        width = try store.make("A", "B", "Width", default: 1, in: 0...100)
        height = try store.make("A", "B", "Height", default: 1, in: 0...100)
    }

    @Test func `changes all of its tweaks when it ends`() throws {
        try store.batch { batch in
            try batch.set(10, for: width)
            #expect(width.value == 1)
            #expect(batch.value(of: width) == 10)
            try batch.set(20, for: height.key)
        }
        #expect([width.value, height.value] == [10, 20])
    }

    @Test func `notifies observers of one tweak once, from the first value to the last`() throws {
        let changes = Recorded<Tweak<Int>.Change>()
        let token = width.observe { changes.append($0) }
        try store.batch { batch in
            for number in 2...9 { try batch.set(number, for: width) }
        }
        #expect(changes.all == [.init(oldValue: 1, newValue: 9, source: .overrides)])
        token.cancel()
    }

    @Test func `notifies observers of several tweaks once`() throws {
        let calls = Recorded<[Int]>()
        let token = TweakStore.observe(width, height, onChange: { calls.append([$0, $1]) })
        try store.batch { batch in
            try batch.set(10, for: width)
            try batch.set(20, for: height)
        }
        #expect(calls.all == [[10, 20]])
        token.cancel()
    }

    @Test func `notifies observers of all tweaks of each change, once all have their values`() throws {
        let calls = Recorded<[TweakValue]>()
        let token = store.observe(didChange: { [store, width, height] change in
            calls.append([
                change.newValue, store.value(of: width.key, default: 0),
                store.value(of: height.key, default: 0),
            ])
        })
        try store.batch { batch in
            try batch.set(10, for: width)
            try batch.set(20, for: height)
        }
        #expect(calls.all == [[10, 10, 20], [20, 10, 20]])
        token.cancel()
    }

    @Test func `changes nothing and notifies nobody if it throws`() throws {
        let calls = Recorded<TweakChange>()
        let token = store.observe(willChange: calls.append, didChange: calls.append)
        #expect(throws: Failure.self) {
            try store.batch { batch in
                try batch.set(10, for: width)
                throw Failure()
            }
        }
        #expect(throws: TweakError.self) {
            try store.batch { batch in
                try batch.set(10, for: width)
                try batch.set("many", for: height.key)
            }
        }
        #expect(width.value == 1)
        #expect(calls.all.isEmpty)
        token.cancel()
    }

    @Test func `does not report tweaks that end with their old value`() throws {
        let calls = Recorded<TweakChange>()
        let token = store.observe(willChange: calls.append, didChange: calls.append)
        try store.batch { batch in
            try batch.set(10, for: width)
            try batch.reset(width)
            try batch.set(1, for: height)
        }
        #expect(calls.all.isEmpty)
        token.cancel()
    }

    @Test func `clamps, resets and returns what its closure returns`() throws {
        try height.set(7)
        let result = try store.batch { batch in
            try batch.reset(height.key)
            #expect(batch.value(of: height) == 1)
            return try batch.set(1000, for: width)
        }
        #expect(result == 100)
        #expect([width.value, height.value] == [100, 1])
    }

    @Test func `ends an observer that cancels itself in the first of its calls`() throws {
        let calls = Recorded<TweakKey>()
        let token = TestToken()
        token.hold(
            store.observe(didChange: {
                calls.append($0.key)
                token.cancel()
            }))
        try store.batch { batch in
            try batch.set(10, for: width)
            try batch.set(20, for: height)
        }
        #expect(calls.all == [width.key])
    }
}
