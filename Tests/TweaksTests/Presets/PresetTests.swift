// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing

@testable import Tweaks

@Suite struct `Presets` {
    private let store = TweakStore()
    private let stiffness: Tweak<Double>
    private let color: Tweak<TweakColor>

    init() throws {
        stiffness = try store.make("Spring", "Physics", "Stiffness", default: 120.0, in: 1...1000)
        color = try store.make("Spring", "Drawing", "Color", default: TweakColor(red: 1, green: 2, blue: 3))
        try store.make("Spring", "Drawing", "Trail", default: true)
    }

    @Test func `are JSON that a person can read`() throws {
        try stiffness.set(240)
        try color.set(TweakColor(red: 255, green: 0, blue: 0))
        #expect(
            store.preset(named: "Snappy").json == """
                {
                  "name" : "Snappy",
                  "tweaks" : {
                    "Spring" : {
                      "Drawing" : {
                        "Color" : "#ff0000"
                      },
                      "Physics" : {
                        "Stiffness" : 240
                      }
                    }
                  }
                }

                """)
    }

    @Test func `keep composed and decomposed letters apart`() throws {
        for (value, name) in ["Caf\u{e9}", "Cafe\u{301}"].enumerated() {
            try store.make("Spring", "Physics", name, default: 9).set(value)
        }
        let preset = try TweakPreset(json: store.preset(named: "Snappy").json)
        #expect(preset.values.values.count == 2)
        store.resetAll()
        #expect(store.apply(preset).applied.count == 2)
        #expect(try store.value(of: TweakKey("Spring", "Physics", "Caf\u{e9}")) == 0)
        #expect(try store.value(of: TweakKey("Spring", "Physics", "Cafe\u{301}")) == 1)
    }

    @Test func `can be applied again`() throws {
        try stiffness.set(240)
        try color.set(TweakColor(red: 255, green: 0, blue: 0))
        let preset = try TweakPreset(json: store.preset(named: "Snappy").json)
        #expect(preset.name == "Snappy")
        store.resetAll()
        let report = store.apply(preset)
        #expect(report.isComplete)
        #expect(report.applied.count == 2)
        #expect(stiffness.value == 240)
        #expect(stiffness.source == .overrides)
        #expect(color.value == TweakColor(red: 255, green: 0, blue: 0))
    }

    @Test func `can have defaults too, and a part only`() throws {
        try store.make("Other", "B", "C", default: 1)
        #expect(store.preset(named: "All", includingDefaults: true).values.keys.count == 4)
        #expect(
            store.preset(named: "Part", of: "Other", includingDefaults: true).values.keys == [
                TweakKey("Other", "B", "C")
            ])
        #expect(store.preset(named: "Changed").values.isEmpty)
    }

    @Test func `report refused values and apply the others`() throws {
        let preset = try TweakPreset(
            json: """
                { "name": "Mixed", "tweaks": {
                    "Spring": { "Physics": { "Stiffness": 5000, "Mass": 2 }, "Drawing": { "Trail": "long" } },
                    "Elsewhere": { "B": { "C": [1] } } } }
                """)
        let report = store.apply(preset)
        #expect(report.applied == [stiffness.key])
        #expect(report.clamped == [stiffness.key])
        #expect(report.unknown == [TweakKey("Elsewhere", "B", "C"), TweakKey("Spring", "Physics", "Mass")])
        #expect(Array(report.refused.keys) == [TweakKey("Spring", "Drawing", "Trail")])
        #expect(stiffness.value == 1000)
        #expect(!report.isComplete)
        #expect(
            report.description == """
                1 tweak was set
                Spring/Physics/Stiffness: the value was outside the limits and has been clamped
                Elsewhere/B/C: no such tweak
                Spring/Physics/Mass: no such tweak
                Spring/Drawing/Trail: "long" is not a bool; allowed: true or false
                """)
        // Nothing is lost.
        #expect(try TweakPreset(json: preset.json) == preset)
        #expect(preset.json.contains("Elsewhere"))
    }

    @Test func `can reset all other tweaks`() throws {
        try color.set(TweakColor(red: 9, green: 9, blue: 9))
        let preset = try TweakPreset(
            json: #"{ "name": "A", "tweaks": { "Spring": { "Physics": { "Stiffness": 3 } } } }"#)
        store.apply(preset)
        #expect(color.value == TweakColor(red: 9, green: 9, blue: 9))
        store.apply(preset, resettingOthers: true)
        #expect(color.value == TweakColor(red: 1, green: 2, blue: 3))
        #expect(stiffness.value == 3)
    }

    @Test func `are one change`() throws {
        let calls = Recorded<Double>()
        let token = TweakStore.observe(
            stiffness, color, onChange: { stiffness, _ in calls.append(stiffness) })
        let preset = try TweakPreset(
            json: """
                { "name": "A", "tweaks": { "Spring": {
                    "Physics": { "Stiffness": 3 }, "Drawing": { "Color": "#000000" } } } }
                """)
        store.apply(preset)
        #expect(calls.all == [3])
        token.cancel()
    }

    @Test(
        arguments: [
            ("", "it is empty"),
            ("[]", "it holds an array where an object is expected"),
            ("{}", "it has no text \"name\""),
            (#"{"name": 1}"#, "it has no text \"name\""),
            (#"{"name": "A"}"#, "it has no object \"tweaks\""),
            (
                #"{"name": "A", "tweaks": {"Spring": 1}}"#,
                "the category \"Spring\" is 1, but an object is expected"
            ),
            (
                #"{"name": "A", "tweaks": {"Spring": {"Physics": [1]}}}"#,
                "the collection \"Spring/Physics\" is an array, but an object is expected"
            ),
        ])
    func `are refused with a reason`(json: String, reason: String) {
        #expect(throws: OverridesError.corrupt(path: "a.json", reason: reason)) {
            try TweakPreset(json: json, path: "a.json")
        }
    }

    @Test func `that are deep or no JSON are refused`() {
        for json in ["{", String(repeating: "[", count: 100_000), "{\"name\": \"\u{0}\"}"] {
            #expect(throws: OverridesError.self) { try TweakPreset(json: json) }
        }
    }
}

@Suite struct `Snapshots` {
    private let store = TweakStore()
    private let width: Tweak<Int>
    private let color: Tweak<TweakColor>

    init() throws {
        width = try store.make("A", "B", "Width", default: 1)
        color = try store.make("A", "B", "Color", default: TweakColor(red: 1, green: 2, blue: 3))
        try store.make("A", "B", "Ratio", default: 1.0)
    }

    @Test func `have all values, and list differences`() throws {
        let before = store.snapshot()
        #expect(before == store.snapshot())
        #expect(before[width.key] == 1)
        #expect(before.keys.count == 3)
        try width.set(2)
        #expect(store.snapshot() != before)
        #expect(store.snapshot().differences(from: before) == [width.key])
    }

    @Test func `are restored, including tweaks that were not set`() throws {
        try color.set(TweakColor(red: 9, green: 9, blue: 9))
        let snapshot = store.snapshot()
        try width.set(2)
        try color.reset()
        #expect(store.restore(snapshot).isComplete)
        #expect(store.snapshot() == snapshot)
        #expect(width.source == .binary)
        #expect(color.source == .overrides)
    }

    @Test func `of tweaks that are gone are reported`() throws {
        let snapshot = store.snapshot()
        try store.remove(width.key)
        #expect(store.restore(snapshot).unknown == [width.key])
    }

    @Test func `can be encoded and decoded`() throws {
        try width.set(2)
        try color.set(TweakColor(red: 9, green: 9, blue: 9))
        let snapshot = store.snapshot()
        let decoded = try JSONDecoder().decode(TweakSnapshot.self, from: JSONEncoder().encode(snapshot))
        #expect(decoded == snapshot)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                TweakSnapshot.self,
                from: Data(#"{"A/B/C": {"type": "int32", "value": true, "isSet": true}}"#.utf8))
        }
    }
}
