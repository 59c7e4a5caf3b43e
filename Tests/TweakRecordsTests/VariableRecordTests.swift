// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Records of variables` {
    /// The record of an array in which a test can bend each field.
    private struct ArrayBytes {
        var order = ByteOrder.native
        var flags: UInt8 = 48
        var count: UInt32 = 3
        var initial: UInt32?
        var values: [Int16] = [5, -6, 7]
        var texts = ["Game", "Curve", "Point", "", "at=game.c:7", "unit=m", ""]

        var bytes: [UInt8] {
            var text = texts.flatMap { text -> [UInt8] in Array(text.utf8) + [0] }
            text += [UInt8](repeating: 0, count: (8 - text.count % 8) % 8)
            let end = 48 + text.count
            var bytes = encode(UInt32(end + 8 * values.count), order)
            bytes += [1, 6, TweakType.int16.rawValue, flags]
            bytes +=
                encode(UInt64(0x4020), order) + encode(count, order) + encode(initial ?? UInt32(end), order)
            bytes += [UInt8](repeating: 0, count: 24) + text
            return bytes + values.flatMap { encode($0, order) + [0, 0, 0, 0, 0, 0] }
        }
    }

    private let tweak = RecordBytes(type: TweakType.double.rawValue).bytes

    @Test(arguments: [ByteOrder.little, .big])
    func `A variable is a tweak, whose default is the noted initial value`(order: ByteOrder) throws {
        var record = RecordBytes(
            type: TweakType.double.rawValue, byteOrder: order, kind: 6, flags: 17,
            defaultValue: encode((-9.81).bitPattern, order), minimum: encode((-50.0).bitPattern, order))
        var section = decode(record.bytes, order)
        let variable = try #require(section.tweaks.first?.declaration)
        #expect(section.errors.isEmpty && section.tweaks.count == 1)
        #expect(variable.defaultValue == -9.81 && variable.minimum == -50.0 && !variable.isMonitor)
        record.flags = 1
        section = decode(record.bytes, order)
        #expect(section.tweaks.first?.declaration.defaultValue == .nothing)
    }

    @Test(arguments: [ByteOrder.little, .big])
    func `Each element of an array is a tweak`(order: ByteOrder) {
        let tweak = RecordBytes(type: TweakType.double.rawValue, byteOrder: order).bytes
        let section = decode(tweak + ArrayBytes(order: order).bytes, order)
        let elements = section.tweaks.filter { $0.declaration.type == .int16 }
        #expect(
            section.errors.isEmpty
                && elements.map(\.declaration.key.name) == ["Point[0]", "Point[1]", "Point[2]"])
        #expect(elements.map(\.declaration.defaultValue) == [5, -6, 7])
        #expect(elements.allSatisfy { $0.offset == tweak.count && $0.declaration.unit == "m" })
    }

    @Test func `The values of choices follow those of the elements`() throws {
        var array = ArrayBytes()
        array.flags = 56
        array.texts = ["Game", "Curve", "Point", "", "choice=", "choice=", "label=most", ""]
        array.values = [5, -6, 7, 5, 7]
        array.initial = 96
        let choices = decode(array.bytes).tweaks.map(\.declaration.choices)
        #expect(
            choices.count == 3
                && choices.allSatisfy { $0 == [TweakChoice(5), TweakChoice(7, label: "most")] })
    }

    @Test(
        arguments: [
            (0, nil), (4, nil), (257, nil), (.max, nil), (3, 0), (3, 40), (3, 81), (3, 96), (3, .max),
            (3, 0xFFFF_FFF8),
        ] as [(UInt32, UInt32?)])
    func `An array whose values are not inside its record is an error`(count: UInt32, initial: UInt32?) {
        let section = decode(ArrayBytes(count: count, initial: initial).bytes + tweak)
        #expect(section.errors == [.badArray(offset: 0)] && section.tweaks.count == 1)
    }

    @Test(arguments: [TweakType.string, .action]) func `Text and actions are no objects`(type: TweakType) {
        let section = decode(RecordBytes(type: type.rawValue, kind: 6).bytes)
        #expect(section.errors == [.unknownType(type.rawValue, offset: 0)] && section.tweaks.isEmpty)
    }

    @Test func `What is noted is read again`() throws {
        var array = ArrayBytes(flags: 32)
        array.values = [0, 0, 0]
        var bytes = array.bytes
        let object = try #require(try RecordedObject(bytes.span.bytes, in: bytes.indices, byteOrder: .native))
        #expect(object.count == 3 && object.byteCount == 6)
        #expect(object.address(in: bytes.span.bytes, .native, is64Bit: true) == 0x4020)
        bytes.withUnsafeMutableBytes {
            object.note([5, -6, 7].flatMap { encode($0 as Int16, .native) }, in: $0)
        }
        #expect(bytes == ArrayBytes().bytes)
    }

    @Test(arguments: [
        ("Point[2]", "Point"), ("a[b][0]", "a[b]"), ("Point", nil), ("[1]", nil), ("Point]", nil), ("]", nil),
        ("", nil),
    ])
    func `The name of an element tells that of the array`(name: String, array: String?) {
        #expect(TweakKey("A", "B", name).ofArray == array.map { TweakKey("A", "B", $0) })
    }
}
