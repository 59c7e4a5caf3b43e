// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@testable import Tweaks

@Suite struct `Finding records with overrides` {
    /// Bytes as they lie in a section, without the tweaks' values.
    private func section(_ keys: [TweakKey]) -> [UInt8] {
        keys.flatMap { key in
            var record = Record.integer("", 0)
            record.key = key
            return record.bytes
        }
    }

    private func matches(of wanted: [TweakKey], in bytes: [UInt8]) -> [Int] {
        var offsets: [Int] = []
        bytes.withUnsafeBytes { records in
            RecordMatcher(wanted).forEachMatch(in: records) { range, _ in offsets.append(range.lowerBound) }
        }
        return offsets
    }

    @Test func `Names of all lengths are found, wherever a level ends within a word`() {
        let lengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17]
        let keys = lengths.flatMap { category in
            lengths.flatMap { collection in
                lengths.map { name in
                    TweakKey(
                        String(repeating: "a", count: category), String(repeating: "ö", count: collection),
                        String(repeating: "z", count: name))
                }
            }
        }
        let bytes = section(keys)
        for wanted in stride(from: 0, to: keys.count, by: 41).map({ keys[$0] }) {
            let found = matches(of: [wanted], in: bytes).compactMap { offset in
                bytes.withUnsafeBytes {
                    try? TweakDeclaration(record: $0.bytes, in: offset..<bytes.count, byteOrder: .native).key
                }
            }
            #expect(found == [wanted])
        }
    }

    @Test func `A longer name with the same prefix does not match`() {
        let bytes = section([
            TweakKey("A", "B", "Name 2"), TweakKey("A", "B", "Nam"), TweakKey("A", "BName", ""),
        ])
        #expect(matches(of: [TweakKey("A", "B", "Name")], in: bytes).isEmpty)
    }

    @Test func `Nothing is found without overrides`() {
        #expect(matches(of: [], in: section([TweakKey("A", "B", "C")])).isEmpty)
    }

    @Test func `A record of impossible size does not hide later ones`() {
        let good = section([TweakKey("A", "B", "C")])
        #expect(
            matches(of: [TweakKey("A", "B", "C")], in: good + [3, 0, 0, 0, 1, 1, 4, 0] + good)
                == [0, good.count + 8])
    }
}
