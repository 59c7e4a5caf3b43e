// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A string literal of C or C++.
struct CString {
    private let prefix: String
    /// The delimiter of a raw string; `nil` for another one.
    private let delimiter: String?
    /// The text in UTF-8.
    let content: [UInt8]

    /// Parses a literal.
    ///
    /// - Returns: `nil` if it is not closed, has another encoding than UTF-8, or an escape sequence that is unknown.
    init?(_ token: SourceToken) {
        guard token.kind == .string, let quote = token.spelling.firstIndex(of: UInt8(ascii: "\"")) else {
            return nil
        }
        let start = String(decoding: token.spelling[..<quote], as: UTF8.self)
        guard ["", "u8", "R", "u8R"].contains(start) else { return nil }
        prefix = start
        let rest = token.spelling[(quote + 1)...]
        guard rest.last == UInt8(ascii: "\"") else { return nil }
        let inside = rest.dropLast()
        guard start.hasSuffix("R") else {
            guard let content = Self.unescaped(inside) else { return nil }
            (self.delimiter, self.content) = (nil, content)
            return
        }
        guard let opening = inside.firstIndex(of: UInt8(ascii: "(")) else { return nil }
        let delimiter = inside[..<opening]
        guard inside.suffix(delimiter.count + 1).elementsEqual([UInt8(ascii: ")")] + delimiter) else {
            return nil
        }
        self.delimiter = String(decoding: delimiter, as: UTF8.self)
        let raw = inside[(opening + 1)...].dropLast(delimiter.count + 1)
        // Compilers replace the newlines of the file.
        content = raw.indices.filter {
            raw[$0] != UInt8(ascii: "\r") || $0 + 1 >= raw.endIndex || raw[$0 + 1] != UInt8(ascii: "\n")
        }.map { raw[$0] }
    }

    /// Replaces the escape sequences of a literal; `nil` if one is unknown.
    static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var content: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                if byte == UInt8(ascii: "\"") { return nil }
                content.append(byte)
                continue
            }
            guard let letter = rest.popFirst() else { return nil }
            switch letter {
            case "n": content.append(0x0A)
            case "t": content.append(0x09)
            case "r": content.append(0x0D)
            case "a": content.append(0x07)
            case "b": content.append(0x08)
            case "f": content.append(0x0C)
            case "v": content.append(0x0B)
            case "e", "E": content.append(0x1B)
            case "\\", "'", "\"", "?": content.append(letter)
            case "0"..."7":
                let digits = [letter] + rest.prefix(2).prefix { UInt8(ascii: "0")...UInt8(ascii: "7") ~= $0 }
                rest = rest.dropFirst(digits.count - 1)
                guard let number = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) else {
                    return nil
                }
                content.append(number)
            case "x":
                let digits = rest.prefix { Character(Unicode.Scalar($0)).isHexDigit }
                rest = rest.dropFirst(digits.count)
                guard let number = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else {
                    return nil
                }
                content.append(number)
            case "u", "U":
                let digits = rest.prefix(letter == UInt8(ascii: "u") ? 4 : 8)
                rest = rest.dropFirst(digits.count)
                guard digits.count == (letter == UInt8(ascii: "u") ? 4 : 8),
                    let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                    let scalar = Unicode.Scalar(number)
                else { return nil }
                content += Array(String(scalar).utf8)
            default: return nil
            }
        }
        return content
    }

    /// A literal of another text in the same notation.
    ///
    /// - Parameter isASCII: Whether to escape everything else, because the file is not in UTF-8.
    func written(_ text: [UInt8], isASCII: Bool) -> String {
        guard let delimiter, let raw = Self.raw(text, delimiter, isASCII: isASCII) else {
            return (prefix.hasPrefix("u8") ? "u8" : "") + "\"" + Self.escaped(text, isASCII: isASCII) + "\""
        }
        return prefix + "\"" + raw + "\""
    }

    /// The inside of a raw string; `nil` for a text that a source cannot have: raw strings have the newlines of their
    /// file, and control characters would be invisible.
    private static func raw(_ text: [UInt8], _ delimiter: String, isASCII: Bool) -> String? {
        let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
        guard isPlain, !isASCII || text.allSatisfy({ $0 < 0x80 }),
            let content = String(validating: text, as: UTF8.self),
            !content.unicodeScalars.contains(where: \.isUnseen)
        else { return nil }
        var delimiter = delimiter
        while text.contains(Array(")\(delimiter)\"".utf8)) {
            guard delimiter.utf8.count < 16 else { return nil }
            delimiter += "x"
        }
        return delimiter + "(" + content + ")" + delimiter
    }

    /// Escapes what cannot stand between quotation marks.
    static func escaped(_ text: [UInt8], isASCII: Bool) -> String {
        let isText = !isASCII && String(validating: text, as: UTF8.self) != nil
        // Bytes of characters that a reader of the source would not see.
        var unseen: Set<Int> = []
        var offset = 0
        for scalar in isText ? Array(String(decoding: text, as: UTF8.self).unicodeScalars) : [] {
            let count = UTF8.width(scalar)
            if scalar.isUnseen { unseen.formUnion(offset..<offset + count) }
            offset += count
        }
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        for (offset, byte) in text.enumerated() {
            switch byte {
            case "\"", "\\": bytes += [UInt8(ascii: "\\"), byte]
            case "\n": bytes += Array("\\n".utf8)
            case "\t": bytes += Array("\\t".utf8)
            case "\r": bytes += Array("\\r".utf8)
            // Two question marks could begin a trigraph.
            case "?" where last == UInt8(ascii: "?"): bytes += Array("\\?".utf8)
            case let byte
            where byte < 0x20 || byte == 0x7F || byte >= 0x80 && (!isText || unseen.contains(offset)):
                // Three digits, so that digits behind them do not count.
                bytes += Array(("\\" + byte.digits(3, radix: 8)).utf8)
            default: bytes.append(byte)
            }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension CString {
    /// The text of neighbouring literals; `nil` if one of the tokens is something else.
    static func content(of tokens: ArraySlice<SourceToken>) -> [UInt8]? {
        guard !tokens.isEmpty else { return nil }
        var content: [UInt8] = []
        for token in tokens {
            guard let literal = CString(token) else { return nil }
            content += literal.content
        }
        return content
    }
}
