// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc

/// A walk over the records of a section, without decoding them.
///
///     var walk = RecordWalk()
///     while let range = try walk.next(in: bytes, byteOrder: .native) { … }
public struct RecordWalk: Sendable {
    private var offset = 0
    private var texts = TextEnds()

    /// Creates a walk from the beginning of a section.
    public init() {}

    /// Returns the byte range of the next record of a known kind and version.
    ///
    /// Padding, other kinds and later versions are skipped.
    ///
    /// - Parameters:
    ///   - bytes: The whole section, the same in each call.
    ///   - byteOrder: The byte order of the binary.
    /// - Returns: `nil` at the end.
    /// - Throws: ``RecordError`` for an invalid size. The next call continues with the next plausible record,
    ///   or at the end: all calls together examine each byte a few times.
    public mutating func next(in bytes: RawSpan, byteOrder: ByteOrder) throws(RecordError) -> Range<Int>? {
        while let record = try nextOfAnyKind(in: bytes, byteOrder: byteOrder) {
            if record.isKnown { return record.range }
        }
        return nil
    }

    /// A record of any kind.
    package struct Record {
        package let range: Range<Int>
        package let version, kind: UInt8

        package var isKnown: Bool {
            version == RecordLayout.version && RecordLayout.describesTweaks(kind)
        }

        package var isGate: Bool { version == RecordLayout.version && kind == RecordLayout.gateKind }
        package var isSequence: Bool { version == RecordLayout.version && kind == RecordLayout.sequenceKind }
        package var isType: Bool { version == RecordLayout.version && kind == RecordLayout.typeKind }
        /// Whether readers of this version understand it.
        package var isUnderstood: Bool { isKnown || isGate || isSequence || isType }
    }

    /// Returns the next record of any kind and version, or padding with a size.
    package mutating func nextOfAnyKind(
        in bytes: RawSpan, byteOrder: ByteOrder
    ) throws(RecordError) -> Record? {
        let end = bytes.byteCount
        while let size: UInt32 = bytes.number(at: offset, byteOrder) {
            let start = offset
            guard size != 0 else {
                offset += 8
                continue
            }
            guard size % 8 == 0, Int(size) <= end - start else {
                offset = nextPlausible(after: start, in: bytes, byteOrder)
                throw size % 8 != 0
                    ? .badSize(size, offset: start, passedOver: offset - start)
                    : .beyondEnd(size: size, offset: start, sectionSize: end, passedOver: offset - start)
            }
            let record = Record(
                range: start..<start + Int(size),
                version: bytes.byte(at: start + RecordLayout.versionOffset),
                kind: bytes.byte(at: start + RecordLayout.kindOffset))
            guard !record.isKnown || record.range.count > RecordLayout.textOffset else {
                offset = nextPlausible(after: start, in: bytes, byteOrder)
                throw .badSize(size, offset: start, passedOver: offset - start)
            }
            offset = record.range.upperBound
            return record
        }
        return nil
    }

    /// The offset of the next record that is complete, has a known version, kind and type, and has its texts;
    /// the end if there is none.
    private mutating func nextPlausible(after start: Int, in bytes: RawSpan, _ order: ByteOrder) -> Int {
        let end = bytes.byteCount
        var start = start + 8
        while start < end - RecordLayout.textOffset {
            let size = Int(bytes.number(at: start, as: UInt32.self, order) ?? 0)
            let record = Record(
                range: start..<start + size, version: bytes.byte(at: start + RecordLayout.versionOffset),
                kind: bytes.byte(at: start + RecordLayout.kindOffset))
            let type = bytes.byte(at: start + RecordLayout.typeOffset)
            if record.isGate ? type == 0 : record.isKnown && TweakType(rawValue: type) != nil,
                size % 8 == 0, size > RecordLayout.textOffset, size <= end - start,
                let textEnd = texts.endOfFourth(from: start + RecordLayout.textOffset, in: bytes),
                textEnd <= record.range.upperBound
            {
                return start
            }
            start += 8
        }
        return end
    }
}

/// Finds the end of the names and the default text of a record. Bytes that many records could claim are not
/// counted again for each.
private struct TextEnds: Sendable {
    /// A range of bytes, and the number of NULs in it.
    private var start = 0
    private var end = 0
    private var count = 0

