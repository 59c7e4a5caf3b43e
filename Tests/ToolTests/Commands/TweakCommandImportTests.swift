// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `import takes over what was set in older systems` {
    private static let facebook: [String: any Sendable] = [
        "FBTweak:Spring-2-Physics-Mass": 2.5, "FBTweak:Spring-2-Physics-Stiffness": 240,
        "FBTweak:Spring-2-Physics-Trail": true, "FBTweak:Spring-2-Physics-Glyph": "#",
    ]
    private static let facebookValues = [
        "Spring-2/Physics/Glyph=#", "Spring-2/Physics/Mass=2.5", "Spring-2/Physics/Stiffness=240",
        "Spring-2/Physics/Trail=1",
    ]
    private static let others: [String: any Sendable] = ["AppleLanguages": ["en"], "Launches": 7]

    private func check(
        _ program: OlderProgram, _ content: Data, _ values: [String],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let result = try program.importing(content)
        #expect(result.error.isEmpty, sourceLocation: location)
        #expect(
            result.output == "\(values.count) \(values.count == 1 ? "tweak was" : "tweaks were") set\n",
            sourceLocation: location)
        #expect(try program.values() == values, sourceLocation: location)
    }

    @Test(arguments: DefaultsForm.allCases, ProgramState.allCases)
    func `of Facebook Tweaks, from the user's defaults`(form: DefaultsForm, state: ProgramState) throws {
        try check(
            OlderProgram(state), form.data(Self.facebook.merging(Self.others) { $1 }), Self.facebookValues)
    }

    @Test(arguments: [DefaultsForm.xml, .binary], ProgramState.allCases)
    func `of Facebook Tweaks, from its export, a keyed archive`(form: DefaultsForm, state: ProgramState)
        throws
    {
        let color = KeyedArchives.color(["UIRed": .real(1), "UIGreen": .real(0), "UIBlue": .real(0.2)])
        let export = KeyedArchives.export(
            [.real(2.5), nil, .bool(true), .text("#"), color],
            names: ["Mass", "Stiffness", "Trail", "Glyph", "Ink"])
        try check(
            OlderProgram(state), Data(form == .xml ? export.xml : export.binary),
            [
                "Spring-2/Physics/Glyph=#", "Spring-2/Physics/Ink=#ff0033", "Spring-2/Physics/Mass=2.5",
                "Spring-2/Physics/Trail=1",
            ])
    }

    @Test(arguments: [DefaultsForm.xml, .binary])
    func `of Facebook Tweaks, also what the user's defaults have archived`(form: DefaultsForm) throws {
        let color = KeyedArchives.archive([
            .dictionary([
                "$class": .reference(2), "UIRed": .real(0), "UIGreen": .real(1), "UIBlue": .real(0.2),
            ]), KeyedArchives.class("UIColor"),
        ])
        try check(
            OlderProgram(.notRunning), form.data(["FBTweak:Spring-2-Physics-Ink": Data(color.binary)]),
            ["Spring-2/Physics/Ink=#00ff33"])
    }

    @Test(arguments: DefaultsForm.allCases, ProgramState.allCases)
    func `of FlipTheSwitch, from the user's defaults`(form: DefaultsForm, state: ProgramState) throws {
        let defaults: [String: any Sendable] = ["FTS_FEATURE_awesome": false, "FTS_FEATURE_stereo": true]
        try check(
            OlderProgram(state), form.data(defaults.merging(Self.others) { $1 }),
            ["Features/awesome/enabled=0", "Features/awesome/sound%2Fstereo=1"])
    }

    @Test(arguments: DefaultsForm.allCases, ProgramState.allCases)
    func `of JustTweak, from the user's defaults`(form: DefaultsForm, state: ProgramState) throws {
        let defaults: [String: any Sendable] = ["lib.fragments.userDefaultsKey.answer": 42]
        try check(
            OlderProgram(state), form.data(defaults.merging(Self.others) { $1 }),
            ["Features/general/answer=42", "Features/other/answer=42"])
    }

    @Test(arguments: DefaultsForm.allCases, ProgramState.allCases)
    func `and says what it cannot`(form: DefaultsForm, state: ProgramState) throws {
        let program = try OlderProgram(state)
        let content = try form.data([
            "FBTweak:Spring-2-Physics-Mass": 500, "FBTweak:Spring-2-Physics-Stiffness": "much",
            "FBTweak:Spring-2-Physics-Gloss-1": 1, "FBTweak:A-B-C": 1, "FTS_FEATURE_awesome": "on",
            "lib.fragments.userDefaultsKey.question": 6,
        ])
        let result = try program.importing(content)
        #expect(result.status == 65)
        #expect(result.output == "1 tweak was set\n")
        #expect(
            result.error == """
                tweak: warning: Spring-2/Physics/Mass: the value was outside the limits and has been clamped
                tweak: 5 values were not applied
                  FBTweak:Spring-2-Physics-Gloss-1: its levels are ambiguous, and no known tweak matches
                  FTS_FEATURE_awesome: it is neither true nor false
                  lib.fragments.userDefaultsKey.question: its feature is not stored, and no known feature has the variable
                  A/B/C: no such tweak
                  Spring-2/Physics/Stiffness: "much" is not an int32; allowed: an integer from -2147483648 to 2147483647

                """)
        let json = try program.importing(content, "--format", "json").json
        #expect(json["applied"] as? [String] == ["Spring-2/Physics/Mass"])
        #expect(json["clamped"] as? [String] == ["Spring-2/Physics/Mass"])
        #expect(json["unknown"] as? [String] == ["A/B/C"])
        #expect(
            (json["refused"] as? [[String: String]])?.map { $0["tweak"] } == ["Spring-2/Physics/Stiffness"])
        let leftOut = try #require(json["leftOut"] as? [[String: String]])
        #expect(
            leftOut.map { $0["entry"] } == [
                "FBTweak:Spring-2-Physics-Gloss-1", "FTS_FEATURE_awesome",
                "lib.fragments.userDefaultsKey.question",
            ])
        #expect(leftOut[1]["message"] == "it is neither true nor false")
    }

    @Test func `and gives the others their defaults if that is wanted`() throws {
        let program = try OlderProgram(.notRunning)
        #expect(try program.tweak("set", "Physics/Stiffness", "7").succeeded)
        let result = try program.importing(
            DefaultsForm.binary.data(["FTS_FEATURE_awesome": false]), "--reset-others")
        #expect(result.output == "1 tweak was set, all others have their defaults\n")
        #expect(try program.values() == ["Features/awesome/enabled=0"])
    }

    @Test(arguments: [
        (
            "<plist version=\"1.0\"><dict><key>Other</key><true/></dict></plist>",
            "it has no values of Facebook Tweaks"
        ),
        ("<plist version=\"1.0\"><array/></plist>", "got an array, expected a dictionary"),
        ("<plist version=\"1.0\"><dict>", "it is not a property list"),
        ("bplist00", "it is damaged"), ("<html></html>", "it is not a property list"),
        (#"{"FBTweak:A-B-C": 1, "FBTweak:A-B-C": 2}"#, "FBTweak:A-B-C"),
        (#"{"FBTweak:A-B-C": 1"#, "line 1"),
    ])
    func `but 65 is for a file that has nothing of them, and nothing is changed`(
        text: String, message: String
    )
        throws
    {
        let program = try OlderProgram(.notRunning)
        #expect(try program.tweak("set", "Physics/Stiffness", "7").succeeded)
        let result = try program.importing(Data(text.utf8), "--reset-others")
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak: \(program.home("older.plist")): "))
        #expect(result.error.contains(message), "\(result.error)")
        #expect(try program.values() == ["Spring-2/Physics/Stiffness=7"])
    }

    @Test func `What no JSON can hold is refused`() throws {
        for state in ProgramState.allCases {
            let program = try OlderProgram(state)
            let result = try program.importing(
                DefaultsForm.binary.data([
                    "FBTweak:Spring-2-Physics-Mass": Double.nan,
                    "FBTweak:Spring-2-Physics-Stiffness": Double.infinity,
                ]))
            #expect(result.status == 65)
            #expect(result.output == "0 tweaks were set\n")
            #expect(try program.values() == [])
        }
    }

    @Test func `A category may be called like an entry of an older system`() throws {
        let program = try OlderProgram(.notRunning)
        let result = try program.importing(
            Data(#"{"FBTweak:A-B-C": {"Physics": {"Mass": 2}}, "Spring-2": {"Physics": {"Mass": 3}}}"#.utf8))
        #expect(
            result.error
                == "tweak: 1 value was not applied\n  FBTweak:A-B-C/Physics/Mass: no such tweak\n")
        let preset = try program.importing(
            Data(#"{"FBTweak:A-B-C": 1, "name": "x", "tweaks": {"Spring-2": {"Physics": {"Mass": 4}}}}"#.utf8)
        )
        #expect(preset.output == "1 tweak was set\n")
        #expect(try program.values() == ["Spring-2/Physics/Mass=4"])
    }
}
