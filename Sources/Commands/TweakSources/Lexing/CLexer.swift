// SPDX-License-Identifier: BSD-3-Clause
/// Splits C or C++ into tokens as the preprocessor does, without expanding macros or evaluating conditions.
///
/// It reads every file to its end: a literal without an end stops at its line, a comment at the end of the file.
struct CLexer {
    private let lines: SourceLines
    private let bytes: [UInt8]
    /// The bytes without line continuations.
    private var logical: [UInt8]
    /// For each byte of `logical` its offset in the file; `nil` if they are equal.
    private var offsets: [Int]?
    private var index: Int
    private var tokens: [SourceToken] = []
    /// The line of the last token.
    private var line = 1

    static func tokens(of bytes: [UInt8], _ lines: SourceLines) -> [SourceToken] {
        var lexer = CLexer(bytes, lines)
        lexer.tokens.reserveCapacity(bytes.count / 4)
        lexer.lex()
        return lexer.tokens
    }

    private init(_ bytes: [UInt8], _ lines: SourceLines) {
        (self.bytes, self.lines) = (bytes, lines)
        logical = bytes
        index = bytes.markLength
        removeContinuations()
    }

    /// Removes backslashes before newlines. As compilers do, it ignores blanks between them.
    private mutating func removeContinuations() {
        guard bytes.contains(UInt8(ascii: "\\")) else { return }
        let starts = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\\") }
            .compactMap { start in end(ofContinuationAt: start).map { start..<$0 } }
        guard !starts.isEmpty else { return }
        logical = []
        var kept: [Int] = []
        var next = 0
        for gap in starts {
            logical += bytes[next..<gap.lowerBound]
            kept += next..<gap.lowerBound
            next = gap.upperBound
        }
        logical += bytes[next...]
        kept += next..<bytes.count
        offsets = kept
    }

    private func end(ofContinuationAt start: Int) -> Int? {
        var end = start + 1
        while end < bytes.count {
            switch bytes[end] {
            case " ", "\t", "\r", "\u{0B}", "\u{0C}": end += 1
            case "\n": return end + 1
            default: return nil
            }
        }
        return nil
    }

    private func offset(_ index: Int) -> Int {
        guard let offsets else { return index }
        return index < offsets.count ? offsets[index] : bytes.count
    }

    private func byte(_ ahead: Int = 0) -> UInt8 {
        index + ahead < logical.count ? logical[index + ahead] : 0
    }

    private mutating func lex() {
        var beginsLine = true
        while index < logical.count {
            switch byte() {
            case "\n":
                beginsLine = true
                index += 1
            case " ", "\t", "\r", "\u{0B}", "\u{0C}": index += 1
            case "/" where skipComment(): break
            case "#" where beginsLine: lexDirective()
            default:
                beginsLine = false
                lexToken()
            }
        }
    }

    /// Skips a comment, but not the newline behind it.
    private mutating func skipComment() -> Bool {
        guard byte() == UInt8(ascii: "/") else { return false }
        if byte(1) == UInt8(ascii: "/") {
            while index < logical.count, byte() != UInt8(ascii: "\n") { index += 1 }
            return true
        }
        guard byte(1) == UInt8(ascii: "*") else { return false }
        index += 2
        while index < logical.count, byte() != UInt8(ascii: "*") || byte(1) != UInt8(ascii: "/") {
            index += 1
        }
        index = min(index + 2, logical.count)
        return true
    }

    /// A directive goes to the end of its line, or of the line on which a comment inside ends.
    private mutating func lexDirective() {
        let start = index
        while index < logical.count, byte() != UInt8(ascii: "\n") {
            switch byte() {
            case "\"", "'": skipLiteral()
            case "/" where skipComment(): break
            default: index += 1
            }
        }
        add(.directive, from: start)
    }