    /// The offset after the fourth NUL from an offset on, which never decreases from call to call.
    mutating func endOfFourth(from offset: Int, in bytes: RawSpan) -> Int? {
        while start < min(offset, end) {
            if bytes.byte(at: start) == 0 { count -= 1 }
            start += 1
        }
        if start < offset { (start, end, count) = (offset, offset, 0) }
        while count < 4, end < bytes.byteCount {
            let next = bytes.extracting(end..<bytes.byteCount).withUnsafeBytes { $0.firstByte(0) }
            count += next == nil ? 0 : 1
            end = next.map { end + $0 + 1 } ?? bytes.byteCount
        }
        return count == 4 ? end : nil
    }
}

/// Finds the records of a few tweaks among many without decoding the others.
///
/// It hashes the bytes of a record eight at a time without creating keys, so that starting with 100,000
/// tweaks, 100 of them overridden, takes milliseconds (`tools/bench start`). `TweakTable` explains why the
/// two tables are not one.
package struct RecordMatcher {
    private let keys: [TweakKey]
    /// A hash table: half of each place is half of a name's hash, the other half the name's index plus 1;
    /// more than half of the places are 0. A name is in the place given by its hash, or the next one that was
    /// free.
    private var places: [UInt64]

    package init(_ keys: [TweakKey]) {
        self.keys = keys
        var count = 2
        while count < 2 * keys.count { count *= 2 }
        places = Array(repeating: 0, count: count)
        // The name in the form of a record.
        var text: [UInt8] = []
        let padding = [UInt8](repeating: 0, count: 7)
        for (index, key) in keys.enumerated() {
            text.removeAll(keepingCapacity: true)
            text.append(text: key.category)
            text.append(text: key.collection)
            text.append(text: key.name)
            text.append(contentsOf: padding)
            let hash = text.withUnsafeBytes(Self.hash)
            var place = firstPlace(of: hash)
            // At least half of the places are empty. Below 2^32 keys, index and hash use different bits.
            while places[place] != 0 { place = self.place(after: place) }
            places[place] = hash & Self.hashBits | UInt64(index + 1)
        }
    }

    /// Calls `body` with the range of each matching record, and the key.
    package func forEachMatch(
        in records: UnsafeRawBufferPointer, byteOrder: ByteOrder = .native,
        _ body: (Range<Int>, TweakKey) -> Void
    ) {
        guard !keys.isEmpty else { return }
        var walk = RecordWalk()
        while true {
            let next: Range<Int>?
            // Broken records are reported when they are decoded.
            do throws(RecordError) { next = try walk.next(in: records.bytes, byteOrder: byteOrder) } catch {
                continue
            }
            guard let range = next else { return }
            let text = UnsafeRawBufferPointer(
                rebasing: records[(range.lowerBound + RecordLayout.textOffset)..<range.upperBound])
            if let index = index(of: text) { body(range, keys[index]) }
        }
    }

    private func index(of text: UnsafeRawBufferPointer) -> Int? {
        let hash = Self.hash(text)
        var place = firstPlace(of: hash)
        while places[place] != 0 {
            let index = Int(places[place] & ~Self.hashBits) - 1
            if (places[place] ^ hash) & Self.hashBits == 0, keys[index].begins(text) { return index }
            place = self.place(after: place)
        }
        return nil
    }

    private static let hashBits: UInt64 = 0xffff_ffff_0000_0000

    private func firstPlace(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (places.count - 1) }
    private func place(after place: Int) -> Int { (place + 1) & (places.count - 1) }

    /// A hash of a text up to its third NUL, in words of eight bytes, the unit of records.
    private static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0
        var levels = 0
        for offset in stride(from: 0, through: text.count - 8, by: 8) {
            var word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            var ends = word.zeroBytes
            while ends != 0, levels < 3 {
                levels += 1
                // In the last word only the bytes up to the NUL count.
                if levels == 3 { word &= (2 << ends.trailingZeroBitCount) &- 1 }
                ends &= ends - 1
            }
            hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 32
            if levels == 3 { break }
        }
        return hash
    }
}

extension TweakKey {
    /// Returns whether the text of a record starts with the three levels.
    fileprivate func begins(_ text: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        return category.comes(next: &offset, in: text) && collection.comes(next: &offset, in: text)
            && name.comes(next: &offset, in: text)
    }
}

extension String {
    fileprivate func comes(next offset: inout Int, in text: UnsafeRawBufferPointer) -> Bool {
        var level = self
        return level.withUTF8 { level in
            guard let start = text.baseAddress, level.count < text.count - offset,
                level.baseAddress.map({ memcmp(start + offset, $0, level.count) == 0 }) ?? true,
                text[offset + level.count] == 0
            else { return false }
            offset += level.count + 1
            return true
        }
    }
}

