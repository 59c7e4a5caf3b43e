// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakFormats
import TweakOverrides
import TweakRecords
import TweakTargeting

@Suite struct `Flags evaluated by a service` {
    private func flags(_ json: String, names: FlagNames = FlagNames()) throws(FormatError) -> EvaluatedFlags {
        try EvaluatedFlags(json: Array(json.utf8), path: "flags", names: names)
    }

    private func one(_ members: String) throws -> EvaluatedFlags { try flags(#"{"flags":[{\#(members)}]}"#) }

    private let key = TweakKey("A", "B", "C")

    @Test(arguments: [
        (#""value":true"#, TweakValue.bool(true)), (#""value":7"#, .integer(7)),
        (#""value":0.5"#, .double(0.5)),
        (#""value":"x""#, .string("x")),
    ])
    func `have values of all types`(member: String, value: TweakValue) throws {
        #expect(try one(#""key":"A/B/C",\#(member)"#).values.value(of: key) == value)
        #expect(try one(#""key":"A.B.C",\#(member)"#).values.value(of: key) == value)
    }

    @Test(arguments: [
        "", #","value":null"#, #","value":{}"#, #","value":[]"#, #","errorCode":"GENERAL","value":1"#,
    ])
    func `give no opinion without a value`(member: String) throws {
        #expect(try one(#""key":"A/B/C"\#(member)"#).values.keys.isEmpty)
    }

    @Test func `are several tweaks if they are objects`() throws {
        let all = try flags(
            """
            {"flags":[{"key":"A","value":{"B":{"C":1,"D":null},"E":{"F":"x"}}},{"key":"A/G","value":{"H":true}},
                      {"key":"A.B","value":{"C":2}}]}
            """)
        #expect(all.values.keys.sorted().map(\.description) == ["A/B/C", "A/E/F", "A/G/H"])
        // The flag for fewer tweaks counts, in whichever order they come.
        #expect(all.values.value(of: key) == 2)
        #expect(all.problems.isEmpty)
    }

    @Test func `are tweaks by other names where these are given`() throws {
        let names = try FlagNames([
            (key: "new.search", name: "A/B/C"), (key: "colours", name: "Look/Colours"),
        ])
        let all = try flags(
            #"{"flags":[{"key":"new.search","value":1},{"key":"colours","value":{"Text":"red"}}]}"#,
            names: names)
        #expect(all.values.value(of: key) == 1)
        #expect(all.values.value(of: TweakKey("Look", "Colours", "Text")) == "red")
    }

    @Test func `have slashes in names as tweaks have`() throws {
        let all = try one(#""key":"A/B%2Fb/C.d","value":1"#)
        #expect(all.values.value(of: TweakKey("A", "B/b", "C.d")) == 1)
    }

    @Test(arguments: ["", "A", "A/B", "A/B/C/D", "A//C", "/B/C", "A.B", "a.b.c.d", "A/B/%zz", "a..c"])
    func `that are not named like tweaks are reported as ignored`(key: String) throws {
        let all = try one(#""key":"\#(key)","value":1"#)
        #expect(all.values.keys.isEmpty)
        #expect(all.problems == ["1 flags are skipped, because they are not named like tweaks: \(key)"])
    }

    @Test func `report a limited number of problems`() throws {
        let wrong = try flags(
            #"{"flags":[1,{"value":1},{"key":"A/B/C","errorCode":"PARSE_ERROR","errorDetails":"no"},{"key":"A/B/D","value":[1]}]}"#
        )
        #expect(
            wrong.problems == [
                "flag 0 of the answer has no key", "flag 1 of the answer has no key",
                "flag A/B/C: PARSE_ERROR: no",
                "flag A/B/D: an array is at A/B/D, but true, false, a number or text is expected",
            ])
        let many = (0..<1000).map { #"{"key":"A/B/\#($0)","errorCode":"GENERAL"}"# }.joined(separator: ",")
        let all = try flags(#"{"flags":[\#(many)]}"#)
        #expect(all.problems.count == 11)
        #expect(all.problems.last == "and 990 more flags are wrong")
    }

    @Test func `say why they have their value`() throws {
        let all = try one(#""key":"A/B/C","value":1,"reason":"TARGETING_MATCH","variant":"on""#)
        #expect(
            RemoteDocument(all).provided(for: HostFacts()).reason(for: key) == "TARGETING_MATCH, variant on")
    }

    @Test func `name streams of kinds that are known`() throws {
        let all = try flags(
            """
            {"flags":[],"eventStreams":[{"type":"sse","url":"https://e/s?key=1"},{"type":"web-push","url":"https://e/w"},
             {"type":"sse","endpoint":{"origin":"https://f","requestUri":"/t"}},{"type":"sse","endpoint":{"requestUri":"/u"}},
             {"type":"sse"},{"type":"sse","url":5},7]}
            """)
        #expect(all.streams == ["https://e/s?key=1", "https://f/t", "/u"])
        let many = Array(repeating: #"{"type":"sse","url":"https://e"}"#, count: 100).joined(separator: ",")
        #expect(try flags(#"{"flags":[],"eventStreams":[\#(many)]}"#).streams.count == 4)
        #expect(try flags(#"{"flags":[],"eventStreams":{}}"#).streams.isEmpty)
    }

    @Test func `have the version of their metadata if it is an integer`() throws {
        #expect(try flags(#"{"flags":[],"metadata":{"version":7}}"#).version == 7)
        #expect(try flags(#"{"flags":[],"metadata":{"version":"v7"}}"#).version == nil)
        #expect(try flags(#"{"flags":[],"metadata":7}"#).version == nil)
    }

    @Test(arguments: ["", "[]", "{}", #"{"flags":{}}"#, #"{"flags":null}"#, #"{"flags":[}"#])
    func `are refused if the answer is another one`(json: String) {
        #expect(throws: FormatError.self) { try flags(json) }
    }

    @Test func `are read or refused, whatever the answer`() {
        let seed =
            #"{"flags":[{"key":"A/B","value":{"C":[1,{}],"D":1e9}}],"eventStreams":[{"type":"sse","url":"x"}]}"#
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            var bytes = Array(seed.utf8)
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            _ = try? EvaluatedFlags(json: bytes, path: "flags", names: FlagNames())
        }
    }
}
