// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Reads a binary property list.
///
/// The format follows `CFBinaryPList.c` of Core Foundation: after eight bytes come the objects, then a table of their
/// offsets, then 32 bytes; the last 26 contain the sizes of an offset and of a reference to an object, the number of
/// objects, the index of the root, and the offset of the table. The first byte of an object is its kind and its length.
/// All numbers are big-endian.
struct BinaryPropertyList {
    static let start = "bplist00".utf8

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let root: Int
    /// The offset of the table, and the end of the objects.
    private let table: Int
    /// The remaining number of values: each takes at least a byte of the file, unless it is referenced repeatedly. Long
    /// strings and data count as more, because their use takes as long.
    private var remaining: Int
    /// The number of values read.
    private var valueCount = 0
    /// Strings and data, which are often referenced repeatedly but in memory once.
    private var leaves: [Int: PropertyList] = [:]

    /// Reads a file that starts with ``start``.
    static func value(of bytes: [UInt8]) throws(PropertyListError) -> PropertyList {
        var list = try BinaryPropertyList(bytes)
        return try list.object(list.root, depth: 0)
    }

    private init(_ bytes: [UInt8]) throws(PropertyListError) {
        let trailer = bytes.count - 32
        // The first condition keeps every index below within the bytes.
        guard trailer >= Self.start.count,
            let count = Self.number(bytes[(trailer + 8)..<(trailer + 16)]),
            let root = Self.number(bytes[(trailer + 16)..<(trailer + 24)]),
            let table = Self.number(bytes[(trailer + 24)...]),
            1...8 ~= bytes[trailer + 6], 1...8 ~= bytes[trailer + 7], table <= trailer,
            count <= (trailer - table) / Int(bytes[trailer + 6])
        else { throw Self.damaged }
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        self.count = count
        self.table = table
        self.root = root
        remaining = bytes.count
    }

    private static let damaged = PropertyListError("it is damaged")

    /// A number; `nil` if it exceeds any file size.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - index: The index of the object.
    ///   - depth: The number of enclosing arrays and dictionaries. An object may contain itself.
    private mutating func object(_ index: Int, depth: Int) throws(PropertyListError) -> PropertyList {
        valueCount += 1
        guard valueCount <= PropertyList.mostValues else { throw .tooMany }
        remaining -= 1
        guard remaining >= 0 else { throw PropertyListError("it is nested too deeply") }
        guard index < count else { throw Self.damaged }
        if let leaf = leaves[index] {
            // Two numbers of at most the file's size.
            remaining -= leaf.length / 64
            return leaf
        }
        // The table has room for all objects, so this does not overflow; offsets precede the table.
        let place = table + index * offsetSize
        guard var offset = Self.number(bytes[place..<place + offsetSize]), offset < table else {
            throw Self.damaged
        }
        let (kind, low) = (bytes[offset] >> 4, bytes[offset] & 15)
        offset += 1
        // An array, a set or a dictionary.
        guard kind < 0xA || depth < PropertyList.deepestNesting else { throw .tooDeep }
        switch (kind, low) {
        case (0x0, 0x8): return .scalar(.bool(false))
        case (0x0, 0x9): return .scalar(.bool(true))
        case (0x0, 0x0): return .other
        case (0x1, 0...4): return .scalar(.integer(try integer(at: offset, size: 1 << Int(low))))
        case (0x2, 2):
            let bits = UInt32(truncatingIfNeeded: try unsigned(at: offset, size: 4))
            return PropertyList(Double(Float(bitPattern: bits)))
        case (0x2, 3): return PropertyList(Double(bitPattern: try unsigned(at: offset, size: 8)))
        case (0x3, 0x3):
            _ = try part(offset, 8)
            return .other
        case (0x4, _):
            let count = try length(low, &offset)
            leaves[index] = .data(Array(try part(offset, count)))
            return leaves[index] ?? .other
        case (0x5, _), (0x6, _):
            leaves[index] = .scalar(.string(try text(isWide: kind == 6, low, at: offset)))
            return leaves[index] ?? .other
        case (0x8, 0...7): return .scalar(.integer(Int128(try unsigned(at: offset, size: Int(low) + 1))))
        case (0xA, _), (0xC, _):
            let count = try length(low, &offset)
            var elements: [PropertyList] = []
            for reference in try references(at: offset, count) {
                elements.append(try object(reference, depth: depth + 1))
            }
            return .array(elements)
        case (0xD, _):
            let count = try length(low, &offset)
            let keys = try references(at: offset, count)
            // The keys are inside the file.
            let values = try references(at: offset + count * referenceSize, count)
            var members: [ByteText: PropertyList] = [:]
            for (key, value) in zip(keys, values) {
                guard case .scalar(.string(let name)) = try object(key, depth: depth + 1) else {
                    throw PropertyListError("a name is not text")
                }
                members[ByteText(name)] = try object(value, depth: depth + 1)
            }
            return .dictionary(members)
        default: throw Self.damaged
        }
    }