extension UInt64 {
    /// Sets the highest bit of each byte that is zero.
    ///
    /// Adding 0x7f to the lower seven bits of a byte sets its highest bit unless they are all zero:
    /// https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord
    fileprivate var zeroBytes: UInt64 {
        let lower: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
        return ~(((self & lower) &+ lower) | self | lower)
    }
}

/// The content of a `fbtweak` section.
public struct RecordSection: Sendable {
    /// The tweaks in source order, with the offsets of their records. The elements of an array have one
    /// record, and follow each other.
    public var tweaks: [(offset: Int, declaration: TweakDeclaration)] = []
    /// The errors of records that could not be read.
    public var errors: [RecordError] = []
    /// The gates, sequences and types, in the order of their records.
    package var controls = ControlRecords()

    /// Decodes all records of a section. Errors of broken records are in ``errors``, and the others are still
    /// read.
    public init(_ bytes: RawSpan, byteOrder: ByteOrder) {
        var walk = RecordWalk()
        while true {
            do throws(RecordError) {
                guard let record = try walk.nextOfAnyKind(in: bytes, byteOrder: byteOrder) else { break }
                guard record.isKnown else {
                    try controls.add(record, in: bytes, byteOrder: byteOrder)
                    continue
                }
                let range = record.range
                guard record.kind == RecordLayout.variableKind else {
                    let declaration = try TweakDeclaration.decode(bytes, in: range, byteOrder)
                    tweaks.append((range.lowerBound, declaration))
                    continue
                }
                for declaration in try TweakDeclaration.all(record: bytes, in: range, byteOrder: byteOrder) {
                    tweaks.append((range.lowerBound, declaration))
                }
            } catch {
                errors.append(error)
            }
        }
        tweaks.sortAsWritten { $0.declaration.attributeList }
    }
}

extension TweakDeclaration {
    /// Decodes one record of a value, an action, a monitor or a variable; of an array the first element.
    ///
    /// - Parameters:
    ///   - bytes: The section.
    ///   - range: The range of the record, from ``RecordWalk``.
    ///   - byteOrder: The byte order of the binary.
    /// - Throws: ``RecordError`` if the bytes are not a record.
    public init(record bytes: RawSpan, in range: Range<Int>, byteOrder: ByteOrder) throws(RecordError) {
        self = try Self.decode(bytes, in: range, byteOrder)
    }

    /// Decodes one record as ``init(record:in:byteOrder:)`` does, for a record that is known to have this
    /// name, byte for byte.
    package init(
        record bytes: RawSpan, in range: Range<Int>, byteOrder: ByteOrder, knownAs key: TweakKey?
    ) throws(RecordError) {
        self = try Self.decode(bytes, in: range, byteOrder, knownAs: key)
    }

