internal import Glibc

extension TweakDeclaration {
    /// Decodes one record of a value or an action.
    ///
    /// - Parameters:
    ///   - bytes: The section.
    ///   - range: Where the record is, as ``RecordWalk`` gives it.
    ///   - byteOrder: The byte order of the binary.
    /// - Throws: ``RecordError`` if the bytes are no record.
    public init(record bytes: RawSpan, in range: Range<Int>, byteOrder: ByteOrder) throws(RecordError) {
        try self.init(record: bytes, in: range, byteOrder: byteOrder, knownAs: nil)
    }

    /// Decodes what decides which values a tweak takes and when, without the attributes that only people read.
    ///
    /// - Parameter key: The name, which the record is known to have in the same bytes.
    package init(
        resolving bytes: RawSpan, in range: Range<Int>, byteOrder: ByteOrder, of key: TweakKey
    ) throws(RecordError) {
        try self.init(record: bytes, in: range, byteOrder: byteOrder, knownAs: key)
    }

    private init(
        record bytes: RawSpan, in range: Range<Int>, byteOrder: ByteOrder, knownAs key: TweakKey?
    ) throws(RecordError) {
        let isWhole = key == nil
        let offset = range.lowerBound
        guard offset >= 0, range.upperBound <= bytes.byteCount, range.count > RecordLayout.textOffset else {
            throw .badSize(UInt32(clamping: range.count), offset: offset)
        }
        let code = bytes.byte(at: offset + RecordLayout.typeOffset)
        let isAction = bytes.byte(at: offset + RecordLayout.kindOffset) == RecordLayout.actionKind
        guard let type = TweakType(rawValue: code), isAction == (type == .action) else {
            throw .unknownType(code, offset: offset)
        }
        let flags = bytes.byte(at: offset + RecordLayout.flagsOffset)
        let hasBlock = flags & RecordLayout.hasChoices != 0
        guard type.isNumeric || !hasBlock else { throw .choicesOfType(type, offset: offset) }

        var text = RecordText(next: offset + RecordLayout.textOffset, end: range.upperBound)
        guard let key = text.key(in: bytes, knownAs: key), let defaultText = text.next(in: bytes) else {
            throw .unterminatedText(offset: offset)
        }
        var minimum: TweakValue?
        var maximum: TweakValue?
        var step: TweakValue?
        if type.isNumeric {
            if flags & RecordLayout.hasMinimum != 0 {
                minimum = bytes.value(at: offset + RecordLayout.minimumOffset, type, byteOrder)
            }
            if flags & RecordLayout.hasMaximum != 0 {
                maximum = bytes.value(at: offset + RecordLayout.maximumOffset, type, byteOrder)
            }
            if flags & RecordLayout.hasStep != 0 {
                step = bytes.value(at: offset + RecordLayout.stepOffset, type, byteOrder)
            }
            guard Self.areLimits(minimum, maximum) else { throw .badLimits(offset: offset) }
        }
        var attributes: [Attribute] = []
        while let attribute = text.next(in: bytes), !attribute.isEmpty {
            // What is right behind a choice may be its label.
            guard isWhole || attributes.last?.key == "choice" || bytes.decidesValues(attribute) else {
                continue
            }
            attributes.append(Attribute(text: bytes.text(attribute)))
            // The block takes its room from the text.
            if hasBlock, attributes.last?.key == "choice" { text.end -= RecordLayout.choiceSize }
        }
        let choices =
            hasBlock || type == .string ? bytes.choices(attributes, block: text.end, type, byteOrder) : []
        if hasBlock {
            let areNumbers = choices.allSatisfy { $0.value == $0.value }
            guard !choices.isEmpty, areNumbers, text.next <= text.end, minimum == nil, maximum == nil else {
                throw .badChoices(offset: offset)
            }
        }
        // All at once: a declaration is large, and to change it a member at a time takes copies of it.
        self.init(
            key: key, type: type,
            defaultValue: bytes.value(at: offset + RecordLayout.defaultOffset, type, byteOrder)
                ?? .string(bytes.text(defaultText)),
            minimum: minimum, maximum: maximum, step: step, choices: choices, attributes: attributes)
    }

    private static func areLimits(_ minimum: TweakValue?, _ maximum: TweakValue?) -> Bool {
        switch (minimum, maximum) {
        case (.double(let limit)?, nil), (nil, .double(let limit)?): !limit.isNaN
        default: areInOrder(minimum, maximum)
        }
    }
}

