// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import StartedScenarios
import Tweaks

/// `started` as a Swift program: the scenarios in C, with checks of the Swift store.
@main
struct Started {
    static func main() {
        started_take_part(
            { Started.has($1, atSlot: $0) ? 1 : 0 },
            { (try? Started.usesPresets()) == true ? 1 : 0 })
        exit(started_main(CommandLine.argc, CommandLine.unsafeArgv))
    }

    private static var store: TweakStore { .shared }

    private static func key(_ slot: Int32) -> TweakKey { TweakKey("Start", "Slots", "Slot \(slot)") }

    private static func has(_ value: Int32, atSlot slot: Int32) -> Bool {
        let handle = try? store.tweak("Start", "Slots", "Slot \(slot)", as: Int32.self)
        let known = try? store.status(of: key(slot)).value
        return handle?.value == value && known == .integer(Int128(value))
    }

    private static func usesPresets() throws -> Bool {
        let before = store.snapshot()
        let preset = store.preset(named: "Before", of: "Start")
        let third = try store.tweak("Start", "Slots", "Slot 3", as: Int32.self)
        let twentieth = try store.tweak("Start", "Slots", "Slot 20", as: Int32.self)
        let (old, kept) = (third.value, twentieth.value)
        let (made, changed) = (TweakKey("Start", "Made", "Name"), Int32(77))

        try third.set(changed)
        guard store.snapshot().differences(from: before) == [third.key] else { return false }
        try twentieth.set(changed)
        guard store.apply(try TweakPreset(json: preset.json), resettingOthers: true).isComplete else {
            return false
        }
        guard third.value == old, twentieth.value == kept else { return false }
        try store.batch { batch in
            try batch.set(.integer(Int128(changed)), for: third.key)
            try batch.set(.integer(Int128(changed)), for: twentieth.key)
        }
        guard third.value == changed, twentieth.value == changed else { return false }
        store.restore(before)
        guard store.snapshot().differences(from: before).isEmpty else { return false }
        // In a release build handles do not see them, with a message.
        #if DEBUG
        guard third.withValue(changed, { third.value }) == changed, third.value == old else {
            return false
        }
        #endif
        let handle = try store.make("Start", "Made", "Name", default: 5)
        guard try store.value(of: made) == .integer(5), handle.value == 5 else { return false }
        try store.remove(made)
        return (try? store.value(of: made)) == nil
    }
}
