// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakJSON
import TweakOverrides
import TweakRecords

@Suite struct `Overrides as JSON` {
    private func document(_ json: String) throws -> OverridesDocument {
        try OverridesDocument(json: Array(json.utf8), path: "overrides.json")
    }

    private func text(_ document: OverridesDocument) throws -> String {
        String(decoding: document.json(), as: UTF8.self)
    }

    /// What is left of a document when one override is set in it and taken away.
    private func touched(_ json: String) throws -> OverridesDocument {
        var document = try document(json)
        document.set(1, for: TweakKey("New", "New", "New"))
        document = try OverridesDocument(json: document.json(), path: "")
        document.set(nil, for: TweakKey("New", "New", "New"))
        return document
    }

    @Test func `Composed and decomposed letters are two names on every level`() throws {
        var document = OverridesDocument()
        var expected: [TweakKey: JSONValue] = [:]
        let forms = ["\u{e9}", "e\u{301}"]
        for (index, key) in forms.flatMap({ a in forms.flatMap { b in forms.map { TweakKey(a, b, $0) } } })
            .enumerated()
        {
            document.set(.integer(Int128(index)), for: key)
            expected[key] = .scalar(.integer(Int128(index)))
        }
        let read = try OverridesDocument(json: document.json(), path: "")
        #expect(read == document)
        #expect(read.values == expected)
        #expect(read.count == 8)
    }

    @Test func `Values are nested by category, collection and name, sorted`() throws {
        var document = OverridesDocument()
        document.set(240.5, for: TweakKey("Spring", "Physics", "Stiffness"))
        document.set(true, for: TweakKey("Spring", "Physics", "Damped"))
        document.set("blue", for: TweakKey("Spring", "Looks", "Colour"))
        #expect(
            try text(document) == """
                {
                  "Spring" : {
                    "Looks" : {
                      "Colour" : "blue"
                    },
                    "Physics" : {
                      "Damped" : true,
                      "Stiffness" : 240.5
                    }
                  }
                }

                """)
    }

    @Test func `The last override of a level takes the level with it`() throws {
        var document = try document(#"{"A": {"B": {"C": 1}}}"#)
        document.set(nil, for: TweakKey("A", "B", "C"))
        #expect(document.isEmpty)
    }

    @Test func `Removing a missing override changes nothing`() throws {
        let before = try document(#"{"A": {"B": {}, "C": 7}}"#)
        var after = before
        after.set(nil, for: TweakKey("A", "B", "X"))
        after.set(nil, for: TweakKey("A", "C", "X"))
        after.set(nil, for: TweakKey("X", "X", "X"))
        #expect(after == before)
    }

    @Test(arguments: [
        #"{"A": null}"#, #"{"A": [1, [2.5, null], {"x": "y"}, true]}"#, #"{"A": 5}"#,
        #"{"A": {"B": "text"}}"#,
        #"{"A": {"B": {"C": {"D": {"E": []}}}}}"#, #"{"A": {}}"#, #"{"A": {"B": {}}}"#,
        #"{"": {"": {"": ""}}}"#,
    ])
    func `Unknown content is preserved`(json: String) throws {
        #expect(try touched(json) == document(json))
    }

    @Test func `An override that replaces something else preserves the rest`() throws {
        var document = try document(#"{"A": 5, "B": {"C": [1], "D": {"E": 1}}, "F": null}"#)
        document.set(1, for: TweakKey("A", "X", "Y"))
        document.set(2, for: TweakKey("B", "C", "Y"))
        let expected = try self.document(
            #"{"A": {"X": {"Y": 1}}, "B": {"C": {"Y": 2}, "D": {"E": 1}}, "F": null}"#)
        #expect(document == expected)
    }

    @Test(
        arguments: [
            .bool(true), .bool(false), 0, 1, -1, .integer(Int128(Int64.min)), .integer(Int128(Int64.max)),
            .integer(Int128(UInt64.max)), 0.1, -0.5, .double(.greatestFiniteMagnitude),
            .double(.leastNonzeroMagnitude),
            "", "true", "1", "你好 \u{1F600}", "\" \\ / \n \u{7F} \u{2028} \u{1}",
        ] as [TweakValue])
    func `A value survives a round trip`(value: TweakValue) throws {
        let key = TweakKey("A", "B", "C")
        var document = OverridesDocument()
        document.set(value, for: key)
        #expect(try OverridesDocument(json: document.json(), path: "")[key] == .scalar(value))
    }

    @Test(arguments: ["", "a/b", "..", "50%", "%2F", "\"quoted\"", "名前", "a.b", "\u{0}", " "])
    func `Names may contain any characters`(name: String) throws {
        let key = TweakKey(name, name + "x", name)
        var document = OverridesDocument()
        document.set(1, for: key)
        let read = try OverridesDocument(json: document.json(), path: "")
        #expect(read[key] == .scalar(1))
        #expect(read.keys == [key])
    }

    @Test func `Categories and collections that stand twice are merged`() throws {
        let document = try document(
            #"{"A": {"B": {"C": 1, "D": 1}}, "X": {}, "A": {"B": {"C": 2}, "E": {"F": 3}}}"#)
        #expect(document == (try self.document(#"{"A": {"B": {"C": 2, "D": 1}, "E": {"F": 3}}, "X": {}}"#)))
    }

    @Test func `A name that stands for a category and for a value is refused with its line`() {
        let error = #expect(throws: OverridesError.self) {
            try document("{\n  \"A\": {\"B\": {\"C\": 1}},\n  \"A\": 5\n}")
        }
        #expect(error?.description.contains("line 3, column 3: \"A\" is repeated") == true)
    }

    @Test(arguments: [
        "", " ", "{", "[]", "5", "null", "\"x\"", "{\"A\": tru", "{} {}", "{\"A\": 1e999}", "\u{0}", "{,}",
    ])
    func `Anything but a JSON object is corrupt`(json: String) {
        let error = #expect(throws: OverridesError.self) { try document(json) }
        guard case .corrupt("overrides.json", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `An override of the wrong type is refused with its kind`() throws {
        let tweak = TweakDeclaration(key: TweakKey("A", "B", "C"), type: .bool, defaultValue: false)
        for json in ["null", "[]", "{}", "0", "1", "\"true\""] {
            let document = try document("{\"A\": {\"B\": {\"C\": \(json)}}}")
            #expect(throws: TweakValueError.self) { try document.admission(for: tweak) }
        }
    }

    @Test func `A Bool is not an override of a number`() throws {
        let document = try document(#"{"A": {"B": {"C": true}}}"#)
        for type in TweakType.allCases where type.isNumeric {
            let tweak = TweakDeclaration(key: TweakKey("A", "B", "C"), type: type, defaultValue: 0)
            #expect(throws: TweakValueError.self) { try document.admission(for: tweak) }
        }
    }
}
