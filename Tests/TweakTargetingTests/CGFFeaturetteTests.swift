// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakFormats
import TweakOverrides
import TweakRecords
import TweakTargeting

/// What FORMATS calls the format of CGFFeaturette, rule by rule.
@Suite struct `CGFFeaturette's features` {
    private let phone = HostFacts([
        .os: "debian", .osVersion: "6.1.3", .device: "iPhone5,1", .deviceFamily: "phone",
    ])

    @Test func `The file is read unchanged`() throws {
        let document = try document(
            """
            { "version": "1.0", "features": [ { "key": "facebook-login", "enabled": true,
                "only-os-versions": ["6"], "only-device": ["iPhone5"], "only-device-family": ["phone"] } ] }
            """)
        #expect(document.version == nil)
        let file = document.provided(for: phone)
        let key = TweakKey("Features", "facebook-login", "enabled")
        #expect(file.values.keys == [key])
        #expect(file.values.value(of: key) == true)
        #expect(
            file.reason(for: key) == "only-device asks for iPhone5; this is iPhone5,1; "
                + "only-device-family asks for phone; this is phone; "
                + "only-os-versions asks for 6; this is debian 6.1.3")
    }

    @Test(arguments: ["only-os-versions", "only-os"])
    func `Both only-os-versions and only-os are read`(name: String) throws {
        #expect(try isOn(#""\#(name)": ["13"]"#, [.osVersion: "13"]))
        #expect(try !isOn(#""\#(name)": ["12"]"#, [.osVersion: "13"]))
    }

    @Test func `Filters are ANDed, and the entries of one list ORed`() throws {
        let filters = #""only-os-versions": ["12", "13"], "only-device-family": ["phone", "tablet"]"#
        #expect(try isOn(filters, [.osVersion: "12", .deviceFamily: "tablet"]))
        #expect(try isOn(filters, [.osVersion: "13", .deviceFamily: "phone"]))
        #expect(try !isOn(filters, [.osVersion: "13", .deviceFamily: "server"]))
        #expect(try !isOn(filters, [.osVersion: "11", .deviceFamily: "phone"]))
    }

    @Test(arguments: [
        ("6", "6", true), ("6", "6.1.3", true), ("6", "60", false), ("1", "10.4", false),
        ("6.1", "6.1.3", true),
        ("6.1", "6.10", false), ("6.1.3", "6.1", false), ("24.04", "24.04", true), ("24.*", "24.04", true),
        ("", "6", false),
    ])
    func `Versions match by whole components`(entry: String, version: String, isOn expected: Bool) throws {
        #expect(try isOn(#""only-os-versions": ["\#(entry)"]"#, [.osVersion: version]) == expected)
    }

    @Test(arguments: [
        ("iPhone5", "iPhone5,1", true), ("iPhone5", "iPhone51", false), ("iphone5", "iPhone5,1", true),
        ("Raspberry Pi 4", "Raspberry Pi 4 Model B Rev 1.4", true),
        ("Raspberry Pi 4", "Raspberry Pi 400 Rev 1.0", false),
        ("*Model B*", "Raspberry Pi 4 Model B Rev 1.4", true),
    ])
    func `Devices match by whole components`(entry: String, device: String, isOn expected: Bool) throws {
        #expect(try isOn(#""only-device": ["\#(entry)"]"#, [.device: device]) == expected)
    }

    @Test(arguments: ["only-os-versions", "only-os", "only-device", "only-device-family", "only-host"])
    func `An empty list means no restriction`(name: String) throws {
        #expect(try isOn(#""\#(name)": []"#, [:]))
    }

    @Test func `An unknown filter makes the feature not apply, and is reported once`() throws {
        let document = try document(
            """
            { "features": [ { "key": "a", "enabled": true, "only-moon": ["full"] },
                            { "key": "b", "enabled": true, "only-moon": [] }, { "key": "c", "enabled": true } ] }
            """)
        #expect(
            document.problems == [
                "features.json: the filter \"only-moon\" is not known, so these features are off: a, b; did you mean only-host or only-os?"
            ])
        let file = document.provided(for: phone)
        let values = ["a", "b", "c"].map { file.values.value(of: TweakKey("Features", $0, "enabled")) }
        #expect(values == [false, false, true])
        #expect(file.reason(for: TweakKey("Features", "a", "enabled")) == "the filter only-moon is not known")
    }

    @Test func `A misspelled filter is reported with its place, the allowed names and a suggestion`()
        throws
    {
        let document = try document(
            #"{"features": [{"key": "a"}, {"key": "b", "enabled": true, "percentag": 5}]}"#)
        #expect(
            document.problems == [
                "features.json: the filter \"percentag\" is not known, so these features are off: b; did you mean percentage?"
            ])
        guard case .features(let features) = document.content else { return }
        #expect(
            features.mistakes.map { "\($0)" } == [
                "features.json: features.1.percentag: no such filter; allowed: only-os-versions, only-os, "
                    + "only-device, only-device-family, only-kernel, only-architecture, only-host, "
                    + "only-application, only-application-versions, minimum-os-version, "
                    + "maximum-os-version, minimum-kernel, maximum-kernel, minimum-application-version, "
                    + "maximum-application-version, percentage; did you mean percentage?"
            ])
    }

    @Test(arguments: [("slat", "salt"), ("enable", "enabled"), ("only-ker", "only-kernel")])
    func `A misspelled member gets a suggestion, too`(written: String, meant: String) throws {
        let problem = try document(#"{"features": [{"key": "a", "\#(written)": 5}]}"#).problems.first
        #expect(problem?.contains("did you mean \(meant)") == true, "\(problem ?? "")")
    }

    @Test func `A key that is not there has no value, so that the next provider or the default decides`()
        throws
    {
        let file = try document(#"{"features": []}"#).provided(for: phone)
        #expect(file.values.isEmpty)
    }

    @Test func `The first of two equal keys wins`() throws {
        let document = try document(
            #"{"features": [{"key": "a", "enabled": false}, {"key": "a", "enabled": true}]}"#)
        #expect(document.provided(for: phone).values.value(of: TweakKey("Features", "a", "enabled")) == false)
        #expect(
            document.problems == [
                "features.json: features.1: \"a\" is repeated; the first counts"
            ])
    }

    @Test func `A feature is on only if it is enabled and applies`() throws {
        let file = try document(
            """
            { "features": [ { "key": "off", "enabled": false }, { "key": "silent" },
                            { "key": "elsewhere", "enabled": true, "only-os-versions": ["11", "12"] },
                            { "key": "on", "enabled": true, "description": "For all" } ] }
            """
        ).provided(for: phone)
        func reason(_ key: String) -> String? { file.reason(for: TweakKey("Features", key, "enabled")) }
        #expect(reason("off") == "the file has it off")
        #expect(reason("silent") == "the file has it off")
        #expect(reason("elsewhere") == "only-os-versions asks for 11 or 12; this is debian 6.1.3")
        #expect(reason("on") == "the file has it on for all")
        #expect(file.values.value(of: TweakKey("Features", "on", "enabled")) == true)
        #expect(file.values.value(of: TweakKey("Features", "elsewhere", "enabled")) == false)
    }
}

@Suite struct `Filters that CGFFeaturette lacks` {
    @Test(arguments: [
        ("debian", true), ("Debian", true), ("ubuntu", false), ("debian 13", true), ("debian 12", false),
        ("ubuntu 13", false), ("deb*", true),
    ])
    func `The name of a system, with a version or without`(entry: String, isOn expected: Bool) throws {
        let facts: [Fact: String] = [.os: "debian", .osVersion: "13"]
        #expect(try isOn(#""only-os-versions": ["\#(entry)"]"#, facts) == expected)
    }

    @Test func `A system without a version does not match a version`() throws {
        #expect(try isOn(#""only-os": ["arch"]"#, [.os: "arch"]))
        #expect(try !isOn(#""only-os": ["13"]"#, [.os: "arch"]))
    }

    @Test(arguments: [
        ("12", "13", true), ("13", "13", true), ("13", "13.2", true), ("13.1", "13", false),
        ("14", "13.9", false),
        ("9", "10", true), ("6.1.0", "6.1-rc2", false), ("6.1", "6.1.0-rc2", true),
    ])
    func `A minimum version`(bound: String, version: String, isOn expected: Bool) throws {
        #expect(try isOn(#""minimum-os-version": "\#(bound)""#, [.osVersion: version]) == expected)
        #expect(try isOn(#""minimum-kernel": "\#(bound)""#, [.kernel: version]) == expected)
        #expect(
            try isOn(#""minimum-application-version": "\#(bound)""#, [.applicationVersion: version])
                == expected)
    }

    @Test(arguments: [("12", "13", false), ("13", "13", true), ("13", "13.2", true), ("13.1", "13", true)])
    func `A maximum version, with all that begin with it`(bound: String, version: String, isOn expected: Bool)
        throws
    {
        #expect(try isOn(#""maximum-os-version": "\#(bound)""#, [.osVersion: version]) == expected)
    }

    @Test func `Kernel, architecture, host and application`() throws {
        #expect(try isOn(#""only-kernel": ["6.12"]"#, [.kernel: "6.12.48+deb13-amd64"]))
        #expect(try !isOn(#""only-kernel": ["6.1"]"#, [.kernel: "6.12.48+deb13-amd64"]))
        #expect(try isOn(#""only-architecture": ["amd64"]"#, [.architecture: "x86_64"]))
        #expect(try !isOn(#""only-architecture": ["arm64"]"#, [.architecture: "x86_64"]))
        #expect(try isOn(#""only-host": ["db-?", "web-*"]"#, [.host: "web-17.example"]))
        #expect(try !isOn(#""only-host": ["db-?"]"#, [.host: "db-17"]))
        #expect(try isOn(#""only-application": ["spring*"]"#, [.application: "spring-server"]))
        #expect(try isOn(#""only-application-versions": ["2.1", "3.*.7"]"#, [.applicationVersion: "3.4.7"]))
        #expect(try !isOn(#""only-application-versions": ["2.1"]"#, [.applicationVersion: "2.10"]))
    }

    @Test(arguments: [
        ("phone", "phone"), ("handset", "phone"), ("vm", "virtual-machine"), ("Server", "server"),
    ])
    func `Families have the names that people use`(entry: String, family: String) throws {
        #expect(try isOn(#""only-device-family": ["\#(entry)"]"#, [.deviceFamily: family]))
    }

    @Test func `An unknown fact does not match, and the reason says so`() throws {
        let decision = try decision(#""minimum-kernel": "6.1""#)
        #expect(!decision.isOn)
        #expect(decision.reason == "minimum-kernel asks for 6.1 or later; this host's is unknown")
    }

    @Test func `A reason names a few of many`() throws {
        let hosts = (1...100).map { "\"web-\($0)\"" }.joined(separator: ", ")
        #expect(
            try decision("\"only-host\": [\(hosts)]", [.host: "db"]).reason
                == "only-host asks for web-1, web-2, web-3, web-4, web-5 or one of 95 others; this is db")
    }

    @Test func `A pattern of many stars ends soon`() throws {
        let stars = String(repeating: "a*", count: 2_000)
        #expect(try !isOn(#""only-host": ["\#(stars)b"]"#, [.host: String(repeating: "a", count: 4_000)]))
    }
}

@Suite struct `Documents loaded from a server` {
    @Test func `Values for everybody, of any type, as an overrides file has them`() throws {
        let document = try document(
            """
            { "version": 7, "Spring": { "Physics": { "Stiffness": 240, "Name": "soft", "Mass": 0.5 } },
              "features": { "search": { "enabled": true } } }
            """)
        #expect(document.version == 7)
        let file = document.provided(for: HostFacts())
        #expect(file.version == 7)
        #expect(file.values.keys.count == 4)
        #expect(file.values.value(of: TweakKey("Spring", "Physics", "Stiffness")) == 240)
        #expect(file.values.value(of: TweakKey("Spring", "Physics", "Name")) == "soft")
        #expect(file.values.value(of: TweakKey("features", "search", "enabled")) == true)
        #expect(file.reasons.isEmpty)
    }

    @Test func `An integer is the version of a file of features`() throws {
        #expect(try document(#"{"version": 12, "features": []}"#).version == 12)
    }

    @Test func `A version as text is that of the format; one like a number is reported`() throws {
        #expect(try document(#"{"version": "1.0", "features": []}"#).problems == [])
        let document = try document(#"{"version": "7", "features": []}"#)
        #expect(document.version == nil)
        #expect(
            document.problems == [
                "features.json: version: got \"7\", expected an integer up to 9223372036854775807; so the "
                    + "file has no version"
            ])
    }

    @Test(arguments: ["1.5", "1e23", "9223372036854775808", "null", "true", "[7]"])
    func `A version that is no integer is refused, so that it does not count as none`(version: String) {
        #expect(
            refusal("{\"version\": \(version), \"features\": []}")?.contains("features.json: version: ")
                == true)
        #expect(refusal("{\"version\": \(version), \"A\": {}}")?.contains("features.json: version: ") == true)
    }

    @Test(arguments: [
        ("", "features.json: it is not JSON: line 1, column 1: a value is expected"),
        ("<html>", "features.json: it is not JSON: line 1, column 1: a value is expected"),
        ("[]", "features.json: got an array, expected an object"),
        (
            #"{"version": "1.0"}"#,
            "features.json: version: got \"1.0\", expected a category, an object"
        ),
        (#"{"features": [1]}"#, "features.json: features.0: got 1, expected a feature, an object"),
        (#"{"features": [{}]}"#, "features.json: features.0: \"key\" is missing: text"),
        (#"{"features": [{"key": 1}]}"#, "features.json: features.0.key: got 1, expected text"),
        (#"{"features": [{"key": ""}]}"#, "features.json: features.0.key: the text is empty"),
        (
            #"{"features": [{"key": "a", "enabled": 1}]}"#,
            "features.json: features.0.enabled: got 1, expected true or false"
        ),
        (
            #"{"features": [{"key": "a", "only-os": "13"}]}"#,
            "features.json: features.0.only-os: got \"13\", expected an array of texts"
        ),
        (
            #"{"features": [{"key": "a", "only-os": ["12", 13]}]}"#,
            "features.json: features.0.only-os.1: got 13, expected text"
        ),
        (
            #"{"features": [{"key": "a", "percentage": 101}]}"#,
            "features.json: features.0.percentage: got 101, expected a number from 0 to 100"
        ),
        (
            #"{"features": [{"key": "a", "minimum-kernel": "-"}]}"#,
            "features.json: features.0.minimum-kernel: \"-\" is not a version"
        ),
        (
            #"{"A": {"B": {"c": [1]}}}"#,
            "features.json: A.B.c: got an array, expected true, false, a number or text"
        ),
        (
            #"{"A": {"B": 1}}"#,
            "features.json: A.B: got 1, expected a collection, an object"
        ),
    ])
    func `An error names the place`(json: String, message: String) {
        #expect(refusal(json) == message)
    }

    @Test(arguments: [
        (#"{"features": [{"key": "a"}, {"key": "a"}]}"#, 1), (#"{"features": [{"key": "a/b"}]}"#, 0),
        (
            #"{"features": [{"key": "Features/a/enabled"}, {"key": "features/a"}, {"key": "Featuresque/a"}]}"#,
            2
        ),
        (#"{"features": [], "A": {"B": {"c": 1}}}"#, 1), (#"{"features": [], "A": {"B": 1}, "C": {}}"#, 0),
        (#"{"Features": {"a": {"enable": true, "enabled": 0, "x": 1}, "b": {"ENABLED": false}}}"#, 3),
        (#"{"A": {"a": {"enable": true, "enabled": 0}}}"#, 0),
        (#"{"A": {}, "features": {"search": {"enabled": false}}}"#, 1), (#"{"FEATURES": {}}"#, 1),
        (#"{"features": [], "version": "7", "vesion": 3, "Features": [], "comment": 1}"#, 3),
    ])
    func `What has no effect is a mistake, and a problem for people`(json: String, count: Int) throws {
        let document = try document(json)
        let mistakes = document.mistakes()
        #expect(mistakes.count == count, "\(mistakes)")
        #expect(document.problems == mistakes.map { "\($0)" })
    }

    @Test func `A program may have a category named almost as that of features`() throws {
        let document = try document(#"{"features": {"search": {"enabled": false}}}"#)
        #expect(
            document.mistakes().map { "\($0)" } == [
                "features.json: features: an array of features is expected here; values of features are in the category "
                    + "\"Features\""
            ])
        #expect(document.mistakes(besides: ["features"]).isEmpty)
        #expect(document.provided(for: HostFacts()).values.keys.count == 1)
    }

    @Test func `A document of more than 16 MiB is not read`() {
        let large = [UInt8](repeating: 0x20, count: RemoteDocument.largestSize + 1)
        #expect(throws: FormatError.self) { try RemoteDocument(json: large, path: "large") }
    }
}
