// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Records of gates` {
    /// The record of a gate in which a test can bend each field.
    private struct GateBytes {
        var order = ByteOrder.native
        var texts = ["Motor", "", "", "", "at=motor.c:7", ""]
        var capacity: UInt32 = 2
        var entries: UInt32?
        var stores = 2

        var bytes: [UInt8] {
            var text = texts.flatMap { text -> [UInt8] in Array(text.utf8) + [0] }
            text += [UInt8](repeating: 0, count: (8 - text.count % 8) % 8)
            let end = 48 + text.count
            var bytes = encode(UInt32(end + 24 * stores), order) + [1, 4, 0, 0]
            bytes += encode(UInt64(0), order)
            bytes += encode(capacity, order)
            bytes += encode(entries ?? UInt32(end), order)
            bytes += [UInt8](repeating: 0, count: 24)
            bytes += text
            bytes += [UInt8](repeating: 0, count: 24 * stores)
            return bytes
        }
    }

    private let tweak = RecordBytes(type: TweakType.double.rawValue).bytes

    @Test(arguments: [ByteOrder.little, .big]) func `A gate is read, and is no tweak`(order: ByteOrder) {
        let section = decode(GateBytes(order: order).bytes, order)
        #expect(section.tweaks.isEmpty && section.errors.isEmpty)
        #expect(
            section.controls.gates.map(\.gate) == [
                Gate(name: GateName("Motor"), capacity: 2, entriesOffset: 72, location: "motor.c:7")
            ])
    }

    @Test func `Tweaks around it are read`() {
        let section = decode(tweak + GateBytes().bytes + tweak)
        #expect(section.tweaks.count == 2 && section.errors.isEmpty)
        #expect(section.controls.gates.map(\.offset) == [tweak.count])
    }

    @Test func `Damage before a gate does not hide it`() {
        let section = decode([12, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 60) + GateBytes().bytes)
        #expect(section.controls.gates.count == 1 && section.errors.count == 1)
    }

    @Test(
        arguments: [
            (0, nil, 2), (3, nil, 2), (.max, nil, 2), (2, 71, 2), (2, 64, 2), (2, 56, 2), (2, 40, 2),
            (2, 88, 2),
            (2, .max, 2), (2, 0xFFFF_FFF8, 2), (1, nil, 0),
        ] as [(UInt32, UInt32?, Int)]) func `One whose stores are not inside it is an error`(
            capacity: UInt32, entries: UInt32?, stores: Int
        )
    {
        let bytes = GateBytes(capacity: capacity, entries: entries, stores: stores).bytes
        let section = decode(bytes + tweak)
        #expect(section.controls.gates.isEmpty)
        #expect(section.errors == [.badGate(offset: 0)])
        #expect(section.tweaks.count == 1)
    }

    @Test func `One without texts is an error`() {
        var bytes = GateBytes(stores: 0).bytes
        for index in 48..<bytes.count { bytes[index] = 0x41 }
        #expect(decode(bytes).errors == [.badGate(offset: 0)])
        #expect(
            decode(encode(UInt32(16), .native) + [1, 4, 0, 0] + [UInt8](repeating: 0, count: 8)).errors.count
                == 1)
    }

    @Test func `A sequence is found`() {
        let sequence = encode(UInt32(56), .native) + [1, 5, 0, 0] + [UInt8](repeating: 0, count: 48)
        let section = decode(tweak + sequence)
        #expect(section.controls.sequences == [tweak.count])
        #expect(section.tweaks.count == 1 && section.errors.isEmpty)
        #expect(ControlRecords(in: (tweak + sequence).span.bytes, byteOrder: .native).sequences.count == 1)
    }

    @Test func `The more specific gate is for a tweak, and the first of a name`() {
        let names = [GateName("Motor"), GateName("Motor", "PID"), GateName("Motor", "PID")]
        #expect(names.gate(of: TweakKey("Motor", "PID", "P")) == GateName("Motor", "PID"))
        #expect(names.gate(of: TweakKey("Motor", "Other", "P")) == GateName("Motor"))
        #expect(names.gate(of: TweakKey("Drawing", "PID", "P")) == nil)
        #expect(GateName("A/B", "50%").description == "A%2FB/50%25")
    }
}
