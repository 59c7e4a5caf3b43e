// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Testing
import TweakClient
import TweakFormats
import TweakProtocol
import TweakRecords

@Suite struct `A tweak as a person names it` {
    private let keys = [
        TweakKey("Motor", "Gains", "Proportional"),
        TweakKey("Motor", "Gains", "Integral"),
        TweakKey("Motor", "Limits", "Current"),
        TweakKey("Window", "Colours", "Background Colour"),
        TweakKey("Window", "Sizes", "Current"),
    ]

    private func key(_ text: String) throws -> String { try "\(TweakName(text).key(among: keys))" }

    @Test(
        arguments: [
            ("Motor/Gains/Integral", "Motor/Gains/Integral"),
            ("Gains/Integral", "Motor/Gains/Integral"),
            ("Integral", "Motor/Gains/Integral"),
            ("integral", "Motor/Gains/Integral"),
            ("Int", "Motor/Gains/Integral"),
            ("gral", "Motor/Gains/Integral"),
            ("Lim/Cur", "Motor/Limits/Current"),
            ("background color", "Window/Colours/Background Colour"),
        ])
    func `may be abbreviated if it stays unique`(text: String, expected: String) throws {
        #expect(try key(text) == expected)
    }

    @Test func `prefers a whole level to a part of one`() throws {
        let keys = [TweakKey("A", "B", "Step"), TweakKey("A", "B", "Step Count")]
        #expect(try TweakName("step").key(among: keys) == keys[0])
    }

    @Test func `is refused if several tweaks could be meant, which are listed`() throws {
        let failure = try #require(throws: Failure.self) { try key("Current") }
        #expect(failure.message == "Current: 2 tweaks match; give more of the name")
        #expect(failure.details == ["Motor/Limits/Current", "Window/Sizes/Current"])
        #expect(failure.kind == .invalid)
    }

    @Test func `with a typing error is refused with the name that it resembles`() throws {
        let failure = try #require(throws: Failure.self) { try key("Gains/Integrel") }
        #expect(failure.message.contains("Motor/Gains/Integral"))
        #expect(failure.kind == .invalid)
    }

    @Test func `with dots instead of slashes is refused with the right spelling`() throws {
        let failure = try #require(throws: Failure.self) { try key("Motor.Gains.Integral") }
        #expect(failure.message.hasSuffix("write Motor/Gains/Integral"))
    }

    @Test(arguments: ["", "/", "a/b/c/d", "a//b", "%zz"])
    func `has one to three levels`(text: String) throws {
        let failure = try #require(throws: Failure.self) { try key(text) }
        #expect([.usage, .invalid].contains(failure.kind))
    }
}

@Suite struct `Some tweaks as a person names them` {
    private let tweaks = [
        ("Motor", "Gains", "P"), ("Motor", "Gains", "I"), ("Arm", "Motor", "Speed"), ("Arm", "Gains", "P"),
    ]
    .map { JSONTweak(TweakDeclaration(key: TweakKey($0.0, $0.1, $0.2), type: .int32, defaultValue: 1)) }

    private func names(_ text: String) throws -> [String] {
        let scope = try TweakScope(text, among: tweaks)
        return tweaks.map(\.declaration.key).filter(scope.contains).map(\.description)
    }

    @Test func `prefer a category to a collection of the same name`() throws {
        #expect(try names("Motor/") == ["Motor/Gains/P", "Motor/Gains/I"])
        #expect(try names("Arm/Motor/") == ["Arm/Motor/Speed"])
    }

    @Test func `are refused if several groups could be meant`() throws {
        let failure = try #require(throws: Failure.self) { try names("Gains/") }
        #expect(failure.details == ["Arm/Gains/", "Motor/Gains/"])
    }

    @Test func `are refused if there are none, with the nearest group`() throws {
        let failure = try #require(throws: Failure.self) { try names("Motr/") }
        #expect(failure.message.contains("Motor/"))
        #expect(failure.kind == .invalid)
    }
}
