// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords
internal import TweakSystem
#if Remote
internal import Crypto
#endif

/// A key to verify files: 32 bytes of Ed25519, as Base64.
///
/// Source: RFC 8032.
package struct PublicKey: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Parses a key.
    ///
    /// - Returns: `nil` unless the text is 32 bytes in Base64.
    package init?(text: String) {
        guard let bytes = base64(text), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    package var text: String { Base64.text(of: bytes) }

    #if Remote
    fileprivate init(_ key: Curve25519.Signing.PublicKey) { bytes = Array(key.rawRepresentation) }

    /// Returns whether the signature of a file was made with the private key.
    package func isSignature(_ signature: Signature, of file: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return false }
        return key.isValidSignature(signature.bytes, for: file)
    }
    #endif
}

/// The signature of a file: 64 bytes, as Base64 in a file beside it whose name ends in `.sig`.
package struct Signature: Hashable, Sendable {
    package static let suffix = ".sig"
    /// The maximum size of such a file.
    static let largestSize = 1 << 10

    let bytes: [UInt8]

    /// Parses the content of a signature file.
    ///
    /// - Returns: `nil` unless the text is 64 bytes in Base64.
    package init?(text: String) {
        guard let bytes = base64(text), bytes.count == 64 else { return nil }
        self.bytes = bytes
    }

    /// The content of a signature file.
    package var text: String { Base64.text(of: bytes) + "\n" }

    #if Remote
    fileprivate init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
    #endif
}

#if Remote
/// A key to sign files: 32 bytes of Ed25519, as Base64 in a file readable only by its owner.
package struct PrivateKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// Generates a key.
    package init() { key = Curve25519.Signing.PrivateKey() }

    /// Parses the content of a key file.
    ///
    /// - Returns: `nil` unless the text is 32 bytes in Base64.
    package init?(text: String) {
        guard let bytes = base64(text), bytes.count == 32,
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.key = key
    }

    /// The content of a key file.
    package var text: String { Base64.text(of: Array(key.rawRepresentation)) + "\n" }

    package var publicKey: PublicKey { PublicKey(key.publicKey) }

    /// Signs the bytes of a file.
    package func signature(of file: [UInt8]) throws -> Signature { Signature(try key.signature(for: file)) }
}
#endif

/// Decodes Base64 surrounded by white space.
private func base64(_ text: String) -> [UInt8]? {
    let words = text.split(whereSeparator: \.isWhitespace)
    return words.count == 1 ? Base64.bytes(of: String(words[0])) : nil
}
