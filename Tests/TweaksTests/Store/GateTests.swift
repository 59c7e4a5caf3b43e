// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakJSON

@testable import Tweaks

@Suite struct `Tweaks below a gate` {
    private let tweaks = SyntheticTweaks(
        .double("P", 1), .double("I", 2), .integer("Count", 5, 0...100),
        Record.double("Width", 4).named("Drawing", "Size", "Width"),
        Record.bool("Flag", false).named("Test", "Other", "Flag"),
        gates: [GateRecord(), GateRecord(collection: "Other", capacity: 2)])
    private var store: TweakStore { tweaks.store }
    private var loop: SyntheticLoop { tweaks.loop() }
    private let p = TweakKey.test("P")
    private let i = TweakKey.test("I")
    private let count = TweakKey.test("Count")
    private let flag = TweakKey("Test", "Other", "Flag")

    private func set(_ values: KeyValuePairs<TweakKey, TweakValue?>) throws {
        try store.change(values.map { (key: $0.key, value: $0.value) })
    }

    @Test func `A set waits until the loop passes`() throws {
        try store.set(1.5, for: p)
        #expect(tweaks.cell(as: Double.self) == 1)
        var status = try store.status(of: p)
        #expect(status.value == 1.0 && status.pendingValue == 1.5 && status.source == .binary)
        #expect(status.gate == "Test")
        #expect(loop.waiting == 1)
        #expect(loop.pass() && !loop.pass())
        #expect(tweaks.cell(as: Double.self) == 1.5)
        status = try store.status(of: p)
        #expect(status.value == 1.5 && status.pendingValue == nil && status.source == .overrides)
    }

    @Test func `Other tweaks are stored at once`() throws {
        let width = TweakKey("Drawing", "Size", "Width")
        try set([p: 3.0, width: 9.0])
        #expect(tweaks.cell(3, as: Double.self) == 9)
        #expect(try store.status(of: width).gate == nil)
        #expect(tweaks.cell(as: Double.self) == 1)
    }

    @Test func `A batch is stored in one pass`() throws {
        try store.batch { batch in
            try batch.set(7, for: p)
            try batch.set(8, for: i)
            try batch.set(9, for: count)
        }
        #expect(loop.waiting == 3)
        loop.pass()
        #expect(tweaks.cell(0, as: Double.self) == 7 && tweaks.cell(1, as: Double.self) == 8)
        #expect(tweaks.cell(2, as: Int32.self) == 9)
    }

    @Test func `The gate of a collection precedes the one of the category`() throws {
        try set([p: 3.0, flag: true])
        #expect(loop.waiting == 1 && tweaks.loop(1).waiting == 1)
        #expect(try store.status(of: flag).gate == "Test/Other")
        tweaks.loop(1).pass()
        #expect(tweaks.cell(4, as: UInt8.self) == 1 && tweaks.cell(as: Double.self) == 1)
    }

    @Test func `The first record of a gate counts`() throws {
        let tweaks = SyntheticTweaks(.double("P", 1), gates: [GateRecord(), GateRecord()])
        try tweaks.store.set(3, for: p)
        #expect(tweaks.loop(0).waiting == 1 && tweaks.loop(1).waiting == 0)
    }

    @Test func `The newest of several values that wait wins`() throws {
        for value in 1...50 { try store.set(.double(Double(value)), for: p) }
        try store.set(30, for: i)
        #expect(loop.waiting == 2)
        loop.pass()
        #expect(tweaks.cell(0, as: Double.self) == 50 && tweaks.cell(1, as: Double.self) == 30)
        #expect(!loop.pass())
    }

    @Test func `Nothing waits after a tweak was set back`() throws {
        try store.set(3, for: p)
        try store.set(1, for: p)
        #expect(loop.waiting == 0)
        let status = try store.status(of: p)
        #expect(status.pendingValue == nil && status.source == .overrides)
        try set([p: 3.0, i: 4.0])
        try store.reset(p)
        #expect(loop.waiting == 1)
    }

    @Test func `A calculated value continues with the one that waits`() throws {
        _ = try store.set(.text("+=1"), for: count)
        #expect(try store.set(.text("+=1"), for: count).value == 7)
    }

