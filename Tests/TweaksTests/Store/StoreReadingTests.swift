// SPDX-License-Identifier: BSD-3-Clause
import Logging
import Testing

@testable import Tweaks

@Suite struct `Reading the store` {
    @Test func `Categories and collections are sorted by name`() {
        let tweaks = SyntheticTweaks(
            .bool("", true).named("Zebra", "B", "1"), .bool("", true).named("Apple", "C", "2"),
            .bool("", true).named("Zebra", "A", "3"))
        #expect(tweaks.store.categories.map(\.name) == ["Apple", "Zebra"])
        #expect(tweaks.store.categories.last?.collections.map(\.name) == ["A", "B"])
    }

    @Test func `Tweaks of a collection are in the order of declaration`() {
        let tweaks = SyntheticTweaks(.bool("c", true), .integer("a", 1), .string("b", ""))
        let names = tweaks.store.categories.first?.collections.first?.tweaks.map(\.declaration.key.name)
        #expect(names == ["c", "a", "b"])
    }

    @Test func `A store without tweaks has no categories`() {
        #expect(TweakStore().categories.isEmpty)
    }

    @Test func `A status has the declaration, the default and its source`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5, 0...10).at("a.c:7"))
        let status = try tweaks.store.status(of: .test("Count"))
        #expect(status.value == 5)
        #expect(status.source == .binary)
        #expect(status.declaration.type == .int32)
        #expect(status.declaration.minimum == 0)
        #expect(status.declaration.maximum == 10)
        #expect(status.declaration.location == "a.c:7")
    }

    @Test func `A status says that a value was set`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        try tweaks.store.set(6, for: .test("Count"))
        let status = try tweaks.store.status(of: .test("Count"))
        #expect(status.value == 6)
        #expect(status.source == .overrides)
        #expect(status.declaration.defaultValue == 5)
    }

    @Test func `An unknown name is an error with the nearest names`() {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .integer("Entirely different", 5))
        let error = #expect(throws: TweakError.self) { try tweaks.store.value(of: .test("Cuont")) }
        #expect(error == .unknown(.test("Cuont"), nearest: [.test("Count")]))
        #expect(
            error?.description == "Test/Values/Cuont: no such tweak; did you mean Test/Values/Count?"
        )
    }

    @Test func `A name in another collection is suggested`() {
        let tweaks = SyntheticTweaks(.integer("", 5).named("Elsewhere", "Quite", "Stiffness"))
        #expect(
            throws: TweakError.unknown(
                .test("stiffness"), nearest: [TweakKey("Elsewhere", "Quite", "Stiffness")])
        ) {
            try tweaks.store.status(of: .test("stiffness"))
        }
    }

    @Test func `A default replaces an unknown tweak, with one message`() {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        for _ in 1...3 { #expect(tweaks.store.value(of: .test("Cuont"), default: 9) == 9) }
        #expect(tweaks.messages.all.count == 1)
        #expect(tweaks.messages.all.first?.contains("Test/Values/Cuont") == true)
    }

    @Test func `The default of a call is not used for a known name`() {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        #expect(tweaks.store.value(of: .test("Count"), default: 9) == 5)
        #expect(tweaks.messages.all.isEmpty)
    }

    @Test func `A record of impossible size does not hide later ones`() throws {
        let lost: [UInt8] = [9, 0, 0, 0, 1, 1, 1, 0]
        let tweaks = SyntheticTweaks(
            .integer("Count", 5), followedBy: lost + Record.integer("Behind", 6).bytes)
        #expect(try tweaks.store.value(of: .test("Behind")) == 6)
        #expect(try tweaks.store.value(of: .test("Count")) == 5)
    }

    @Test func `A broken record is reported and the tweaks before it work`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), followedBy: [9, 0, 0, 0, 1, 1, 1, 0])
        #expect(try tweaks.store.value(of: .test("Count")) == 5)
        #expect(tweaks.messages.all.count == 1)
        #expect(tweaks.messages.all.first?.hasPrefix("synthetic: record at offset ") == true)
    }

    @Test func `A log handler may call the store`() {
        let tweaks = SyntheticTweaks(.integer("Count", 5), followedBy: [9, 0, 0, 0, 1, 1, 1, 0])
        let seen = Recorded<TweakValue>()
        let store = tweaks.store
        store.logger = .init(label: "test") { _ in
            CallingLogHandler { _ in seen.append(store.value(of: .test("Count"), default: 0)) }
        }
        #expect(!store.categories.isEmpty)
        #expect(seen.all == [5])
    }
}
