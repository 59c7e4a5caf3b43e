internal import Glibc
internal import TweakRecords

/// Finds the records of a few tweaks among many without decoding the others.
struct RecordMatcher {
    private struct Name {
        let hash: UInt64
        /// Where its bytes are in ``texts``.
        let text: Range<Int>
    }

    /// The names as records have them, one behind the other.
    private var texts: [UInt8] = []
    private var names: [Name] = []
    /// The indexes of names, and -1 in more than half of the places. A name is in the place that its hash tells, or in
    /// the next that was free.
    private var places: [Int32]

    init(_ keys: [TweakKey]) {
        var count = 2
        while count < 2 * keys.count { count *= 2 }
        places = Array(repeating: -1, count: count)
        names.reserveCapacity(keys.count)
        texts.reserveCapacity(64 * keys.count)
        let padding = [UInt8](repeating: 0, count: 7)
        for key in keys {
            let start = texts.count
            append(key.category)
            append(key.collection)
            append(key.name)
            let text = start..<texts.count
            // The bytes of the last word that is hashed. They stay, which takes less time than to remove them.
            texts.append(contentsOf: padding)
            let hash = texts.withUnsafeBytes { Self.hash(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            var place = firstPlace(of: hash)
            while places[place] >= 0 { place = self.place(after: place) }
            places[place] = Int32(names.count)
            names.append(Name(hash: hash, text: text))
        }
    }

    private mutating func append(_ level: String) {
        var level = level
        level.withUTF8 { texts.append(contentsOf: $0) }
        texts.append(0)
    }

    /// Calls `body` with the place of each record of one of the keys, and the index of the key.
    func forEachMatch(in records: UnsafeRawBufferPointer, _ body: (Range<Int>, Int) -> Void) {
        guard !names.isEmpty else { return }
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
        while places[place] >= 0 {
            let index = Int(places[place])
            if names[index].hash == hash, isName(names[index], of: text) { return index }
            place = self.place(after: place)
        }
        return nil
    }

    private func isName(_ name: Name, of text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress, name.text.count <= text.count else { return false }
        return texts.withUnsafeBytes { texts in
            texts.baseAddress.map { memcmp($0 + name.text.lowerBound, start, name.text.count) } == 0
        }
    }

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