    @Test func `A set while the loop stores waits for the next pass`() throws {
        try set([p: 3.0, i: 4.0])
        #expect(loop.take())
        try set([p: 5.0, count: 6])
        #expect(try store.status(of: p).pendingValue == 5.0)
        loop.store()
        #expect(try store.status(of: p).value == 3.0)
        #expect(try store.status(of: p).pendingValue == 5.0)
        #expect(loop.waiting == 2)
        loop.pass()
        #expect(try store.status(of: p).value == 5.0 && store.status(of: count).value == 6)
        #expect(try store.status(of: i).value == 4.0)
    }

    @Test func `Resets and session values wait too`() throws {
        try set([p: 3.0])
        loop.pass()
        try store.set(8, for: i, in: .session)
        try store.reset(p)
        #expect(tweaks.cell(0, as: Double.self) == 3 && tweaks.cell(1, as: Double.self) == 2)
        loop.pass()
        #expect(tweaks.cell(0, as: Double.self) == 1 && tweaks.cell(1, as: Double.self) == 8)
        #expect(try store.status(of: i).source == .session)
    }

    @Test func `Texts wait too`() throws {
        let tweaks = SyntheticTweaks(.string("Mode", "slow"), gates: [GateRecord()])
        try tweaks.store.set("fast", for: .test("Mode"))
        #expect(tweaks.text() == nil)
        tweaks.loop().pass()
        #expect(tweaks.text() == "fast")
    }

    @Test func `A start gives cells their values directly`() throws {
        let home = try TemporaryDirectory()
        let path = try home.write("overrides.json", #"{"Test": {"Values": {"P": 8}}}"#)
        store.keepOverrides(in: OverridesFile(path: path))
        #expect(tweaks.cell(as: Double.self) == 8)
        #expect(loop.waiting == 0)
    }

    @Test func `What waits is kept for the next start at once`() throws {
        let home = try TemporaryDirectory()
        let file = OverridesFile(path: home("overrides.json"))
        store.keepOverrides(in: file)
        try store.set(3.5, for: p)
        store.flush()
        #expect(try file.load()[p] == .scalar(3.5))
    }
}

@Suite struct `Observers of tweaks below a gate` {
    private let tweaks = SyntheticTweaks(.double("P", 1), .double("I", 2), gates: [GateRecord()])
    private var store: TweakStore { tweaks.store }
    private let p = TweakKey.test("P")
    private let i = TweakKey.test("I")

    @Test func `They are notified when the loop has passed, on another thread`() throws {
        let told = Recorded<TweakChange>()
        let foretold = Recorded<TweakChange>()
        let observation = store.observe(
            p, willChange: { foretold.append($0) }, didChange: { told.append($0) })
        defer { observation.cancel() }
        try store.set(3, for: p)
        let change = TweakChange(key: p, oldValue: 1.0, newValue: 3.0, source: .overrides)
        #expect(foretold.all == [change] && told.all.isEmpty)
        let thread = UInt(pthread_self())
        let caller = Recorded<UInt>()
        let second = store.observe(p, didChange: { _ in caller.append(UInt(pthread_self())) })
        defer { second.cancel() }
        tweaks.loop().pass()
        #expect(waitUntil { caller.all.count == 1 })
        #expect(told.all == [change] && caller.all != [thread])
    }

    @Test func `They are notified of one pass together`() throws {
        let calls = Recorded<[TweakChange]>()
        let observation = store.addObserver(of: [p, i], willChange: nil) { _ in .together { calls.append($0) }
        }
        defer { observation.cancel() }
        try store.change([(p, 3.0), (i, 4.0)])
        try store.change([(i, 5.0)])
        tweaks.loop().pass()
        #expect(waitUntil { !calls.all.isEmpty })
        #expect(calls.all.map { $0.map(\.newValue) } == [[3.0, 5.0]])
    }

    /// What clients are told of changes: number, author and value.
    private func listen() -> Recorded<String> {
        let told = Recorded<String>()
        store.state.withLock { state in
            state.delivery.listener = { changes, note in
                for change in changes { told.append("\(note.number) \(note.author) \(change.newValue)") }
            }
        }
        return told
    }

