// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `Tweaks of generated accessors` {
    private let messages = CollectedMessages()
    private let key = TweakKey("Features", "awesome", "enabled")

    @Test func `An undeclared tweak is made`() throws {
        let store = TweakStore(logger: messages.logger)
        let tweak = store.tweak(key, default: true, description: "Awe")
        #expect(tweak.value)
        #expect(tweak.declaration?.description == "Awe")
        #expect(store.tweak(key, default: false).value)
        #expect(try store.tweak("Features", "awesome", "enabled", as: Bool.self).value)
        #expect(messages.all.isEmpty)
    }

    @Test func `A declared tweak is found`() throws {
        let tweaks = SyntheticTweaks(.bool("Flag", true))
        let tweak = tweaks.store.tweak(.test("Flag"), default: false)
        #expect(tweak.value)
        try tweak.set(false)
        #expect(try tweaks.store.value(of: .test("Flag")) == false)
    }

    @Test func `Of a tweak of another type it has the default, and one message says so`() throws {
        let store = TweakStore(logger: messages.logger)
        try store.make("Features", "awesome", "enabled", default: 5)
        for _ in 1...2 {
            let tweak = store.tweak(key, default: true)
            tweak.value = false
            #expect(tweak.value)
        }
        #expect(messages.all == ["Features/awesome/enabled: it is of type int64, not bool"])
    }

    @Test func `A name that no tweak can have is one message too`() {
        let store = TweakStore(logger: messages.logger)
        #expect(store.tweak(TweakKey("A\0", "B", "C"), default: "text").value == "text")
        #expect(messages.all.count == 1)
    }
}
