internal import Glibc
internal import TweakRecords

/// Finds the records of a few tweaks among many without decoding the others.
struct RecordMatcher {
    private struct Name {
        let index: Int
        /// Where its bytes are in ``texts``.
        let text: Range<Int>
    }

    private var texts: [UInt8] = []
    private var names: [UInt64: Name] = [:]
    /// Names that have the hash of another one.
    private var others: [(hash: UInt64, name: Name)] = []
    /// A bit for each hash of a text, by the hash's last bits. One look at it settles nearly every record of another
    /// tweak, without the dictionary.
    private var filter: [UInt64]

    init(_ keys: [TweakKey]) {
        var words = 1
        while words < keys.count { words *= 2 }
        filter = Array(repeating: 0, count: words)
        names.reserveCapacity(keys.count)
        texts.reserveCapacity(64 * keys.count)
        for (index, key) in keys.enumerated() {
            let start = texts.count
            append(key.category)
            append(key.collection)
            append(key.name)
            let text = start..<texts.count
            texts += repeatElement(0, count: 7)
            let hash = texts.withUnsafeBytes { Self.hash(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            texts.removeLast(7)
            let name = Name(index: index, text: text)
            if let first = names.updateValue(name, forKey: hash) { others.append((hash, first)) }
            filter[word(of: hash)] |= bit(of: hash)
        }
    }

    private mutating func append(_ level: String) {
        texts += level.utf8
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
        guard filter[word(of: hash)] & bit(of: hash) != 0, let name = names[hash] else { return nil }
        if isName(name, of: text) { return name.index }
        return others.first { $0.hash == hash && isName($0.name, of: text) }?.name.index
    }

    private func isName(_ name: Name, of text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress, name.text.count <= text.count else { return false }
        return texts.withUnsafeBytes { texts in
            texts.baseAddress.map { memcmp($0 + name.text.lowerBound, start, name.text.count) } == 0
        }
    }

    private func word(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 6) & (filter.count - 1) }
    private func bit(of hash: UInt64) -> UInt64 { 1 << (hash & 63) }

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
