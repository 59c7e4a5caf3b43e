// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `The tweak table` {
    private func entry(_ number: Int) -> TweakEntry {
        let declaration = TweakDeclaration(
            key: TweakKey("C", "C", "\(number)"), type: .int32, defaultValue: .integer(Int128(number)))
        return TweakEntry(
            declaration, OwnedCell(Handle(declaration).cell, .made),
            at: RecordPlace(image: 1, position: UInt32(number)),
            Resolution(value: declaration.defaultValue, source: .binary))
    }

    @Test func `Lookups are right after additions and removals in any order`() {
        let table = TweakTable()
        var expected: Set<Int> = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<500, using: &random)
            if expected.remove(number) != nil {
                table.remove(TweakKey("C", "C", "\(number)"))
            } else {
                expected.insert(number)
                table.append(entry(number))
            }
            #expect(table.count == expected.count)
        }
        for number in 0..<500 {
            #expect((table[TweakKey("C", "C", "\(number)")] != nil) == expected.contains(number))
        }
        #expect(Set(table.all.map(\.key)) == Set(expected.map { TweakKey("C", "C", "\($0)") }))
    }

    @Test func `The order is that of insertion, or of locations`() {
        let table = TweakTable()
        for number in [5, 3, 9, 1] { table.append(entry(number)) }
        #expect(table.all.map(\.key.name) == ["5", "3", "9", "1"])
        table.remove(TweakKey("C", "C", "3"))
        #expect(table.all.map(\.key.name) == ["5", "9", "1"])
        table.sort()
        #expect(table.all.map(\.key.name) == ["1", "5", "9"])
        #expect(table[TweakKey("C", "C", "9")]?.value == 9)
    }
}

@Suite struct `Names that look the same` {
    @Test func `are two categories, of which each can be listed and reset`() throws {
        let store = TweakStore()
        let composed = TweakKey("\u{E9}", "B", "C")
        let decomposed = TweakKey("e\u{301}", "B", "C")
        for key in [composed, decomposed] {
            try store.make(TweakDeclaration(key: key, type: .int32, defaultValue: 1))
            try store.set(2, for: key)
        }
        #expect(store.categories.count == 2)
        try store.reset(category: composed.category)
        #expect(try store.value(of: composed) == 1)
        #expect(try store.value(of: decomposed) == 2)
    }
}
