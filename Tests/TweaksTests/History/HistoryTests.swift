// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

/// A client that no other is taken for.
func author(_ process: Int32) -> ChangeAuthor { .client(ClientIdentity(process: process, user: 0)) }

/// Clocks that a test moves, in nanoseconds.
private final class TestClocks: Sendable {
    private let clocks = Locked((wall: Int64(1_000_000_000), monotonic: Int64(0)))

    init(of store: TweakStore) {
        let clocks = clocks
        store.state.withLock { state in
            state.history.testClock = { clock in
                clocks.withLock { clock == CLOCK_MONOTONIC ? $0.monotonic : $0.wall }
            }
        }
    }

    func pass(_ seconds: Double) {
        clocks.withLock {
            $0.wall += Int64(seconds * 1e9)
            $0.monotonic += Int64(seconds * 1e9)
        }
    }

    func jump(_ seconds: Double) { clocks.withLock { $0.wall += Int64(seconds * 1e9) } }
}

@Suite struct `The history of changes` {
    private let tweaks = SyntheticTweaks(
        .integer("Count", 5), .string("Text", "hello"), .bool("Flag", false),
        .double("Later", 0.5).with("needs-restart"))
    private var store: TweakStore { tweaks.store }

    private func set(_ name: String, _ value: TweakValue, by author: ChangeAuthor = .program) throws {
        try store.change([(.test(name), store.declaration(of: .test(name)).admit(value).value)], by: author)
    }

    private var changes: [ChangeHistory.Change] {
        store.state.withLock { $0.history.changes(after: 0) }
    }

    private func value(_ name: String) throws -> TweakValue { try store.value(of: .test(name)) }

    private func isOverride(_ name: String) -> Bool {
        store.state.withLock { $0.layers[.overrides][.test(name)] != nil }
    }

    @Test func `A process without changes allocates nothing for it`() throws {
        _ = try store.value(of: .test("Count"))
        #expect(store.state.withLock { $0.history.count == 0 && $0.history.points.isEmpty })
        #expect(throws: HistoryError.self) { try store.undo(nil, by: .program) }
        #expect(try store.revert(to: nil, by: .program).isEmpty)
    }

    @Test func `A change has a number, times, both values, its source and who made it`() throws {
        let clocks = TestClocks(of: store)
        try set("Count", 6)
        clocks.pass(2)
        clocks.jump(-100)
        try set("Text", "bye", by: author(1))
        let changes = changes
        #expect(changes.map(\.number) == [1, 2])
        #expect(changes.map(\.oldValue) == [5, "hello"])
        #expect(changes.map(\.newValue) == [6, "bye"])
        #expect(changes.map(\.oldSource) == [.binary, .binary])
        #expect(changes.map(\.newSource) == [.overrides, .overrides])
        #expect(changes.map(\.time) == [1_000_000_000, -97_000_000_000])
        #expect(changes.map(\.monotonicTime) == [0, 2_000_000_000])
        #expect("\(changes[0].author)" == "program")
    }

    @Test func `Changes made together have one number`() throws {
        try store.batch { batch in
            try batch.set(6, for: .test("Count"))
            try batch.set("bye", for: .test("Text"))
        }
        try set("Flag", true)
        #expect(changes.map(\.number) == [1, 1, 2])
        #expect(store.state.withLock { $0.history.changes(after: 0, atMost: 1).count } == 2)
        #expect(store.state.withLock { $0.history.changes(after: 1).map(\.number) } == [2])
    }

    @Test func `An undo gives back the value and the absence of an override`() throws {
        try set("Count", 6, by: author(1))
        try set("Count", 7, by: author(2))
        #expect(try store.undo(nil, by: author(3)).numbers == 2...2)
        #expect(try value("Count") == 6 && isOverride("Count"))
        #expect(try store.undo(nil, by: author(3)).numbers == 1...1)
        #expect(try value("Count") == 5 && !isOverride("Count"))
        #expect(throws: HistoryError.self) { try store.undo(nil, by: author(3)) }
        #expect(changes.map(\.undoes) == [0, 0, 2, 1])
    }

    @Test func `The undo of an undo makes the change again, which can be undone again`() throws {
        try set("Count", 6, by: author(1))
        _ = try store.undo(nil, by: author(2))
        #expect(try store.undo(2, by: author(2)).numbers == 2...2)
        #expect(try value("Count") == 6 && isOverride("Count"))
        #expect(try store.undo(nil, by: author(2)).numbers == 1...1)
        #expect(try value("Count") == 5)
    }