extension TweakKey {
    /// The name in a record, without the rest; `nil` if the bytes are no record.
    package init?(record bytes: RawSpan, in range: Range<Int>) {
        guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount,
            range.count > RecordLayout.textOffset
        else { return nil }
        var text = RecordText(
            next: range.lowerBound + RecordLayout.textOffset, end: range.upperBound)
        guard let key = text.key(in: bytes, knownAs: nil) else { return nil }
        self = key
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> UInt8 { self.number(at: offset, .native) ?? 0 }

    /// A value in its own representation; `nil` for a string, which is in the text.
    fileprivate func value(at offset: Int, _ type: TweakType, _ order: ByteOrder) -> TweakValue? {
        switch type {
        case .bool: .bool(byte(at: offset) != 0)
        case .int8: integer(at: offset, as: Int8.self, order)
        case .int16: integer(at: offset, as: Int16.self, order)
        case .int32: integer(at: offset, as: Int32.self, order)
        case .int64: integer(at: offset, as: Int64.self, order)
        case .uint8: integer(at: offset, as: UInt8.self, order)
        case .uint16: integer(at: offset, as: UInt16.self, order)
        case .uint32: integer(at: offset, as: UInt32.self, order)
        case .uint64: integer(at: offset, as: UInt64.self, order)
        case .float: number(at: offset, order).map { .double(Double(shortest: Float(bitPattern: $0))) }
        case .double: number(at: offset, order).map { .double(Double(bitPattern: $0)) }
        case .color:
            .color(
                TweakColor(
                    red: byte(at: offset), green: byte(at: offset + 1), blue: byte(at: offset + 2),
                    alpha: byte(at: offset + 3)))
        case .action: .nothing
        case .string: nil
        }
    }

    fileprivate func text(_ range: Range<Int>) -> String {
        extracting(range).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether an attribute is one of those that decide which values the tweak takes, and when.
    fileprivate func decidesValues(_ attribute: Range<Int>) -> Bool {
        extracting(attribute).withUnsafeBytes { text in
            let end = text.firstByte(UInt8(ascii: "=")) ?? text.endIndex
            let isKey = { (key: String) in key.utf8.count == end && key.utf8.elementsEqual(text[..<end]) }
            return isKey("choice") || isKey("read-only") || isKey("needs-restart")
        }
    }

    /// The choices that attributes name. Those of numbers are in a block of the record.
    fileprivate func choices(
        _ attributes: [TweakDeclaration.Attribute], block: Int, _ type: TweakType, _ order: ByteOrder
    ) -> [TweakChoice] {
        var choices: [TweakChoice] = []
        for (index, attribute) in attributes.enumerated() where attribute.key == "choice" {
            // Wherever that is: outside of the section there is no number.
            let value = value(at: block + RecordLayout.choiceSize * choices.count, type, order)
            let next = attributes[(index + 1)...].first
            let label = next?.key == "label" && next?.value != "" ? next?.value : nil
            choices.append(TweakChoice(value ?? .string(attribute.value), label: label))
        }
        return choices
    }

    private func integer<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Number.Type, _ order: ByteOrder
    ) -> TweakValue? {
        number(at: offset, as: type, order).map { .integer(Int128($0)) }
    }
}

/// Finds the NUL-terminated texts of a record, one after the other.
private struct RecordText {
    var next: Int
    var end: Int

    /// The name of the tweak, which is stepped over if it is known.
    mutating func key(in bytes: RawSpan, knownAs key: TweakKey?) -> TweakKey? {
        if let key {
            next += key.category.utf8.count + key.collection.utf8.count + key.name.utf8.count + 3
            return key
        }
        guard let category = next(in: bytes), let collection = next(in: bytes), let name = next(in: bytes)
        else { return nil }
        return TweakKey(bytes.text(category), bytes.text(collection), bytes.text(name))
    }

    mutating func next(in bytes: RawSpan) -> Range<Int>? {
        // The beginning is behind that of the record, and the end at most the record's own.
        guard next < end else { return nil }
        let rest = bytes.extracting(next..<end)
        guard let count = rest.withUnsafeBytes({ $0.firstByte(0) }) else { return nil }
        defer { next += count + 1 }
        return next..<next + count
    }
}

extension UnsafeRawBufferPointer {
    /// Where a byte is for the first time.
    fileprivate func firstByte(_ byte: UInt8) -> Int? {
        baseAddress.flatMap { start in memchr(start, Int32(byte), count).map { UnsafeRawPointer($0) - start }
        }
    }
}
