// SPDX-License-Identifier: BSD-3-Clause
/// Base64 text with padding: RFC 4648, section 4.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: .max, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// Encodes bytes.
    package static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        write(bytes.span.bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the encoding of bytes.
    package static func write(_ bytes: RawSpan, to output: inout [UInt8]) {
        output.append(addingCapacity: (bytes.byteCount + 2) / 3 * 4) { text in
            text.withUnsafeMutableBufferPointer { text, count in
                bytes.withUnsafeBytes { bytes in
                    digits.withUnsafeBufferPointer { digits in
                        for start in stride(from: 0, to: bytes.count, by: 3) {
                            let rest = bytes.count - start
                            let word =
                                UInt32(bytes[start]) << 16 | (rest > 1 ? UInt32(bytes[start + 1]) << 8 : 0)
                                | (rest > 2 ? UInt32(bytes[start + 2]) : 0)
                            text[count] = digits[Int(word >> 18)]
                            text[count + 1] = digits[Int(word >> 12 & 63)]
                            text[count + 2] = rest > 1 ? digits[Int(word >> 6 & 63)] : padding
                            text[count + 3] = rest > 2 ? digits[Int(word & 63)] : padding
                            count += 4
                        }
                    }
                }
            }
        }
    }

    /// Decodes a text.
    ///
    /// - Returns: `nil` for anything that ``text(of:)`` does not produce, such as spaces, missing padding, or a last
    ///   digit with surplus bits. So distinct texts never decode to the same bytes.
    package static func bytes(of text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { text -> [UInt8]? in
            guard text.count.isMultiple(of: 4) else { return nil }
            let surplus = text.suffix(2).reversed().prefix { $0 == padding }.count
            var invalid: UInt32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { bytes, count in
                values.withUnsafeBufferPointer { values in
                    for start in stride(from: 0, to: text.count, by: 4) {
                        var word: UInt32 = 0
                        for index in start..<start + 4 {
                            let value = index < text.count - surplus ? UInt32(values[Int(text[index])]) : 0
                            invalid |= value & ~63
                            word = word << 6 | value & 63
                        }
                        let isLast = start + 4 == text.count
                        for place in 0..<3 {
                            let byte = UInt8(truncatingIfNeeded: word >> UInt32(16 - 8 * place))
                            if isLast, place >= 3 - surplus {
                                invalid |= UInt32(byte)
                            } else {
                                bytes.initializeElement(at: count, to: byte)
                                count += 1
                            }
                        }
                    }
                }
            }
            return invalid == 0 ? bytes : nil
        }
    }
}
