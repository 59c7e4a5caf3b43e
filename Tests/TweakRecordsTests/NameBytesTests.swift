// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Names are their bytes` {
    private static let composed = "\u{E9}t\u{E9}"
    private static let decomposed = "e\u{301}te\u{301}"

    @Test func `Composed and decomposed letters make two names`() {
        let one = TweakKey("A", "B", Self.composed)
        let other = TweakKey("A", "B", Self.decomposed)
        #expect(one != other)
        #expect(Set([one, other, one]).count == 2)
        #expect([one: 1, other: 2][other] == 2)
        #expect((one < other) != (other < one))
    }

    @Test func `The Kelvin sign is not a K`() {
        #expect(TweakKey("A", "B", "\u{212A}") != TweakKey("A", "B", "K"))
    }

    @Test func `Levels are compared separately`() {
        let keys: Set = [
            TweakKey("a", "b", "c"), TweakKey("a", "c", "b"), TweakKey("ab", "", "c"),
            TweakKey("", "ab", "c"),
            TweakKey("a", "bc", ""), TweakKey("", "", "abc"),
        ]
        #expect(keys.count == 6)
    }

    @Test func `Names of every length are found, however their texts are kept`() {
        var keys: [TweakKey: Int] = [:]
        for length in 0..<200 {
            keys[TweakKey("c", "c", String(repeating: "n", count: length))] = length
        }
        for length in 0..<200 {
            // A substring's text lies in that of another.
            let name = String(String(repeating: "n", count: 250).dropLast(250 - length))
            #expect(keys[TweakKey("c", "c", name)] == length)
        }
        #expect(keys.count == 200)
    }

    @Test func `Keys are in the order of their bytes, level by level`() {
        let sorted = [
            TweakKey("", "z", "z"), TweakKey("A", "a", "z"), TweakKey("A", "b", "a"), TweakKey("Z", "a", "a"),
            TweakKey("a", "a", "a"), TweakKey("\u{E9}", "a", "a"),
        ]
        #expect(sorted.shuffled().sorted() == sorted)
    }

    @Test func `Hashes of similar names differ in all bits`() {
        var bits: UInt = 0
        var hashes: Set<Int> = []
        for number in 0..<10_000 {
            let hash = TweakKey("Category \(number)", "Collection", "Name").hashValue
            hashes.insert(hash)
            bits |= UInt(bitPattern: hash)
        }
        #expect(hashes.count == 10_000)
        #expect(bits == .max)
    }
}
