// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakFormats
import TweakRecords

@Suite struct `Values of older systems` {
    private func imported(
        _ bytes: [UInt8], systems: Set<OlderSystem> = Set(OlderSystem.allCases), known: [String] = []
    ) throws -> ImportedOverrides {
        try ImportedOverrides(
            bytes, path: "old.plist", systems: systems, known: known.map { try #require(TweakKey($0)) })
    }

    /// Values as `key=value`.
    private func values(_ imported: ImportedOverrides) -> [String] {
        imported.overrides.map { "\($0.key)=\($0.value)" }
    }

    private static let defaults = Plist.dictionary([
        "FBTweak:Spring-Physics-Stiffness": .integer(240), "FBTweak:Spring-Physics-Mass": .real(1.5),
        "FBTweak:Spring-Looks-Trail": .bool(true), "FBTweak:Spring-Looks-Glyph": .text("#"),
        "FTS_FEATURE_awesome": .bool(false), "lib.fragments.userDefaultsKey.answer": .integer(42),
        "AppleLanguages": .array([.text("en")]), "Other": .dictionary(["a": .dictionary(["b": .integer(1)])]),
    ])

    @Test(arguments: [defaults.xml, defaults.binary])
    func `The user's defaults of all systems are read from a property list`(bytes: [UInt8]) throws {
        let imported = try imported(bytes, known: ["Features/general/answer"])
        #expect(
            values(imported) == [
                "Features/awesome/enabled=false", "Features/general/answer=42", "Spring/Looks/Glyph=#",
                "Spring/Looks/Trail=true", "Spring/Physics/Mass=1.5", "Spring/Physics/Stiffness=240",
            ])
        #expect(imported.problems.isEmpty)
        #expect(imported.report.first == "Features/awesome/enabled: false")
    }

    @Test func `Only the systems that are asked for are read`() throws {
        let imported = try imported(Self.defaults.binary, systems: [.flipTheSwitch])
        #expect(values(imported) == ["Features/awesome/enabled=false"])
    }

    @Test func `JSON has the same keys, or objects for category and collection`() throws {
        let json = """
            {
              "FBTweak:A-B-C": 1.0, "FTS_FEATURE_f": true,
              "Spring": { "Physics": { "Stiffness": 240, "Limits": [1, 2] }, "more": 1 }, "version": 2
            }
            """
        let imported = try imported(Array(json.utf8))
        #expect(values(imported) == ["A/B/C=1.0", "Features/f/enabled=true", "Spring/Physics/Stiffness=240"])
        #expect(
            imported.report.last
                == "Spring/Physics/Limits: not imported: it is not a Bool, number, text or colour")
    }

