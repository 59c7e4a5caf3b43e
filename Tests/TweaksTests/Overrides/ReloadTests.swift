// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakJSON

@testable import Tweaks

/// A store that keeps its overrides in a file which others change.
private struct EditedFile {
    let home: TemporaryDirectory
    let file: OverridesFile
    let tweaks: SyntheticTweaks
    var store: TweakStore { tweaks.store }

    init(_ tweaks: SyntheticTweaks, initially json: String? = nil) throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: home("overrides.json"))
        self.tweaks = tweaks
        if let json { try write(json) }
        tweaks.store.keepOverrides(in: file)
    }

    func write(_ json: String) throws { try home.write("overrides.json", json) }

    func reload(isComplete: Bool = true) throws {
        store.reload(file, try #require(store.writer), isComplete: isComplete)
    }

    func edit(_ json: String) throws {
        try write(json)
        try reload()
    }

    var content: String { get throws { try String(contentsOfFile: file.path, encoding: .utf8) } }
}

@Suite struct `Editing the overrides file of a running program` {
    private func values(_ json: String) -> String { "{\"Test\": {\"Values\": {\(json)}}}" }

    @Test func `Cells and the store have the new values`() throws {
        let edited = try EditedFile(
            SyntheticTweaks(.integer("Count", 5), .string("Text", "hello"), .bool("Flag", false)))
        try edited.edit(values(#""Count": 6, "Text": "bye""#))
        #expect(edited.tweaks.cell(0, as: Int32.self) == 6)
        #expect(edited.tweaks.text(1) == "bye")
        #expect(edited.tweaks.cell(2, as: Bool.self) == false)
        #expect(try edited.store.value(of: .test("Count")) == 6)
        #expect(try edited.store.status(of: .test("Count")).source == .overrides)
        try edited.edit(values(#""Count": 7, "Flag": true"#))
        #expect(edited.tweaks.cell(0, as: Int32.self) == 7)
        #expect(edited.tweaks.text(1) == "hello")
        #expect(edited.tweaks.cell(2, as: Bool.self) == true)
        #expect(try edited.store.status(of: .test("Text")).source == .binary)
    }

    @Test(arguments: [false, true]) func `All records of a tweak change`(isDecoded: Bool) throws {
        let edited = try EditedFile(
            SyntheticTweaks(.integer("Count", 5), .integer("Count", 5), .integer("Other", 5)))
        if isDecoded { #expect(edited.store.categories.count == 1) }
        try edited.edit(values(#""Count": 6"#))
        #expect((0..<3).map { edited.tweaks.cell($0, as: Int32.self) } == [6, 6, 5])
        #expect(try edited.store.value(of: .test("Count")) == 6)
    }

    @Test func `Only the records whose overrides change are decoded`() throws {
        let edited = try EditedFile(SyntheticTweaks(.integer("Count", 5), .integer("Other", 5)))
        let decoded = { edited.store.state.withLock { $0.tweaks.count } }
        try edited.reload()
        #expect(decoded() == 0)
        try edited.edit(values(#""Count": 6"#))
        #expect(decoded() == 1)
        #expect(edited.tweaks.cell(0, as: Int32.self) == 6)
        try edited.reload()
        #expect(decoded() == 1)
        #expect(edited.store.categories.first?.collections.first?.tweaks.count == 2)
    }

    @Test(arguments: [false, true]) func `A tweak that needs a restart waits for it`(isDecoded: Bool) throws {
        let edited = try EditedFile(SyntheticTweaks(.integer("Count", 5).with("needs-restart")))
        if isDecoded { #expect(edited.store.categories.count == 1) }
        try edited.edit(values(#""Count": 6"#))
        #expect(edited.tweaks.cell(as: Int32.self) == 5)
        let status = try edited.store.status(of: .test("Count"))
        #expect(status.value == 5 && status.pendingValue == 6 && status.source == .binary)
        try edited.edit(values(#""Count": 5"#))
        #expect(try edited.store.status(of: .test("Count")).pendingValue == nil)
        #expect(edited.tweaks.cell(as: Int32.self) == 5)
    }

    @Test func `Without the file every tweak has its default`() throws {
        let edited = try EditedFile(SyntheticTweaks(.integer("Count", 5)), initially: values(#""Count": 6"#))
        #expect(edited.tweaks.cell(as: Int32.self) == 6)
        try FileManager.default.removeItem(atPath: edited.file.path)
        try edited.reload()
        #expect(edited.tweaks.cell(as: Int32.self) == 5)
        #expect(try edited.store.status(of: .test("Count")).source == .binary)
    }

    @Test(arguments: [false, true]) func `Observers receive each change once`(isDecoded: Bool) throws {
        let edited = try EditedFile(
            SyntheticTweaks(.integer("A", 1), .integer("B", 2), .integer("C", 3)),
            initially: values(#""A": 10, "B": 20"#))
        if isDecoded { #expect(edited.store.categories.count == 1) }
        let (will, did) = (Recorded<TweakChange>(), Recorded<TweakChange>())
        let cells = Recorded<[Int32]>()
        let tweaks = edited.tweaks
        let all = { @Sendable in (0..<3).map { tweaks.cell($0, as: Int32.self) } }
        let observation = edited.store.observe(
            willChange: {
                will.append($0)
                cells.append(all())
            },
            didChange: {
                did.append($0)
                cells.append(all())
            })
        try edited.edit(values(#""A": 11, "B": 20, "C": 3"#))
        try edited.reload()
        try edited.edit(values(#""B": 20"#))
        #expect(
            did.all == [
                TweakChange(key: .test("A"), oldValue: 10, newValue: 11, source: .overrides),
                TweakChange(key: .test("A"), oldValue: 11, newValue: 1, source: .binary),
            ])
        #expect(will.all == did.all)
        #expect(cells.all == [[10, 20, 3], [11, 20, 3], [11, 20, 3], [1, 20, 3]])
        observation.cancel()
    }

    @Test func `Another form of the same value leaves a variable alone that the program has set`() throws {
        let edited = try EditedFile(SyntheticTweaks(.integer("Count", 5)))
        let variable = UnsafeMutablePointer<Double>.allocate(capacity: 1)
        defer { variable.deallocate() }
        variable.initialize(to: 0.5)
        let declaration = TweakDeclaration(key: .test("Gain"), type: .double, defaultValue: 0.5)
        edited.store.withState { state in
            let cell = Cell(address: variable, type: .double)
            state.addVariable(declaration, OwnedCell(cell, .adopted(image: nil)))
        }
        try edited.store.set(4, for: .test("Gain"))
        edited.store.flush()
        #expect(try edited.content.contains(": 4\n"))
        variable.pointee = 9
        try edited.reload()
        #expect(variable.pointee == 9)
        try edited.edit(values(#""Gain": 4.0"#))
        #expect(variable.pointee == 9)
        try edited.edit(values(#""Gain": 5"#))
        #expect(variable.pointee == 5)
    }

    @Test func `Nothing is written`() throws {
        let edited = try EditedFile(SyntheticTweaks(.integer("Count", 5, 0...10)))
        let json = values(#""Count": 60, "Unknown": [1]"#)
        try edited.edit(json)
        edited.store.flush()
        #expect(try edited.content == json)
        #expect(try FileManager.default.contentsOfDirectory(atPath: edited.home.path) == ["overrides.json"])
    }

    @Test func `A value outside the limits is clamped and reported`() throws {
        let edited = try EditedFile(SyntheticTweaks(.integer("Count", 5, 0...10)))
        try edited.edit(values(#""Count": 60"#))
        #expect(edited.tweaks.cell(as: Int32.self) == 10)
        #expect(edited.tweaks.messages.all.count == 1)
        #expect(edited.tweaks.messages.all.first?.contains("outside the limits and clamped to 10") == true)
    }

    @Test(arguments: [nil, 6] as [Int32?])
    func `A value of the wrong type is reported and the tweak keeps its value`(before: Int32?)
        throws
    {
        let edited = try EditedFile(
            SyntheticTweaks(.integer("Count", 5), .integer("Other", 5)),
            initially: values(before.map { "\"Count\": \($0)" } ?? ""))
        try edited.edit(values(#""Count": "many", "Other": 7"#))
        #expect(edited.tweaks.cell(0, as: Int32.self) == before ?? 5)
        #expect(edited.tweaks.cell(1, as: Int32.self) == 7)
        #expect(edited.tweaks.messages.all.count == 1)
        #expect(edited.tweaks.messages.all.first?.hasPrefix("override ignored: Test/Values/Count") == true)
        // Also when the records are decoded.
        #expect(try edited.store.value(of: .test("Count")) == .integer(Int128(before ?? 5)))
        try edited.store.reset(.test("Count"))
        edited.store.flush()
        #expect(try edited.file.load().keys == [.test("Other")])
    }

    @Test func `Broken JSON changes nothing, is left alone, and is reported once`() throws {
        let edited = try EditedFile(SyntheticTweaks(.integer("Count", 5)), initially: values(#""Count": 6"#))
        for broken in ["{", "{", "[", "", "{"] {
            try edited.edit(broken)
            #expect(edited.tweaks.cell(as: Int32.self) == 6)
            #expect(try edited.content == broken)
        }
        #expect(edited.tweaks.messages.all.count == 3)
        #expect(edited.tweaks.messages.all.allSatisfy { $0.hasSuffix("; the values stay as they are") })
        try edited.edit(values(#""Count": 7"#))
        #expect(edited.tweaks.cell(as: Int32.self) == 7)
    }

    @Test func `A possibly incomplete write is not reported`() throws {
        let edited = try EditedFile(SyntheticTweaks(.integer("Count", 5)))
        try edited.write("{")
        try edited.reload(isComplete: false)
        #expect(edited.tweaks.messages.all.isEmpty)
        try edited.reload()
        #expect(edited.tweaks.messages.all.count == 1)
    }
}

/// In the end the process has what the file holds, whoever changed what and when.
@Suite struct `A concurrent edit and set` {
    private let edited: EditedFile
    private let key = TweakKey.test("Count")

    init() throws {
        edited = try EditedFile(
            SyntheticTweaks(.integer("Count", 5), .integer("Other", 5)), initially: Self.count(6))
    }

    private static func count(_ number: Int) -> String { "{\"Test\": {\"Values\": {\"Count\": \(number)}}}" }

    /// Does what the watcher does after the last write.
    private func expectAgreement(on number: Int128?) throws {
        edited.store.flush()
        let before = try edited.store.value(of: key)
        try edited.reload()
        #expect(try edited.store.value(of: key) == before)
        #expect(before == .integer(number ?? 5))
        #expect(try edited.file.load()[key] == number.map { .scalar(.integer($0)) })
        #expect(edited.tweaks.cell(as: Int32.self) == Int32(number ?? 5))
    }

    /// Runs `body` while this process cannot write the file.
    private func withoutWrites(_ body: () throws -> Void) throws {
        let lock = edited.file.path + ".lock"
        try #require(mkdir(lock, 0o700) == 0)
        try body()
        edited.store.flush()
        try #require(rmdir(lock) == 0)
    }

    /// Edits the file, and runs `body` after it was read and before its values are taken over.
    private func edit(_ json: String, meanwhile body: @escaping @Sendable (TweakStore) throws -> Void) throws
    {
        let store = edited.store
        let observation = store.observe(willChange: { change in
            if change.newValue == 9 { #expect(throws: Never.self) { try body(store) } }
        })
        try edited.edit(json)
        observation.cancel()
    }

    @Test func `Reading back a set notifies nobody`() throws {
        let changes = Recorded<TweakChange>()
        let observation = edited.store.observe(didChange: changes.append)
        try edited.store.set(7, for: key)
        try expectAgreement(on: 7)
        #expect(changes.all.map(\.newValue) == [7])
        observation.cancel()
    }

    @Test func `A pending value takes precedence over the file`() throws {
        try withoutWrites {
            try edited.store.set(7, for: key)
            try edited.edit(Self.count(9))
            #expect(edited.tweaks.cell(as: Int32.self) == 7)
        }
        try expectAgreement(on: 7)
    }

    @Test func `A pending reset takes precedence over the file`() throws {
        try withoutWrites {
            try edited.store.reset(key)
            try edited.edit(Self.count(9))
            #expect(edited.tweaks.cell(as: Int32.self) == 5)
        }
        try expectAgreement(on: nil)
    }

    @Test func `A set after reading takes precedence over the file`() throws {
        let key = key
        try edit(Self.count(9)) { try $0.set(7, for: key) }
        #expect(edited.tweaks.cell(as: Int32.self) == 7)
        try expectAgreement(on: 7)
    }

    @Test func `A reset after reading takes precedence over the file`() throws {
        let key = key
        try edit(Self.count(9)) { try $0.reset(key) }
        #expect(edited.tweaks.cell(as: Int32.self) == 5)
        try expectAgreement(on: nil)
    }

    @Test func `A set without effect does not take precedence, because it is not written`() throws {
        let key = key
        try edit(Self.count(9)) { try $0.set(6, for: key) }
        try expectAgreement(on: 9)
    }

    @Test func `A reset without effect does not take precedence, because it is not written`() throws {
        try edited.edit("{}")
        let key = key
        try edit(Self.count(9)) { try $0.reset(key) }
        try expectAgreement(on: 9)
    }

    @Test func `Many concurrent reloads end with the content of the file`() throws {
        let (store, file, key) = (edited.store, edited.file, key)
        store.followOverrides(in: file)
        let deadline = ContinuousClock.now + .milliseconds(700)
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
            while ContinuousClock.now < deadline {
                let value = Int128.random(in: 0...20)
                switch thread {
                case 0: _ = try? store.set(.integer(value), for: key)
                case 1: _ = try? file.update([key: value < 5 ? nil : TweakValue.integer(value)])
                default: _ = try? OverridesFile(path: file.path).update([.test("Other"): .integer(value)])
                }
                usleep(.random(in: 0...20_000))
            }
        }
        store.flush()
        let document = try file.load()
        for key in [key, .test("Other")] {
            let expected = document[key]?.tweakValue ?? 5
            #expect(try waitUntil { try store.value(of: key) == expected })
        }
    }
}