    /// Decodes a record as the initialisers do, which copy the whole declaration once more than a function.
    fileprivate static func decode(
        _ bytes: RawSpan, in range: Range<Int>, _ byteOrder: ByteOrder, knownAs key: TweakKey? = nil
    ) throws(RecordError) -> TweakDeclaration {
        let offset = range.lowerBound
        guard offset >= 0, range.upperBound <= bytes.byteCount, range.count > RecordLayout.textOffset else {
            throw .badSize(UInt32(clamping: range.count), offset: offset)
        }
        let code = bytes.byte(at: offset + RecordLayout.typeOffset)
        let kind = bytes.byte(at: offset + RecordLayout.kindOffset)
        let isMonitor = kind == RecordLayout.monitorKind
        guard let type = TweakType(rawValue: code), (kind == RecordLayout.actionKind) == (type == .action),
            !isMonitor || type.canBeMonitored, kind != RecordLayout.variableKind || type != .string
        else { throw .unknownType(code, offset: offset) }
        let flags = bytes.byte(at: offset + RecordLayout.flagsOffset)
        let hasBlock = flags & RecordLayout.hasChoices != 0
        guard type.isNumeric || !hasBlock else { throw .choicesOfType(type, offset: offset) }

        let object =
            kind == RecordLayout.variableKind
            ? try RecordedObject(bytes, in: range, byteOrder: byteOrder) : nil
        var text = RecordText(
            next: offset + RecordLayout.textOffset, end: object?.textEnd ?? range.upperBound)
        // The name of an element is not in the record.
        guard var key = text.key(in: bytes, knownAs: object?.isArray == true ? nil : key),
            let defaultText = text.next(in: bytes)
        else {
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
        if object?.isArray == true { key.name += "[0]" }
        var texts = text.next..<text.next
        var block = range.upperBound
        while let attribute = text.next(in: bytes), !attribute.isEmpty {
            texts = texts.lowerBound..<text.next
            // The block is taken from the end of the text.
            if hasBlock, bytes.extracting(attribute).startOfValue("choice") != nil {
                block -= RecordLayout.choiceSize
                text.end = min(text.end, block)
            }
        }
        let attributes = AttributeList.recorded(bytes.extracting(texts).withUnsafeBytes { Array($0) })
        var choices: [TweakChoice] = []
        if hasBlock || type == .string || isMonitor, attributes.contains("choice") {
            let all = attributes.all
            choices = isMonitor && !hasBlock ? all.states : bytes.choices(all, block: block, type, byteOrder)
        }
        if hasBlock {
            let areNumbers = choices.allSatisfy { $0.value == $0.value }
            guard !choices.isEmpty, areNumbers, text.next <= text.end, minimum == nil, maximum == nil else {
                throw .badChoices(offset: offset)
            }
        }
        let defaultValue =
            object.map { $0.initialValue(of: 0, in: bytes, byteOrder) ?? .nothing }
            ?? bytes.value(
                at: offset + RecordLayout.defaultOffset, type, byteOrder,
                isOptional: !isMonitor && attributes.contains("optional"))
        return TweakDeclaration(
            key: key, type: type, defaultValue: defaultValue ?? .string(bytes.text(defaultText)),
            minimum: minimum, maximum: maximum, step: step, choices: choices, attributeList: attributes,
            isMonitor: isMonitor)
    }

    /// Decodes one record: one tweak, or one for each element of an array.
    ///
    /// - Throws: ``RecordError`` as ``init(record:in:byteOrder:)``.
    package static func all(
        record bytes: RawSpan, in range: Range<Int>, byteOrder: ByteOrder
    ) throws(RecordError) -> [TweakDeclaration] {
        let first = try decode(bytes, in: range, byteOrder)
        guard bytes.byte(at: range.lowerBound + RecordLayout.kindOffset) == RecordLayout.variableKind,
            let array = try RecordedObject(bytes, in: range, byteOrder: byteOrder), array.isArray,
            let key = TweakKey(record: bytes, in: range)
        else { return [first] }
        var all: [TweakDeclaration] = []
        for index in 0..<array.count {
            var element = first
            element.key.name = key.name + "[\(index)]"
            element.defaultValue = array.initialValue(of: index, in: bytes, byteOrder) ?? .nothing
            all.append(element)
        }
        return all
    }

    private static func areLimits(_ minimum: TweakValue?, _ maximum: TweakValue?) -> Bool {
        switch (minimum, maximum) {
        case (.double(let limit)?, nil), (nil, .double(let limit)?): !limit.isNaN
        default: areInOrder(minimum, maximum)
        }
    }
}

extension TweakKey {
    /// The name in a record; `nil` if the bytes are not a record.
    package init?(record bytes: RawSpan, in range: Range<Int>) {
        guard let (key, _) = Self.withDefaultText(record: bytes, in: range) else { return nil }
        self = key
    }

    /// The name in a record, and the text after it; `nil` if the bytes are not a record.
    static func withDefaultText(record bytes: RawSpan, in range: Range<Int>) -> (TweakKey, String)? {
        guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount,
            range.count > RecordLayout.textOffset
        else { return nil }
        var text = RecordText(
            next: range.lowerBound + RecordLayout.textOffset, end: range.upperBound)
        guard let key = text.key(in: bytes, knownAs: nil) else { return nil }
        return (key, text.next(in: bytes).map { bytes.text($0) } ?? "")
    }
}

extension RawSpan {
    func byte(at offset: Int) -> UInt8 { self.number(at: offset, .native) ?? 0 }

    /// A value in its own representation; `nil` for a string, which is in the text.
    ///
    /// - Parameter isOptional: Whether the value can be the mark of an empty optional tweak, see
    ///   ``TweakValue/emptyCell(_:)``. Evaluated only for such a mark, because it takes longer than the rest.
    package func value(
        at offset: Int, _ type: TweakType, _ order: ByteOrder, isOptional: @autoclosure () -> Bool = false
    ) -> TweakValue? {
        let value = value(at: offset, type, order)
        let isMark =
            switch value {
            case .bool: byte(at: offset) == 2
            case .integer(let number): number == Int128(Int64.min)
            case .double(let number): number.isNaN
            default: false
            }
        return isMark && isOptional() ? .absent : value
    }

