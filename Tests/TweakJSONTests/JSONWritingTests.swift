// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakJSON
import TweakRecords

/// What Foundation, which wrote the files before, makes of the same.
private func encodedByFoundation(_ value: some Encodable, isPretty: Bool) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// Whatever JSON can hold. Names have no two forms.
private func randomValue(_ depth: Int, _ generator: inout SeededGenerator) -> JSONValue {
    let letters = Array("abzABZ019 /\\\"\u{0}\u{8}\u{1F}\n\r\t\u{7F}\u{2028}ß漢😀".unicodeScalars)
    func text() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            text.unicodeScalars.append(letters.randomElement(using: &generator) ?? "a")
        }
        return text
    }
    switch Int.random(in: 0...(depth < 4 ? 8 : 5), using: &generator) {
    case 0: return .null
    case 1: return .scalar(.bool(Bool.random(using: &generator)))
    case 2: return .scalar(.integer(Int128(Int64.random(in: .min ... .max, using: &generator))))
    case 3: return .scalar(.integer(Int128(UInt64.random(in: 0...200, using: &generator))))
    case 4:
        let number = Double(bitPattern: UInt64.random(in: .min ... .max, using: &generator))
        return .scalar(.double(number.isFinite && number != number.rounded() ? number : 0.25))
    case 5: return .scalar(.string(text()))
    case 6:
        return .array(
            (0..<Int.random(in: 0...5, using: &generator)).map { _ in randomValue(depth + 1, &generator) })
    default:
        var members: JSONObject = [:]
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            members[text()] = randomValue(depth + 1, &generator)
        }
        return .object(members)
    }
}

/// A value as any encoder takes it.
private struct Encoded: Encodable {
    let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .scalar(let scalar): try scalar.encode(to: encoder)
        case .array(let elements): try elements.map(Encoded.init).encode(to: encoder)
        case .object(let members):
            var container = encoder.container(keyedBy: JSONName.self)
            for (name, member) in members {
                try container.encode(Encoded(member), forKey: JSONName(stringValue: name.text))
            }
        }
    }
}

@Suite struct `Writing JSON` {
    @Test(arguments: [true, false]) func `is what Foundation writes`(isPretty: Bool) throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let value = randomValue(0, &generator)
            let expected = try encodedByFoundation(Encoded(value), isPretty: isPretty)
            #expect(String(decoding: value.json(isPretty: isPretty), as: UTF8.self) == expected)
            #expect(String(decoding: try encodeJSON(value, isPretty: isPretty), as: UTF8.self) == expected)
        }
    }

    @Test func `is read back as it was`() throws {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<300 {
            let value = randomValue(0, &generator)
            #expect(try JSONParser.value(of: value.json()) == value)
            #expect(try JSONParser.value(of: value.json(isPretty: true)) == value)
        }
    }

    @Test(arguments: [
        0, -0.0, 1, -5, 0.1, 1.5, 1e15, 9_007_199_254_740_992, 1e16, 123_456_789_012_345_680, 1e21, 1e22,
        1e-4,
        1e-5, 2.5e-7, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, .pi,
        Double(Float(0.1)),
    ]) func `has the shortest form of a number that is read back as the same`(number: Double) throws {
        let json = JSONValue.scalar(.double(number)).json()
        let text = String(decoding: json, as: UTF8.self)
        #expect(text == (try encodedByFoundation(number, isPretty: false)))
        #expect(Double(text)?.bitPattern == number.bitPattern)
    }

    @Test func `has an infinity and NaN as texts`() {
        for (number, text) in [(Double.infinity, "inf"), (-.infinity, "-inf"), (.nan, "nan")] {
            #expect(JSONValue.scalar(.double(number)).json() == Array("\"\(text)\"".utf8))
        }
    }

    @Test(
        arguments: [
            0, 9, 10, -1, -9, -10, Int128(Int64.min), Int128(Int64.max), Int128(Int64.max) + 1,
            Int128(UInt64.max),
        ] as [Int128]) func `has an integer with all its digits`(number: Int128)
    {
        #expect(String(decoding: JSONValue.scalar(.integer(number)).json(), as: UTF8.self) == "\(number)")
    }

    @Test func `escapes only what it must`() throws {
        let scalars = (0...0x10FFFF as ClosedRange<UInt32>).lazy.compactMap { Unicode.Scalar($0) }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        let json = JSONValue.scalar(.string(text)).json()
        #expect(String(decoding: json, as: UTF8.self) == (try encodedByFoundation(text, isPretty: false)))
        #expect(try JSONParser.value(of: json) == .scalar(.string(text)))
    }

    @Test func `sorts names by their bytes`() {
        let names = [
            "", "10", "9", "A", "Z", "a", "a b", "ab", "e\u{301}", "z", "\u{e9}", "\u{FFFF}", "\u{1F600}",
        ]
        var object: JSONObject = [:]
        for name in names.reversed() { object[name] = .null }
        let expected = "{" + names.map { "\"\($0)\":null" }.joined(separator: ",") + "}"
        #expect(JSONValue.object(object).json() == Array(expected.utf8))
    }

    @Test func `keeps composed and decomposed letters apart`() throws {
        let json = Array("{\"Caf\u{e9}\":1,\"Cafe\u{301}\":2}".utf8)
        let value = try JSONParser.value(of: json)
        #expect(value == .object([ByteText("Caf\u{e9}"): .scalar(1), ByteText("Cafe\u{301}"): .scalar(2)]))
        #expect(Array(value.json()) == Array("{\"Cafe\u{301}\":2,\"Caf\u{e9}\":1}".utf8))
        #expect(try decodeJSON(JSONValue.self, from: json) == value)
        #expect(try encodeJSON(value) == value.json())
    }

    @Test func `takes no longer for each of many names`() throws {
        var object: JSONObject = [:]
        for number in 0..<10_000 { object["\(number)"] = .scalar(.integer(Int128(number))) }
        let value = JSONValue.object(object)
        #expect(try JSONParser.value(of: value.json()) == value)
    }
}

