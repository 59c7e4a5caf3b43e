// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Broken records` {
    private func errors(_ bend: (inout RecordBytes) -> Void, type: TweakType = .int32) -> [RecordError] {
        var record = Sample(type: type, byteOrder: .native).record
        bend(&record)
        return decode(record.bytes).errors
    }

    @Test(arguments: [UInt32(1), 4, 7, 57])
    func `A size that is not a multiple of 8 is an error`(size: UInt32) {
        let count = Sample(type: .int32, byteOrder: .native).record.bytes.count
        #expect(errors { $0.claimedSize = size } == [.badSize(size, offset: 0, passedOver: count)])
    }

    @Test(arguments: [UInt32(8), 40, 48])
    func `A size without room for the text is an error`(size: UInt32) {
        let bytes = encode(size, .native) + [1, 1, 4, 0] + Array(repeating: 0, count: Int(size) - 8)
        #expect(decode(bytes).errors == [.badSize(size, offset: 0, passedOver: Int(size))])
    }

    @Test func `A record after one that is too small is still read`() {
        let small = encode(UInt32(8), .native) + [1, 1, 4, 0]
        let section = decode(small + Sample(type: .bool, byteOrder: .native).record.bytes)
        #expect(section.errors == [.badSize(8, offset: 0, passedOver: 8)])
        #expect(section.tweaks.map(\.offset) == [8])
    }

    @Test(arguments: [UInt32(8192), 0xFFFF_FFF8])
    func `A size beyond the end is an error`(size: UInt32) {
        let count = Sample(type: .int32, byteOrder: .native).record.bytes.count
        #expect(
            errors { $0.claimedSize = size } == [
                .beyondEnd(size: size, offset: 0, sectionSize: count, passedOver: count)
            ])
    }

    @Test(arguments: [UInt8(0), 15, 255])
    func `An unknown type is an error`(type: UInt8) {
        #expect(errors { $0.type = type } == [.unknownType(type, offset: 0)])
    }

    @Test func `A value of type action and an action of another type are errors`() {
        #expect(errors { $0.type = 14 } == [.unknownType(14, offset: 0)])
        #expect(errors { $0.kind = 2 } == [.unknownType(4, offset: 0)])
    }

    @Test(arguments: 0..<4)
    func `An unterminated text is an error`(count: Int) {
        let full = Array(repeating: UInt8(ascii: "x"), count: 8 - 2 * count)
        var bytes = encode(UInt32(56), .native) + [1, 1, 4, 0] + Array(repeating: UInt8(0), count: 40)
        for _ in 0..<count { bytes += [UInt8(ascii: "x"), 0] }
        bytes += full
        #expect(decode(bytes).errors == [.unterminatedText(offset: 0)])
    }

    @Test func `A minimum above the maximum is an error`() {
        #expect(errors { swap(&$0.minimum, &$0.maximum) } == [.badLimits(offset: 0)])
        #expect(errors({ swap(&$0.minimum, &$0.maximum) }, type: .double) == [.badLimits(offset: 0)])
    }

    @Test(arguments: [UInt8(1), 2, 3])
    func `A limit that is not a number is an error`(flags: UInt8) {
        let nan = encode(Double.nan.bitPattern, .native)
        #expect(
            errors(
                {
                    $0.flags = flags
                    if flags & 1 != 0 { $0.minimum = nan } else { $0.maximum = nan }
                }, type: .double) == [.badLimits(offset: 0)])
    }

    @Test func `A broken record does not hide the ones around it`() {
        let good = Sample(type: .int32, byteOrder: .native).record.bytes
        var broken = Sample(type: .int32, byteOrder: .native).record
        broken.type = 99
        let section = decode(good + broken.bytes + good)
        #expect(section.errors == [.unknownType(99, offset: good.count)])
        #expect(section.tweaks.count == 2)
    }

    @Test func `The wrong byte order gives an error and no tweak`() {
        let section = decode(Sample(type: .int32, byteOrder: .big).record.bytes, .little)
        #expect(section.tweaks.isEmpty)
        #expect(section.errors.count == 1)
    }

    @Test func `Errors describe problem and place on one line`() {
        let errors: [RecordError] = [
            .badSize(7, offset: 8), .beyondEnd(size: 64, offset: 8, sectionSize: 16),
            .badSize(7, offset: 8, passedOver: 16),
            .beyondEnd(size: 64, offset: 8, sectionSize: 32, passedOver: 24),
            .unknownType(99, offset: 8), .unterminatedText(offset: 8), .badLimits(offset: 8),
            .choicesOfType(.color, offset: 8), .badChoices(offset: 8),
        ]
        for error in errors {
            #expect(error.description.hasPrefix("record at offset 8: "))
            #expect(!error.description.contains("\n"))
        }
    }
}
