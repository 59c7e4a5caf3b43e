// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import TweakGenerators

@Suite struct `Names for code` {
    @Test(arguments: [
        ("HTTPProxy_v2", "HTTPProxyV2", "hTTPProxyV2"), ("awesome", "Awesome", "awesome"),
        ("Some_PropertyKey", "SomePropertyKey", "somePropertyKey"), ("a-b", "AB", "aB"),
        ("a b.c/d", "ABCD", "aBCD"),
        ("__x__", "X", "x"), ("1st", "1st", "_1st"), ("2_fast", "2Fast", "_2Fast"),
        ("class", "Class", "class"),
        ("功能_开关", "功能开关", "功能开关"), ("été", "Été", "été"), ("straße", "Straße", "straße"),
        ("日本-語", "日本語", "日本語"), ("öl", "Öl", "öl"), ("-", "", ""), ("🎉", "", ""), ("", "", ""),
    ])
    func `Camel case keeps capitals and drops separators`(
        name: String, upper: String, lower: String
    ) {
        #expect(Identifier.upperCamelCase(name) == upper)
        #expect(Identifier.lowerCamelCase(name) == lower)
    }

    /// GCC warns of identifiers that are not in NFC, where these would be other letters.
    @Test(arguments: [
        ("e\u{301}t", "Eu301t"), ("कि", "कu93F"), ("\u{2126}", "U2126"), ("\u{1112}\u{1161}", "U1112u1161"),
        ("한", "한"), ("x\u{200E}y", "XY"), ("a٣", "Au663"),
    ])
    func `Letters and marks that compilers do not take are numbers`(name: String, upper: String) {
        #expect(Identifier.upperCamelCase(name).unicodeScalars.elementsEqual(upper.unicodeScalars))
    }

    @Test(arguments: ["a", "_a", "a1", "A_b", "功能", "class"])
    func `An identifier has letters, digits and _`(text: String) { #expect(Identifier.isValid(text)) }

    @Test(arguments: ["", "_", "1a", "a b", "a-b", "a\0", "é!", "e\u{301}", "🎉"])
    func `Anything else is none`(text: String) { #expect(!Identifier.isValid(text)) }
}

@Suite struct `Literals and comments for code` {
    private let awkward = "a\"b\\c??/\n\u{202E}你\t\u{0}"

    @Test func `A text of Swift is escaped`() {
        #expect(swiftLiteral(awkward) == #""a\"b\\c??/\u{a}\u{202e}你\u{9}\u{0}""#)
    }

    @Test func `A text of C is escaped, byte by byte where that is needed`() {
        #expect(cLiteral(awkward) == #""a\"b\\c\?\?/\012\342\200\256你\011\000""#)
    }

    @Test func `No comment ends before its end`() {
        #expect(cComment("a */ b /* c ???/*/") == ["/* a * / b / * c ? ? ?/ * / */"])
        #expect(cComment("\n*/\n\nb \\\n") == ["/*", " * * /", " *", " * b \\", " */"])
        #expect(cComment(" \n").isEmpty)
        #expect(swiftComment("a\n\n  b\u{202E}") == ["/// a", "///", "///   b\\u{202e}"])
    }

    @Test func `A record has a description in one line, cut if it is long`() {
        #expect(summary(" a\n\tb  ") == "a b")
        #expect(summary(" \n") == nil)
        #expect(summary(nil) == nil)
        #expect(summary(String(repeating: "a", count: 501))?.count == 500)
    }
}
