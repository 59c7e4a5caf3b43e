// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

@Suite struct `Gradual changes` {
    private let tweaks = SyntheticTweaks(
        .double("Linear", 10), .double("Log", 1, 0.1...1000).with("scale=log"),
        .integer("Whole", 0, 0...20),
        .color("Colour", TweakColor(red: 0, green: 100, blue: 255)), .bool("Flag", false))
    private var store: TweakStore { tweaks.store }
    private let start = ContinuousClock.now

    private func ramp(from first: TweakValue, to last: TweakValue) -> Ramp {
        Ramp(start: first, target: last, source: .overrides, began: start, duration: .seconds(10))
    }

    private func values(_ name: String, from first: TweakValue, to last: TweakValue, at times: [Int]) throws
        -> [TweakValue]
    {
        let tweak = try store.status(of: .test(name)).declaration
        return times.map { ramp(from: first, to: last).value(at: start + .seconds($0), of: tweak) }
    }

    @Test func `A number changes linearly`() throws {
        #expect(
            try values("Linear", from: 10.0, to: 20.0, at: [0, 1, 5, 10, 11]) == [
                10.0, 11.0, 15.0, 20.0, 20.0,
            ])
        #expect(try values("Whole", from: 20, to: 0, at: [0, 1, 5, 10]) == [20, 18, 10, 0])
    }

    @Test func `A logarithmic number changes by factors`() throws {
        let middle = try values("Log", from: 1.0, to: 100.0, at: [5])
        guard case .double(let number)? = middle.first else {
            Issue.record("no number")
            return
        }
        #expect(abs(number - 10) < 1e-9)
    }

    @Test func `Values between are on the steps of the tweak, counted from its minimum`() throws {
        var tweak = try store.status(of: .test("Whole")).declaration
        tweak.step = 4
        let whole = [0, 1, 3].map { ramp(from: 0, to: 20).value(at: start + .seconds($0), of: tweak) }
        #expect(whole == [0, 4, 8])
    }

    @Test func `The components of a colour change together`() throws {
        let black = TweakValue.color(TweakColor(red: 0, green: 0, blue: 0, alpha: 0))
        let other = TweakValue.color(TweakColor(red: 100, green: 200, blue: 50, alpha: 255))
        #expect(
            try values("Colour", from: black, to: other, at: [5]) == [
                .color(TweakColor(red: 50, green: 100, blue: 25, alpha: 128))
            ])
    }

    @Test func `Extreme numbers do not overflow`() throws {
        let largest = Double.greatestFiniteMagnitude
        #expect(
            try values("Linear", from: .double(-largest), to: .double(largest), at: [0, 5])
                == [.double(-largest), 0.0])
        var tweak = try store.status(of: .test("Whole")).declaration
        (tweak.type, tweak.minimum, tweak.maximum) = (.uint64, nil, nil)
        let last = TweakValue.integer(Int128(UInt64.max))
        for second in 0...10 {
            guard
                case .integer(let number) = ramp(from: 0, to: last).value(
                    at: start + .seconds(second), of: tweak)
            else { continue }
            #expect(0...Int128(UInt64.max) ~= number)
        }
    }

    private func set(_ name: String, _ value: TweakValue, in seconds: Double) throws {
        try store.set([(.test(name), value)], on: SetTerms(ramp: .seconds(seconds)))
    }

    private func advance(to time: Double) {
        store.apply { state in
            let update = ValueUpdate(resolving: state.ramps.keys.sorted(), by: .program)
            update.ramps = .advance(to: (state.ramps.values.map(\.began).min() ?? .now) + .seconds(time))
            return update
        }
    }

    private var linear: Double { tweaks.cell(0) }

    @Test func `The target is the override from the beginning, and the cells follow`() throws {
        try set("Linear", 20.0, in: 10)
        #expect(linear == 10)
        #expect(try store.status(of: .test("Linear")).source == .overrides)
        #expect(store.state.withLock { $0.layers[.overrides][.test("Linear")] } == .value(20.0))
        advance(to: 5)
        #expect(linear == 15)
        advance(to: 10)
        #expect(linear == 20)
        #expect(store.state.withLock { $0.ramps.isEmpty })
    }

    @Test func `A new set takes over, also to the same value`() throws {
        try set("Linear", 20.0, in: 10)
        advance(to: 5)
        try store.set(20.0, for: .test("Linear"))
        #expect(linear == 20)
        #expect(store.state.withLock { $0.ramps.isEmpty })
        try set("Linear", 0.0, in: 10)
        advance(to: 5)
        #expect(linear == 10)
        try set("Linear", 30.0, in: 10)
        #expect(linear == 10)
        advance(to: 5)
        #expect(linear == 20)
        try store.reset(.test("Linear"))
        #expect(linear == 10)
        #expect(store.state.withLock { $0.ramps.isEmpty })
    }

    @Test func `Several tweaks change together at each step`() throws {
        let changes = Locked<[[TweakChange]]>([])
        let observation = store.addObserver(of: [.test("Linear"), .test("Whole")]) { _ in
            .together { new in changes.withLock { $0.append(new) } }
        }
        defer { withExtendedLifetime(observation) {} }
        try store.set(
            [(.test("Linear"), 20.0), (.test("Whole"), 10)], on: SetTerms(ramp: .seconds(10)))
        advance(to: 5)
        #expect(changes.withLock { $0.last?.map(\.newValue) } == [15.0, 5])
    }

    @Test func `A timer advances ramps and ends`() throws {
        try set("Linear", 20.0, in: 0.1)
        #expect(store.keepTime())
        #expect(waitUntil { linear == 20 })
        #expect(waitUntil { !store.state.withLock { $0.hasTimer } })
    }

    @Test func `Observers that want to know before see every step too`() throws {
        let before = Locked(0)
        let observation = store.observe(willChange: { _ in before.withLock { $0 += 1 } })
        defer { withExtendedLifetime(observation) {} }
        try set("Linear", 20.0, in: 10)
        let atStart = before.withLock { $0 }
        for time in 1...3 { advance(to: Double(time)) }
        #expect(before.withLock { $0 } == atStart + 3)
    }

    @Test func `A value above ends a ramp`() throws {
        try set("Linear", 20.0, in: 10)
        try store.set(50.0, for: .test("Linear"), in: .session)
        #expect(linear == 50)
        try store.set(nil, for: .test("Linear"), in: .session)
        #expect(linear == 20)
    }
}
