// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakFormats
import TweakRecords

@Suite struct `JustTweak's JSON` {
    private func file(_ json: String) throws -> JustTweakFile {
        try JustTweakFile(json: Array(json.utf8), path: "Tweaks.json")
    }

    private func message(_ json: String) -> String? {
        do {
            _ = try file(json)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `Features, variables and their members are read`() throws {
        let file = try file(
            """
            {
              "ui": { "alpha": { "Value": 1.0 } },
              "general": {
                "greet": {
                  "Title": "Greet", "Description": "Says hello", "Group": "General", "Value": true,
                  "GeneratedPropertyName": "shouldGreet", "Encrypted": true, "Future": [1]
                },
                "answer": { "Value": 42, "Encrypted": false }
              }
            }
            """)
        #expect(
            file.variables.map(\.key.description)
                == ["Features/general/answer", "Features/general/greet", "Features/ui/alpha"])
        let greet = file.variables[1]
        #expect((greet.feature, greet.name) == ("general", "greet"))
        #expect((greet.title, greet.description, greet.group) == ("Greet", "Says hello", "General"))
        #expect((greet.propertyName, greet.isEncrypted) == ("shouldGreet", true))
    }

    @Test func `All but Value is optional`() throws {
        let answer = try #require(try file(#"{"a": {"b": {"Value": ""}}}"#).variables.first)
        #expect(
            answer.title == nil && answer.description == nil && answer.group == nil
                && answer.propertyName == nil)
        #expect(!answer.isEncrypted)
    }

    @Test func `Bools, integers, floating-point numbers and texts keep their types`() throws {
        let variables = try file(
            """
            {"a": {"1": {"Value": true}, "2": {"Value": 1}, "3": {"Value": 1.0}, "4": {"Value": "1"}}}
            """
        ).variables
        #expect(variables.map(\.value) == [true, 1, 1.0, "1"])
    }

    @Test(arguments: [
        (#"{"a": {"b": {}}}"#, "Tweaks.json: a.b: \"Value\" is missing: true, false, a number or text"),
        (
            #"{"a": {"b": {"Value": null}}}"#,
            "Tweaks.json: a.b.Value: got null, expected true, false, a number or text"
        ),
        (
            #"{"a": {"b": {"Value": [1]}}}"#,
            "Tweaks.json: a.b.Value: got an array, expected true, false, a number or text"
        ),
        (
            #"{"a": {"b": {"Value": {}}}}"#,
            "Tweaks.json: a.b.Value: got an object, expected true, false, a number or text"
        ),
        (#"{"a": {"b": {"Value": "\u0000"}}}"#, "Tweaks.json: a.b.Value: the text contains a NUL character"),
    ])
    func `A missing or unusable Value is an error that names the place`(json: String, expected: String) {
        #expect(message(json) == expected)
    }

    @Test(arguments: [
        ("[]", "Tweaks.json: got an array, expected an object of features"),
        (#"{"a": 1}"#, "Tweaks.json: a: got 1, expected a feature, an object of variables"),
        (#"{"a": {"b": 1}}"#, "Tweaks.json: a.b: got 1, expected a variable, an object"),
        (
            #"{"a": {"b": {"Value": 1, "Title": 1}}}"#,
            "Tweaks.json: a.b.Title: got 1, expected text"
        ),
        (
            #"{"a": {"b": {"Value": 1, "Encrypted": 1}}}"#,
            "Tweaks.json: a.b.Encrypted: got 1, expected true or false"
        ),
        (#"{"": {"b": {"Value": 1}}}"#, "Tweaks.json: : a name is empty"),
        (#"{"a": {"": {"Value": 1}}}"#, "Tweaks.json: a.: a name is empty"),
        (
            #"{"a": {"b": {"Value": 1}, "b": {"Value": 2}}}"#,
            "Tweaks.json: it is not JSON: line 1, column 27: "
        ),
    ])
    func `Something else of the wrong type is an error that names the place`(json: String, expected: String) {
        #expect(message(json)?.hasPrefix(expected) == true, "\(message(json) ?? "none")")
    }

    @Test func `config.json names the accessor`() throws {
        let json = #"{"accessorName": "Acc"}"#
        #expect(try AccessorConfiguration(json: Array(json.utf8), path: "").accessorName == "Acc")
        for wrong in ["{}", #"{"accessorName": 1}"#, "[]", "{"] {
            #expect(throws: FormatError.self) {
                try AccessorConfiguration(json: Array(wrong.utf8), path: "")
            }
        }
    }
}
