// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `An image that is opened and closed` {
    private let p = TweakKey.test("P")
    private let i = TweakKey.test("I")

    @Test func `gets all values of a preset or none`() throws {
        let store = TweakStore()
        let image = SyntheticImage(.integer("P", 1, 0...1_000_000), .integer("I", 1, 0...1_000_000))
        let isDone = Locked(false)
        let plugInHost = Thread {
            while !isDone.withLock({ $0 }) {
                image.open(in: store)
                image.close(in: store)
            }
        }
        plugInHost.start()
        defer { isDone.withLock { $0 = true } }
        var counts: Set<Int> = []
        for number in 1...(isLong ? 200_000 : 5000) {
            var preset = TweakPreset(name: "")
            for key in [p, i] { preset.values.set(.integer(Int128(number)), for: key) }
            let report = store.apply(preset)
            counts.insert(report.applied.count)
            #expect(report.applied.count + report.unknown.count == 2)
        }
        #expect(counts.isSubset(of: [0, 2]))
        let overrides = store.state.withLock { state in [p, i].map { state.layers[.overrides][$0] } }
        #expect(overrides[0] == overrides[1])
    }

    @Test func `has all values of a snapshot or none`() throws {
        let store = TweakStore()
        let image = SyntheticImage(.integer("P", 1, 0...1_000_000), .integer("I", 1, 0...1_000_000))
        image.open(in: store)
        try store.batch { batch in
            try batch.set(7, for: p)
            try batch.set(7, for: i)
        }
        let snapshot = store.snapshot()
        image.close(in: store)
        #expect(store.restore(snapshot).unknown.count == 2)
        image.open(in: store)
        #expect(store.restore(snapshot).applied.count == 2)
        #expect(image.cell(0, as: Int32.self) == 7 && image.cell(1, as: Int32.self) == 7)
    }

    @Test func `is opened when the loop has stored all of a change`() throws {
        let tweaks = SyntheticTweaks(.double("P", 1), .double("I", 2), gates: [GateRecord()])
        let store = tweaks.store
        try store.change([(p, 7.0), (i, 8.0)])
        #expect(tweaks.loop().take())
        let plugIn = SyntheticImage(.double("P", 1), .double("I", 2))
        let isOpen = Locked(false)
        let opener = Thread {
            plugIn.open(in: store)
            isOpen.withLock { $0 = true }
        }
        opener.start()
        usleep(20_000)
        tweaks.loop().store()
        #expect(waitUntil { isOpen.withLock { $0 } })
        #expect(plugIn.cell(0, as: Double.self) == 7 && plugIn.cell(1, as: Double.self) == 8)
    }

    @Test func `gets a change that waits with the next pass, in all cells`() throws {
        let tweaks = SyntheticTweaks(.double("P", 1), .double("I", 2), gates: [GateRecord()])
        let store = tweaks.store
        try store.change([(p, 7.0), (i, 8.0)])
        let plugIn = SyntheticImage(.double("P", 1), .double("I", 2))
        plugIn.open(in: store)
        #expect(plugIn.cell(0, as: Double.self) == 1 && plugIn.cell(1, as: Double.self) == 2)
        #expect(tweaks.loop().waiting == 4)
        tweaks.loop().pass()
        #expect(plugIn.cell(0, as: Double.self) == 7 && plugIn.cell(1, as: Double.self) == 8)
        try store.change([(p, 9.0), (i, 10.0)])
        plugIn.close(in: store)
        #expect(tweaks.loop().waiting == 2)
        tweaks.loop().pass()
        #expect(tweaks.cell(0, as: Double.self) == 9 && tweaks.cell(1, as: Double.self) == 10)
        #expect(plugIn.cell(0, as: Double.self) == 7 && plugIn.cell(1, as: Double.self) == 8)
    }

    /// A reset leaves no value behind that would have the records of the image decoded.
    @Test func `has the values of the loop while a reset waits`() throws {
        let tweaks = SyntheticTweaks(.double("P", 1), .double("I", 2), gates: [GateRecord()])
        let store = tweaks.store
        try store.change([(p, 7.0), (i, 8.0)])
        tweaks.loop().pass()
        try store.change([(p, nil), (i, nil)])
        let plugIn = SyntheticImage(.double("P", 1), .double("I", 2))
        plugIn.open(in: store)
        #expect(plugIn.cell(0, as: Double.self) == 7 && plugIn.cell(1, as: Double.self) == 8)
        tweaks.loop().pass()
        #expect(plugIn.cell(0, as: Double.self) == 1 && plugIn.cell(1, as: Double.self) == 2)
    }
}
