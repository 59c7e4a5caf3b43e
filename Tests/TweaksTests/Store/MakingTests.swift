// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `Making tweaks` {
    private let store = TweakStore()

    @Test func `Created tweaks are listed in order`() throws {
        try store.make("B", "A", "2", default: 1)
        try store.make("A", "B", "z", default: 1)
        try store.make("A", "B", "a", default: 1)
        #expect(store.categories.map(\.name) == ["A", "B"])
        #expect(
            store.categories.first?.collections.first?.tweaks.map(\.declaration.key.name) == ["z", "a"])
    }

    @Test func `Names are unique`() throws {
        try store.make("A", "B", "C", default: 1)
        #expect(throws: TweakError.exists(TweakKey("A", "B", "C"))) {
            try store.make("A", "B", "C", default: 2)
        }
        try store.remove(TweakKey("A", "B", "C"))
        try store.make("A", "B", "C", default: 2.5)
        #expect(throws: TweakError.notMade(TweakKey("A", "B", "D"))) {
            try store.remove(TweakKey("A", "B", "D"))
        }
    }

    @Test func `Compiled tweaks cannot be removed`() {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        #expect(throws: TweakError.notMade(.test("Count"))) { try tweaks.store.remove(.test("Count")) }
    }

    private static let key = TweakKey("A", "B", "C")

    @Test(
        arguments: [
            (TweakDeclaration(key: key, type: .int8, defaultValue: 200), "the default, 200, is not an int8"),
            (TweakDeclaration(key: key, type: .bool, defaultValue: 1), "the default, 1, is not a bool"),
            (
                TweakDeclaration(key: key, type: .int32, defaultValue: 5, minimum: 6),
                "the default is outside the limits; allowed: an integer from 6 to 2147483647"
            ),
            (
                TweakDeclaration(key: key, type: .double, defaultValue: 5, minimum: 9, maximum: 1),
                "the minimum is above the maximum"
            ),
            (
                TweakDeclaration(key: key, type: .string, defaultValue: "a", minimum: "a"),
                "only a number has limits and a step"
            ),
            (
                TweakDeclaration(key: key, type: .bool, defaultValue: true, choices: [TweakChoice(true)]),
                "only numbers and texts have choices"
            ),
            (
                TweakDeclaration(
                    key: key, type: .int32, defaultValue: 1, minimum: 0, choices: [TweakChoice(1)]),
                "a tweak has limits or choices, not both"
            ),
            (
                TweakDeclaration(key: key, type: .int32, defaultValue: 2, choices: [TweakChoice(1)]),
                "the default is outside the limits; allowed: one of 1"
            ),
            (
                TweakDeclaration(
                    key: key, type: .double, defaultValue: 1, minimum: 0, maximum: 10,
                    attributes: [.init(key: "scale", value: "log")]),
                "a logarithmic scale needs a minimum above 0"
            ),
            (
                TweakDeclaration(key: key, type: .string, defaultValue: "a\0"),
                "the default, \"a\0\", is not a string"
            ),
        ])
    func `An inconsistent declaration is refused`(declaration: TweakDeclaration, reason: String) {
        #expect(throws: TweakError.invalid(Self.key, reason: reason)) { try store.make(declaration) }
        #expect(store.categories.isEmpty)
    }

    @Test func `A NUL in a name is refused`() {
        #expect(throws: TweakError.self) { try store.make("A\0", "B", "C", default: 1) }
    }

    @Test func `Integers stand for floating-point numbers in a declaration`() throws {
        try store.make(TweakDeclaration(key: Self.key, type: .double, defaultValue: 1, maximum: 2))
        let tweak = try store.tweak("A", "B", "C", as: Double.self)
        #expect(tweak.value == 1)
        #expect(tweak.limits == (nil, 2))
    }

    @Test func `A declaration can be taken from another store`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Level", 2, type: .int64).with("label=easy", "unit=m", choices: [2]),
            .double("Ratio", 0.5, 0...1))
        for status in tweaks.store.categories.flatMap(\.collections).flatMap(\.tweaks) {
            try store.make(status.declaration)
            #expect(try store.status(of: status.declaration.key).declaration.agrees(with: status.declaration))
        }
    }

    @Test func `A file keeps what is set in a private store`() throws {
        let directory = try TemporaryDirectory()
        let path = directory("values.json")
        let first = TweakStore(overrides: .file(path: path))
        try first.make("A", "B", "C", default: 1, in: 0...10).set(7)
        first.flush()
        let second = TweakStore(overrides: .file(path: path))
        let tweak = try second.make("A", "B", "C", default: 1, in: 0...10)
        #expect(tweak.value == 7)
        #expect(tweak.source == .overrides)
    }

    @Test func `A store without a file keeps nothing`() throws {
        let tweak = try store.make("A", "B", "C", default: 1)
        try tweak.set(7)
        store.flush()
        #expect(TweakStore().categories.isEmpty)
    }

    @Test func `A corrupt file is reported to the logger that the store is made with`() throws {
        let directory = try TemporaryDirectory()
        let messages = CollectedMessages()
        let path = try directory.write("values.json", "{")
        let store = TweakStore(overrides: .file(path: path), logger: messages.logger)
        #expect(store.categories.isEmpty)
        #expect(messages.all.count == 1)
    }
}

@Suite struct `Resetting several tweaks` {
    private let store = TweakStore()

    private func values() -> [Int64] {
        store.categories.flatMap(\.collections).flatMap(\.tweaks).map {
            if case .integer(let number) = $0.value { Int64(number) } else { -1 }
        }
    }

    init() throws {
        for name in ["A/A/1", "A/A/2", "A/B/3", "B/A/4"] {
            let key = try #require(TweakKey(name))
            try store.make(key.category, key.collection, key.name, default: 0).set(1)
        }
    }

    @Test func `A collection`() throws {
        try store.reset(category: "A", collection: "A")
        #expect(values() == [0, 0, 1, 1])
    }

    @Test func `A category`() throws {
        try store.reset(category: "A")
        #expect(values() == [0, 0, 0, 1])
    }

    @Test func `All`() {
        store.resetAll()
        #expect(values() == [0, 0, 0, 0])
    }

    @Test func `An unknown name is an error`() {
        #expect(throws: TweakError.noTweaks(in: "C")) { try store.reset(category: "C") }
        #expect(throws: TweakError.noTweaks(in: "A/C")) { try store.reset(category: "A", collection: "C") }
    }

    @Test func `It is one change`() throws {
        let tweaks = try ["1", "2"].map { try store.tweak("A", "A", $0, as: Int.self) }
        let calls = Recorded<Int>()
        let token = TweakStore.observe(tweaks[0], tweaks[1], onChange: { calls.append($0 + $1) })
        try store.reset(category: "A")
        #expect(calls.all == [0])
        token.cancel()
    }
}
