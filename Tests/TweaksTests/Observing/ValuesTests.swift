// SPDX-License-Identifier: BSD-3-Clause
import Observation
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `The sequence of values` {
    private let store = TweakStore()
    private let width: Tweak<Int>

    init() throws { width = try store.make("A", "B", "Width", default: 1) }

    @Test func `begins with the current value`() async throws {
        var values = width.values.makeAsyncIterator()
        #expect(await values.next() == 1)
        try width.set(2)
        #expect(await values.next() == 2)
    }

    @Test func `ends up with the last value for a reader that is slow`() async throws {
        var values = width.values.makeAsyncIterator()
        for number in 2...1000 { try width.set(number) }
        #expect(await values.next() == 1000)
    }

    @Test func `has the last value after many tasks have set`() async throws {
        let reader = Task { [width] in
            for await value in width.values where value == -1 { return }
        }
        await withTaskGroup { group in
            for task in 1...4 {
                group.addTask { [width] in
                    for number in 0..<200 { _ = try? width.set(task * 1000 + number) }
                }
            }
        }
        try width.set(-1)
        await reader.value
    }

    @Test func `ends when its task is cancelled`() async {
        let reader = Task { [width] in
            var count = 0
            for await _ in width.values { count += 1 }
            return count
        }
        await Task.yield()
        reader.cancel()
        #expect(await reader.value <= 1)
        #expect(width.observerCount == 0)
    }

    @Test func `can be read by several at a time`() async throws {
        let values = width.values
        var (first, second) = (values.makeAsyncIterator(), values.makeAsyncIterator())
        #expect(await first.next() == 1)
        #expect(await second.next() == 1)
        try width.set(2)
        #expect(await first.next() == 2)
        #expect(await second.next() == 2)
    }

    @Test func `leaves nothing when nobody reads any more`() {
        do { _ = width.values.makeAsyncIterator() }
        #expect(width.observerCount == 0)
    }
}

@Suite struct `The Observation framework` {
    private let store = TweakStore()
    private let width: Tweak<Int>

    init() throws { width = try store.make("A", "B", "Width", default: 1) }

    @Test func `sees a change of a tracked value, once`() throws {
        let seen = Recorded<Int>()
        let value = withObservationTracking {
            width.trackedValue
        } onChange: { [width] in
            seen.append(width.value)
        }
        #expect(value == 1)
        try width.set(2)
        try width.set(3)
        #expect(seen.all == [2])
    }

    @Test func `ignores other tweaks and untracked reads`() throws {
        let height = try store.make("A", "B", "Height", default: 1)
        let seen = Recorded<Int>()
        withObservationTracking {
            _ = (width.trackedValue, height.value)
        } onChange: {
            seen.append(1)
        }
        try height.set(2)
        #expect(seen.all.isEmpty)
    }

    @Test func `loses no change that comes while it begins`() async throws {
        let finished = Locked(false)
        let setter = Task { [width] in
            for number in 2...500 {
                _ = try? width.set(number)
                if number % 50 == 0 { await Task.yield() }
            }
            finished.withLock { $0 = true }
        }
        /// Reads again at each change until it has the last value.
        @Sendable func track(_ done: CheckedContinuation<Void, Never>) {
            let value = withObservationTracking {
                width.trackedValue
            } onChange: {
                Task { track(done) }
            }
            if value == 500 { done.resume() }
        }
        await withCheckedContinuation { track($0) }
        await setter.value
    }

    @Test func `gives the sequence of its own`() async throws {
        let observations = Observations { [width] in width.trackedValue }
        var values = observations.makeAsyncIterator()
        #expect(await values.next() == 1)
        try width.set(2)
        #expect(await values.next() == 2)
    }
}
