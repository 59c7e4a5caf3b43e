// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `A provider that changes` {
    private let tweaks = SyntheticTweaks(.integer("Count", 5), .integer("Other", 1))
    private var store: TweakStore { tweaks.store }
    private let count = TweakKey.test("Count")
    private let file = TweakSource("test")

    private func added(_ provider: TestProvider) throws -> TestProvider {
        try store.add(provider, above: nil)
        return provider
    }

    @Test(arguments: [false, true]) func `Cells, store and observers have each change once`(isDecoded: Bool)
        throws
    {
        let provider = try added(TestProvider())
        if isDecoded { #expect(store.categories.count == 1) }
        let told = Locked<[String]>([])
        let observation = store.observe(
            willChange: { change in told.withLock { $0.append("will \(change.oldValue) \(change.newValue)") }
            },
            didChange: { change in
                told.withLock { $0.append("did \(change.oldValue) \(change.newValue) \(change.source)") }
            })
        provider.change([count: .value(6)])
        #expect(tweaks.cell(as: Int32.self) == 6)
        provider.change([count: .value(6)])
        provider.change([count: .text("0x10")])
        #expect(tweaks.cell(as: Int32.self) == 16)
        provider.change([count: nil])
        #expect(tweaks.cell(as: Int32.self) == 5)
        observation.cancel()
        #expect(
            told.withLock { $0 } == [
                "will 5 6", "did 5 6 test", "will 6 16", "did 6 16 test", "will 16 5", "did 16 5 default",
            ])
    }

    @Test func `Observers of loads are called after those of changes, once for each problem`() throws {
        let provider = try added(TestProvider())
        let told = Locked<[String]>([])
        let changes = store.observe { change in told.withLock { $0.append("\(change.newValue)") } }
        let loads = store.observeLoads { load in
            told.withLock { $0.append("\(load.source) \(load.problem ?? "loaded")") }
        }
        provider.change([count: .value(6)], reporting: false)
        provider.report(.loaded)
        provider.report(.failed("gone"))
        provider.report(.failed("gone"))
        provider.report(.failed("still gone"))
        provider.reportEverything()
        provider.report(.loaded)
        provider.report(.failed("gone"))
        loads.cancel()
        provider.report(.loaded)
        #expect(
            told.withLock { $0 } == [
                "6", "test loaded", "test gone", "test still gone", "test loaded", "test gone",
            ])
        changes.cancel()
    }

    @Test func `While an observer of loads is slow, only the last load is queued`() throws {
        let provider = try added(TestProvider())
        let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let told = Locked<[String]>([])
        let observation = store.observeLoads { load in
            let isFirst = told.withLock { told in
                told.append(load.problem ?? "loaded")
                return told.count == 1
            }
            if isFirst {
                begun.signal()
                goOn.wait()
            }
        }
        let thread = Thread { provider.report(.loaded) }
        thread.start()
        begun.wait()
        for number in 0..<10_000 { store.deliver(TweakLoad(source: file, problem: "\(number)")) }
        goOn.signal()
        #expect(waitUntil { told.withLock { $0.last } == "9999" })
        #expect(told.withLock { $0.count } < 600)
        observation.cancel()
    }

    @Test func `Only reported names are read`() throws {
        let provider = try added(TestProvider("test", [count: 6, .test("Other"): 2]))
        let before = provider.asked.count
        provider.change([count: .value(7)])
        #expect(provider.asked.dropFirst(before) == [count])
    }

    @Test func `A provider that cannot list its names is asked about declared tweaks, also later ones`()
        throws
    {
        let made = TweakKey.test("Made")
        let provider = try added(TestProvider("test", [count: 6, made: 2], lists: false))
        #expect(tweaks.cell(as: Int32.self) == 6)
        #expect(try store.value(of: count) == 6)
        #expect(try store.make(made, default: 1).value == 2)
        provider.reportEverything()
        provider.change([made: .value(3)])
        #expect(try store.value(of: made) == 3)
        try store.remove(providerOf: provider.source)
        #expect(try store.value(of: made) == 1)
    }

    @Test func `Observers are notified of a new tweak`() throws {
        let name = TweakKey("Features", "Search", "Depth")
        let provider = try added(TestProvider("test", declares: true))
        let (all, one) = (Recorded<TweakChange>(), Recorded<TweakChange>())
        let observations = [
            store.observe(didChange: { all.append($0) }), store.observe(name, didChange: { one.append($0) }),
        ]
        provider.change([name: .value(3)])
        let appeared = TweakChange(key: name, oldValue: .nothing, newValue: 3, source: file)
        #expect(all.all == [appeared] && one.all == [appeared])
        let typed = Recorded<Int>()
        let handle = try store.tweak(name, as: Int.self)
        let observation = handle.observe { typed.append($0.newValue) }
        provider.change([name: nil])
        provider.change([name: .value(4)])
        #expect(all.all.last?.newValue == 4 && typed.all == [4] && handle.value == 4)
        for observation in observations + [observation] { observation.cancel() }
    }

    @Test func `When it throws, values stay, and the error is reported`() throws {
        let provider = try added(TestProvider("test", [count: 6]))
        provider.fail(with: "no connection")
        provider.change([count: .value(7)])
        provider.reportEverything()
        #expect(try store.value(of: count) == 6)
        #expect(
            tweaks.messages.all == [
                "test ignored: Test/Values/Count: no connection",
                "test: no connection; its values stay as they are",
            ])
        provider.fail(with: nil)
        provider.reportEverything()
        #expect(try store.value(of: count) == 7)
    }

    @Test func `It may call the store`() throws {
        let provider = try added(TestProvider())
        let other = TweakKey.test("Other")
        let store = store
        let observation = store.observe(count) { change in
            _ = try? store.set(change.newValue, for: other)
            provider.change([other: .value(100)])
        }
        provider.change([count: .value(6)])
        observation.cancel()
        #expect(try store.value(of: other) == 6)
        #expect(try store.opinions(on: other).map(\.value) == [6, 100, 1])
    }

    @Test func `Reports from many threads leave the last value`() throws {
        let provider = try added(TestProvider())
        let count = count
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<200 {
                provider.change([count: .value(.integer(Int128(thread * 1000 + number)))])
            }
        }
        let last = try provider.value(for: count)
        #expect(try .value(store.value(of: count)) == last)
        #expect(try store.value(of: count) == .integer(Int128(tweaks.cell(as: Int32.self))))
    }

    @Test func `A removed provider takes its values with it and is no longer observed`() throws {
        let provider = try added(TestProvider("test", [count: 6]))
        try store.remove(providerOf: file)
        #expect(!provider.isHeard)
        #expect(try store.value(of: count) == 5)
        provider.change([count: .value(7)])
        #expect(try store.value(of: count) == 5)
    }

    @Test func `A tweak that needs a restart waits for it`() throws {
        let restart = SyntheticTweaks(.integer("Count", 5).with("needs-restart"))
        let provider = TestProvider()
        try restart.store.add(provider, above: nil)
        provider.change([count: .value(6)])
        let status = try restart.store.status(of: count)
        #expect(status.value == 5 && status.pendingValue == 6)
        #expect(restart.cell(as: Int32.self) == 5)
    }

    @Test func `A tweak that only a provider has is one like all others`() throws {
        let name = TweakKey("Features", "Search", "Depth")
        let provider = try added(TestProvider("test", [name: 3], declares: true))
        #expect(store.categories.map(\.name) == ["Features", "Test"])
        let depth = try store.tweak("Features", "Search", "Depth", as: Int.self)
        #expect(depth.value == 3)
        try depth.set(4)
        #expect(depth.value == 4 && depth.source == .overrides)
        try depth.reset()
        provider.change([name: .value(8)])
        #expect(depth.value == 8 && depth.source == file)
        provider.change([name: nil])
        #expect(throws: TweakError.self) { try store.value(of: name) }
        #expect(depth.value == 8)
        provider.change([name: .value(9)])
        #expect(try store.value(of: name) == 9)
    }

    @Test func `Declarations of the program take precedence over those of a provider`() throws {
        let provider = TestProvider("test", [count: 9], declares: true)
        let store = TweakStore()
        try store.add(provider, above: nil)
        #expect(try store.status(of: count).declaration.type == .int64)
        try store.make("Test", "Values", "Count", default: 1.5)
        #expect(try store.status(of: count).declaration.type == .double)
        #expect(throws: TweakError.exists(count)) { try store.make("Test", "Values", "Count", default: 1) }
        let declared = try added(TestProvider("test", [count: 9], declares: true))
        #expect(declared.isHeard)
        #expect(try self.store.status(of: count).declaration.type == .int32)
        #expect(tweaks.cell(as: Int32.self) == 9)
    }

    @Test func `A file that is still missing decodes no tweaks`() throws {
        let home = try TemporaryDirectory()
        let provider = ProvidedValues(.remote, in: [home("remote.json")])
        try store.add(files: provider, above: nil)
        try provider.reload()
        #expect(store.state.withLock { $0.tweaks.count } == 0)
        try home.write("remote.json", #"{ "values": { "Test": { "Values": { "Count": 6 } } } }"#)
        try provider.reload()
        #expect(waitUntil { store.state.withLock { $0.tweaks.count } == 2 })
        #expect(tweaks.cell(as: Int32.self) == 6)
    }
}
