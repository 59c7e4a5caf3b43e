internal import TweakSystem
#if Remote
internal import Crypto
#endif

/// What a file is checked with: 32 bytes of Ed25519, as Base64.
///
/// Source: RFC 8032.
package struct PublicKey: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Reads a key.
    ///
    /// - Returns: `nil` if these are not 32 bytes in Base64.
    package init?(text: String) {
        guard let bytes = Base64.bytes(text), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    package var text: String { Base64.text(bytes) }

    #if Remote
    fileprivate init(_ key: Curve25519.Signing.PublicKey) { bytes = Array(key.rawRepresentation) }

    /// Whether whoever has the private key has signed this.
    package func isSignature(_ signature: Signature, of file: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return false }
        return key.isValidSignature(signature.bytes, for: file)
    }
    #endif
}

/// The signature of a file: 64 bytes, as Base64 in a file beside it with `.sig` behind its name.
package struct Signature: Hashable, Sendable {
    package static let suffix = ".sig"
    /// No such file has more bytes.
    static let largestSize = 1 << 10

    let bytes: [UInt8]

    /// Reads the content of a file.
    ///
    /// - Returns: `nil` if these are not 64 bytes in Base64.
    package init?(text: String) {
        guard let bytes = Base64.bytes(text), bytes.count == 64 else { return nil }
        self.bytes = bytes
    }

    /// The content of a file.
    package var text: String { Base64.text(bytes) + "\n" }

    #if Remote
    fileprivate init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
    #endif
}

#if Remote
/// What files are signed with: 32 bytes of Ed25519, as Base64 in a file that only its owner reads.
package struct PrivateKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// Makes a new one.
    package init() { key = Curve25519.Signing.PrivateKey() }

    /// Reads the content of a file.
    ///
    /// - Returns: `nil` if these are not 32 bytes in Base64.
    package init?(text: String) {
        guard let bytes = Base64.bytes(text), bytes.count == 32,
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.key = key
    }

    /// The content of a file.
    package var text: String { Base64.text(Array(key.rawRepresentation)) + "\n" }

    package var publicKey: PublicKey { PublicKey(key.publicKey) }

    /// Signs the bytes of a file.
    package func signature(of file: [UInt8]) throws -> Signature { Signature(try key.signature(for: file)) }
}
#endif

/// Bytes as text. Source: RFC 4648, section 4.
enum Base64 {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// - Returns: `nil` if it is something else. Space around it is left out.
    static func bytes(_ text: String) -> [UInt8]? {
        let isSpace = { (byte: UInt8) in byte == 0x20 || 0x09...0x0D ~= byte }
        var digits = Array(text.utf8.drop(while: isSpace))
        while let last = digits.last, isSpace(last) { digits.removeLast() }
        guard digits.count.isMultiple(of: 4) else { return nil }
        let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
        digits.removeLast(padding)
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for digit in digits {
            guard let value = letters.firstIndex(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= (1 << count) - 1
        }
        // What the last digit has beyond the bytes.
        return bits == 0 ? bytes : nil
    }

    static func text(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start...].prefix(3)
            let bits = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
            for digit in 0..<4 {
                let isDigit = digit <= part.count
                digits.append(isDigit ? letters[Int(bits >> UInt32(18 - 6 * digit)) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
