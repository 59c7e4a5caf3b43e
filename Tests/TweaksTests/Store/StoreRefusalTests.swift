// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `Values that the store refuses` {
    @Test func `A value that is not among the choices`() throws {
        let tweaks = SyntheticTweaks(.integer("Rate", 44100).with(choices: [44100, 48000]))
        let error = #expect(throws: TweakError.self) { try tweaks.store.set(5, for: .test("Rate")) }
        #expect(
            error?.description
                == "Test/Values/Rate: 5 is not among the choices; allowed: one of 44100, 48000")
        #expect(tweaks.cell(as: Int32.self) == 44100)
        try tweaks.store.set(48000, for: .test("Rate"))
        #expect(tweaks.cell(as: Int32.self) == 48000)
    }

    @Test func `Any value of a read-only tweak`() throws {
        let tweaks = SyntheticTweaks(.integer("Fixed", 5).with("read-only"))
        #expect(throws: TweakError.self) { try tweaks.store.set(6, for: .test("Fixed")) }
        #expect(throws: TweakError.self) { try tweaks.store.set(5, for: .test("Fixed")) }
        try tweaks.store.reset(.test("Fixed"))
        #expect(tweaks.cell(as: Int32.self) == 5)
    }

    @Test func `Setting or resetting an action, which is still listed`() throws {
        let tweaks = SyntheticTweaks(.action("Clear"), .integer("Count", 5))
        let status = try tweaks.store.status(of: .test("Clear"))
        #expect(status.declaration.type == .action)
        #expect(status.value == .nothing)
        let refusal = TweakError.refused(.isAction(status.declaration))
        #expect(throws: refusal) { try tweaks.store.set(1, for: .test("Clear")) }
        #expect(throws: refusal) { try tweaks.store.reset(.test("Clear")) }
        tweaks.store.resetAll()
        #expect(tweaks.cell(as: UInt64.self) == 0x1234)
        #expect(tweaks.store.categories.first?.collections.first?.tweaks.count == 2)
    }
}

@Suite struct `Tweaks with an expiry date` {
    @Test func `An expired tweak is reported once`() throws {
        let tweaks = SyntheticTweaks(
            .integer("Old", 1).with("expires=2001-01-31", "owner=anna"),
            .integer("Old", 1).with("expires=2001-01-31", "owner=anna"),
            .integer("Older", 1).with("expires=2000-01-31"), .integer("New", 1).with("expires=9999-12-31"))
        for _ in 1...2 { #expect(try tweaks.store.value(of: .test("Old")) == 1) }
        #expect(
            tweaks.messages.all == [
                "Test/Values/Old: expired on 2001-01-31 (owner: anna); remove it",
                "Test/Values/Older: expired on 2000-01-31; remove it",
            ])
    }

    @Test func `Today is a date`() {
        #expect(utcDay(secondsSince1970: 0) == "1970-01-01")
        #expect(utcDay(secondsSince1970: 951_782_399) == "2000-02-28")
        #expect(utcDay(secondsSince1970: 951_782_400) == "2000-02-29")
    }
}