    private func value(at offset: Int, _ type: TweakType, _ order: ByteOrder) -> TweakValue? {
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

    func text(_ range: Range<Int>) -> String { extracting(range).text }

    fileprivate var text: String {
        withUnsafeBytes { bytes in
            // For short ASCII in half the time of decoding. Invalid bytes are replaced as well.
            String(unsafeUninitializedCapacity: bytes.count) { buffer in
                UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
                return bytes.count
            }
        }
    }

    /// The choices in the attributes. The values of numbers are in a block of the record.
    fileprivate func choices(
        _ attributes: [TweakDeclaration.Attribute], block: Int, _ type: TweakType, _ order: ByteOrder
    ) -> [TweakChoice] {
        var choices: [TweakChoice] = []
        for (index, attribute) in attributes.enumerated() where attribute.key == "choice" {
            // Reading outside of the section returns nil.
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

/// Iterates over the NUL-terminated texts of a record.
struct RecordText {
    var next: Int
    var end: Int

    /// The name of the tweak, skipped if it is known.
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
        // The start is inside the record, and the end at most the record's own.
        guard next < end else { return nil }
        let rest = bytes.extracting(next..<end)
        guard let count = rest.withUnsafeBytes({ $0.firstByte(0) }) else { return nil }
        defer { next += count + 1 }
        return next..<next + count
    }
}

extension UnsafeRawBufferPointer {
    /// The index of the first occurrence of a byte.
    fileprivate func firstByte(_ byte: UInt8) -> Int? {
        baseAddress.flatMap { start in memchr(start, Int32(byte), count).map { UnsafeRawPointer($0) - start }
        }
    }
}

extension [TweakDeclaration.Attribute] {
    /// The states of a monitor that are given as names only: 0, 1, 2, …
    fileprivate var states: [TweakChoice] {
        filter { $0.key == "choice" }.enumerated().map { TweakChoice(.integer(Int128($0)), label: $1.value) }
    }
}

extension TweakDeclaration.Attribute {
    /// Parses `key=value`, or a `key` alone.
    package init(text: String) { self.init(text.utf8.span.bytes) }

    init(_ text: RawSpan) {
        // By bytes: creating and splitting a string takes twice as long, and in a string an equals sign and a following
        // combining mark are one Character.
        let end = text.withUnsafeBytes { $0.firstByte(UInt8(ascii: "=")) } ?? text.byteCount
        self.init(key: text.extracting(first: end).text, value: text.extracting(droppingFirst: end + 1).text)
    }

    /// The attribute in the form of a record.
    package var text: String { value.isEmpty && key != "choice" ? key : "\(key)=\(value)" }
}

extension TweakChoice {
    /// The choice's attributes in the text of a record.
    package var attributes: [TweakDeclaration.Attribute] {
        let text = if case .string(let text) = value { text } else { "" }
        let choice = TweakDeclaration.Attribute(key: "choice", value: text)
        return [choice] + (label.map { [TweakDeclaration.Attribute(key: "label", value: $0)] } ?? [])
    }
}

extension TweakDeclaration {
    /// Decodes a record of this process.
    package init?(record: UnsafeRawPointer) {
        let bytes = UnsafeRawBufferPointer(record: record)
        try? self.init(record: bytes.bytes, in: bytes.indices, byteOrder: .native)
    }

    /// Decodes a tweak of a record of this process.
    ///
    /// - Parameter element: The index of the tweak, which is 0 unless it is an element of an array.
    package init?(record: UnsafeRawPointer, element: Int) {
        let bytes = UnsafeRawBufferPointer(record: record)
        let all = try? Self.all(record: bytes.bytes, in: bytes.indices, byteOrder: .native)
        guard let all, element < all.count else { return nil }
        self = all[element]
    }
}

extension TweakKey {
    /// Decodes the name in a record of this process.
    package init?(record: UnsafeRawPointer) {
        let bytes = UnsafeRawBufferPointer(record: record)
        self.init(record: bytes.bytes, in: bytes.indices)
    }
}

extension UnsafeRawBufferPointer {
    /// A record, sized by its own size field.
    fileprivate init(record: UnsafeRawPointer) {
        self.init(start: record, count: Int(record.loadUnaligned(as: UInt32.self)))
    }
}
