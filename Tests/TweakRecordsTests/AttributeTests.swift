// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

private func tweak(_ attributes: (String, String)..., type: TweakType = .double) -> TweakDeclaration {
    TweakDeclaration(
        key: TweakKey("A", "B", "C"), type: type, defaultValue: 0.0,
        attributes: attributes.map { .init(key: $0.0, value: $0.1) })
}

@Suite struct `Options in attributes` {
    @Test func `A tweak has a unit, a description and an owner`() {
        let tweak = tweak(("unit", "kg"), ("doc", "what hangs on it"), ("owner", "physics"))
        #expect(tweak.unit == "kg")
        #expect(tweak.description == "what hangs on it")
        #expect(tweak.owner == "physics")
    }

    @Test func `A missing or empty option is nil`() {
        let tweak = tweak(("unit", ""), ("doc", ""))
        #expect(tweak.unit == nil && tweak.description == nil && tweak.owner == nil && tweak.precision == nil)
        #expect(!tweak.isReadOnly && !tweak.needsRestart)
    }

    @Test func `A mark has no value`() {
        #expect(tweak(("read-only", "")).isReadOnly)
        #expect(tweak(("needs-restart", "")).needsRestart)
    }

    @Test(arguments: [
        ("unit=kg", "unit", "kg"), ("doc=a=b", "doc", "a=b"), ("read-only", "read-only", ""),
        ("choice=", "choice", ""), ("unit=\u{301}", "unit", "\u{301}"), ("=", "", ""), ("", "", ""),
    ])
    func `The first equals sign separates key and value`(
        text: String, key: String, value: String
    ) {
        #expect(TweakDeclaration.Attribute(text: text) == .init(key: key, value: value))
    }

    @Test func `Only a choice may have an empty value`() {
        let attributes: [TweakDeclaration.Attribute] = [
            .init(key: "unit", value: "kg"), .init(key: "read-only", value: ""),
            .init(key: "choice", value: ""),
        ]
        #expect(attributes.map(\.text) == ["unit=kg", "read-only", "choice="])
    }

    @Test func `Declarations conflict if their marks differ, not if their texts do`() {
        #expect(!tweak().agrees(with: tweak(("read-only", ""))))
        #expect(!tweak().agrees(with: tweak(("needs-restart", ""))))
        #expect(tweak().agrees(with: tweak(("doc", "x"), ("unit", "kg"), ("owner", "x"))))
    }

    @Test(arguments: [("0", 0), ("2", 2), ("17", 17)])
    func `A precision is a number of decimals`(text: String, precision: Int) {
        #expect(tweak(("precision", text)).precision == precision)
        #expect(tweak(("precision", text), type: .float).precision == precision)
        #expect(tweak(("precision", text), type: .int32).precision == nil)
    }

    @Test(arguments: ["", "-1", "18", "two", "1.5", "99999999999999999999"])
    func `Another text is not a precision`(text: String) {
        #expect(tweak(("precision", text)).precision == nil)
    }
}

@Suite struct `Display of numbers` {
    private func number(
        _ scale: String, from minimum: TweakValue?, type: TweakType = .double
    ) -> TweakDeclaration {
        var tweak = tweak(("scale", scale), type: type)
        tweak.minimum = minimum
        return tweak
    }

    @Test func `A scale is linear, or logarithmic from a minimum above 0`() {
        #expect(number("log", from: 0.001).scale == .log)
        #expect(number("log", from: 1, type: .uint8).scale == .log)
        #expect(number("linear", from: nil).scale == .linear)
        #expect(number("linear", from: -1, type: .int32).scale == .linear)
    }

    @Test(arguments: [nil, 0, -1, 0.0, -0.5] as [TweakValue?])
    func `Without a minimum above 0 a scale is not logarithmic`(minimum: TweakValue?) {
        let tweak = number("log", from: minimum)
        #expect(tweak.scale == nil)
        #expect(tweak.problem == .noLogarithm)
    }

    @Test(arguments: ["", "Log", "cubic", "logarithmic"])
    func `Another text is not a scale`(text: String) {
        #expect(number(text, from: 0.5).scale == nil)
        #expect(number(text, from: nil).problem == nil)
    }

    @Test(arguments: [TweakType.bool, .string, .color, .action])
    func `Only numbers have a scale or a pair`(type: TweakType) {
        let tweak = tweak(("scale", "linear"), ("pair", "Y"), type: type)
        #expect(tweak.scale == nil && tweak.pair == nil)
    }

    @Test func `A monitor has neither a scale nor a pair`() {
        var monitor = tweak(("scale", "linear"), ("pair", "Y"))
        monitor.isMonitor = true
        #expect(monitor.scale == nil && monitor.pair == nil)
    }

    @Test func `A pair is the name of another tweak`() {
        #expect(tweak(("pair", "Position Y")).pair == "Position Y")
        #expect(tweak(("pair", "")).pair == nil)
        #expect(tweak().pair == nil)
    }

    @Test func `Declarations that differ only in display are compatible`() {
        #expect(tweak().agrees(with: tweak(("scale", "linear"), ("pair", "Y"))))
    }
}

@Suite struct `Expiry dates` {
    @Test(arguments: ["2026-01-31", "2024-02-29", "0001-12-01", "9999-12-31"])
    func `A date is a year, a month and a day`(date: String) {
        #expect(tweak(("expires", date)).expiryDate == date)
    }

    @Test(arguments: [
        "", "2026", "2026-1-31", "2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32", "26-01-31",
        "2026-01-31 ",
        "2026/01/31", "-026-01-31", "2026-01-+1", "2026-01-31-", "２026-01-31",
    ])
    func `Another text is not a date`(date: String) {
        #expect(tweak(("expires", date)).expiryDate == nil)
        #expect(!tweak(("expires", date)).hasExpired(on: "9999-12-31"))
    }

    @Test func `A tweak expires after its last day`() {
        let tweak = tweak(("expires", "2026-01-31"))
        #expect(!tweak.hasExpired(on: "2025-12-31"))
        #expect(!tweak.hasExpired(on: "2026-01-31"))
        #expect(tweak.hasExpired(on: "2026-02-01"))
        #expect(tweak.hasExpired(on: "2027-01-01"))
    }
}
