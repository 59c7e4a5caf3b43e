// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

@Suite struct `Monitors` {
    private let tweaks = SyntheticTweaks(
        .monitor("Speed", .double), .integer("Count", 5), .monitor("Speed", .double))
    private var store: TweakStore { tweaks.store }
    private let speed = TweakKey.test("Speed")

    @Test func `Clients see the last stored value`() throws {
        #expect(try store.value(of: speed) == 0.0)
        tweaks.store(2.5, in: 0)
        #expect(try store.value(of: speed) == 2.5)
        tweaks.store(-Double.infinity, in: 0)
        #expect(try store.status(of: speed).value == .double(-.infinity))
        #expect(try store.status(of: speed).declaration.isMonitor)
    }

    @Test func `The first of several records applies`() throws {
        tweaks.store(9.5, in: 2)
        #expect(try store.value(of: speed) == 0.0)
    }

    @Test func `It cannot be set`() throws {
        #expect(throws: TweakError.self) { try store.set(1.5, for: speed) }
        store.resetAll()
        try store.set(7, for: .test("Count"), in: .session)
        #expect(tweaks.cell(0, as: Double.self) == 0)
    }

    @Test func `Providers do not apply to it`() throws {
        tweaks.store(2.5, in: 0)
        try store.add(TestProvider("remote", [speed: 7.5]), below: .overrides)
        #expect(try store.value(of: speed) == 2.5)
        #expect(tweaks.cell(0, as: Double.self) == 2.5)
        #expect(tweaks.cell(2, as: Double.self) == 0)
    }

    @Test func `Observers are not notified of it`() throws {
        let told = Locked(0)
        let token = store.observe { _ in told.withLock { $0 += 1 } }
        defer { token.cancel() }
        tweaks.store(2.5, in: 0)
        try store.set(6, for: .test("Count"))
        #expect(told.withLock { $0 } == 1)
    }

    @Test func `It has no handle`() throws {
        #expect(throws: TweakError.self) { try store.tweak("Test", "Values", "Speed", as: Double.self) }
    }

    @Test func `A monitor created at run time is stored by its handle`() throws {
        let load = try store.makeMonitor(
            "Server", "State", "Load", of: Float.self, in: 0...1, precision: 2, unit: "%")
        load.store(0.75)
        let status = try store.status(of: TweakKey("Server", "State", "Load"))
        #expect(status.value == 0.75)
        #expect(status.declaration.unit == "%" && status.declaration.maximum == 1.0)
        let mode = try store.makeMonitor(
            TweakKey("Server", "State", "Mode"), choices: [UInt8(0): "idle", 4: "busy"])
        mode.store(4)
        #expect(
            try store.status(of: TweakKey("Server", "State", "Mode")).declaration.choices.map(\.label) == [
                "idle", "busy",
            ])
        #expect(try store.value(of: TweakKey("Server", "State", "Mode")) == 4)
        #expect(throws: TweakError.exists(TweakKey("Server", "State", "Mode"))) {
            try store.makeMonitor(TweakKey("Server", "State", "Mode"), of: Int.self)
        }
        try store.remove(TweakKey("Server", "State", "Load"))
        load.store(0.25)
        #expect(throws: TweakError.self) { try store.value(of: TweakKey("Server", "State", "Load")) }
    }

    @Test func `Presets and snapshots omit it`() throws {
        tweaks.store(2.5, in: 0)
        let preset = store.preset(named: "p", includingDefaults: true)
        #expect(preset.values[speed] == nil)
        #expect(preset.values[.test("Count")] != nil)
    }
}
