// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing

@testable import Tweaks

@Suite struct `Observing a tweak` {
    private let store = TweakStore()
    private let width: Tweak<Int>
    private let calls = Recorded<Tweak<Int>.Change>()

    init() throws { width = try store.make("A", "B", "Width", default: 1) }

    @Test func `gives old and new value and the source`() throws {
        let token = width.observe { [calls] in calls.append($0) }
        try width.set(2)
        try width.reset()
        #expect(
            calls.all == [
                .init(oldValue: 1, newValue: 2, source: .overrides),
                .init(oldValue: 2, newValue: 1, source: .binary),
            ])
        token.cancel()
    }

    @Test func `begins with the current value if that is wanted`() throws {
        try width.set(2)
        let token = width.observe(initially: true) { [calls] in calls.append($0) }
        #expect(calls.all == [.init(oldValue: 2, newValue: 2, source: .overrides)])
        try width.set(3)
        #expect(calls.all.last?.newValue == 3)
        token.cancel()
    }

    @Test func `does not tell of changes before it began`() throws {
        let late = Recorded<Int>()
        let (token, lateToken) = (TestToken(), TestToken())
        token.hold(
            width.observe { [width] change in
                guard change.newValue == 2 else { return }
                // Two changes wait now; who comes afterwards begins with the value after them.
                _ = try? width.set(3)
                _ = try? width.set(4)
                lateToken.hold(width.observe(initially: true) { late.append($0.newValue) })
                _ = try? width.set(5)
            })
        try width.set(2)
        #expect(late.all == [4, 5])
        token.cancel()
        lateToken.cancel()
    }

    @Test func `ends with its token, also inside its callback`() throws {
        let token = TestToken()
        token.hold(
            width.observe { [calls] in
                calls.append($0)
                token.release()
            })
        try width.set(2)
        try width.set(3)
        #expect(calls.all.map(\.newValue) == [2])
    }

    @Test func `ends with its owner`() throws {
        final class Owner: Sendable {}
        var owner: Owner? = Owner()
        weak let weakOwner = owner
        width.observe(owner: try #require(owner), initially: true) { [calls] _, change in calls.append(change)
        }
        try width.set(2)
        owner = nil
        #expect(weakOwner == nil)
        try width.set(3)
        #expect(calls.all.map(\.newValue) == [1, 2])
        #expect(width.observerCount == 0)
    }

    @Test func `ends before its owner if that is wanted`() throws {
        final class Owner: Sendable {}
        let owner = Owner()
        let token = width.observe(owner: owner) { [calls] _, change in calls.append(change) }
        try width.set(2)
        token.cancel()
        try width.set(3)
        #expect(calls.all.count == 1)
        withExtendedLifetime(owner) {}
    }

    @Test func `does not pile up observers without an owner`() {
        final class Owner: Sendable {}
        for _ in 1...1000 { width.observe(owner: Owner()) { _, _ in } }
        #expect(width.observerCount < 100)
    }

    @Test func `allows an owner to end in a callback`() throws {
        final class Owner: Sendable {
            let ended: @Sendable () -> Void
            init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
            deinit { ended() }
        }
        let values = Recorded<Int>()
        // What its end does calls the store.
        let holder = Recorded<Int>()
        var owner: Owner? = Owner { [width] in holder.append((try? width.set(9)) ?? 0) }
        width.observe(owner: try #require(owner)) { _, change in values.append(change.newValue) }
        let token = TestToken()
        token.hold(width.observe { _ in token.cancel() })
        try width.set(2)
        owner = nil
        #expect(holder.all == [9])
        #expect(values.all == [2])
    }

    @Test func `can be ended on another thread, and no call runs afterwards`() async throws {
        for _ in 1...200 {
            let ended = Recorded<Bool>()
            let late = Recorded<Bool>()
            let token = width.observe { _ in if !ended.all.isEmpty { late.append(true) } }
            await withTaskGroup { group in
                group.addTask { [width] in for number in 1...20 { _ = try? width.set(number) } }
                group.addTask {
                    token.cancel()
                    ended.append(true)
                }
            }
            #expect(late.all.isEmpty)
        }
    }

    @Test func `waits in cancel for a call that is running`() throws {
        let (entered, release, left) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Recorded<Bool>()
        )
        let token = width.observe { _ in
            entered.signal()
            release.wait()
            left.append(true)
        }
        let setter = Thread { [width] in _ = try? width.set(2) }
        setter.start()
        entered.wait()
        Thread { release.signal() }.start()
        token.cancel()
        #expect(left.all == [true])
    }

    @Test(arguments: [false, true])
    func `lets two callbacks end each other on two threads`(inTwoStores: Bool) throws {
        let both = DispatchSemaphore(value: 0)
        let store = inTwoStores ? TweakStore() : store
        let other = try store.make("A", "B", "Other", default: 1)
        let (first, second) = (TestToken(), TestToken())
        // One before a change and one after another change, which can run at the same time.
        let entered = DispatchSemaphore(value: 0)
        first.hold(
            width.observe { _ in
                both.signal()
                entered.wait()
                second.cancel()
            })
        second.hold(
            store.observe(
                other.key,
                willChange: { _ in
                    both.wait()
                    entered.signal()
                    first.cancel()
                }))
        let thread = Thread { _ = try? width.set(2) }
        thread.start()
        try other.set(2)
        #expect(other.value == 2)
    }

    @Test func `has the last value after many threads have set`() async throws {
        let token = width.observe { [calls] in calls.append($0) }
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask { [width] in
                    for number in 0..<200 { _ = try? width.set(task * 1000 + number) }
                }
            }
        }
        token.cancel()
        #expect(calls.all.last?.newValue == width.value)
        for (before, after) in zip(calls.all, calls.all.dropFirst()) {
            #expect(before.newValue == after.oldValue)
        }
    }
}

@Suite struct `Observing several tweaks` {
    private let store = TweakStore()
    private let width: Tweak<Int>
    private let title: Tweak<String>

    init() throws {
        width = try store.make("A", "B", "Width", default: 1)
        title = try store.make("A", "B", "Title", default: "a")
    }

    @Test func `calls back with all values`() throws {
        let calls = Recorded<String>()
        let token = TweakStore.observe(width, title, initially: true) { calls.append("\($0)\($1)") }
        try width.set(2)
        try title.set("b")
        #expect(calls.all == ["1a", "2a", "2b"])
        token.cancel()
        try width.set(3)
        #expect(calls.all.count == 3)
    }

    @Test func `may be of several stores, of which one is called first`() throws {
        let other = try TweakStore().make("A", "B", "Width", default: 5)
        let calls = Recorded<Int>()
        let token = TweakStore.observe(width, other, initially: true) { calls.append($0 * 10 + $1) }
        try other.set(6)
        try width.set(2)
        #expect(calls.all == [15, 16, 26])
        token.cancel()
        try other.set(7)
        #expect(calls.all.count == 3)
    }
}
