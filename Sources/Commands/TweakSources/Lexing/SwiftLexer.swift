// SPDX-License-Identifier: BSD-3-Clause
/// Splits Swift into tokens. Interpolations are parts of their strings, and their own tokens follow the string's.
///
/// It reads every file to its end: a literal without an end stops at its line, a comment or a text of several lines at
/// the end of the file.
struct SwiftLexer {
    private let bytes: [UInt8]
    private let lines: SourceLines
    private var index: Int
    private var tokens: [SourceToken] = []
    /// The line of the last token.
    private var line = 1
    /// The number of interpolations around the next token.
    private var interpolations = 0

    static func tokens(of bytes: [UInt8], _ lines: SourceLines) -> [SourceToken] {
        var lexer = SwiftLexer(bytes, lines)
        lexer.tokens.reserveCapacity(bytes.count / 4)
        while lexer.index < bytes.count { lexer.lex() }
        return lexer.tokens
    }

    private init(_ bytes: [UInt8], _ lines: SourceLines) {
        (self.bytes, self.lines) = (bytes, lines)
        index = bytes.markLength
    }

    private func byte(_ ahead: Int = 0) -> UInt8 { index + ahead < bytes.count ? bytes[index + ahead] : 0 }

    private mutating func lex() {
        let start = index
        switch byte() {
        case " ", "\t", "\n", "\r", "\u{0B}", "\u{0C}", "\0": index += 1
        case "/" where skipComment(): break
        case "/" where skipRegex(): add(.character, from: start)
        case "\"" where addText(): break
        case "#" where addText(): break
        case "#" where byte(1).beginsName, "@" where byte(1).beginsName:
            index += 1
            skipName()
            add(.identifier, from: start)
        case "`":
            index += 1
            while index < bytes.count, byte() != UInt8(ascii: "`"), byte() != UInt8(ascii: "\n") {
                index += 1
            }
            index = min(index + 1, bytes.count)
            add(.identifier, from: start)
        case "0"..."9":
            skipNumber()
            add(.number, from: start)
        case let first where first.beginsName:
            skipName()
            add(.identifier, from: start)
        case let first where Self.isOperator(first):
            while Self.isOperator(byte()), !isComment { index += 1 }
            add(.punctuation, from: start)
        case "." where byte(1) == UInt8(ascii: "."):
            while byte() == UInt8(ascii: ".") || Self.isOperator(byte()) { index += 1 }
            add(.punctuation, from: start)
        default:
            index += 1
            add(.punctuation, from: start)
        }
    }

    /// Adds a string, and after it the tokens of its interpolations.
    private mutating func addText() -> Bool {
        let (start, place) = (index, tokens.count)
        line = lines.line(of: start, from: line)
        let first = line
        if byte() == UInt8(ascii: "\"") {
            skipString()
        } else if !skipExtended() {
            return false
        }
        tokens.insert(token(.string, from: start, at: first), at: place)
        return true
    }

    private static func isOperator(_ byte: UInt8) -> Bool {
        switch byte {
        case "/", "=", "-", "+", "!", "*", "%", "<", ">", "&", "|", "^", "~", "?": true
        default: false
        }
    }

    private var isComment: Bool {
        byte() == UInt8(ascii: "/") && (byte(1) == UInt8(ascii: "/") || byte(1) == UInt8(ascii: "*"))
    }

    private mutating func skipName() { while index < bytes.count, byte().continuesName { index += 1 } }

