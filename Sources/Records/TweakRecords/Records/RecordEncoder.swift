// SPDX-License-Identifier: BSD-3-Clause
extension TweakDeclaration {
    /// The bytes of a record for the tweak, for this machine; ``init(record:in:byteOrder:)`` reads them. The cell holds
    /// the default. An action has no function or context yet.
    package var record: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: RecordLayout.textOffset)
        bytes[RecordLayout.versionOffset] = RecordLayout.version
        bytes[RecordLayout.kindOffset] = kind
        bytes[RecordLayout.typeOffset] = type.rawValue
        let numbers: [(offset: Int, value: TweakValue?, flag: UInt8)] = [
            (RecordLayout.cellOffset, defaultValue, 0),
            (RecordLayout.defaultOffset, defaultValue, 0),
            (RecordLayout.minimumOffset, minimum, RecordLayout.hasMinimum),
            (RecordLayout.maximumOffset, maximum, RecordLayout.hasMaximum),
            (RecordLayout.stepOffset, step, RecordLayout.hasStep),
        ]
        for (offset, value, flag) in numbers {
            guard let value else { continue }
            bytes[RecordLayout.flagsOffset] |= flag
            let slot = slot(of: value)
            bytes.replaceSubrange(offset..<offset + slot.count, with: slot)
        }

        let defaultText = if case .string(let text) = defaultValue { text } else { "" }
        let names = [key.category, key.collection, key.name, defaultText]
        // An empty text ends the attributes.
        for text in names + attributes.map({ $0.text }) + [""] { bytes += Array(text.utf8) + [0] }
        bytes += [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
        if type.isNumeric, !choices.isEmpty {
            bytes[RecordLayout.flagsOffset] |= RecordLayout.hasChoices
            bytes += choices.flatMap { slot(of: $0.value) }
        }
        // A size of 4 GB or more is clamped, and readers refuse it.
        withUnsafeBytes(of: UInt32(clamping: bytes.count)) { bytes.replaceSubrange(0..<4, with: $0) }
        return bytes
    }

    private var kind: UInt8 {
        if isMonitor { return RecordLayout.monitorKind }
        if isOptional { return RecordLayout.optionalKind }
        return type == .action ? RecordLayout.actionKind : RecordLayout.valueKind
    }

    /// The eight bytes of a value; of a string's none.
    package func slot(of value: TweakValue) -> [UInt8] {
        let representation: [UInt8] =
            switch (type, value) {
            case (_, .bool(let flag)): [flag ? 1 : 0]
            case (.float, .double(let number)): bytes(of: Float(number).bitPattern)
            case (_, .double(let number)): bytes(of: number.bitPattern)
            case (_, .color(let color)): [color.red, color.green, color.blue, color.alpha]
            case (_, .integer(let number)):
                switch type.byteCount {
                case 1: bytes(of: UInt8(truncatingIfNeeded: number))
                case 2: bytes(of: UInt16(truncatingIfNeeded: number))
                case 4: bytes(of: UInt32(truncatingIfNeeded: number))
                default: bytes(of: UInt64(truncatingIfNeeded: number))
                }
            case (_, .string): TweakValue.emptyCell(type).map { bytes(of: $0) } ?? []
            case (_, .nothing): []
            }
        return representation + [UInt8](repeating: 0, count: 8 - representation.count)
    }

    private func bytes<Number: FixedWidthInteger>(of number: Number) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}
