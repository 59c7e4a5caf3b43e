internal import TweakRecords

/// Finds the records of a few tweaks among many without decoding the others.
struct RecordMatcher {
    private var keys: [UInt64: [(text: [UInt8], key: TweakKey)]] = [:]

    init(_ keys: [TweakKey]) {
        for key in keys {
            let text = Array("\(key.category)\0\(key.collection)\0\(key.name)\0".utf8)
            var hash = Hash()
            for byte in text { hash.add(byte) }
            self.keys[hash.value, default: []].append((text, key))
        }
    }

    /// Calls `body` with the place of each record of one of the keys.
    func forEachMatch(in records: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
        guard !keys.isEmpty else { return }
        var walk = RecordWalk()
        // What is broken is reported when the records are decoded.
        while let range = try? walk.next(in: records.bytes, byteOrder: .native) {
            guard range.count > RecordLayout.textOffset else { continue }
            let text = UnsafeRawBufferPointer(
                rebasing: records[(range.lowerBound + RecordLayout.textOffset)..<range.upperBound])
            if matches(text) { body(range) }
        }
    }

    private func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var hash = Hash()
        var levels = 0
        for byte in text {
            hash.add(byte)
            if byte == 0 {
                levels += 1
                if levels == 3 { break }
            }
        }
        return keys[hash.value]?.contains { text.starts(with: $0.text) } ?? false
    }

    /// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
    private struct Hash {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
