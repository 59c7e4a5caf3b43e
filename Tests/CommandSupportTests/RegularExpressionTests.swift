// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TestSupport
import Testing

@Suite struct `A regular expression` {
    /// The last match and its first group in a text.
    private func last(_ expression: String, in text: String) throws -> (match: String, group: String?)? {
        let scalars = text.unicodeScalars.map(\.value)
        let match = try RegularExpression(expression).lastMatch(in: scalars) {}
        func part(_ range: Range<Int>) -> String {
            String(String.UnicodeScalarView(scalars[range].compactMap { Unicode.Scalar($0) }))
        }
        return match.map { (part($0.range), $0.group.map(part)) }
    }

    @Test(
        arguments: [
            ("[0-9.]+", "1 22 3.5", "3.5", nil), ("([0-9]+) req/s", "12 req/s, 7 req/s; 9", "7 req/s", "7"),
            ("a|ab|abc", "xabcd", "abc", nil), ("(a|ab)(c|bcd)", "abcd", "abcd", "a"),
            ("x*", "axx", "", nil), ("a{2,3}", "aaaaa", "aa", nil), ("a{,2}b", "aaab", "aab", nil),
            ("(ab)*c", "ababc", "ababc", "ab"), ("(a)|b", "ab", "b", nil),
            ("^[a-z]+$", "ab\ncd\n1", "cd", nil),
            ("t.*x", "t1\nt2x", "t2x", nil), ("[^,]+", "a,b\n", "b", nil), ("[[:digit:]]+", "a12", "12", nil),
            (#"\bv\w+"#, "xv v1 av2", "v1", nil), (#"\<a\>"#, "ab a", "a", nil),
            (#"\$([0-9]+)"#, "$5", "$5", "5"),
            ("[]x]+", "a]x]", "]x]", nil), ("[x-]+", "a-x", "-x", nil), ("[a[.-.]]", "-", "-", nil),
            (#"\{"n":([0-9]+)"#, #"{"n":5}"#, #"{"n":5"#, "5"), ("{a", "{a", "{a", nil),
            ("a||b", "b", "", nil),
            ("µ+s", "5 µµs", "µµs", nil), ("()x", "x", "x", ""), (#"[\]+"#, #"\"#, #"\"#, nil),
            (#"a\sb"#, "a\nb", "a\nb", nil), (#"x\Sy"#, "x y xzy", "xzy", nil),
        ] as [(String, String, String, String?)])
    func `finds the last match and its first group`(
        expression: String, text: String, match: String, group: String?
    ) throws {
        let found = try last(expression, in: text)
        #expect(found?.match == match && found?.group == group, "\(String(describing: found))")
    }

    @Test(arguments: ["b", "a{3}", "^b", "a$x", "[^a]", "aa\nb"])
    func `does not match other text`(expression: String) throws {
        #expect(try last(expression, in: "aa") == nil)
    }

    @Test(
        arguments: [
            "(", ")", "a)", "[", "[a", "[z-a]", "[[:foo:]]", "[[:alpha", "*a", "a|*", "(+)", "{2}", "a\\",
            "a{3,2}", "a{256}", "^*", #"\d+"#, #"a\q"#, #"(a)\1"#, #"(a*)*\1\1\1([0-9])"#, "[[.ab.]]",
            "((a{1,255}){1,255}){1,255}", "(((){1,255}){1,255}){1,255}",
            String(repeating: "(", count: 100_000) + String(repeating: ")", count: 100_000),
            "a" + String(repeating: "*", count: 100_000),
        ])
    func `is refused if it is malformed, too large or needs backtracking`(expression: String) {
        #expect(throws: RegularExpression.Problem.self) { try RegularExpression(expression) }
    }

    @Test(arguments: ["(a*)*b", "(a|a)*b", "(a|aa)+$b", "(.*)*x", "((a?){30}a{30})+b"])
    func `takes steps in proportion to the text, whatever it repeats`(expression: String) throws {
        struct TooMany: Error {}
        var checks = 0
        let text = [UInt32](repeating: 0x61, count: isLong ? 100_000 : 3000)
        let match = try RegularExpression(expression).lastMatch(in: text) {
            checks += 1
            if checks > 100 { throw TooMany() }
        }
        #expect(match == nil)
    }

    @Test func `ends when it is told to`() throws {
        struct Interrupted: Error {}
        let text = [UInt32](repeating: 0x61, count: 100_000)
        let expression = try RegularExpression("a.*b|a")
        #expect(throws: Interrupted.self) { try expression.lastMatch(in: text) { throw Interrupted() } }
    }
}
