// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Keys as text` {
    @Test(arguments: [
        TweakKey("Spring", "Physics", "Stiffness"), TweakKey("", "", ""), TweakKey("a/b", "/", "//"),
        TweakKey("100 %", "%2F", "%25%"), TweakKey("弹簧", "物理", "刚度"), TweakKey("a b", "\n\t", "\"'\\"),
        TweakKey("a", "\u{301}b", "\u{200D}"), TweakKey("a/\u{301}", "%\u{301}", "\r\n"),
    ])
    func `A key survives conversion to text and back`(key: TweakKey) {
        #expect(TweakKey(key.description) == key)
    }

    @Test func `Slashes and percent signs are escaped, nothing else`() {
        #expect(TweakKey("a/b", "50 %", "弹 ?&#").description == "a%2Fb/50 %25/弹 ?&#")
    }

    @Test func `Similar keys have different texts`() {
        #expect(TweakKey("a/b", "c", "d").description != TweakKey("a", "b/c", "d").description)
        #expect(TweakKey("%2F", "", "").description != TweakKey("/", "", "").description)
    }

    @Test func `An escape may be written in lower case`() {
        #expect(TweakKey("a%2fb/c/d") == TweakKey("a/b", "c", "d"))
    }

    @Test(arguments: [
        "", "a", "a/b", "a/b/c/d", "a/b/%", "a/b/%2", "a/b/%GG", "a/b/%20", "a/b/%2525%", "%/b/c",
    ])
    func `Other text is refused`(text: String) {
        #expect(TweakKey(text) == nil)
    }

    @Test func `Empty levels are levels`() {
        #expect(TweakKey("//") == TweakKey("", "", ""))
    }

    @Test func `Keys are ordered by category, then collection, then name`() {
        let keys = [
            TweakKey("B", "A", "A"), TweakKey("A", "B", "A"), TweakKey("A", "A", "B"),
            TweakKey("A", "A", "A"),
        ]
        #expect(keys.sorted() == keys.reversed())
    }
}
