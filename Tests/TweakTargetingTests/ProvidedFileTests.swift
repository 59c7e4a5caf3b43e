// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TestSupport
import TweakJSON
import TweakOverrides
import TweakRecords
import TweakTargeting

@Suite struct `A file with remote values` {
    private func file(_ json: String) throws -> ProvidedFile {
        try ProvidedFile(json: Array(json.utf8), path: "remote.json")
    }

    private let key = TweakKey("Features", "search", "enabled")

    @Test func `All members are read`() throws {
        let file = try file(
            """
            { "from": "https://flags.example/features.json", "loaded": "2026-11-22T17:00:00Z",
              "checked": "2026-11-22T18:00:00Z", "version": 7, "problem": "HTTP status 503",
              "values": { "Features": { "search": { "enabled": false } } },
              "reasons": { "Features/search/enabled": "this is 13" }, "later": [1] }
            """)
        #expect(file.from == "https://flags.example/features.json")
        #expect((file.loaded, file.checked) == ("2026-11-22T17:00:00Z", "2026-11-22T18:00:00Z"))
        #expect((file.version, file.problem) == (7, "HTTP status 503"))
        #expect(file.values.value(of: key) == false)
        #expect(file.reason(for: key) == "this is 13")
        #expect(file.reason(for: TweakKey("Features", "search", "other")) == nil)
    }

    @Test func `Only the values are required`() throws {
        let file = try file(#"{"values": {}}"#)
        #expect(file == ProvidedFile())
    }

    @Test(arguments: [
        ("", "remote.json: it is empty"),
        ("[]", "remote.json: it holds an array where an object is expected"),
        ("{}", "remote.json: \"values\" is missing: an object"),
        (#"{"values": 1}"#, "remote.json: values: got 1, expected an object"),
        (
            #"{"values": {"A": 1}}"#,
            "remote.json: the category \"A\" is 1, but an object is expected"
        ),
        (#"{"values": {}, "from": 1}"#, "remote.json: from: got 1, expected text"),
        (
            #"{"values": {}, "reasons": []}"#,
            "remote.json: reasons: got an array, expected an object"
        ),
        (#"{"values": {}, "kills": 1}"#, "remote.json: kills: got 1, expected an object"),
        (
            #"{"values": {}, "kills": {"A": 1}}"#,
            "remote.json: the category \"A\" is 1, but an object is expected"
        ),
        (
            "{\"values\": {},\n",
            "remote.json: it is not JSON: line 2, column 1: a name in quotation marks is expected"
        ),
    ])
    func `An error names the place`(json: String, message: String) {
        let error = #expect(throws: OverridesError.self) { try file(json) }
        #expect(error?.description == message)
    }

    @Test func `A written file can be read`() throws {
        var file = ProvidedFile()
        file.from = "https://flags.example/\u{1B}"
        (file.loaded, file.checked) = ("2026-11-22T17:00:00Z", "2026-11-22T18:00:00Z")
        (file.version, file.problem) = (-3, "no route to host")
        file.set(false, for: key, because: "this is 13")
        file.set("a/b%c", for: TweakKey("A/B", "C%D", "e"), because: "why not")
        file.set(.double(0.1), for: TweakKey("A", "B", "c"))
        file.kills.set(false, for: key)
        file.killReasons["\(key)"] = .scalar("killed by ann")
        let copy = try ProvidedFile(json: file.json(), path: "remote.json")
        #expect(copy == file)
        #expect(copy.reason(for: TweakKey("A/B", "C%D", "e")) == "why not")
        #expect(copy.reason(for: key, of: .kill) == "killed by ann")
        #expect(copy.values(of: .kill).keys == [key])
    }

    @Test func `Any damage is an error and no crash`() {
        var file = ProvidedFile()
        file.set(false, for: key, because: "this is 13")
        for json in damaged(file.json(), count: 1_000) {
            _ = try? ProvidedFile(json: json, path: "remote.json")
            _ = try? RemoteDocument(json: json, path: "remote.json")
        }
    }
}
