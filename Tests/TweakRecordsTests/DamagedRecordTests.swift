// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakRecords

/// Whatever the bytes are, a reader gives a tweak that holds what its type says, or an error. A trap would end the
/// test run.
@Suite struct `Damaged records` {
    @Test(arguments: Sample.all)
    func `A truncated record is not a tweak`(sample: Sample) {
        let bytes = sample.record.bytes
        for count in 0..<bytes.count {
            let section = decode(Array(bytes[..<count]), sample.byteOrder)
            #expect(section.tweaks.isEmpty, "cut off at \(count)")
            #expect(section.errors.count == (count < 4 ? 0 : 1), "cut off at \(count)")
        }
    }

    @Test(arguments: Sample.all)
    func `A truncated second record does not hide the first`(sample: Sample) {
        let bytes = sample.record.bytes
        for count in 4..<bytes.count {
            let section = decode(bytes + bytes[..<count], sample.byteOrder)
            #expect(section.tweaks.map(\.offset) == [0])
            #expect(section.errors.count == 1)
        }
    }

    @Test(arguments: Sample.all)
    func `A record with a flipped bit is a valid tweak or an error`(sample: Sample) {
        let bytes = sample.record.bytes
        for bit in 0..<8 * bytes.count {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            let section = decode(flipped, sample.byteOrder)
            #expect(section.tweaks.allSatisfy { isSound($0.declaration) }, "bit \(bit)")
            // Another size, version or kind may make it something to step over.
            if bit >= 8 * 6 {
                #expect(section.tweaks.count + section.errors.count == 1, "bit \(bit)")
            }
        }
    }

    @Test(arguments: Sample.withChoices(.native), [0, 1, UInt8(ascii: "="), 0xFF])
    func `A record with choices and a changed byte is a valid tweak or an error`(
        sample: Sample, byte: UInt8
    ) {
        let bytes = sample.record.bytes
        for index in 48..<bytes.count {
            var bent = bytes
            bent[index] = byte
            let section = decode(bent)
            #expect(section.tweaks.count + section.errors.count == 1)
            #expect(section.tweaks.allSatisfy { isSound($0.declaration) })
        }
    }

    @Test(arguments: [ByteOrder.little, .big])
    func `Random bytes are valid tweaks or errors`(order: ByteOrder) {
        var random = SeededGenerator(seed: 20_260_101)
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<400, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if count >= 8 {
                let size = UInt32.random(in: 0...UInt32(count), using: &random) / 8 * 8
                bytes.replaceSubrange(
                    0..<8,
                    with: encode(size, order) + [
                        1, UInt8.random(in: 1...2, using: &random), UInt8.random(in: 0...15, using: &random),
                        UInt8.random(in: 0...15, using: &random),
                    ])
            }
            let section = decode(bytes, order)
            #expect(section.tweaks.allSatisfy { isSound($0.declaration) })
        }
    }

    @Test(arguments: Sample.all)
    func `Three damaged records are valid tweaks or errors`(sample: Sample) throws {
        let bytes = sample.record.bytes
        for (index, bytes) in damaged(bytes + bytes + bytes, count: isLong ? 10_000 : 1000).enumerated() {
            let section = decode(bytes, sample.byteOrder)
            #expect(section.tweaks.allSatisfy { isSound($0.declaration) }, "\(index)")
            // What is said of them is made without a trap, too.
            for (_, tweak) in section.tweaks {
                _ = "\(tweak.allowed) \(tweak.problem.map { "\($0)" } ?? "") \(tweak.admitsDefault)"
                _ = try? tweak.admit(tweak.defaultValue)
                _ = try? tweak.admit(text: "-0x8000000000000000")
                #expect(tweak.record.count % 8 == 0)
            }
            _ = section.errors.map(\.description)
        }
    }

    @Test(arguments: Sample.all.filter { $0.byteOrder == .native })
    func `A damaged record is resolved or an error`(sample: Sample) {
        let key = TweakKey("Category", "Collection", "Name")
        for bytes in damaged(sample.record.bytes, count: isLong ? 10_000 : 500) where bytes.count >= 8 {
            _ = try? decodeKnown(bytes, of: key)
        }
    }

    private func isSound(_ tweak: TweakDeclaration) -> Bool {
        let values =
            [tweak.defaultValue] + [tweak.minimum, tweak.maximum, tweak.step].compactMap { $0 }
            + tweak.choices.map(\.value)
        guard values.allSatisfy({ fits($0, tweak.type) }) else { return false }
        guard tweak.choices.isEmpty || tweak.minimum == nil && tweak.maximum == nil else { return false }
        return switch (tweak.minimum, tweak.maximum) {
        case (.integer(let minimum)?, .integer(let maximum)?): minimum <= maximum
        case (.double(let minimum)?, .double(let maximum)?): minimum <= maximum
        case (.double(let limit)?, nil), (nil, .double(let limit)?): !limit.isNaN
        default: true
        }
    }

    private func fits(_ value: TweakValue, _ type: TweakType) -> Bool {
        switch (type, value) {
        case (.bool, .bool), (.float, .double), (.double, .double), (.color, .color), (.action, .nothing):
            true
        case (.string, .string(let text)): !text.utf8.contains(0)
        case (_, .integer(let number)): type.integerRange?.contains(number) == true
        default: false
        }
    }
}