    @Test func `Hyphens in a name are clear if the tweak is known`() throws {
        let plist = Plist.dictionary(["FBTweak:A-B-C-D": .integer(1), "FBTweak:A-B": .integer(2)])
        #expect(try values(imported(plist.xml, known: ["A/B/C-D", "A/B/C"])) == ["A/B/C-D=1"])
        let unknown = try imported(plist.xml)
        #expect(unknown.overrides.isEmpty)
        #expect(
            unknown.report == [
                "FBTweak:A-B: not imported: a category, a collection and a name are expected, with hyphens between them",
                "FBTweak:A-B-C-D: not imported: its levels are ambiguous, and no known tweak matches",
            ])
        #expect(
            try imported(plist.xml, known: ["A/B/C-D", "A-B/C/D"]).problems.last?.reason
                == "it could be any of A/B/C-D, A-B/C/D")
    }

    @Test func `A sub-feature is found if the features are known`() throws {
        let plist = Plist.dictionary(["FTS_FEATURE_stereo": .bool(true), "FTS_FEATURE_x": .text("yes")])
        let features = FeatureSet([
            Feature(
                name: "a", isEnabled: true,
                parts: [
                    Feature(
                        name: "sound", isEnabled: true, parts: [Feature(name: "stereo", isEnabled: false)])
                ])
        ])
        let imported = try ImportedOverrides(plist.xml, path: "", known: features.all.map(\.key))
        #expect(values(imported) == ["Features/a/sound%2Fstereo=true"])
        #expect(imported.report.last == "FTS_FEATURE_x: not imported: it is neither true nor false")
        #expect(try values(self.imported(plist.xml)) == ["Features/stereo/enabled=true"])
    }

    @Test func `A variable belongs to all features that have it, and to none that is not known`() throws {
        let plist = Plist.dictionary(["lib.fragments.userDefaultsKey.x": .text("v")])
        #expect(
            try values(imported(plist.binary, known: ["Features/a/x", "Features/b/x", "Other/c/x"]))
                == ["Features/a/x=v", "Features/b/x=v"])
        let unknown = try imported(plist.binary)
        #expect(unknown.overrides.isEmpty)
        #expect(unknown.problems.first?.reason.contains("its feature is not stored") == true)
    }

    @Test(arguments: [true, false])
    func `An export of Facebook Tweaks is read without unchanged tweaks`(isBinary: Bool) throws {
        let export = KeyedArchives.export([
            .integer(240), nil, .real(1.5), .bool(true), .text("text"),
            .dictionary(["$class": .reference(13), "NS.string": .text("mutable")]),
            KeyedArchives.color([
                "UIRed": .real(0.2), "UIGreen": .real(0.4), "UIBlue": .real(1), "UIAlpha": .real(0.5),
            ]),
            KeyedArchives.color([
                "UIRed-Double": .real(2), "UIGreen-Double": .integer(0), "UIBlue-Double": .real(-1),
            ]),
            KeyedArchives.color(["UIWhite": .real(0.4)]),
            KeyedArchives.color(["NSRGB": .data(Array("0.2 0.4 1\0".utf8))]),
            KeyedArchives.color(["NSWhite": .data(Array("1 0".utf8))]),
            KeyedArchives.color(["UIPattern": .text("stripes")]), .array([]),
        ])
        let imported = try imported(isBinary ? export.binary : export.xml)
        #expect(
            Dictionary(uniqueKeysWithValues: imported.overrides.map { ("\($0.key)", "\($0.value)") }) == [
                "Spring-2/Physics/Value 0": "240", "Spring-2/Physics/Value 2": "1.5",
                "Spring-2/Physics/Value 3": "true", "Spring-2/Physics/Value 4": "text",
                "Spring-2/Physics/Value 5": "mutable", "Spring-2/Physics/Value 6": "#3366ff80",
                "Spring-2/Physics/Value 7": "#ff0000", "Spring-2/Physics/Value 8": "#666666",
                "Spring-2/Physics/Value 9": "#3366ff", "Spring-2/Physics/Value 10": "#ffffff00",
            ])
        #expect(
            imported.problems.map(\.entry) == ["Spring-2/Physics/Value 11", "Spring-2/Physics/Value 12"])
    }

    @Test(arguments: [true, false])
    func `Archived values in the user's defaults are read, such as colours`(isBinary: Bool) throws {
        let color = KeyedArchives.archive([
            .dictionary([
                "$class": .reference(2), "UIRed": .real(1), "UIGreen": .real(0), "UIBlue": .real(0.2),
            ]), KeyedArchives.class("UIColor"),
        ])
        let archives: [String: Plist] = [
            "FBTweak:A-B-Color": color, "FBTweak:A-B-Number": KeyedArchives.archive([.real(2.5)]),
            "FBTweak:A-B-Text": KeyedArchives.archive([.text("t")]),
            "FBTweak:A-B-Nothing": .dictionary(["$top": .reference(0)]),
        ]
        let defaults = Plist.dictionary(archives.mapValues { .data(isBinary ? $0.binary : $0.xml) })
        let imported = try imported(defaults.binary)
        #expect(values(imported) == ["A/B/Color=#ff0033", "A/B/Number=2.5", "A/B/Text=t"])
        #expect(imported.problems.map(\.entry) == ["FBTweak:A-B-Nothing"])
    }

    @Test func `Of two values for one tweak the first by name counts, and the other is reported`() throws {
        let json = #"{"A": {"B": {"C": 2}}, "FBTweak:A-B-C": 1}"#
        let imported = try imported(Array(json.utf8))
        #expect(values(imported) == ["A/B/C=2"])
        #expect(
            imported.report.last == "FBTweak:A-B-C: not imported: A/B/C has its value from A/B/C")
    }

    @Test func `Many values for many tweaks are not a problem`() throws {
        let entries = (0..<10_000).map { "\"FBTweak:A-B-C-\($0)\": \($0)" }
        let imported = try imported(
            Array("{\(entries.joined(separator: ", "))}".utf8), known: (0..<10_000).map { "A/B/C-\($0)" })
        #expect(imported.overrides.count == 10_000 && imported.problems.isEmpty)
    }

    @Test func `The user's defaults of a program without tweaks are an error`() {
        #expect(
            throws: FormatError.malformed(
                path: "old.plist", reason: "it has no values of FlipTheSwitch or JustTweak")
        ) {
            try imported(
                Plist.dictionary(["FBTweak:A-B-C": .integer(1)]).xml, systems: [.flipTheSwitch, .justTweak])
        }
    }

    @Test(arguments: [
        ("{\"FBTweak:A-B-C\": 1}", true), ("\u{FEFF} \n{\"FTS_FEATURE_a\": null}", true), ("bplist00", true),
        ("\n<plist>", true), ("{\"lib.fragments.userDefaultsKey.x\": [1]}", true),
        ("{\"FBTweak:A-B-C\": {\"A\": {\"B\": 1}}}", false), ("{\"name\": \"x\", \"tweaks\": {}}", false),
        ("{\"name\": \"x\", \"tweaks\": {}, \"FBTweak:A-B-C\": 1}", false), ("{", false), ("", false),
        ("[]", false),
        ("{}", false),
    ])
    func `A file is known by its content`(text: String, isOlder: Bool) {
        #expect(ImportedOverrides.recognizes(Array(text.utf8)) == isOlder)
    }

    @Test func `Another keyed archive is an error`() {
        let archive = KeyedArchives.archive([
            .dictionary(["$class": .reference(2)]), KeyedArchives.class("Other"),
        ])
        #expect(
            throws: FormatError.malformed(
                path: "old.plist", reason: "it is a keyed archive, but not of an FBTweakStore")
        ) { try imported(archive.xml) }
    }

    @Test func `An archive that refers to itself or to nothing ends`() throws {
        let array = Plist.dictionary([
            "NS.objects": .array([.reference(1), .reference(3), .reference(99), .bool(true)])
        ])
        let archive = KeyedArchives.archive([
            .dictionary([
                "$class": .reference(2), "categories": .reference(3), "collections": .reference(3),
                "tweaks": .reference(3), "name": .reference(1), "currentValue": .reference(1),
            ]), KeyedArchives.class("FBTweakStore"), array,
        ])
        #expect(try imported(archive.binary).overrides.isEmpty)
    }

    private static let numbers = String(repeating: "1,", count: 100_000)

    @Test(arguments: [
        Array("{\"FBTweak:A-B-C\": [\(numbers)1]}".utf8),
        Array("{\"A\": {\"B\": {\"C\": [\(numbers)1]}}}".utf8),
        Array("<array>\(numbers.replacing("1,", with: "<true/>"))</array>".utf8),
        binaryList,
    ])
    func `More than 100,000 values are not read`(bytes: [UInt8]) throws {
        let error = #expect(throws: FormatError.self) { try imported(bytes) }
        #expect(
            "\(try #require(error))".hasSuffix(
                "it has more than 100000 values, the maximum that is read"))
    }

    /// A binary list of 100,000 times the same Bool.
    private static let binaryList: [UInt8] = {
        var bytes = Array("bplist00".utf8) + [0xAF, 0x12, 0x00, 0x01, 0x86, 0xA0]
        bytes += [UInt8](repeating: 1, count: 100_000)
        let last = bytes.count
        bytes.append(0x09)
        let table = bytes.count
        bytes += [UInt32(8), UInt32(last)].flatMap { number in
            withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }
        bytes += [0, 0, 0, 0, 0, 0, 4, 1]
        return bytes
            + [2, 0, UInt64(table)].flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    }()

    @Test func `As many as that are`() throws {
        let bytes = Array("<array>\(Self.numbers.dropLast(2).replacing("1,", with: "<true/>"))</array>".utf8)
        let error = #expect(throws: FormatError.self) { try imported(bytes) }
        #expect("\(try #require(error))" == "old.plist: got an array, expected a dictionary")
    }
}
