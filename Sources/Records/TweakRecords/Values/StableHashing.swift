// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc

/// A key of a dictionary that is filled before `main`.
///
/// Swift's `Hasher` has seeds, which a constructor of the standard library initialises. If the standard library is
/// inside the image, that constructor runs after the constructor of this library, and keys that were added to a
/// dictionary before would not be found afterwards. Keys of this kind do not use `Hasher`, so their hashes are the same
/// before and after.
package protocol StableHashable: Hashable {
    /// Feeds everything that makes two keys equal into the hasher.
    func combine(into hasher: inout StableHasher)
}

extension StableHashable {
    /// Called by dictionaries and sets. The seed is the dictionary's own.
    package func _rawHashValue(seed: Int) -> Int {
        var hasher = StableHasher(seed: seed)
        combine(into: &hasher)
        return hasher.hash
    }

    /// Used if the key is part of another one.
    package func hash(into hasher: inout Hasher) { hasher.combine(_rawHashValue(seed: 0)) }
}

/// A hash with a key that is generated once per process, for the first hash, and so never before another image's
/// constructor.
///
/// Each sixteen bytes are two factors whose product is folded to half its width, as in Wang Yi's wyhash
/// (https://github.com/wangyi-fudan/wyhash). Both factors are mixed with a part of the key, because names may come from
/// untrusted files, which must not be able to cause collisions.
package struct StableHasher {
    private static let key: (UInt64, UInt64) = {
        var generator = SystemRandomNumberGenerator()
        return (generator.next(), generator.next())
    }()

    private let mask: UInt64
    private var state: UInt64

    @inline(__always)
    init(seed: Int) { (mask, state) = (Self.key.0, Self.key.1 ^ UInt64(truncatingIfNeeded: seed)) }

    /// The hash of everything fed in.
    @inline(__always)
    var hash: Int { Int(truncatingIfNeeded: state) }

    @inline(__always)
    package mutating func combine(_ number: UInt64) { combine(number, 0x9e37_79b9_7f4a_7c15) }

    /// Feeds the UTF-8 bytes of a text, and their number.
    @inline(__always)
    package mutating func combine(_ text: String) {
        if text.utf8.withContiguousStorageIfAvailable({ combine(UnsafeRawBufferPointer($0)) }) == nil {
            var text = text
            text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
        }
    }

    /// Feeds the bytes of a text, and their number.
    @inline(__always)
    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        let count = bytes.count
        var (first, last): (UInt64, UInt64) = (0, 0)
        if let start = bytes.baseAddress {
            // The last one to sixteen bytes, some of which may be read twice.
            if count >= 8 {
                var offset = 0
                while count - offset > 16 {
                    combine(
                        start.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                        start.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
                    offset += 8 + 8
                }
                first = start.loadUnaligned(fromByteOffset: max(0, count - 16), as: UInt64.self)
                last = start.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            } else if count >= 4 {
                first = UInt64(start.loadUnaligned(as: UInt32.self))
                last = UInt64(start.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            } else if count > 0 {
                first =
                    UInt64(start.load(as: UInt8.self)) << 16
                    | UInt64(start.load(fromByteOffset: count / 2, as: UInt8.self)) << 8
                    | UInt64(start.load(fromByteOffset: count - 1, as: UInt8.self))
            }
        }
        combine(first, last)
        combine(UInt64(truncatingIfNeeded: count))
    }

    @inline(__always)
    private mutating func combine(_ first: UInt64, _ second: UInt64) {
        let product = (first ^ state).multipliedFullWidth(by: second ^ mask)
        state = product.high ^ product.low
    }
}

extension String {
    /// Returns whether two texts have the same UTF-8 bytes. `==` also treats composed and decomposed letters as equal,
    /// and the Kelvin sign and K.
    @inline(__always)
    package func hasSameBytes(as other: String) -> Bool {
        // Identical representations are identical texts. That covers short texts and copies.
        if MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size,
            unsafeBitCast(self, to: (UInt64, UInt64).self) == unsafeBitCast(other, to: (UInt64, UInt64).self)
        {
            return true
        }
        let result = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard bytes.count == others.count else { return false }
                // Without an address there are no bytes.
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else { return true }
                return start == otherStart || memcmp(start, otherStart, bytes.count) == 0
            }
        }
        return (result ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Returns whether the text has these UTF-8 bytes.
    @inline(__always)
    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        utf8.withContiguousStorageIfAvailable { UnsafeRawBufferPointer($0).hasSameBytes(as: bytes) }
            ?? utf8.elementsEqual(bytes)
    }

    /// Returns whether a text precedes another one by its UTF-8 bytes, which is code point order.
    package func bytesPrecede(_ other: String) -> Bool {
        let result = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                // Without an address there are no bytes.
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else {
                    return bytes.count < others.count
                }
                let order = memcmp(start, otherStart, min(bytes.count, others.count))
                return order == 0 ? bytes.count < others.count : order < 0
            }
        }
        return (result ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns whether two buffers have the same bytes.
    @inline(__always)
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        // Without an address there are no bytes.
        guard let start = baseAddress, let other = other.baseAddress else { return true }
        return memcmp(start, other, count) == 0
    }
}

/// A text compared by its UTF-8 bytes.
package struct ByteText: StableHashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }
    package init(stringLiteral text: String) { self.text = text }

    package func combine(into hasher: inout StableHasher) { hasher.combine(text) }
    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }
    package static func < (left: Self, right: Self) -> Bool { left.text.bytesPrecede(right.text) }
}

/// A number as a key, such as an address.
package struct StableNumber: StableHashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }
    package init(_ address: UInt) { number = UInt64(address) }

    package func combine(into hasher: inout StableHasher) { hasher.combine(number) }

    /// Avoids the generic default, which would be called through a witness table.
    package func _rawHashValue(seed: Int) -> Int {
        var hasher = StableHasher(seed: seed)
        hasher.combine(number)
        return hasher.hash
    }
    package static func == (left: Self, right: Self) -> Bool { left.number == right.number }
}