    @Test func `A value that was changed since is not undone, and the message names who changed it`() throws {
        try store.change([(.test("Count"), 6), (.test("Text"), "bye")], by: author(1))
        try set("Text", "hi")
        let error = #expect(throws: HistoryError.self) { try store.undo(1, by: author(1)) }
        #expect(
            "\(error!)"
                == "Test/Values/Text: it was changed to \"hi\" since, by program in change 2; undo that first"
        )
        #expect(try value("Count") == 6 && value("Text") == "hi")
        try set("Text", "bye")
        #expect(try store.undo(1, by: author(1)).tweaks.count == 2)
        #expect(try value("Count") == 5 && value("Text") == "hello")
    }

    @Test func `A burst of one client counts as one, whatever the wall clock does`() throws {
        let clocks = TestClocks(of: store)
        try set("Count", 1, by: author(1))
        clocks.pass(10)
        for number in Int64(10)..<15 {
            try set("Count", TweakValue(integerLiteral: number), by: author(1))
            try set("Text", .string("\(number)"), by: author(2))
            clocks.pass(0.5)
            clocks.jump(number % 2 == 0 ? 1e6 : -1e6)
        }
        #expect(try store.undo(8, by: author(3)).numbers == 2...10)
        #expect(try value("Count") == 1 && value("Text") == "14")
        #expect(try store.undo(nil, by: author(3)).numbers == 3...11)
        #expect(try value("Text") == "hello")
        #expect(try store.undo(nil, by: author(3)).numbers == 1...1)
    }

    @Test func `Changes with a pause, by two clients or by the program are no burst`() throws {
        let clocks = TestClocks(of: store)
        try set("Count", 1, by: author(1))
        clocks.pass(0.6)
        try set("Count", 2, by: author(1))
        try set("Count", 3, by: author(2))
        try set("Count", 4)
        try set("Count", 7)
        for (number, expected) in [(5, 4), (4, 3), (3, 2), (2, 1)] as [(UInt64, TweakValue)] {
            #expect(try store.undo(number, by: .program).numbers == number...number)
            #expect(try value("Count") == expected)
        }
    }

    @Test func `Changes by two people at one client are no burst`() throws {
        let connection = ClientIdentity(process: 1, user: 0)
        let people = ["Ann", "Bob", "Bob"].map { ClientIdentity(of: connection, person: $0) }
        for (number, person) in zip(Int64(1)..., people) {
            try set("Count", TweakValue(integerLiteral: number), by: .client(person))
        }
        #expect(changes.map(\.author.person) == ["Ann", "Bob", "Bob"])
        #expect(try store.undo(nil, by: .client(people[0])).numbers == 2...3)
        #expect(try value("Count") == 1)
    }

    @Test func `A set that waits for a restart is undone too`() throws {
        try set("Later", 0.75, by: author(1))
        #expect(changes.map(\.isPending) == [true])
        _ = try store.undo(nil, by: author(1))
        #expect(try store.status(of: .test("Later")).pendingValue == nil && !isOverride("Later"))
        #expect(changes.map(\.isPending) == [false, false])
    }

    @Test func `A value of the session comes back as one of the session`() throws {
        try set("Count", 1)
        try store.set(2, for: .test("Count"), in: .session)
        try set("Count", 3, by: author(1))
        _ = try store.undo(nil, by: author(1))
        #expect(try store.status(of: .test("Count")).source == .session && value("Count") == 2)
        try store.set(nil, for: .test("Count"), in: .session)
        #expect(try value("Count") == 1)
    }

    @Test func `The undo of a revert gives back what the session hid, even if it is the default`() throws {
        try store.set(5, for: .test("Count"))
        _ = try store.mark("default", by: .program)
        try store.set(2, for: .test("Count"), in: .session)
        _ = try store.mark("session", by: .program)
        try store.reset(.test("Count"), by: .program)
        _ = try store.revert(to: "session", by: author(1))
        #expect(try value("Count") == 2 && isOverride("Count") && changes.map(\.newValue) == [2, 5, 2])
        _ = try store.undo(nil, by: author(1))
        #expect(try value("Count") == 5 && !isOverride("Count"))
        _ = try store.undo(changes.last?.number, by: author(1))
        #expect(try value("Count") == 2 && isOverride("Count"))
    }

    @Test func `Revert goes back to the start and to marks, also where there was no override`() throws {
        try set("Count", 6)
        #expect(try store.mark("one", by: author(1)) == 1)
        try set("Count", 7)
        try store.set("hello", for: .test("Text"))
        try store.set(true, for: .test("Flag"))
        #expect(isOverride("Text"))
        #expect(try store.mark("two", by: author(1)) == 3)
        store.resetAll()
        _ = try store.revert(to: "two", by: author(1))
        #expect(try value("Count") == 7 && isOverride("Text") && value("Flag") == true)
        #expect(try store.revert(to: "one", by: author(1)).map(\.key) == [.test("Count"), .test("Flag")])
        #expect(try value("Count") == 6 && !isOverride("Text") && !isOverride("Flag"))
        _ = try store.revert(to: nil, by: author(1))
        #expect(try value("Count") == 5 && !isOverride("Count"))
        _ = try store.undo(nil, by: author(1))
        #expect(try value("Count") == 6)
    }

    @Test func `A mark moves if its name is given again, and the marks before stay right`() throws {
        try set("Count", 1)
        _ = try store.mark("a", by: .program)
        try set("Count", 2)
        _ = try store.mark("b", by: .program)
        try set("Count", 3)
        _ = try store.mark("b", by: .program)
        try set("Count", 4)
        _ = try store.revert(to: "b", by: .program)
        #expect(try value("Count") == 3)
        _ = try store.revert(to: "a", by: .program)
        #expect(try value("Count") == 1)
        for number in 0..<14 { _ = try store.mark("m\(number)", by: .program) }
        #expect(throws: HistoryError.self) { try store.mark("more", by: .program) }
        #expect(throws: HistoryError.self) { try store.mark("", by: .program) }
        #expect(throws: HistoryError.self) { try store.revert(to: "more", by: .program) }
    }

    @Test func `Its size is bounded, and revert is right when changes have been dropped`() throws {
        try set("Text", "before")
        _ = try store.mark("mark", by: .program)
        for number in 0..<5000 {
            try set("Text", .string(String(repeating: "x", count: number % 300) + "\(number)"))
        }
        let (count, first, last) = store.state.withLock {
            ($0.history.count, $0.history.firstNumber ?? 0, $0.history.lastNumber)
        }
        #expect(last == 5001 && first > 4000 && UInt64(count) == last - first + 1)
        let size = changes.reduce(0) { size, change in
            guard case (.string(let old), .string(let new)) = (change.oldValue, change.newValue) else {
                return size
            }
            return size + MemoryLayout<ChangeHistory.Change?>.stride + old.utf8.count + new.utf8.count
        }
        #expect(size <= store.historySize)
        _ = try store.revert(to: "mark", by: .program)
        #expect(try value("Text") == "before")
        _ = try store.revert(to: nil, by: .program)
        #expect(try value("Text") == "hello" && !isOverride("Text"))
    }

    @Test func `A burst that is longer than the history goes back to its beginning`() throws {
        try set("Count", 1)
        for number in Int64(2)..<3000 { try set("Count", TweakValue(integerLiteral: number), by: author(1)) }
        _ = try store.undo(nil, by: author(1))
        #expect(try value("Count") == 1)
    }

    @Test func `A program that sets all the time does not push out the changes of people`() throws {
        let clocks = TestClocks(of: store)
        for number in Int64(1)...20 {
            clocks.pass(1)
            try set("Count", TweakValue(integerLiteral: number), by: author(1))
        }
        for number in 0..<20_000 { try set("Text", .string("\(number)"), by: .program) }
        #expect(changes.prefix(20).map(\.newValue) == (Int64(1)...20).map { TweakValue(integerLiteral: $0) })
        #expect(changes.map(\.number) == changes.map(\.number).sorted())
        let (count, first, last) = store.state.withLock {
            ($0.history.count, $0.history.firstNumber ?? 0, $0.history.lastNumber)
        }
        // From the first number on nothing is missing.
        #expect(UInt64(count - 20) == last - first + 1)
        #expect(count * MemoryLayout<ChangeHistory.Change?>.stride <= store.historySize)
        #expect(try store.undo(nil, by: author(1)).numbers == 20...20)
        #expect(try value("Count") == 19)
        for number in 0..<20_000 { try set("Text", .string("\(number)"), by: .provider(.remote)) }
        // An undo is remembered as long as what it has undone.
        #expect(try store.undo(nil, by: author(1)).numbers == 19...19)
        #expect(try value("Count") == 18)
    }

    @Test func `Neither do people push out those of the program, beyond half of the room`() throws {
        for number in 0..<2000 { try set("Text", .string("\(number)"), by: .program) }
        let full = changes.count
        for number in Int64(0)..<2000 {
            try set("Count", TweakValue(integerLiteral: number), by: author(Int32(number)))
        }
        let ofProgram = changes.count { if case .program = $0.author { true } else { false } }
        #expect(ofProgram >= full / 3 && ofProgram <= full * 2 / 3)
        #expect(changes.last?.newValue == 1999)
    }

    @Test func `A burst that the program interrupted is not merged when it is dropped`() throws {
        store.historySize = 8 * MemoryLayout<ChangeHistory.Change?>.stride
        try set("Count", 1, by: author(1))
        try set("Count", 50)
        for number in Int64(2)..<40 {
            try set("Count", TweakValue(integerLiteral: number), by: author(1))
            try set("Count", 50)
        }
        let ofClient = changes.filter { if case .client = $0.author { true } else { false } }
        #expect(!ofClient.isEmpty && ofClient.allSatisfy { $0.oldValue == 50 })
    }

    @Test func `A text that takes too much room is shortened and not undone`() throws {
        try set("Text", .string(String(repeating: "x", count: 20_000)), by: author(1))
        #expect(changes.map(\.isCut) == [true])
        #expect(changes[0].newValue == .string(String(repeating: "x", count: 40) + "…"))
        #expect(throws: HistoryError.self) { try store.undo(nil, by: author(1)) }
        _ = try store.revert(to: nil, by: author(1))
        #expect(try value("Text") == "hello")
    }

    @Test func `It can be turned off, and on again`() throws {
        try set("Count", 6)
        store.historySize = 0
        try set("Count", 7)
        #expect(changes.isEmpty)
        #expect(throws: HistoryError.self) { try store.revert(to: nil, by: .program) }
        store.historySize = 1000
        for number in Int64(10)..<100 { try set("Count", TweakValue(integerLiteral: number)) }
        #expect(changes.count == 1000 / MemoryLayout<ChangeHistory.Change?>.stride)
    }

    @Test func `Values that a provider has decrypted are not recorded`() throws {
        let home = try TemporaryDirectory()
        let path = try home.write(
            "v.json",
            #"{ "web": { "key": { "Value": "c2VjcmV0", "Encrypted": true }, "size": { "Value": 1 } } }"#)
        let provider = try VariablesProvider(files: [path], decryption: { _ in "secret" })
        try store.add(provider, above: nil)
        provider.decryption = { _ in "other" }
        try home.write(
            "v.json",
            #"{ "web": { "key": { "Value": "c2VjcmV0", "Encrypted": true }, "size": { "Value": 2 } } }"#)
        try provider.reload()
        // The thread that follows the file may be applying the change.
        #expect(waitUntil { changes.map(\.tweak.key) == [TweakKey("Features", "web", "size")] })
        #expect(try store.value(of: TweakKey("Features", "web", "key")) == "other")
    }

    @Test func `A change of a provider is undone by an override`() throws {
        let home = try TemporaryDirectory()
        let path = try home.write("v.json", #"{ "search": { "limit": { "Value": 1 } } }"#)
        let provider = try VariablesProvider(files: [path])
        try store.add(provider, above: nil)
        try home.write("v.json", #"{ "search": { "limit": { "Value": 2 } } }"#)
        try provider.reload()
        // The thread that follows the file may be applying the change.
        #expect(waitUntil { !changes.isEmpty })
        let limit = TweakKey("Features", "search", "limit")
        #expect(throws: HistoryError.self) { try store.undo(nil, by: author(1)) }
        _ = try store.undo(1, by: author(1))
        #expect(try store.value(of: limit) == 1 && store.status(of: limit).source == .overrides)
        _ = try store.undo(2, by: author(1))
        #expect(try store.value(of: limit) == 2 && store.status(of: limit).source == TweakSource("v.json"))
    }
}

/// What the history should do, without any of its means.
@Suite struct `A model of undo and revert` {
    private struct State: Equatable {
        var override: TweakValue?
        var session: TweakValue?
        var value: TweakValue { session ?? override ?? 0 }
    }

    private struct Made {
        let before, after: [TweakKey: State]
        let isOfClient: Bool
        var undoes: UInt64 = 0
    }

    @Test func `The store follows it with other writers at the same time`() throws {
        let steps = ProcessInfo.processInfo.environment["TWEAKS_LONG"] == nil ? 3000 : 100_000
        let keys = (0..<6).map { TweakKey.test("T\($0)") }
        let noise = (0..<3).map { TweakKey.test("N\($0)") }
        let store = TweakStore()
        for key in keys + noise { try store.make(key.category, key.collection, key.name, default: 0) }
        let isDone = Locked(false)
        let writers = noise.map { key in
            Thread {
                var number: Int64 = 0
                while !isDone.withLock({ $0 }) {
                    number += 1
                    _ = try? store.set(TweakValue(integerLiteral: number), for: key)
                    usleep(200)
                }
            }
        }
        for writer in writers { writer.start() }
        defer { isDone.withLock { $0 = true } }

        var model: [TweakKey: State] = keys.reduce(into: [:]) { $0[$1] = State() }
        var marks: [String: [TweakKey: State]] = ["": model]
        var made: [UInt64: Made] = [:]
        var undoneCount = 0, refusedCount = 0
        var client: Int32 = 1000
        for step in 0..<steps {
            client += 1
            let by: ChangeAuthor = Bool.random() ? author(client) : .program
            let isOfClient = if case .client = by { true } else { false }
            let before = model
            let earlier = store.state.withLock { $0.history.lastNumber }
            var undoes: UInt64 = 0
            switch Int.random(in: 0..<20) {
            case 0..<8:
                let key = keys.randomElement()!, value = TweakValue(integerLiteral: .random(in: 0...3))
                try store.change([(key, store.declaration(of: key).admit(value).value)], by: by)
                model[key] = State(override: value)
            case 8..<11:
                let values = try keys.shuffled().prefix(3).map { key in
                    let value = TweakValue(integerLiteral: .random(in: 0...3))
                    model[key] = State(override: value)
                    return (key: key, value: Optional(try store.declaration(of: key).admit(value).value))
                }
                try store.change(values, by: by)
            case 11..<13:
                let key = keys.randomElement()!
                try store.reset(key, by: by)
                model[key] = State()
            case 13:
                let key = keys.randomElement()!, value = TweakValue(integerLiteral: .random(in: 0...3))
                try store.set(value, for: key, in: .session)
                model[key]?.session = value
            case 14:
                let name = "\(Int.random(in: 0..<4))"
                _ = try store.mark(name, by: by)
                marks[name] = model
            case 15:
                let name = marks.keys.randomElement()!
                _ = try store.revert(to: name.isEmpty ? nil : name, by: by)
                model = marks[name]!
            default:
                let known = made.keys.filter { $0 + 300 > earlier }
                let number = Bool.random() ? nil : known.randomElement()
                do {
                    undoes = try store.undo(number, by: by).numbers.lowerBound
                    undoneCount += 1
                    let change = try #require(made[undoes])
                    if number == nil { #expect(change.isOfClient && change.undoes == 0) }
                    for (key, after) in change.after {
                        #expect(before[key]?.value == after.value, "step \(step)")
                        model[key] = change.before[key]!
                    }
                } catch let error as HistoryError {
                    refusedCount += 1
                    guard case .changedSince(let key, let value, _) = error, keys.contains(key) else {
                        continue
                    }
                    #expect(before[key]?.value == value, "step \(step)")
                }
            }
            for key in keys {
                let value = try store.value(of: key)
                #expect(value == model[key]?.value, "step \(step), \(key)")
                let override = store.state.withLock { $0.layers[.overrides][key] }
                #expect(override == (model[key]?.override).map(ProvidedValue.value), "step \(step), \(key)")
            }
            // A revert may change only what the other writers set. They are no clients.
            let own = store.state.withLock { state in
                state.history.changes(after: earlier).filter { change in
                    if case .client = change.author { true } else { keys.contains(change.tweak.key) }
                }
            }
            guard let number = own.first?.number else { continue }
            #expect(own.allSatisfy { $0.number == number }, "step \(step): one change has several numbers")
            let changed = Set(own.map(\.tweak.key))
            made[number] = Made(
                before: before.filter { changed.contains($0.key) },
                after: model.filter { changed.contains($0.key) }, isOfClient: isOfClient, undoes: undoes)
        }
        #expect(undoneCount > steps / 40 && refusedCount > 0)
    }
}
