// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakJSON

@testable import TweakFormats
import TweakRecords

@Suite struct `JSON` {
    private func value(_ json: String) throws -> JSONValue { try JSONParser.value(of: Array(json.utf8)) }

    private func reason(_ bytes: [UInt8]) -> String? {
        do throws(JSONError) {
            _ = try JSONParser.value(of: bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(
        arguments: [
            ("true", .bool(true)), ("false", .bool(false)), ("1", .integer(1)), ("0", .integer(0)),
            ("-0", .integer(0)), ("1.0", .double(1)), ("-1.50", .double(-1.5)), ("1e2", .double(100)),
            ("1E+2", .double(100)), ("25e-1", .double(2.5)), ("0.0", .double(0)), ("0e0", .double(0)),
            ("9223372036854775807", .integer(Int128(Int64.max))),
            ("-9223372036854775808", .integer(Int128(Int64.min))),
            ("18446744073709551615", .integer(Int128(UInt64.max))),
            ("18446744073709551616", .double(18446744073709551616)),
            ("\"\"", .string("")), ("\"true\"", .string("true")), (" \t\r\n1 ", .integer(1)),
        ] as [(String, TweakValue)])
    func `Bool, integers, numbers with a fraction and texts are kept apart`(
        json: String, expected: TweakValue
    ) throws {
        #expect(try value(json) == .scalar(expected))
    }

    @Test func `Objects and arrays are read, also with nothing in them`() throws {
        #expect(
            try value(#" { "a" : [ 1 , [ ] , { } , null ] , "" : { "b" : false } } "#)
                == .object([
                    "a": .array([.scalar(1), .array([]), .object([:]), .null]),
                    "": .object(["b": .scalar(false)]),
                ]))
    }

    @Test(arguments: [
        (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u4F60""#, "é你"),
        (#""\ud83d\ude00\uD83D\uDE00""#, "😀😀"), ("\"你好 😀\"", "你好 😀"), (#""\u0000""#, "\0"),
    ])
    func `Escapes of a text are resolved`(json: String, text: String) throws {
        #expect(try value(json) == .scalar(.string(text)))
    }

    @Test(arguments: [
        ("", "line 1, column 1: a value is expected"), ("  ", "line 1, column 3: a value is expected"),
        ("{\n  \"a\": tru\n}", "line 2, column 8: a value is expected"),
        ("{\"é\": ,}", "line 1, column 7: a value is expected"),
        ("{\"a\" 1}", "line 1, column 6: a colon is expected"),
        ("{\"a\": 1 \"b\"}", "line 1, column 9: a comma or } is expected"),
        ("[1 2]", "line 1, column 4: a comma or ] is expected"), ("[1}", "line 1, column 3: a comma or ]"),
        ("{a: 1}", "line 1, column 2: a name in quotation marks is expected"),
        ("{\"a\": 1,}", "line 1, column 9: a name in quotation marks is expected"),
        ("[1,]", "line 1, column 4: a value is expected"), ("{} {}", "line 1, column 4: the end is expected"),
        ("\"a", "line 1, column 3: a quotation mark is expected"),
        ("\"a\nb\"", "a control character in a text"),
        (#""\x""#, "no such escape"), ("\"\\", "no such escape"),
        (#""\u12g4""#, "four hexadecimal digits are expected"), (#""\u+123""#, "four hexadecimal digits"),
        (#""\u12"#, "four hexadecimal digits"), (#""\ud83d""#, "half of a surrogate pair"),
        (#""\ud83d\u0041""#, "half of a surrogate pair"), (#""\ude00""#, "half of a surrogate pair"),
        ("01", "a number has digits, without leading zeros"), ("-", "a number has digits"),
        ("--1", "a number has digits"), ("-a", "a number has digits"), ("+1", "a value is expected"),
        ("1.", "a digit after the point is expected"), (".5", "a value is expected"),
        ("1e", "a digit in the exponent is expected"), ("1e+", "a digit in the exponent"),
        ("1e999", "line 1, column 1: 1e999 is out of the range of a double"),
        ("[1, -1e400]", "line 1, column 5: -1e400 is out of the range of a double"),
        ("0x10", "the end is expected"),
        ("NaN", "a value is expected"), ("nul", "a value is expected"), ("'a'", "a value is expected"),
        ("// a\n1", "a value is expected"),
        ("{\"a\": 1, \"a\": 2}", "column 10: \"a\" is repeated"),
    ])
    func `An error names the place and what is expected`(json: String, expected: String) {
        let reason = reason(Array(json.utf8)) ?? "none"
        #expect(reason.hasPrefix("it is not JSON: line ") && reason.contains(expected), "\(reason)")
    }

    @Test func `Of a number with many digits the message has some`() {
        let digits = String(repeating: "9", count: 100_000)
        #expect(reason(Array(digits.utf8))?.utf8.count ?? 0 < 120)
    }

    @Test(arguments: ["1e-400", "-1e-400", "0e999999999999999999999", "1e-99999999999999999999"])
    func `A number that is too small is zero`(json: String) throws {
        #expect(try value(json) == .scalar(.double(0)))
    }

    @Test func `Invalid UTF-8 is an error`() {
        for bytes in [[0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF8, 0x88]] as [[UInt8]] {
            #expect(reason([0x22] + bytes + [0x22])?.contains("the text is not UTF-8") == true)
        }
    }

    @Test func `A byte order mark is skipped, UTF-16 is refused`() throws {
        #expect(try JSONParser.value(of: [0xEF, 0xBB, 0xBF] + Array("1".utf8)) == .scalar(1))
        #expect(reason([0xFF, 0xFE, 0x31, 0x00]) != nil)
        #expect(reason([0x31, 0x00]) != nil)
    }

    @Test(arguments: [
        (#"{"a": 1, "a": 2}"#, #"{"a": 2}"#),
        (#"{"a": {"b": 1}, "a": {"c": 2}}"#, #"{"a": {"b": 1, "c": 2}}"#),
        (
            #"{"a": {"b": {"d": 1}}, "x": 0, "a": {"b": {"e": 2}, "c": 3}}"#,
            #"{"a": {"b": {"d": 1, "e": 2}, "c": 3}, "x": 0}"#
        ),
        (#"{"a": {"b": 1}, "a": {"b": 2}, "a": {"b": 3}}"#, #"{"a": {"b": 3}}"#),
        (#"{"a": {}, "a": {"b": 1}}"#, #"{"a": {"b": 1}}"#),
        (#"{"a": {"b": 1}, "a": {}}"#, #"{"a": {"b": 1}}"#),
        (#"{"a": [1], "a": [2]}"#, #"{"a": [2]}"#), (#"{"a": null, "a": 1}"#, #"{"a": 1}"#),
    ])
    func `Objects with the same name are merged where that is allowed`(json: String, merged: String) throws {
        #expect(
            try JSONParser.value(of: Array(json.utf8), repeatedNames: .merged)
                == JSONParser.value(of: Array(merged.utf8)))
    }

    @Test(arguments: [
        (#"{"a": {"b": 1}, "a": 2}"#, 17), (#"{"a": 2, "a": {"b": 1}}"#, 10),
        (#"{"a": {"b": {"c": 1}}, "a": {"b": 2}}"#, 24), (#"{"a": {"b": 1, "b": {"c": 1}}}"#, 16),
        (#"{"a": {"b": 1}, "a": null}"#, 17), (#"{"a": [1], "a": {"b": 1}}"#, 12),
    ])
    func `An object and another value of the same name are refused with their place`(
        json: String, column: Int
    )
        throws
    {
        let error = #expect(throws: JSONError.self) {
            try JSONParser.value(of: Array(json.utf8), repeatedNames: .merged)
        }
        #expect(error?.reason.contains("line 1, column \(column): \"") == true, "\(error?.reason ?? "")")
    }

    @Test(arguments: [100, 101, 1_000_000])
    func `More than 100 levels are an error`(depth: Int) throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let innermost = open == "[" ? "[]" : "{}"
            let text =
                String(repeating: open, count: depth - 1) + innermost
                + String(repeating: close, count: depth - 1)
            #expect((reason(Array(text.utf8)) == nil) == (depth <= 100))
            #expect(reason(Array(String(repeating: open, count: depth).utf8)) != nil)
        }
    }

    @Test func `Random bytes do not trap`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<40).compactMap { _ in
                "{}[]\",:0e-.t\\u\u{80}d8n 19".utf8.randomElement(using: &generator)
            }
            _ = try? JSONParser.value(of: bytes)
            _ = try? JSONParser.value(of: Array("{\"a\":\"".utf8) + bytes)
        }
    }
}

@Suite struct `JSON read step by step` {
    /// The members of an object, and the elements of arrays in it.
    private func members(
        _ json: String, repeatedNames: JSONParser.RepeatedNames = .refused
    ) throws(JSONError) -> [String] {
        var parser = JSONParser(Array(json.utf8), repeatedNames: repeatedNames)
        var members: [String] = []
        guard try parser.beginObject() else { return ["none"] }
        while let name = try parser.nextName() {
            guard try parser.beginArray() else {
                members.append("\(name)=\(try parser.value().summary)")
                continue
            }
            var count = 0
            while try parser.nextElement(isFirst: count == 0) {
                members.append("\(name).\(count)=\(try parser.value().summary)")
                count += 1
            }
        }
        try parser.end()
        return members
    }

    @Test(arguments: [
        ("{}", []), (" { \"a\" : 1 , \"b\" : { \"a\" : [] } } ", ["a=1", "b=an object"]),
        ("{\"a\":[ ],\"b\":[1 , [2,3]]}", ["b.0=1", "b.1=an array"]), ("[]", ["none"]),
    ])
    func `gives every name and value in order`(json: String, expected: [String]) throws {
        #expect(try members(json) == expected)
    }

    @Test(arguments: [
        "{", "{\"a\"", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{\"a\":1]", "{\"a\":1 \"b\":2}", "{,}", "{} 1",
        "{\"a\":[", "{\"a\":[,]}", "{\"a\":[1,]}", "{\"a\":[1}}", "{\"a\":[1 2]}",
    ])
    func `finds the mistakes that it finds at once`(json: String) throws {
        let error = #expect(throws: JSONError.self) { try members(json) }
        let other = #expect(throws: JSONError.self) { try JSONParser.value(of: Array(json.utf8)) }
        #expect(error?.reason.prefix(40) == other?.reason.prefix(40))
    }

    @Test(arguments: [2, 15, 16, 100]) func `finds a repeated name`(count: Int) throws {
        let names = (1..<count).map { "\"\($0)\": 0" }
        #expect(try members("{\(names.joined(separator: ","))}").count == count - 1)
        let repeated = "{\((names + ["\"1\": 1"]).joined(separator: ","))}"
        let error = #expect(throws: JSONError.self) { try members(repeated) }
        #expect(error?.reason.contains("\"1\" is repeated") == true)
        #expect(try members(repeated, repeatedNames: .merged).count == count)
    }

    @Test func `ends where too much is inside each other`() throws {
        var parser = JSONParser(Array(String(repeating: "[", count: 200).utf8))
        let error = #expect(throws: JSONError.self) {
            while try parser.beginArray(), try parser.nextElement(isFirst: true) {}
        }
        #expect(error?.reason.contains("more than 100 levels") == true)
    }
}