@Suite struct `A Swift value as JSON` {
    private struct Nested: Codable, Hashable {
        var flag = true
        var text = "a/b"
        var number = -1.5
        var none: Int?
        var numbers: [UInt8] = [0, 255]
        var bytes: [Int8: String] = [-1: "x"]
        var named: [String: [Int64]] = ["b": [.min, .max], "a": []]
        var small: Float = 0.1
        var large = UInt64.max
    }

    private struct Whole: Codable, Hashable {
        var nested = [Nested(), Nested(none: 3)]
        var optional: [Int?] = [1, nil]
        var wide: Int16 = -300
        var id = UInt32(7)
    }

    @Test(arguments: [true, false]) func `is what Foundation writes`(isPretty: Bool) throws {
        let json = String(decoding: try encodeJSON(Whole(), isPretty: isPretty), as: UTF8.self)
        #expect(json == (try encodedByFoundation(Whole(), isPretty: isPretty)))
    }

    @Test func `is read back as it was`() throws {
        #expect(try decodeJSON(Whole.self, from: encodeJSON(Whole())) == Whole())
    }

    @Test(arguments: ["1", "1.0", "10e-1"]) func `may have an integer with an exponent`(json: String) throws {
        #expect(try decodeJSON([Int].self, from: Array("[\(json)]".utf8)) == [1])
    }

    @Test(arguments: [
        ("[300]", "\"0\": 300 is out of range"), ("[1.5]", "\"0\": 1.5 is out of range"),
        ("[-1]", "\"0\": -1 is out of range"),
        ("[\"a\"]", "\"0\" is not an integer"), ("[null]", "\"0\" is null"),
        ("{}", "the JSON is not an array"),
        ("", "it is empty"), ("[1", "it is not JSON: line 1, column 3: a comma or ] is expected"),
    ]) func `names the problem and the place`(json: String, reason: String) {
        let error = #expect(throws: JSONError.self) { try decodeJSON([UInt8].self, from: Array(json.utf8)) }
        #expect(error?.reason == reason)
    }

    @Test func `names the member that is missing`() {
        let error = #expect(throws: JSONError.self) {
            try decodeJSON([Whole].self, from: Array("[{\"nested\": [{}]}]".utf8))
        }
        #expect(error?.reason == "\"0.nested.0.flag\" is missing")
    }

    @Test func `has the first of several members of the same name`() throws {
        #expect(try decodeJSON([String: Int].self, from: Array("{\"a\": 1, \"a\": 2}".utf8)) == ["a": 1])
    }

    @Test func `has all members of objects that are written and encoded together`() throws {
        struct Written: JSONWritable, Encodable {
            let name: String
            func write(to writer: inout JSONWriter) { writer.object { $0.member(name, 1) } }
        }
        struct Together: Encodable {
            enum CodingKeys: CodingKey { case m }
            let parts: [Written]
            let isWrittenFirst: Bool

            func encode(to encoder: any Encoder) throws {
                if isWrittenFirst { for part in parts { try part.encode(to: encoder) } }
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(2, forKey: .m)
                if !isWrittenFirst { for part in parts { try part.encode(to: encoder) } }
            }
        }
        for isWrittenFirst in [true, false] {
            let parts = Together(
                parts: [Written(name: "z"), Written(name: "a")], isWrittenFirst: isWrittenFirst)
            #expect(
                String(decoding: try encodeJSON([parts]), as: UTF8.self) == #"[{"a":1,"m":2,"z":1}]"#)
        }
    }

    @Test func `cannot add members to something else than an object`() {
        struct Mixed: Encodable {
            enum CodingKeys: CodingKey { case a, b }
            let isNested: Bool

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                let part = isNested ? container.superEncoder(forKey: .b) : encoder
                try JSONValue.array([.null]).encode(to: part)
                var inner = part.container(keyedBy: CodingKeys.self)
                try inner.encode(1, forKey: .a)
            }
        }
        #expect(throws: EncodingError.self) { try encodeJSON(Mixed(isNested: false)) }
        #expect(throws: EncodingError.self) { try encodeJSON(Mixed(isNested: true)) }
    }

    @Test func `cannot be an infinity`() {
        #expect(throws: EncodingError.self) { try encodeJSON([Double.infinity]) }
    }
}
