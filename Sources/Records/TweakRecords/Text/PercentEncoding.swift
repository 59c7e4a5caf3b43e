// SPDX-License-Identifier: BSD-3-Clause

// Percent encoding of bytes: RFC 3986, section 2.1.

extension String {
    /// The text as part of a URL: only letters, digits, and `-`, `.`, `_` and `~` remain.
    package var percentEncoded: String {
        percentEncoded { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                false
            default: !"-._~".utf8.contains(byte)
            }
        }
    }

    /// The text with some of its bytes encoded.
    package func percentEncoded(where isEncoded: (UInt8) -> Bool) -> String {
        let bytes = utf8.flatMap { byte in
            isEncoded(byte) ? Array("%\(byte.digits(2, radix: 16, uppercase: true))".utf8) : [byte]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes a percent-encoded text.
    ///
    /// - Returns: `nil` if a percent sign is not followed by two hexadecimal digits, or if the result is not UTF-8.
    package init?(percentEncoded text: some StringProtocol) {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 2 else { return nil }
            bytes.append(UInt8(digits[0] << 4 | digits[1]))
            rest = rest.dropFirst(2)
        }
        self.init(validating: bytes, as: UTF8.self)
    }
}
