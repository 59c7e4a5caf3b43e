internal import Glibc
internal import TweakRecords

/// Finds the records of a few tweaks among many without decoding the others.
struct RecordMatcher {
    private let keys: [TweakKey]
    /// A hash table with the first half of the hash of a name and, in the second, its index and 1; 0 in more than half
    /// of the places. A name is in the place that its hash tells, or in the next that was free.
    private var places: [UInt64]

    init(_ keys: [TweakKey]) {
        self.keys = keys
        var count = 2
        while count < 2 * keys.count { count *= 2 }
        places = Array(repeating: 0, count: count)
        // The name as a record has it.
        var text: [UInt8] = []
        let padding = [UInt8](repeating: 0, count: 7)
        for (index, key) in keys.enumerated() {
            text.removeAll(keepingCapacity: true)
            text.append(level: key.category)
            text.append(level: key.collection)
            text.append(level: key.name)
            text.append(contentsOf: padding)
            let hash = text.withUnsafeBytes(Self.hash)
            var place = firstPlace(of: hash)
            // Half of the places at least are empty. Below 2^32 keys an index is in other bits than a hash.
            while places[place] != 0 { place = self.place(after: place) }
            places[place] = hash & Self.hashBits | UInt64(index + 1)
        }
    }

    /// Calls `body` with the place of each record of one of the keys, and the index of the key.
    func forEachMatch(in records: UnsafeRawBufferPointer, _ body: (Range<Int>, Int) -> Void) {
        guard !keys.isEmpty else { return }
        var walk = RecordWalk()
        // What is broken is reported when the records are decoded.
        while let range = try? walk.next(in: records.bytes, byteOrder: .native) {
            guard range.count > RecordLayout.textOffset else { continue }
            let text = UnsafeRawBufferPointer(
                rebasing: records[(range.lowerBound + RecordLayout.textOffset)..<range.upperBound])
            if let index = index(of: text) { body(range, index) }
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

    /// A hash of a text as far as its third NUL, in steps of eight bytes as a record is made of.
    private static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0
        var levels = 0
        for offset in stride(from: 0, through: text.count - 8, by: 8) {
            var word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            var ends = word.zeroBytes
            while ends != 0, levels < 3 {
                levels += 1
                // Of the last word only the bytes up to the NUL count.
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

extension [UInt8] {
    fileprivate mutating func append(level: String) {
        var level = level
        level.withUTF8 { append(contentsOf: $0) }
        append(0)
    }
}

extension TweakKey {
    /// Whether the text of a record begins with the three levels.
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
    /// The highest bit of each byte that is zero.
    ///
    /// Adding 0x7f to the lower seven bits of a byte sets its highest bit unless they are all zero:
    /// https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord
    fileprivate var zeroBytes: UInt64 {
        let lower: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
        return ~(((self & lower) &+ lower) | self | lower)
    }
}
