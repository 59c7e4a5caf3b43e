// SPDX-License-Identifier: BSD-3-Clause
extension TweakDeclaration {
    /// The bytes of a record for the tweak, for this machine; ``init(record:in:byteOrder:)`` reads them. The cell holds
    /// the default. An action has no function or context yet.
    package var record: [UInt8] {
        let defaultText = if case .string(let text) = defaultValue { text } else { "" }
        var bytes: [UInt8] = []
        // Most records are smaller.
        bytes.reserveCapacity(256)
        // The size is known at the end.
        bytes.append(bytesOf: UInt32(0))
        bytes.append(RecordLayout.version)
        bytes.append(kind)
        bytes.append(type.rawValue)
        bytes.append(flags)
        let value = word(of: defaultValue)
        let words: InlineArray<5, UInt64> = [
            value, value, word(of: minimum), word(of: maximum), word(of: step),
        ]
        bytes.append(bytesOf: words)

        bytes.append(text: key.category)
        bytes.append(text: key.collection)
        bytes.append(text: key.name)
        bytes.append(text: defaultText)
        switch attributeList {
        case .recorded(let texts): bytes += texts
        case .listed(let attributes): for attribute in attributes { bytes.append(text: attribute.text) }
        }
        // An empty text ends the attributes.
        bytes.append(0)
        bytes.append(contentsOf: repeatElement(0, count: (8 - bytes.count % 8) % 8))
        if hasBlock {
            for choice in choices { bytes.append(bytesOf: word(of: choice.value)) }
        }
        // A size of 4 GB or more is clamped, and readers refuse it.
        let size = UInt32(clamping: bytes.count)
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: size, as: UInt32.self) }
        return bytes
    }

    private var kind: UInt8 {
        if isMonitor { return RecordLayout.monitorKind }
        if isOptional { return RecordLayout.optionalKind }
        return type == .action ? RecordLayout.actionKind : RecordLayout.valueKind
    }

    private var flags: UInt8 {
        (minimum == nil ? 0 : RecordLayout.hasMinimum) | (maximum == nil ? 0 : RecordLayout.hasMaximum)
            | (step == nil ? 0 : RecordLayout.hasStep) | (hasBlock ? RecordLayout.hasChoices : 0)
    }

    /// Whether the values of the choices are at the end of the record.
    private var hasBlock: Bool { type.isNumeric && !choices.isEmpty }

    /// The eight bytes of a value; of a string zeros.
    package func slot(of value: TweakValue) -> [UInt8] {
        withUnsafeBytes(of: word(of: value)) { Array($0) }
    }

    /// The eight bytes of a value as a number; 0 of a string or no value.
    private func word(of value: TweakValue?) -> UInt64 {
        var word: UInt64 = 0
        // The first bytes, whatever the byte order.
        withUnsafeMutableBytes(of: &word) { bytes in
            switch (type, value) {
            case (_, .bool(let flag)?): bytes[0] = flag ? 1 : 0
            case (.float, .double(let number)?):
                bytes.storeBytes(of: Float(number).bitPattern, as: UInt32.self)
            case (_, .double(let number)?): bytes.storeBytes(of: number.bitPattern, as: UInt64.self)
            case (_, .color(let color)?):
                (bytes[0], bytes[1], bytes[2], bytes[3]) = (color.red, color.green, color.blue, color.alpha)
            case (_, .integer(let number)?):
                switch type.byteCount {
                case 1: bytes[0] = UInt8(truncatingIfNeeded: number)
                case 2: bytes.storeBytes(of: UInt16(truncatingIfNeeded: number), as: UInt16.self)
                case 4: bytes.storeBytes(of: UInt32(truncatingIfNeeded: number), as: UInt32.self)
                default: bytes.storeBytes(of: UInt64(truncatingIfNeeded: number), as: UInt64.self)
                }
            case (_, .string?):
                bytes.storeBytes(of: TweakValue.emptyCell(type) ?? 0, as: UInt64.self)
            case (_, .nothing?), (_, nil): break
            }
        }
        return word
    }
}

extension [UInt8] {
    /// Appends a text and a NUL.
    mutating func append(text: String) {
        append(contentsOf: text.utf8)
        append(0)
    }

    fileprivate mutating func append(bytesOf value: some BitwiseCopyable) {
        Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
    }
}