    @Test(arguments: [3, 3.5])
    func `A set that is read back from the file while it waits stays the program's`(value: Double) throws {
        let home = try TemporaryDirectory()
        let file = OverridesFile(path: home("overrides.json"))
        store.keepOverrides(in: file)
        let foretold = Recorded<TweakChange>()
        let observation = store.observe(p, willChange: { foretold.append($0) })
        defer { observation.cancel() }
        let told = listen()
        try store.set(.double(value), for: p)
        store.flush()
        store.reload(file, try #require(store.writer), isComplete: true)
        tweaks.loop().pass()
        #expect(waitUntil { !told.all.isEmpty })
        #expect(told.all == ["1 program \(value)"])
        #expect(foretold.all.count == 1)
    }

    @Test func `A value that waits is the change of who set it first, and announced once`() throws {
        let foretold = Recorded<TweakValue>()
        let observation = store.observe(willChange: { foretold.append($0.newValue) })
        defer { observation.cancel() }
        let told = listen()
        try store.change([(p, 3.0)])
        try store.change([(p, 3.0), (i, 4.0)], by: .file)
        tweaks.loop().pass()
        #expect(waitUntil { told.all.count >= 2 })
        #expect(told.all == ["1 program 3.0", "2 file 4.0"])
        #expect(foretold.all == [3.0, 4.0])
    }

    @Test func `A value that waits can get another provider`() throws {
        try store.set(3, for: p)
        try store.set(3, for: p, in: .session)
        tweaks.loop().pass()
        #expect(try store.status(of: p).source == .session)
    }

    @Test func `A gate that nobody passes is reported once`() throws {
        try store.change([(p, 3.0), (i, 4.0)])
        #expect(waitUntil { !tweaks.messages.all.isEmpty })
        #expect(
            tweaks.messages.all == [
                "the gate Test has not been passed for 5 s, and 2 changes wait for it; "
                    + "the program stores them when it passes the gate"
            ])
        #expect(tweaks.cell(as: Double.self) == 1)
    }

    @Test func `A gate that several threads pass is reported once`() throws {
        tweaks.loop().passOnOtherThreads()
        for value in 3...5 {
            try store.set(.double(Double(value)), for: p)
            tweaks.loop().pass()
            #expect(try store.status(of: p).pendingValue == nil)
        }
        #expect(waitUntil { !tweaks.messages.all.isEmpty })
        #expect(tweaks.messages.all.count == 1)
        #expect(tweaks.messages.all.first?.hasPrefix("several threads pass the gate Test; ") == true)
    }
}

@Suite struct `A change that is too large for a gate` {
    private let tweaks = SyntheticTweaks(
        .double("P", 1), .double("I", 2), .integer("Count", 5, 0...100),
        Record.double("Width", 4).named("Drawing", "Size", "Width"),
        gates: [GateRecord(capacity: 2)])
    private var store: TweakStore { tweaks.store }
    private var loop: SyntheticLoop { tweaks.loop() }
    private let p = TweakKey.test("P")
    private let i = TweakKey.test("I")
    private let count = TweakKey.test("Count")

    @Test func `A person's is refused`() throws {
        let error = TweakError.gate("Test", stores: 3, capacity: 2)
        #expect(throws: error) { try store.change([(p, 3.0), (i, 4.0), (count, 6)]) }
        #expect(
            "\(error)"
                == "the change needs 3 stores, and the gate Test takes 2 at once; change fewer tweaks at once, "
                + "or define FB_TWEAK_GATE_STORES before fbtweak.h is included")
        #expect(loop.waiting == 0)
        #expect(try store.status(of: p).pendingValue == nil && store.status(of: p).source == .binary)
    }

    @Test func `A preset is refused as a whole`() throws {
        let preset = try TweakPreset(
            json:
                #"{"name":"Large","tweaks":{"Test":{"Values":{"P":3,"I":4,"Count":6}},"Drawing":{"Size":{"Width":9}}}}"#
        )
        let report = store.apply(preset)
        #expect(report.applied.isEmpty && report.refused.count == 1)
        #expect(report.refused.values.first == .gate("Test", stores: 3, capacity: 2))
        #expect(tweaks.cell(3, as: Double.self) == 4)
    }

