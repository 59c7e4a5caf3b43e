// SPDX-License-Identifier: BSD-3-Clause
/// The object with static storage that the record of a variable points to. `CSupport/RecordFormat.md` explains the record.
package struct RecordedObject: Sendable {
    /// The offset of the record.
    package let offset: Int
    /// The type of the object, or of the elements of an array.
    package let type: TweakType
    /// Whether each element is a tweak.
    package let isArray: Bool
    /// The number of tweaks: 1 unless it is an array.
    package let count: Int
    /// The offset of the initial value, or of the first of an array's.
    private let initialOffset: Int
    /// The offset of the end of the texts; `nil` for that of the record.
    package let textEnd: Int?

    /// The size of the object in bytes.
    package var byteCount: Int { count * type.byteCount }

    /// - Returns: `nil` for records of other kinds.
    /// - Throws: ``RecordError/badArray(offset:)``, or ``RecordError/unknownType(_:offset:)`` for a type without a value.
    package init?(_ bytes: RawSpan, in range: Range<Int>, byteOrder: ByteOrder) throws(RecordError) {
        let start = range.lowerBound
        guard start >= 0, range.upperBound <= bytes.byteCount, range.count > RecordLayout.textOffset,
            bytes.number(at: start + RecordLayout.kindOffset, as: UInt8.self, byteOrder)
                == RecordLayout.variableKind,
            let code: UInt8 = bytes.number(at: start + RecordLayout.typeOffset, byteOrder),
            let flags: UInt8 = bytes.number(at: start + RecordLayout.flagsOffset, byteOrder)
        else { return nil }
        guard let type = TweakType(rawValue: code), type != .string, type != .action else {
            throw .unknownType(code, offset: start)
        }
        (offset, self.type) = (start, type)
        isArray = flags & RecordLayout.isArray != 0
        guard isArray else {
            (count, initialOffset, textEnd) = (1, start + RecordLayout.defaultOffset, nil)
            return
        }
        guard let count: UInt32 = bytes.number(at: start + RecordLayout.countOffset, byteOrder),
            let initial: UInt32 = bytes.number(at: start + RecordLayout.initialOffset, byteOrder),
            (1...RecordLayout.mostElements).contains(Int(count)), initial % 8 == 0,
            initial > RecordLayout.textOffset,
            Int(initial) + RecordLayout.initialSize * Int(count) <= range.count
        else { throw .badArray(offset: start) }
        self.count = Int(count)
        initialOffset = start + Int(initial)
        textEnd = initialOffset
    }

    /// The address of the object, as it is in the record.
    ///
    /// - Parameter is64Bit: Whether the machine's pointers have 64 bits.
    package func address(in bytes: RawSpan, _ order: ByteOrder, is64Bit: Bool) -> UInt64? {
        let start = offset + RecordLayout.cellOffset
        return is64Bit
            ? bytes.number(at: start, order) : (bytes.number(at: start, order) as UInt32?).map(UInt64.init)
    }

    /// The address of the object in this process.
    package func address(in bytes: RawSpan) -> UInt {
        address(in: bytes, .native, is64Bit: MemoryLayout<UInt>.size == 8).flatMap { UInt(exactly: $0) } ?? 0
    }

    /// The initial value of a tweak; `nil` if it has not been noted.
    func initialValue(of index: Int, in bytes: RawSpan, _ order: ByteOrder) -> TweakValue? {
        let flags: UInt8 = bytes.number(at: offset + RecordLayout.flagsOffset, order) ?? 0
        return flags & RecordLayout.knowsDefault == 0
            ? nil : bytes.value(at: initialOffset + RecordLayout.initialSize * index, type, order)
    }

    /// The parts of the record that noting the initial content changes.
    package var noted: [Range<Int>] {
        let flags = offset + RecordLayout.flagsOffset
        return [flags..<flags + 1, initialOffset..<initialOffset + RecordLayout.initialSize * count]
    }

    /// Notes the initial content of the object in its record, where the defaults of its tweaks are read.
    ///
    /// - Parameters:
    ///   - content: As many bytes as the object has.
    ///   - bytes: The bytes of which the record is a part.
    package func note(_ content: [UInt8], in bytes: UnsafeMutableRawBufferPointer) {
        guard content.count == byteCount else { return }
        for index in content.indices {
            let (element, rest) = index.quotientAndRemainder(dividingBy: type.byteCount)
            bytes[initialOffset + RecordLayout.initialSize * element + rest] = content[index]
        }
        bytes[offset + RecordLayout.flagsOffset] |= RecordLayout.knowsDefault
    }
}

extension RecordSection {
    /// The objects of all variables in a section. Records that are not valid are left out.
    package static func objects(in bytes: RawSpan, byteOrder: ByteOrder) -> [RecordedObject] {
        var objects: [RecordedObject] = []
        var walk = RecordWalk()
        while true {
            do throws(RecordError) {
                guard let range = try walk.next(in: bytes, byteOrder: byteOrder) else { return objects }
                if let object = try RecordedObject(bytes, in: range, byteOrder: byteOrder) {
                    objects.append(object)
                }
            } catch { continue }
        }
    }
}
