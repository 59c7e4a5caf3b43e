// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing

@testable import Tweaks

@Suite struct `Observers and threads` {
    @Test func `A blocking observer does not block another thread's set`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 0), .integer("Other", 0))
        let store = tweaks.store
        let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = store.observe(
            .test("Count"),
            didChange: { _ in
                entered.signal()
                release.wait()
            })
        let blocked = Thread { _ = try? store.set(1, for: .test("Count")) }
        blocked.start()
        entered.wait()
        // Returns although the observer is still inside.
        try store.set(2, for: .test("Other"))
        try store.set(3, for: .test("Other"))
        #expect(tweaks.cell(1, as: Int32.self) == 3)
        release.signal()
        token.cancel()
    }

    @Test func `Changes during a blocking observer are delivered afterwards, in order`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 0))
        let store = tweaks.store
        let values = Recorded<TweakValue>()
        let (entered, release, finished) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let token = store.observe(
            didChange: {
                values.append($0.newValue)
                if $0.newValue == 1 {
                    entered.signal()
                    release.wait()
                }
            })
        let blocked = Thread {
            _ = try? store.set(1, for: .test("Count"))
            finished.signal()
        }
        blocked.start()
        entered.wait()
        try store.set(2, for: .test("Count"))
        try store.set(3, for: .test("Count"))
        #expect(values.all == [1])
        release.signal()
        finished.wait()
        // Told by a thread of the library, since the one that was blocked has told of its own.
        while values.all.count < 3 { usleep(1000) }
        #expect(values.all == [1, 2, 3])
        token.cancel()
    }

    @Test func `After many threads have set, cell, store and last change agree`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", -1))
        let store = tweaks.store
        let changes = Recorded<TweakChange>()
        let token = store.observe(.test("Count"), didChange: changes.append)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<500 {
                _ = try? store.set(.integer(Int128(thread * 500 + number)), for: .test("Count"))
            }
        }
        let final = try store.value(of: .test("Count"))
        #expect(final == .integer(Int128(tweaks.cell(as: Int32.self))))
        // A thread of the library tells of the last ones.
        while changes.all.last?.newValue != final { usleep(1000) }
        // Where many wait, several become one.
        #expect(changes.all.count <= 4000)
        #expect(zip(changes.all, changes.all.dropFirst()).allSatisfy { $0.newValue == $1.oldValue })
        token.cancel()
    }

    @Test func `Observers can come and go while others set`() {
        let tweaks = SyntheticTweaks(.integer("Count", -1))
        let store = tweaks.store
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<200 {
                let token = store.observe(didChange: { _ in })
                _ = try? store.set(.integer(Int128(thread * 200 + number)), for: .test("Count"))
                token.cancel()
            }
        }
        #expect(store.value(of: .test("Count"), default: 0) == .integer(Int128(tweaks.cell(as: Int32.self))))
    }
}