    /// A range of bytes in the objects.
    private func part(_ offset: Int, _ count: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
        guard count >= 0, offset <= table, count <= table - offset else { throw Self.damaged }
        return bytes[offset..<offset + count]
    }

    /// A number of at most 8 bytes.
    private func unsigned(at offset: Int, size: Int) throws(PropertyListError) -> UInt64 {
        try part(offset, size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// An integer. Those of 1, 2 and 4 bytes are unsigned.
    private func integer(at offset: Int, size: Int) throws(PropertyListError) -> Int128 {
        guard size == 16 else {
            let number = try unsigned(at: offset, size: size)
            return size == 8 ? Int128(Int64(bitPattern: number)) : Int128(number)
        }
        let number = Int128(
            truncatingIfNeeded: try part(offset, 16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) })
        guard Int128(Int64.min)...Int128(UInt64.max) ~= number else {
            throw PropertyListError("\(number) is out of the range of 64 bits")
        }
        return number
    }

    /// The length of an object: in its first byte, or in an integer after it.
    private func length(_ low: UInt8, _ offset: inout Int) throws(PropertyListError) -> Int {
        guard low == 15 else { return Int(low) }
        guard let first = try part(offset, 1).first, 0x10...0x13 ~= first else { throw Self.damaged }
        let size = 1 << Int(first & 15)
        // `part` has checked the byte at the offset, and checks those after it.
        guard let length = Int(exactly: try unsigned(at: offset + 1, size: size)) else { throw Self.damaged }
        offset += 1 + size
        return length
    }

    /// The indices of objects.
    private func references(at offset: Int, _ count: Int) throws(PropertyListError) -> [Int] {
        guard count <= table / referenceSize else { throw Self.damaged }
        let part = try part(offset, count * referenceSize)
        var references: [Int] = []
        for place in stride(from: part.startIndex, to: part.endIndex, by: referenceSize) {
            guard let reference = Self.number(part[place..<place + referenceSize]) else { throw Self.damaged }
            references.append(reference)
        }
        return references
    }

    private func text(isWide: Bool, _ low: UInt8, at offset: Int) throws(PropertyListError) -> String {
        var offset = offset
        let count = try length(low, &offset)
        guard isWide else {
            let part = try part(offset, count)
            guard part.allSatisfy({ $0 < 0x80 }) else { throw Self.damaged }
            return String(decoding: part, as: UTF8.self)
        }
        guard count <= table / 2 else { throw Self.damaged }
        let part = try part(offset, 2 * count)
        let units = stride(from: part.startIndex, to: part.endIndex, by: 2).map {
            UInt16(part[$0]) << 8 | UInt16(part[$0 + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw Self.damaged }
        return text
    }
}

extension PropertyList {
    /// The number of bytes of a string or data.
    fileprivate var length: Int {
        switch self {
        case .scalar(.string(let text)): text.utf8.count
        case .data(let bytes): bytes.count
        default: 0
        }
    }
}
