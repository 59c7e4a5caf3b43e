// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Decoding records` {
    @Test(arguments: Sample.all)
    func `A record of each type and byte order decodes correctly`(sample: Sample) {
        let section = decode(sample.record.bytes, sample.byteOrder)
        #expect(section.errors.isEmpty)
        #expect(section.tweaks.map(\.declaration) == [sample.declaration])
    }

    @Test(arguments: Sample.all)
    func `A record whose name is known decodes to the same tweak`(sample: Sample) throws {
        let expected = sample.declaration
        #expect(try decodeKnown(sample.record.bytes, sample.byteOrder, of: expected.key) == expected)
    }

    @Test func `The example of the format has these bytes`() {
        let parts: [[UInt8]] = [
            [64, 0, 0, 0, 1, 1, 4, 3],  // size, version, kind, int32, minimum and maximum
            [42, 0, 0, 0, 0, 0, 0, 0], [42, 0, 0, 0, 0, 0, 0, 0],  // cell, default
            [0xF6, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [100, 0, 0, 0, 0, 0, 0, 0],  // -10, 100
            [0, 0, 0, 0, 0, 0, 0, 0], Array("A\0B\0C\0\0at=c:1\0\0\0".utf8),
        ]
        let bytes = parts.flatMap { $0 }
        #expect(
            decode(bytes, .little).tweaks.map(\.declaration) == [
                TweakDeclaration(
                    key: TweakKey("A", "B", "C"), type: .int32, defaultValue: 42, minimum: -10, maximum: 100,
                    attributes: [.init(key: "at", value: "c:1")])
            ])
    }

    @Test func `An empty section has no tweaks`() {
        let section = decode([])
        #expect(section.tweaks.isEmpty && section.errors.isEmpty)
    }

    @Test(arguments: [UInt8(0), 1, 2, 3, 4, 5, 6, 7])
    func `Only limits with a flag count`(flags: UInt8) {
        var record = Sample(type: .int16, byteOrder: .native).record
        record.flags = flags
        let tweak = decode(record.bytes).tweaks.first?.declaration
        #expect((tweak?.minimum != nil) == (flags & 1 != 0))
        #expect((tweak?.maximum != nil) == (flags & 2 != 0))
        #expect((tweak?.step != nil) == (flags & 4 != 0))
    }

    @Test(arguments: [TweakType.bool, .string])
    func `Limits of a type without an order are ignored`(type: TweakType) {
        var record = Sample(type: type, byteOrder: .native).record
        record.flags = 7
        record.minimum = [9]
        let tweak = decode(record.bytes).tweaks.first?.declaration
        #expect(tweak?.minimum == nil && tweak?.maximum == nil && tweak?.step == nil)
    }

    @Test func `The default does not follow the cell`() {
        var bytes = Sample(type: .uint8, byteOrder: .native).record.bytes
        bytes[8] = 7
        #expect(decode(bytes).tweaks.first?.declaration.defaultValue == 253)
    }

    @Test func `Padding before, between and after records is skipped`() {
        let padding = Array(repeating: UInt8(0), count: 24)
        let first = Sample(type: .int32, byteOrder: .native).record.bytes
        let second = Sample(type: .string, byteOrder: .native).record.bytes
        let section = decode(padding + first + padding + second + padding)
        #expect(section.errors.isEmpty)
        #expect(section.tweaks.map(\.offset) == [24, 48 + first.count])
        #expect(section.tweaks.map(\.declaration.type) == [.int32, .string])
    }

    @Test func `A record of an unknown kind is skipped`() {
        var unknown = Sample(type: .int32, byteOrder: .native).record
        unknown.kind = 77
        let known = Sample(type: .bool, byteOrder: .native).record
        let section = decode(unknown.bytes + known.bytes)
        #expect(section.errors.isEmpty)
        #expect(section.tweaks.map(\.declaration.type) == [.bool])
    }

    @Test func `A record of a later version is skipped, whatever its content`() {
        let later = encode(UInt32(80), .native) + [2, 1, 200, 255] + Array(repeating: 0xFF, count: 72)
        let known = Sample(type: .bool, byteOrder: .native).record
        let section = decode(later + known.bytes)
        #expect(section.errors.isEmpty)
        #expect(section.tweaks.map(\.offset) == [80])
    }

    @Test func `A record of a later version may be shorter than one of this version`() {
        let later = encode(UInt32(8), .native) + [2, 1, 0, 0]
        let section = decode(later + Sample(type: .bool, byteOrder: .native).record.bytes)
        #expect(section.errors.isEmpty)
        #expect(section.tweaks.map(\.offset) == [8])
    }

    @Test func `Bytes after the attributes are ignored`() {
        var record = Sample(type: .int32, byteOrder: .native).record
        record.texts += [[], Array("unit=m".utf8)]
        #expect(decode(record.bytes).tweaks.first?.declaration.attributes.map(\.key) == ["at", "doc"])
    }

    @Test func `An attribute without a value has an empty one`() {
        var record = Sample(type: .int32, byteOrder: .native).record
        record.texts.append(Array("read-only".utf8))
        #expect(
            decode(record.bytes).tweaks.first?.declaration.attributes.last
                == .init(key: "read-only", value: ""))
    }

    @Test func `Tweaks are in the order of their files' first records, then of their lines`() {
        let locations = [
            ("B9", "at=b.c:9"), ("A2", "at=a.c:2"), ("none", "doc="), ("B1", "at=b.c:1"), ("A1", "at=a.c:1"),
            ("B1, too", "at=b.c:1"), ("A10", "at=a.c:10"), ("no line", "at=a.c:x"),
        ]
        let records = locations.flatMap { name, location in
            RecordBytes(type: 1, texts: ["A", "B", name, "", location].map { Array($0.utf8) }).bytes
        }
        #expect(
            decode(records).tweaks.map(\.declaration.key.name)
                == ["B1", "B1, too", "B9", "A1", "A2", "none", "A10", "no line"])
    }

    @Test func `An option has the first attribute with its whole key`() {
        var record = Sample(type: .int64, byteOrder: .native).record
        record.texts += ["uni=a", "units=b", "unit=kg", "unit=m", "needs-restart=", "optionally"].map {
            Array($0.utf8)
        }
        let tweak = decode(record.bytes).tweaks.first?.declaration
        #expect(tweak?.unit == "kg" && tweak?.owner == nil)
        #expect(tweak?.needsRestart == true && tweak?.isOptional == false)
    }

    @Test func `Attributes from a record equal the same ones from a list`() throws {
        var record = Sample(type: .int64, byteOrder: .native).record
        record.texts += ["unit=kg", "read-only"].map { Array($0.utf8) }
        let decoded = try #require(decode(record.bytes).tweaks.first?.declaration)
        var listed = decoded
        listed.attributes = decoded.attributes
        #expect(listed == decoded && listed.hashValue == decoded.hashValue)
        #expect(listed.record == decoded.record)
        listed.attributes.removeLast()
        #expect(listed != decoded)
    }

    @Test func `The value of an attribute may begin with a combining character`() {
        var record = Sample(type: .int32, byteOrder: .native).record
        record.texts.append(Array("unit=\u{301}".utf8))
        #expect(
            decode(record.bytes).tweaks.first?.declaration.attributes.last
                == .init(key: "unit", value: "\u{301}"))
    }

    @Test func `Text that is not UTF-8 is repaired`() {
        var record = Sample(type: .string, byteOrder: .native).record
        record.texts[2] = [0x41, 0xFF, 0xC3]
        record.texts[3] = [0xED, 0xA0, 0x80]
        let tweak = decode(record.bytes).tweaks.first?.declaration
        #expect(tweak?.key.name == "A\u{FFFD}\u{FFFD}")
        #expect(tweak?.defaultValue == "\u{FFFD}\u{FFFD}\u{FFFD}")
    }

    @Test func `A Bool whose byte is neither 0 nor 1 is true`() {
        var record = Sample(type: .bool, byteOrder: .native).record
        record.defaultValue = [2]
        #expect(decode(record.bytes).tweaks.first?.declaration.defaultValue == true)
    }
}
