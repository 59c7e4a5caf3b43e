// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@testable import Tweaks

/// Every provider that a store can have, but for the environment, which stays as it is.
@Suite struct `A change in each provider` {
    private let home: TemporaryDirectory
    private let store = TweakStore()
    private let limit = TweakKey("Features", "search", "limit")

    init() throws { home = try TemporaryDirectory() }

    /// Checks what observers of one tweak, observers of all, control clients and cells have of a change.
    private func expectOnce(
        _ key: TweakKey, _ old: TweakValue, _ new: TweakValue, _ source: String, _ change: () throws -> Void
    ) throws {
        #expect(try store.value(of: key) == old)
        let changes = Locked<[String: [TweakChange]]>([:])
        @Sendable func tell(_ who: String, _ change: TweakChange) {
            changes.withLock { $0[who, default: []].append(change) }
        }
        let ofOne = store.observe(key, willChange: { tell("before", $0) }, didChange: { tell("one", $0) })
        let ofAll = store.observe(didChange: { tell("all", $0) })
        store.state.withLock { state in
            state.delivery.listener = { changes, _ in for change in changes { tell("client", change) } }
        }
        let handle = try #require(store.state.withLock { $0.handle(of: key) })
        try change()
        // The thread that follows the files may have been faster, and be telling.
        let deadline = ContinuousClock.now + .seconds(30)
        while changes.withLock({ $0["all"] == nil || $0["one"] == nil }), .now < deadline { usleep(1000) }
        store.state.withLock { $0.delivery.listener = nil }
        ofOne.cancel()
        ofAll.cancel()
        let expected = TweakChange(key: key, oldValue: old, newValue: new, source: TweakSource(source))
        let told = changes.withLock { $0 }
        for who in ["before", "one", "all", "client"] { #expect(told[who] == [expected], "\(who)") }
        let bits: UInt64 = new == true ? 1 : 2
        #expect(handle.cell.address.load(as: UInt64.self) == bits)
        #expect(try store.status(of: key).source == expected.source)
    }

    @Test func `The session`() throws {
        try store.make("Features", "search", "limit", default: 1)
        try expectOnce(limit, 1, 2, "session") { try store.set(2, for: limit, in: .session) }
    }

    @Test func `Overrides`() throws {
        try store.make("Features", "search", "limit", default: 1)
        try expectOnce(limit, 1, 2, "override") { try store.set(2, for: limit) }
    }

    @Test func `Edited overrides`() throws {
        let file = OverridesFile(path: home("overrides.json"))
        store.keepOverrides(in: file)
        try store.make("Features", "search", "limit", default: 1)
        let writer = try #require(store.writer)
        try expectOnce(limit, 1, 2, "override") {
            try home.write("overrides.json", #"{ "Features": { "search": { "limit": 2 } } }"#)
            store.reload(file, writer, isComplete: true)
        }
    }

    @Test func `Files of variables`() throws {
        let path = try home.write("v.json", #"{ "search": { "limit": { "Value": 1 } } }"#)
        let provider = try VariablesProvider(files: [path])
        try store.add(provider, above: nil)
        try expectOnce(limit, 1, 2, "v.json") {
            try home.write("v.json", #"{ "search": { "limit": { "Value": 2 } } }"#)
            try provider.reload()
        }
        try home.write("v.json", "{")
        #expect(throws: (any Error).self) { try provider.reload() }
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: ProviderFileError.self) { try provider.reload() }
        #expect(try store.value(of: limit) == 2)
    }

    @Test func `Files of features`() throws {
        let path = try home.write("f.json", #"{ "default": { "search": { "enabled": false } } }"#)
        let provider = try FeaturesProvider(file: path)
        try store.add(provider, above: nil)
        try expectOnce(store.feature("search").key, false, true, "f.json") {
            try home.write("f.json", #"{ "default": { "search": { "enabled": true } } }"#)
            try provider.reload()
        }
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: ProviderFileError.self) { try provider.reload() }
        #expect(store.isFeatureEnabled("search"))
    }

    @Test func `Edited files`() throws {
        let first = try home.write("first.json", #"{ "search": { "limit": { "Value": 1 } } }"#)
        let second = try home.write("second.json", #"{ "search": { "title": { "Value": "a" } } }"#)
        let features = try home.write("f.json", #"{ "default": { "search": { "enabled": false } } }"#)
        try store.add(VariablesProvider(files: [first, second]), above: nil)
        try store.add(FeaturesProvider(file: features), above: nil)
        let changes = Locked<[String]>([])
        let observation = store.observe(didChange: { change in
            changes.withLock { $0.append("\(change.key) \(change.newValue) \(change.source)") }
        })
        try home.write("second.json", #"{ "search": { "title": { "Value": "b" } } }"#)
        #expect(waitUntil { changes.withLock { $0.count } == 1 })
        try home.write("f.json", #"{ "default": { "search": { "enabled": true } } }"#)
        #expect(waitUntil { changes.withLock { $0.count } == 2 })
        // What is wrong changes nothing, and does not end it.
        try home.write("first.json", "{")
        try home.write("first.json", #"{ "search": { "limit": { "Value": 2 } } }"#)
        #expect(waitUntil { changes.withLock { $0.count } == 3 })
        #expect(
            changes.withLock { $0 } == [
                "Features/search/title b first.json", "Features/search/enabled true f.json",
                "Features/search/limit 2 first.json",
            ])
        try store.remove(providerOf: TweakSource("first.json"))
        try home.write("first.json", #"{ "search": { "limit": { "Value": 3 } } }"#)
        try home.write("f.json", #"{ "default": { "search": { "enabled": false } } }"#)
        #expect(waitUntil { !store.isFeatureEnabled("search") })
        #expect(throws: TweakError.self) { try store.status(of: limit) }
        observation.cancel()
    }
}
