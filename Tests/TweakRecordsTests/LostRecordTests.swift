// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakRecords

/// A size that cannot be right says nothing of where the next record begins.
@Suite struct `A record of impossible size` {
    private static let orders = [ByteOrder.little, .big]

    private func record(_ name: String = "Name", _ order: ByteOrder = .native, size: UInt32? = nil) -> [UInt8]
    {
        var record = Sample(type: .int32, byteOrder: order).record
        record.texts[2] = Array(name.utf8)
        record.claimedSize = size
        return record.bytes
    }

    private func names(_ section: RecordSection) -> [String] { section.tweaks.map(\.declaration.key.name) }

    @Test(arguments: [UInt32(1), 7, 8, 48, 57, 1 << 20, .max], orders)
    func `Does not hide later records`(size: UInt32, order: ByteOrder) {
        let lost = record("Lost", order, size: size)
        let section = decode(
            record("A", order) + lost + record("B", order) + record("C", order) + record("D", order), order)
        #expect(names(section) == ["A", "B", "C", "D"])
        #expect(section.errors.count == 1)
    }

    @Test func `Is reported with its offset and the number of skipped bytes`() {
        let good = record()
        let lost = record("Lost", size: 7)
        let section = decode(good + lost + good)
        #expect(section.errors == [.badSize(7, offset: good.count, passedOver: lost.count)])
        #expect(
            section.errors.map(\.description) == [
                "record at offset \(good.count): an invalid size of 7 bytes; \(lost.count) bytes are skipped"
            ])
    }

    @Test func `Hides no other record, wherever it is`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let isLost = (0..<20).map { _ in Bool.random(using: &random) }
            let bytes = isLost.enumerated().flatMap {
                record("\($0.offset)", size: $0.element ? UInt32.random(in: 1...47, using: &random) : nil)
            }
            let section = decode(bytes)
            #expect(names(section) == isLost.indices.filter { !isLost[$0] }.map { "\($0)" })
        }
    }

    /// What looks like a record at first and cannot be one.
    @Test(
        arguments: [
            { $0.version = 2 }, { $0.kind = 99 }, { $0.type = 99 }, { $0.claimedSize = 1 << 20 },
            { $0.claimedSize = 48 },
            { $0.claimedSize = 60 },
            // Without the last NUL before its end.
            {
                $0.texts = ["Category", "Collection", "Name", String(repeating: "x", count: 200)].map {
                    Array($0.utf8)
                }
                $0.claimedSize = 200
            },
        ] as [@Sendable (inout RecordBytes) -> Void])
    func `Is not followed by bytes that are not a record`(bend: @Sendable (inout RecordBytes) -> Void) {
        var wrong = Sample(type: .int32, byteOrder: .native).record
        bend(&wrong)
        let lost = record("Lost", size: 7)
        let section = decode(lost + wrong.bytes + record("Good"))
        #expect(names(section) == ["Good"])
        #expect(section.errors == [.badSize(7, offset: 0, passedOver: lost.count + wrong.bytes.count)])
    }

    @Test func `Is followed by records at multiples of eight bytes only`() {
        let section = decode(
            record("Lost", size: 7) + [0, 0, 0, 0] + record("Moved") + [0, 0, 0, 0] + record("Good"))
        #expect(names(section) == ["Good"])
    }

    @Test func `At the end skips the rest`() {
        let lost = record("Lost", size: 7)
        let section = decode(record("A") + lost + [1, 2, 3])
        #expect(names(section) == ["A"])
        #expect(section.errors.count == 1)
    }

    /// Each eighth byte could begin a record that reaches over 16 MB without a text that ends. A reader that looks at all
    /// of each would take hours.
    @Test func `Is skipped in linear time`() {
        var bytes = encode(UInt32(0x0101_0108), .little) + [1, 1, 4, 1]
        while bytes.count < 1 << 25 { bytes += bytes }
        bytes[0] = 7
        let section = decode(bytes, .little)
        #expect(section.tweaks.isEmpty)
        #expect(section.errors == [.badSize(0x0101_0107, offset: 0, passedOver: bytes.count)])
    }
}
