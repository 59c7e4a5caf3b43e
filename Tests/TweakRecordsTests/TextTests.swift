// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing
import TweakRecords

@Suite struct `Encodings of text` {
    @Test(arguments: 0..<70) func `Base64 equals Foundation's`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 97) }
        let text = Base64.text(of: bytes)
        #expect(text == Data(bytes).base64EncodedString())
        #expect(Base64.bytes(of: text) == bytes)
    }

    @Test(arguments: [
        "a", "ab==c", "a===", "====", "!abc", "=abc", "YQ=a", "YR==", "YWJ=", "YQ", " YQ==", "YQ==YQ==",
    ])
    func `Anything else is not Base64`(text: String) { #expect(Base64.bytes(of: text) == nil) }

    @Test func `Bytes are two hexadecimal digits each`() { #expect([0, 0x0A, 0xFF].hexadecimal == "000aff") }

    @Test func `Percent encoding keeps unreserved characters`() {
        #expect("aZ09-._~ /%é".percentEncoded == "aZ09-._~%20%2F%25%C3%A9")
        #expect(String(percentEncoded: "aZ%20%2f%C3%A9") == "aZ /é")
    }

    @Test(arguments: ["%", "a%2", "%G0", "%+1", "%-1", "%C3"])
    func `Anything else is not percent-encoded`(text: String) { #expect(String(percentEncoded: text) == nil) }

    @Test func `A word is quoted for a shell`() {
        #expect("it's".shellQuoted == #"'it'\''s'"#)
        #expect("'\u{301}".shellQuoted == "''\\''\u{301}'")
        #expect(shellWord(Array("a/b-1".utf8)) == "a/b-1")
        #expect(shellWord([]) == "''")
        #expect(shellWord(Array("a b".utf8)) == "'a b'")
        #expect(shellWord([0x61, 0x0A, 0xFF, 0x27]) == #"$'a\x0a\xff\''"#)
    }

    @Test(
        arguments: [
            ("a", "a"), ("a b", "\"a b\""), ("a,b", "\"a,b\""), ("a;b", "\"a;b\""),
            ("say \"a\"", "\"say \"\"a\"\"\""),
            ("\"\u{301},", "\"\"\"\u{301},\""), ("a\nb", #"a\u{a}b"#), ("", ""),
        ])
    func `A field of comma-separated values`(text: String, field: String) { #expect(text.csvField == field) }

    @Test(
        arguments: [
            "=1+2", "=cmd|' /C calc'!A0", "+1+2", "-1+2", "@SUM(1)", "=", "-", "－1+2", "＝1", "＠a", "＋a",
            "=\"a\"",
            "+10%", "-5 N/m",
        ])
    func `A field that a spreadsheet would execute begins with an apostrophe`(text: String) {
        let field = text.csvField
        #expect(field.hasPrefix("'" + text.prefix(1)) || field.hasPrefix("\"'" + text.prefix(1)))
    }

    @Test(arguments: ["-1", "+1", "-0.5", "-1e-5", "-inf", "-Inf", "-0x1F"])
    func `A number in a field of comma-separated values stays as it is`(text: String) {
        #expect(text.csvField == text)
    }

    @Test func `Wide characters and emoji take two columns`() {
        #expect("abc".columns == 3)
        #expect("名前".columns == 4)
        #expect("e\u{301}".columns == 1)
        #expect("🎛️x".columns == 3)
    }
}
