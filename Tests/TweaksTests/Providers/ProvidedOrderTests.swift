// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `The precedence of remote values` {
    private let tweaks = SyntheticTweaks(.integer("Count", 5))
    private var store: TweakStore { tweaks.store }

    init() throws {
        for source in [TweakSource.remote, .fleet] {
            try store.add(ProvidedValues(source, in: []), above: nil)
        }
        try store.add(TestProvider("local", [:]), above: nil)
    }

    @Test func `An order of added providers keeps remote values in place`() throws {
        try store.add(TestProvider("other", [:]), above: nil)
        try store.setOrder(["other", "local"].map { TweakSource($0) })
        #expect(
            store.sources.map(\.name)
                == ["session", "environment", "override", "remote", "fleet", "other", "local"])
    }

    @Test func `An order without them puts them after the overrides`() throws {
        try store.setOrder(["local", "override", "session", "environment"].map { TweakSource($0) })
        #expect(
            store.sources.map(\.name)
                == ["local", "override", "remote", "fleet", "session", "environment"])
    }

    @Test func `An order with them puts them where it says`() throws {
        let order = ["fleet", "session", "environment", "override", "local", "remote"]
        try store.setOrder(order.map { TweakSource($0) })
        #expect(store.sources.map(\.name) == order)
    }

    @Test func `A program can omit them`() throws {
        try store.remove(providerOf: .remote)
        try store.remove(providerOf: .fleet)
        #expect(store.sources.map(\.name) == ["session", "environment", "override", "local"])
    }
}

@Suite struct `The precedence of kills` {
    private let tweaks = SyntheticTweaks(.integer("Count", 5))
    private var store: TweakStore { tweaks.store }
    private let home: TemporaryDirectory
    private let provider: ProvidedValues

    init() throws {
        home = try TemporaryDirectory()
        let file = try home.write(
            "fleet.json",
            #"{ "values": { "Test": { "Values": { "Count": 6 } } }, "kills": { "Test": { "Values": { "Count": 7 } } } }"#
        )
        provider = ProvidedValues(.fleet, in: [file])
        try provider.reload()
        try store.take(provider)
    }

    private var sources: [String] { store.withState { $0.layers.all.map(\.source.name) } }

    @Test func `They come after the session, and programs do not see them in the order`() throws {
        #expect(sources == ["session", "kill", "environment", "override", "fleet"])
        #expect(store.sources.map(\.name) == ["session", "environment", "override", "fleet"])
        let key = TweakKey("Test", "Values", "Count")
        #expect(try store.value(of: key) == 7)
        try store.set(8, for: key, in: .overrides)
        #expect(try store.value(of: key) == 7)
        try store.set(9, for: key, in: .session)
        #expect(try store.value(of: key) == 9)
    }

    @Test func `What a person sets below one is recorded and undone, and the kill itself cannot be undone`()
        throws
    {
        let key = TweakKey("Test", "Values", "Count")
        // Changes of one client in quick succession would be undone together.
        for (client, value) in [(1, 8), (2, 9)] {
            try store.change([(key, .integer(Int128(value)))], by: author(Int32(client)))
        }
        let undone = try store.undo(nil, by: author(3)).tweaks
        #expect(undone.map(\.oldValue) == [.integer(9)] && undone.map(\.newValue) == [.integer(8)])
        #expect(store.withState { $0.layers[.overrides][key] } == .value(.integer(8)))
        #expect(try store.revert(to: nil, by: author(3)).map(\.newValue) == [.integer(6)])
        #expect(try store.value(of: key) == 7)

        try home.write("fleet.json", #"{ "values": {}, "kills": { "Test": { "Values": { "Count": 10 } } } }"#)
        try provider.reload()
        let kill = store.withState { $0.history.changes(after: 0).last { $0.newSource == .kill }?.number }
        let number = try #require(kill)
        #expect(throws: HistoryError.self) { try store.undo(number, by: author(3)) }
    }

    @Test func `They are a provider once there are any, and follow the file`() throws {
        let key = TweakKey("Test", "Values", "Count")
        try home.write("fleet.json", #"{ "values": { "Test": { "Values": { "Count": 6 } } } }"#)
        try provider.reload()
        #expect(try store.value(of: key) == 6)
        let other = SyntheticTweaks(.integer("Count", 5))
        let later = ProvidedValues(.fleet, in: [home("fleet.json")])
        try later.reload()
        try other.store.take(later)
        #expect(other.store.withState { $0.layers.all.map(\.source.name) }.contains("kill") == false)
        try home.write("fleet.json", #"{ "values": {}, "kills": { "Test": { "Values": { "Count": 8 } } } }"#)
        try later.reload()
        #expect(try other.store.value(of: key) == 8)
        try provider.reload()
        #expect(try store.value(of: key) == 8)
    }

    @Test func `They come first if something precedes the session`() throws {
        try store.setOrder(["override", "session", "environment", "fleet"].map { TweakSource($0) })
        #expect(sources == ["kill", "override", "session", "environment", "fleet"])
        try store.setOrder(["session", "override", "environment", "fleet"].map { TweakSource($0) })
        #expect(sources == ["session", "kill", "override", "environment", "fleet"])
    }

    @Test func `No provider is added above them`() throws {
        try store.add(TestProvider("local", [:]), below: .session)
        #expect(sources == ["session", "kill", "local", "environment", "override", "fleet"])
        try store.add(TestProvider("first", [:]), above: .session)
        #expect(sources == ["kill", "first", "session", "local", "environment", "override", "fleet"])
    }
}
