// SPDX-License-Identifier: BSD-3-Clause
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tweaks

/// A provider of one value that does something of its own before it says what it has.
private final class BusyProvider: TweakProvider {
    let source = TweakSource("busy")
    private let key: TweakKey
    private let number: Locked<Int> = Locked(6)
    private let report = Locked<(@Sendable (TweakProviderChange) -> Void)?>(nil)
    private let work: Locked<(@Sendable () -> Void)?> = Locked(nil)

    init(_ key: TweakKey) { self.key = key }

    /// Has `work` done by whoever asks next, once.
    func change(to number: Int, before work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0 = work }
        change(to: number)
    }

    func change(to number: Int) {
        self.number.withLock { $0 = number }
        report.withLock { $0 }?(.tweaks([key]))
    }

    var keys: Set<TweakKey> { [key] }
    func value(for key: TweakKey) -> ProvidedValue? {
        let number = number.withLock { $0 }
        let work = work.withLock { work in
            defer { work = nil }
            return work
        }
        work?()
        return key == self.key ? .value(.integer(Int128(number))) : nil
    }
    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        self.report.withLock { $0 = report }
    }
}

@Suite struct `A misbehaving provider` {
    private let tweaks = SyntheticTweaks(.integer("Count", 5), .integer("Other", 1))
    private var store: TweakStore { tweaks.store }
    private let count = TweakKey.test("Count")
    private let other = TweakKey.test("Other")
    private let provider = BusyProvider(.test("Count"))

    init() throws { try store.add(provider, above: nil) }

    /// Runs `body` while another thread waits for what the provider says.
    private func whileAsked(_ body: () throws -> Void) throws {
        let (asked, answer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = DispatchSemaphore(value: 0)
        let provider = provider
        Thread.detachNewThread {
            provider.change(to: 7) {
                asked.signal()
                answer.wait()
            }
            done.signal()
        }
        asked.wait()
        defer {
            answer.signal()
            done.wait()
        }
        try body()
    }

    @Test func `A slow provider delays nobody, and its value arrives late`() throws {
        try whileAsked {
            #expect(try store.value(of: count) == 6)
            try store.set(2, for: other)
            #expect(tweaks.cell(1, as: Int32.self) == 2)
            try store.add(TestProvider("quick", [other: 3]), above: .session)
            #expect(try store.value(of: other) == 3)
        }
        #expect(try store.value(of: count) == 7)
    }

    @Test func `Reports of a slow provider are read afterwards`() throws {
        let provider = provider
        try whileAsked { provider.change(to: 8) }
        #expect(try store.value(of: count) == 8)
    }

    @Test func `A provider removed while it is read leaves nothing behind`() throws {
        try whileAsked {
            try store.remove(providerOf: provider.source)
            #expect(try store.value(of: count) == 5)
            try store.add(TestProvider("busy", [other: 3]), above: nil)
        }
        #expect(try store.value(of: count) == 5)
        #expect(try store.opinions(on: count).map(\.source) == [.binary])
        #expect(tweaks.cell(as: Int32.self) == 5)
    }

    @Test func `It may call the store and report changes while it is read`() throws {
        let (provider, store, other) = (provider, store, other)
        provider.change(to: 7) {
            _ = try? store.set(2, for: other)
            provider.change(to: 8)
        }
        #expect(try store.value(of: other) == 2)
        #expect(try store.value(of: count) == 8)
    }

    @Test func `Observers have no gaps between reports from many threads`() throws {
        let changes = Locked<[TweakChange]>([])
        let observation = store.observe(count) { change in changes.withLock { $0.append(change) } }
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<100 { provider.change(to: 100 * thread + number) }
        }
        observation.cancel()
        var value: TweakValue = 6
        for change in changes.withLock({ $0 }) {
            #expect(change.oldValue == value && change.newValue != value)
            value = change.newValue
        }
        #expect(try store.value(of: count) == value)
    }

    @Test func `The store releases a removed provider, and the provider does not retain the store`() throws {
        weak var (store, provider): (TweakStore?, TestProvider?)
        do {
            let (first, second) = (TestProvider("first"), TestProvider("second"))
            let holder = TweakStore()
            store = holder
            try holder.add(first, above: nil)
            try holder.add(second, above: nil)
            provider = first
            try holder.remove(providerOf: first.source)
        }
        #expect(store == nil && provider == nil)
        let lonely = TestProvider()
        try TweakStore().add(lonely, above: nil)
        lonely.change([count: .value(7)])
        #expect(lonely.asked.isEmpty)
    }
}
