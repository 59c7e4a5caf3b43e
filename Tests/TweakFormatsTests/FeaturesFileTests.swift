// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakFormats
import TweakRecords

extension FeatureSet {
    /// The features of a text.
    init(json: String, environment: String = "default") throws {
        self = try FeaturesFile(json: Array(json.utf8), path: "features.json").features(in: environment)
    }

    /// Names and states: `awesome:true awesome.sound:false`.
    var states: String {
        all.map { "\($0.path.joined(separator: ".")):\($0.isEnabled)" }.joined(separator: " ")
    }
}

/// What a file with a mistake is said to have.
func message(ofFeatures json: String, environment: String = "default") -> String? {
    do {
        _ = try FeatureSet(json: json, environment: environment)
        return nil
    } catch {
        return "\(error)"
    }
}

@Suite struct `Features by environment` {
    private static let inherited = """
        {
          "default": {
            "awesome": {
              "enabled": true, "description": "Awe",
              "sound": { "enabled": true, "description": "Noise", "stereo": { "enabled": false } },
              "light": { "enabled": false }
            },
            "plain": { "enabled": false }
          },
          "beta": { "inherits_from": "default", CHILD },
          "nightly": { "inherits_from": "beta", "plain": { "enabled": true } }
        }
        """

    private func beta(_ child: String, environment: String = "beta") throws -> FeatureSet {
        try FeatureSet(
            json: Self.inherited.replacing("CHILD", with: child), environment: environment)
    }