    /// Skips a comment; comments of several lines contain others.
    private mutating func skipComment() -> Bool {
        guard isComment else { return false }
        if byte(1) == UInt8(ascii: "/") {
            while index < bytes.count, byte() != UInt8(ascii: "\n") { index += 1 }
            return true
        }
        var depth = 0
        while index < bytes.count {
            if byte() == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
                depth += 1
                index += 2
            } else if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
                depth -= 1
                index += 2
                if depth == 0 { return true }
            } else {
                index += 1
            }
        }
        return true
    }

    /// Skips a regular expression between slashes: where an operand is expected, ended on its line, and not beginning
    /// with a blank.
    private mutating func skipRegex() -> Bool {
        if let last = tokens.last {
            let isOperand =
                switch last.kind {
                case .identifier: !["return", "in", "case", "try", "await"].contains(last.text)
                case .number, .string, .character: true
                case .punctuation: ")]}".utf8.contains(last.spelling.last ?? 0)
                case .directive: false
                }
            if isOperand { return false }
        }
        guard ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "=")].contains(byte(1)) else {
            return false
        }
        var end = index + 1
        var isInClass = false
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
            switch bytes[end] {
            case "\\": end += 1
            case "[": isInClass = true
            case "]": isInClass = false
            case "/" where !isInClass:
                index = end + 1
                return true
            default: break
            }
            end += 1
        }
        return false
    }

    /// Skips a string or a regular expression with number signs around it.
    private mutating func skipExtended() -> Bool {
        let start = index
        while byte() == UInt8(ascii: "#") { index += 1 }
        let signs = [UInt8](repeating: UInt8(ascii: "#"), count: index - start)
        if byte() == UInt8(ascii: "\"") {
            skipString(signs)
            return true
        }
        if byte() == UInt8(ascii: "/") {
            index += 1
            while index < bytes.count, !bytes[index...].starts(with: [UInt8(ascii: "/")] + signs) {
                index += 1
            }
            index = min(index + 1 + signs.count, bytes.count)
            return true
        }
        index = start
        return false
    }

    private mutating func skipString(_ signs: [UInt8] = []) {
        let quotes = [UInt8](repeating: UInt8(ascii: "\""), count: 3)
        let isLong = bytes[index...].starts(with: quotes)
        let ending = (isLong ? quotes : Array(quotes.prefix(1))) + signs
        index += isLong ? 3 : 1
        while index < bytes.count {
            if byte() == UInt8(ascii: "\""), bytes[index...].starts(with: ending) {
                index += ending.count
                return
            }
            if byte() == UInt8(ascii: "\n"), !isLong { return }
            if byte() == UInt8(ascii: "\\"), bytes[(index + 1)...].starts(with: signs) {
                index += 1 + signs.count
                if byte() == UInt8(ascii: "(") {
                    addInterpolation()
                } else if byte() != UInt8(ascii: "\n") {
                    index += 1
                }
                continue
            }
            index += 1
        }
    }

    /// Adds the tokens of an interpolation up to its closing parenthesis. Those in deeper ones are left out: no one writes
    /// them, and each takes stack.
    private mutating func addInterpolation() {
        interpolations += 1
        defer { interpolations -= 1 }
        guard interpolations < 32 else { return }
        var depth = 0
        while index < bytes.count {
            switch byte() {
            case "(": depth += 1
            case ")": depth -= 1
            default: break
            }
            lex()
            if depth == 0 { return }
        }
    }

    private mutating func skipNumber() {
        let isHexadecimal = byte() == UInt8(ascii: "0") && byte(1) == UInt8(ascii: "x")
        while index < bytes.count {
            let isExponent = (isHexadecimal ? "pP" : "eE").utf8.contains(byte())
            if isExponent, byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-") {
                index += 2
            } else if byte().continuesName {
                index += 1
            } else if byte() == UInt8(ascii: "."), byte(1).isDigit || (isHexadecimal && isHexDigit(byte(1))) {
                index += 1
            } else {
                return
            }
        }
    }

    private func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

    private mutating func add(_ kind: SourceToken.Kind, from start: Int) {
        line = lines.line(of: start, from: line)
        tokens.append(token(kind, from: start, at: line))
    }

    private func token(_ kind: SourceToken.Kind, from start: Int, at line: Int) -> SourceToken {
        let range = start..<min(index, bytes.count)
        return SourceToken(kind: kind, range: range, line: line, spelling: bytes[range])
    }
}