    @Test func `Smaller ones that wait are stored one after the other`() throws {
        try store.change([(p, 3.0), (i, 4.0)])
        try store.change([(count, 6)])
        #expect(loop.waiting == 2)
        loop.pass()
        #expect(try store.status(of: i).value == 4.0 && store.status(of: count).pendingValue == 6)
        loop.pass()
        #expect(try store.status(of: count).value == 6)
    }

    @Test func `Values that wait do not accumulate`() throws {
        for value in 0..<1000 {
            let number = TweakValue.double(Double(value))
            try store.change([(p, number), (i, number)])
            try store.change([(i, number), (count, .integer(Int128(value % 100)))])
            try store.change([(count, .integer(3)), (p, number)])
        }
        var passes = 0
        while loop.pass() {
            passes += 1
            #expect(store.statuses().count == 4)
        }
        #expect(passes <= 3)
        #expect(try store.status(of: p).value == 999.0 && store.status(of: count).value == 3)
    }

    @Test func `A provider's takes several passes, and is reported once`() throws {
        let calls = Recorded<[TweakChange]>()
        let observation = store.addObserver(of: [p, i, count], willChange: nil) { _ in
            .together { calls.append($0) }
        }
        defer { observation.cancel() }
        let provider = TestProvider("remote", [:])
        try store.add(provider, above: nil)
        provider.change([p: .value(3), i: .value(4), count: .value(6)])
        #expect(tweaks.messages.all.count == 1)
        #expect(tweaks.messages.all.first?.contains("needs 3 stores in the gate Test") == true)
        #expect(loop.waiting == 2)
        loop.pass()
        #expect(try store.status(of: p).pendingValue == 3.0)
        #expect(loop.waiting == 1)
        loop.pass()
        #expect(try store.status(of: p).pendingValue == nil)
        #expect(waitUntil { !calls.all.isEmpty })
        #expect(calls.all.map(\.count) == [3])
    }
}

@Suite struct `Memory that a gate stores into` {
    private let tweaks = SyntheticTweaks(.double("P", 1), .double("I", 2), gates: [GateRecord()])
    private var store: TweakStore { tweaks.store }
    private var loop: SyntheticLoop { tweaks.loop() }
    private let p = TweakKey.test("P")
    private let i = TweakKey.test("I")

    private func withVariable(_ body: (UnsafeMutablePointer<Double>, UInt) throws -> Void) throws {
        let variable = UnsafeMutablePointer<Double>.allocate(capacity: 1)
        defer { variable.deallocate() }
        variable.initialize(to: 0)
        store.withDecodedState { state in
            if let entry = state.tweaks[p] { state.bind(Cell(address: variable, type: .double), to: entry) }
        }
        try body(variable, UInt(bitPattern: variable))
    }

    @Test func `A bound variable waits with the tweak`() throws {
        try withVariable { variable, _ in
            #expect(variable.pointee == 1)
            try store.set(3, for: p)
            #expect(variable.pointee == 1 && loop.waiting == 2)
            loop.pass()
            #expect(variable.pointee == 3)
        }
    }

    @Test func `A variable that is bound meanwhile gets the value in the same pass`() throws {
        try store.set(3, for: p)
        try withVariable { variable, _ in
            #expect(variable.pointee == 1 && loop.waiting == 2)
            loop.pass()
            #expect(variable.pointee == 3)
        }
    }

    @Test func `A variable that is bound while the loop stores gets the value in the next pass`() throws {
        try store.set(3, for: p)
        loop.take()
        try withVariable { variable, _ in
            #expect(variable.pointee == 1)
            loop.store()
            let pending = try store.status(of: p).pendingValue
            #expect(pending == 3.0)
            loop.pass()
            #expect(variable.pointee == 3)
            let value = try store.status(of: p).value
            #expect(value == 3.0)
        }
    }

    @Test func `Nothing is stored into an unbound variable`() throws {
        try withVariable { variable, address in
            try store.set(3, for: p)
            store.state.withLock { $0.unbind(address) }
            variable.pointee = 42
            #expect(loop.waiting == 1)
            loop.pass()
            #expect(variable.pointee == 42 && tweaks.cell(as: Double.self) == 3)
        }
    }

