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
        append(defaultValue, to: &bytes)
        append(defaultValue, to: &bytes)
        append(minimum, to: &bytes)
        append(maximum, to: &bytes)
        append(step, to: &bytes)

        bytes.append(text: key.category)
        bytes.append(text: key.collection)
        bytes.append(text: key.name)
        bytes.append(text: defaultText)
        for attribute in attributes {
            bytes.append(contentsOf: attribute.key.utf8)
            if attribute.hasValue {
                bytes.append(UInt8(ascii: "="))
                bytes.append(contentsOf: attribute.value.utf8)
            }
            bytes.append(0)
        }
        // An empty text ends the attributes.
        bytes.append(0)
        bytes.append(zeros: (8 - bytes.count % 8) % 8)
        if hasBlock {
            for choice in choices { append(choice.value, to: &bytes) }
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
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    /// Appends the eight bytes of a value; of a string, or without a value, zeros.
    private func append(_ value: TweakValue?, to bytes: inout [UInt8]) {
        let end = bytes.count + 8
        switch (type, value) {
        case (_, .bool(let flag)?): bytes.append(flag ? 1 : 0)
        case (.float, .double(let number)?): bytes.append(bytesOf: Float(number).bitPattern)
        case (_, .double(let number)?): bytes.append(bytesOf: number.bitPattern)
        case (_, .color(let color)?):
            bytes.append(color.red)
            bytes.append(color.green)
            bytes.append(color.blue)
            bytes.append(color.alpha)
        case (_, .integer(let number)?):
            switch type.byteCount {
            case 1: bytes.append(UInt8(truncatingIfNeeded: number))
            case 2: bytes.append(bytesOf: UInt16(truncatingIfNeeded: number))
            case 4: bytes.append(bytesOf: UInt32(truncatingIfNeeded: number))
            default: bytes.append(bytesOf: UInt64(truncatingIfNeeded: number))
            }
        case (_, .string?): bytes.append(bytesOf: TweakValue.emptyCell(type) ?? 0)
        case (_, .nothing?), (_, nil): break
        }
        bytes.append(zeros: end - bytes.count)
    }
}

extension [UInt8] {
    /// Appends a text and a NUL.
    mutating func append(text: String) {
        append(contentsOf: text.utf8)
        append(0)
    }

    fileprivate mutating func append(bytesOf number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number) { append(contentsOf: $0) }
    }

    fileprivate mutating func append(zeros count: Int) { append(contentsOf: repeatElement(0, count: count)) }
}