    private mutating func lexToken() {
        let start = index
        let first = byte()
        if first.isDigit || (first == UInt8(ascii: ".") && byte(1).isDigit) {
            lexNumber()
            add(.number, from: start)
        } else if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            skipLiteral()
            add(first == UInt8(ascii: "'") ? .character : .string, from: start)
        } else if first.beginsName || first == UInt8(ascii: "\\") {
            index += 1
            while index < logical.count, byte().continuesName || byte() == UInt8(ascii: "\\") { index += 1 }
            lexBehindName(from: start)
        } else {
            index += first == UInt8(ascii: ":") && byte(1) == UInt8(ascii: ":") ? 2 : 1
            add(.punctuation, from: start)
        }
    }

    /// Ends a name, or the literal of which it is the prefix.
    private mutating func lexBehindName(from start: Int) {
        guard byte() == UInt8(ascii: "\"") || byte() == UInt8(ascii: "'") else {
            return add(.identifier, from: start)
        }
        let prefix = logical[start..<index]
        let isPrefix = ["u8", "u", "U", "L", ""].contains { prefix.elementsEqual($0.utf8) }
        let isRawPrefix = ["u8R", "uR", "UR", "LR", "R"].contains { prefix.elementsEqual($0.utf8) }
        switch byte() {
        case "\"" where isRawPrefix && skipRawString(): add(.string, from: start)
        case "\"" where isPrefix:
            skipLiteral()
            add(.string, from: start)
        case "'" where isPrefix:
            skipLiteral()
            add(.character, from: start)
        default: add(.identifier, from: start)
        }
    }

    private mutating func lexNumber() {
        while index < logical.count {
            if isExponent, byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-") {
                index += 2
            } else if byte().continuesName || byte() == UInt8(ascii: ".") {
                index += 1
            } else if byte() == UInt8(ascii: "'"), byte(1).continuesName {
                index += 2
            } else {
                return
            }
        }
    }

    private var isExponent: Bool {
        switch byte() {
        case "e", "E", "p", "P": true
        default: false
        }
    }

    /// Skips a literal in quotation marks or apostrophes; one without an end stops at its line.
    private mutating func skipLiteral() {
        let quote = byte()
        index += 1
        while index < logical.count {
            switch byte() {
            case quote:
                index += 1
                return
            case "\n": return
            case "\\" where byte(1) != UInt8(ascii: "\n"): index = min(index + 2, logical.count)
            default: index += 1
            }
        }
    }

    /// Skips a raw string, in which a backslash before a newline is no continuation.
    ///
    /// - Returns: `false` if it is none.
    private mutating func skipRawString() -> Bool {
        let quote = offset(index)
        guard let opening = bytes[(quote + 1)...].prefix(17).firstIndex(of: UInt8(ascii: "(")),
            !bytes[(quote + 1)..<opening].contains(where: { " )\\\"\t\n\r".utf8.contains($0) })
        else { return false }
        let ending = [UInt8(ascii: ")")] + bytes[(quote + 1)..<opening] + [UInt8(ascii: "\"")]
        var end = opening + 1
        while end < bytes.count, !bytes[end...].starts(with: ending) { end += 1 }
        end = min(end + ending.count, bytes.count)
        guard let offsets else {
            index = end
            return true
        }
        index = offsets[index...].firstIndex { $0 >= end } ?? offsets.count
        return true
    }

    private mutating func add(_ kind: SourceToken.Kind, from start: Int) {
        let range = offset(start)..<(offset(index - 1) + 1)
        line = lines.line(of: range.lowerBound, from: line)
        let isRaw = kind == .string && isRawString(from: start)
        tokens.append(
            SourceToken(
                kind: kind, range: range, line: line, spelling: isRaw ? bytes[range] : logical[start..<index])
        )
    }

    /// Returns whether a string is raw: then the bytes of the file are those of the text.
    private func isRawString(from start: Int) -> Bool {
        logical[start..<index].prefix { $0 != UInt8(ascii: "\"") }.contains(UInt8(ascii: "R"))
    }
}