    @Test func `Unbinding waits for a loop that is storing`() throws {
        try withVariable { variable, address in
            try store.set(3, for: p)
            loop.take()
            let store = store
            let (isUnbound, thread) = (Locked(false), Locked(""))
            Thread.detachNewThread {
                let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
                thread.withLock { $0 = name ?? "" }
                store.state.withLock { $0.unbind(address) }
                isUnbound.withLock { $0 = true }
            }
            #expect(waitUntil { sleepCount(of: thread.withLock { $0 }) > 20 })
            #expect(!isUnbound.withLock { $0 })
            loop.store()
            #expect(waitUntil { isUnbound.withLock { $0 } })
        }
    }

    @Test func `A tweak that is removed waits no longer`() throws {
        let made = try store.make(.test("Made"), default: 1.0)
        try store.change([(.test("Made"), 3.0), (p, 4.0)])
        #expect(made.value == 1)
        try store.remove(.test("Made"))
        loop.pass()
        #expect(made.value == 1 && tweaks.cell(as: Double.self) == 4)
    }

    @Test func `Without its gate, what waited is stored`() throws {
        try store.change([(p, 3.0), (i, 4.0)])
        store.state.withLock { $0.closeGates(of: 1) }
        #expect(tweaks.cell(0, as: Double.self) == 3 && tweaks.cell(1, as: Double.self) == 4)
        #expect(loop.waiting == 0)
        try store.set(5, for: p)
        #expect(tweaks.cell(0, as: Double.self) == 5)
    }

    @Test func `A loop at full speed never sees a part of a change`() throws {
        let isDone = Locked(false)
        let torn = Locked((count: 0, reads: 0))
        let (loop, tweaks) = (loop, tweaks)
        Thread.detachNewThread {
            var (count, reads) = (0, 0)
            while !isDone.withLock({ $0 }) {
                loop.pass()
                if tweaks.cell(0, as: Double.self) + 1 != tweaks.cell(1, as: Double.self) { count += 1 }
                reads += 1
            }
            torn.withLock { $0 = (count, reads) }
        }
        for value in 0..<(isLong ? 100_000 : 3000) {
            let number = Double(value)
            try store.change([(p, .double(number)), (i, .double(number + 1))])
        }
        isDone.withLock { $0 = true }
        #expect(waitUntil { torn.withLock { $0.reads > 0 } })
        #expect(torn.withLock { $0.count } == 0)
    }
}

@Suite struct `Values that a killed writer has stored before the library came` {
    private let p = TweakKey.test("P")

    /// - Parameter number: The number of the sequence, odd if a writer was killed.
    private func tweaks(leftAt number: UInt64) -> SyntheticTweaks {
        let tweaks = SyntheticTweaks(
            .double("P", 1), .double("I", 2), .monitor("Speed", .double),
            Record.double("D", 3).named("Test", "Gated", "D"),
            gates: [GateRecord(collection: "Gated")],
            sequences: [SequenceRecord(number: number), SequenceRecord(number: 4)])
        for index in 1...3 { tweaks.store(50, in: index) }
        return tweaks
    }

    @Test func `The first change stores all that the store knows, and nothing else`() throws {
        let tweaks = tweaks(leftAt: 7)
        try tweaks.store.set(1.5, for: p)
        #expect((0...3).map { tweaks.cell($0, as: Double.self) } == [1.5, 2, 50, 50])
        #expect(tweaks.sequence(0).isMultiple(of: 2) && tweaks.sequence(0) > 8)
        #expect(tweaks.sequence(1).isMultiple(of: 2) && tweaks.sequence(1) > 4)
        #expect(
            tweaks.messages.all == [
                "a command was killed while it stored values in this process's memory, so all tweaks got their values again"
            ])
        // Only once.
        tweaks.store(50, in: 1)
        try tweaks.store.set(2.5, for: p)
        #expect((0...1).map { tweaks.cell($0, as: Double.self) } == [2.5, 50])
        #expect(tweaks.messages.all.count == 1)
    }

    @Test func `After whole changes only the new value is stored`() throws {
        let tweaks = tweaks(leftAt: 8)
        try tweaks.store.set(1.5, for: p)
        #expect((0...3).map { tweaks.cell($0, as: Double.self) } == [1.5, 50, 50, 50])
        #expect(tweaks.sequence(0) == 10 && tweaks.messages.all.isEmpty)
    }
}