    @Test func `Environment, feature, enabled, description, and sub-features at any depth`() throws {
        let features = try FeatureSet(
            json: Self.inherited.replacing("CHILD", with: "\"x\": {\"enabled\": true}"))
        #expect(
            features.states
                == "awesome:true awesome.light:false awesome.sound:true awesome.sound.stereo:false plain:false"
        )
        #expect(features.all.map(\.description) == ["Awe", nil, "Noise", nil, nil])
    }

    @Test func `enabled is required, here or in an inherited environment`() throws {
        #expect(
            message(ofFeatures: #"{"default": {"a": {"b": {"enabled": true}}}}"#)
                == "features.json: default.a: \"enabled\" is missing: true or false, here or in an inherited environment"
        )
        #expect(try beta(#""plain": {}"#).states.hasSuffix("plain:false"))
    }

    @Test func `inherits_from names the parent, any depth`() throws {
        let features = try beta(#""plain": { "description": "P" }"#, environment: "nightly")
        #expect(features.states.hasSuffix("plain:true"))
        #expect(features.all.last?.description == "P")
    }

    @Test func `A feature that only the child has stays`() throws {
        #expect(try beta(#""new": { "enabled": true }"#).states.contains(" new:true "))
    }

    @Test func `The parent's other sub-features stay when the child lists one`() throws {
        #expect(
            try beta(#""awesome": { "sound": { "enabled": false } }"#).states
                == "awesome:true awesome.light:false awesome.sound:false awesome.sound.stereo:false plain:false"
        )
    }

    @Test func `A sub-feature that the parent lacks is added`() throws {
        #expect(
            try beta(#""awesome": { "new": { "enabled": true, "deep": { "enabled": false } } }"#).states
                .contains("awesome.new:true awesome.new.deep:false"))
    }

    @Test func `The description alone can be overridden`() throws {
        let features = try beta(#""awesome": { "description": "Other" }"#)
        #expect(features.all.first?.description == "Other")
        #expect(features.all.first?.isEnabled == true)
    }

    @Test func `A missing parent is an error that names file, place and choices`() {
        #expect(
            message(ofFeatures: #"{"default": {}, "beta": {"inherits_from": "dev"}}"#)
                == "features.json: beta.inherits_from: unknown environment \"dev\"; there are beta, default"
        )
    }

    @Test func `A cycle is an error that names the environments`() {
        #expect(
            message(
                ofFeatures:
                    #"{"a": {"inherits_from": "b"}, "b": {"inherits_from": "c"}, "c": {"inherits_from": "b"}}"#
            )
                == "features.json: b.inherits_from: it inherits from itself: b → c → b")
        #expect(message(ofFeatures: #"{"a": {"inherits_from": "a"}}"#)?.contains("a → a") == true)
    }

    @Test func `An unknown environment is an error that names file and choices`() {
        #expect(
            message(ofFeatures: #"{"default": {}, "beta": {}}"#, environment: "gamma")
                == "features.json: unknown environment \"gamma\"; it has beta, default")
        #expect(
            message(ofFeatures: "{}") == "features.json: unknown environment \"default\"; it has none")
    }

    @Test func `Bad JSON is an error that names file, line and column`() {
        #expect(
            message(ofFeatures: "{\n\"default\": {,}}")
                == "features.json: it is not JSON: line 2, column 13: a name in quotation marks is expected")
    }

    @Test(arguments: [
        ("[]", "features.json: got an array, expected an object of environments"),
        (#"{"default": 1}"#, "features.json: default: got 1, expected an environment, an object"),
        (
            #"{"default": {"a": true}}"#,
            "features.json: default.a: got true, expected a feature, an object"
        ),
        (
            #"{"default": {"a": {"enabled": 1}}}"#,
            "features.json: default.a.enabled: got 1, expected true or false"
        ),
        (
            #"{"default": {"a": {"enabled": "true"}}}"#,
            "features.json: default.a.enabled: got \"true\", expected true or false"
        ),
        (
            #"{"default": {"a": {"enabled": true, "description": null}}}"#,
            "features.json: default.a.description: got null, expected text"
        ),
        (
            #"{"default": {"a": {"enabled": true, "b": {"enabled": true, "owner": "me"}}}}"#,
            "features.json: default.a.b.owner: got \"me\", expected a feature, an object"
        ),
        (
            #"{"default": {"inherits_from": {}}}"#,
            "features.json: default.inherits_from: got an object, expected text"
        ),
        (#"{"default": {"": {"enabled": true}}}"#, "features.json: default.: a name is empty"),
        (
            #"{"default": {"a\u0007": {"enabled": true}}}"#,
            "features.json: default.a\u{7}: a name contains a control character"
        ),
        (
            #"{"default": {"a": {"enabled": true, "description": "\u0000"}}}"#,
            "features.json: default.a.description: the text contains a NUL character"
        ),
    ])
    func `The error for a wrong type names file, place and expectation`(
        json: String, expected: String
    ) {
        #expect(message(ofFeatures: json) == expected)
    }

    @Test func `A repeated feature is an error`() {
        #expect(
            message(ofFeatures: #"{"default": {"a": {"enabled": true}, "a": {"enabled": false}}}"#)?
                .contains("\"a\" is repeated") == true)
    }

    @Test func `A mistake in another environment is found too`() {
        #expect(message(ofFeatures: #"{"default": {}, "beta": {"a": 1}}"#) != nil)
    }

    @Test func `Ten thousand environments in a chain are not a problem`() throws {
        let chain = (1..<10_000).map { "\"e\($0)\": {\"inherits_from\": \"e\($0 - 1)\"}" }
        let json = "{\"e0\": {\"a\": {\"enabled\": true}}, \(chain.joined(separator: ", "))}"
        #expect(try FeatureSet(json: json, environment: "e9999").states == "a:true")
    }
}

@Suite struct `Features as tweaks` {
    private let features = FeatureSet([
        Feature(name: "y", isEnabled: true, parts: [Feature(name: "beta", isEnabled: true)]),
        Feature(
            name: "awesome", isEnabled: true,
            parts: [
                Feature(
                    name: "sound", isEnabled: true, parts: [Feature(name: "st/e%reo", isEnabled: false)])
            ]),
        Feature(name: "x", isEnabled: true, parts: [Feature(name: "beta", isEnabled: true)]),
    ])

    @Test func `A top-level feature is a collection, and its parts are in it`() {
        #expect(
            features.all.map(\.key.description) == [
                "Features/awesome/enabled", "Features/awesome/sound",
                "Features/awesome/sound%2Fst%252Fe%2525reo",
                "Features/x/enabled", "Features/x/beta", "Features/y/enabled", "Features/y/beta",
            ])
    }

    @Test func `In one list a feature has its own name, unless others have it too`() {
        #expect(
            features.all.map(\.flatName) == [
                "awesome", "sound", "awesome/sound/st%2Fe%25reo", "x", "x/beta", "y", "y/beta",
            ])
    }

    @Test func `No two features share a tweak or a flat name`() {
        let names = ["a", "b", "a/b", "a%2Fb", "b/b", "%"]
        let parts = names.map { Feature(name: $0, isEnabled: true) }
        let all = FeatureSet(
            names.map { name in
                Feature(
                    name: name, isEnabled: true,
                    parts: names.map { Feature(name: $0, isEnabled: true, parts: parts) })
            }
        ).all
        #expect(all.count == 6 * 43)
        #expect(Set(all.map(\.key)).count == all.count)
        #expect(Set(all.map(\.flatName)).count == all.count)
    }

    @Test func `Of two features of one name the first counts`() {
        let features = FeatureSet([Feature(name: "a", isEnabled: true), Feature(name: "a", isEnabled: false)])
        #expect(features.states == "a:true")
    }
}

@Suite struct `Too many features` {
    private func features(_ count: Int) -> String {
        "{\"default\":{" + (0..<count).map { "\"f\($0)\":{\"enabled\":true}" }.joined(separator: ",") + "}}"
    }

    @Test func `are refused in JSON`() throws {
        #expect(try FeatureSet(json: features(20_000)).all.count == 20_000)
        #expect(
            message(ofFeatures: features(20_001))
                == "features.json: in \"default\" there are 20001 features; at most 20000 are read")
        #expect(
            message(ofFeatures: features(100_000))
                == "features.json: it has more than 100000 values, the maximum that is read")
    }

    @Test func `are refused in a property list`() throws {
        let entries = (0...20_000).map { "<key>f\($0)</key><dict><key>enabled</key><true/></dict>" }.joined()
        let error = #expect(throws: FormatError.self) {
            try FeatureSet(plist: Array("<dict>\(entries)</dict>".utf8), path: "Features.plist")
        }
        #expect(
            "\(try #require(error))" == "Features.plist: there are 20001 features; at most 20000 are read")
    }
}
