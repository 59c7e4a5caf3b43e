// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakJSON

@testable import Tweaks

/// A tweak that needs a restart has its value for as long as the program runs.
@Suite struct `Tweaks that need a restart` {
    private let home: TemporaryDirectory
    private let file: OverridesFile
    private let key = TweakKey.test("Threads")

    init() throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: home("overrides.json"))
    }

    /// What the program has after a start.
    private func start() -> SyntheticTweaks {
        let tweaks = SyntheticTweaks(.integer("Threads", 4, 1...64).with("needs-restart"))
        tweaks.store.keepOverrides(in: file)
        return tweaks
    }

    @Test func `A set changes the saved value, not the current one`() throws {
        let tweaks = start()
        let seen = Recorded<TweakChange>()
        let observation = tweaks.store.observe(
            willChange: { seen.append($0) }, didChange: { seen.append($0) })
        defer { observation.cancel() }
        #expect(try tweaks.store.set(100, for: key).value == 64)
        #expect(tweaks.cell(as: Int32.self) == 4)
        let status = try tweaks.store.status(of: key)
        #expect(status.value == 4 && status.source == .binary)
        #expect(status.pendingValue == 64)
        #expect(seen.all.isEmpty)
        tweaks.store.flush()
        #expect(try file.load()[key] == .scalar(64))
    }

    @Test func `The next start has the value`() throws {
        let before = start()
        try before.store.set(8, for: key)
        before.store.flush()
        let after = start()
        #expect(after.cell(as: Int32.self) == 8)
        let status = try after.store.status(of: key)
        #expect(status.value == 8 && status.source == .overrides && status.pendingValue == nil)
    }

    @Test func `A reset waits for the next start too`() throws {
        try home.write("overrides.json", #"{"Test": {"Values": {"Threads": 8}}}"#)
        let tweaks = start()
        try tweaks.store.reset(key)
        #expect(try tweaks.store.status(of: key).value == 8)
        #expect(try tweaks.store.status(of: key).pendingValue == 4)
        tweaks.store.flush()
        #expect(try file.load()[key] == nil)
        #expect(start().cell(as: Int32.self) == 4)
    }

    @Test func `Nothing is pending when the value is set back`() throws {
        let tweaks = start()
        try tweaks.store.set(8, for: key)
        try tweaks.store.set(4, for: key)
        #expect(try tweaks.store.status(of: key).pendingValue == nil)
        tweaks.store.flush()
        #expect(try file.load()[key] == .scalar(4))
    }

    @Test func `Setting the current value saves it, and nothing is pending`() throws {
        let tweaks = start()
        try tweaks.store.set(4, for: key)
        tweaks.store.flush()
        #expect(try file.load()[key] == .scalar(4))
        #expect(try tweaks.store.status(of: key).pendingValue == nil)
    }

    @Test func `Nothing is ever pending for other tweaks`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        try tweaks.store.set(6, for: .test("Count"))
        #expect(try tweaks.store.status(of: .test("Count")).pendingValue == nil)
    }
}
