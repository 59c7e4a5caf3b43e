// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A token of C, C++ or Swift. Comments and white space are no tokens.
struct SourceToken {
    enum Kind {
        /// A name or a keyword; in Swift also one that begins with `#` or `@`.
        case identifier
        case number
        /// A string with its prefix, delimiters and quotation marks.
        case string
        /// A character in apostrophes.
        case character
        case punctuation
        /// A line of the preprocessor.
        case directive
    }

    let kind: Kind
    /// Its bytes in the file.
    let range: Range<Int>
    /// Its line in the file, from 1.
    let line: Int
    /// The bytes without line continuations.
    let spelling: ArraySlice<UInt8>

    var text: String { String(decoding: spelling, as: UTF8.self) }

    /// Returns whether it has this spelling, and is no literal.
    func has(_ text: StaticString) -> Bool {
        guard kind == .identifier || kind == .punctuation, spelling.count == text.utf8CodeUnitCount else {
            return false
        }
        return text.withUTF8Buffer { spelling.elementsEqual($0) }
    }
}

extension ArraySlice<SourceToken> {
    /// The bytes from the first token to the last.
    var range: Range<Int>? {
        guard let first, let last else { return nil }
        return first.range.lowerBound..<last.range.upperBound
    }

    /// The spellings, separated by blanks where the file has anything between them.
    var text: String {
        var text = ""
        var end: Int?
        for token in self {
            if let end, end < token.range.lowerBound { text += " " }
            text += token.text
            end = token.range.upperBound
        }
        return text
    }

    /// Returns whether both have the same tokens.
    func hasSameSpelling(as other: ArraySlice<SourceToken>) -> Bool {
        elementsEqual(other) { $0.spelling == $1.spelling }
    }

    /// The index behind the bracket that closes the one at an index; `nil` if there is none, or a bracket of another kind
    /// is closed before.
    func end(ofBracketAt opening: Int, _ brackets: [(open: StaticString, close: StaticString)]) -> Int? {
        var kinds: [Int] = []
        for index in opening..<endIndex {
            let token = self[index]
            guard token.kind == .punctuation else { continue }
            if let kind = brackets.firstIndex(where: { token.has($0.open) }) {
                kinds.append(kind)
            } else if let kind = brackets.firstIndex(where: { token.has($0.close) }) {
                guard kinds.popLast() == kind else { return nil }
                if kinds.isEmpty { return index + 1 }
            }
        }
        return nil
    }

    /// The tokens without those that are parts of strings before them.
    var withoutInterpolations: Self {
        var end = 0
        return filter { token in
            defer { if token.kind == .string { end = Swift.max(end, token.range.upperBound) } }
            return token.range.lowerBound >= end
        }[...]
    }

    /// The tokens between braces around all of them; `nil` if there are none.
    func insideBraces(_ brackets: [(open: StaticString, close: StaticString)]) -> Self? {
        guard first?.has("{") == true, end(ofBracketAt: startIndex, brackets) == endIndex else { return nil }
        return dropFirst().dropLast()
    }

    /// The parts between the commas outside of brackets; an empty slice has none.
    func arguments(_ brackets: [(open: StaticString, close: StaticString)]) -> [ArraySlice<SourceToken>] {
        guard !isEmpty else { return [] }
        var parts: [ArraySlice<SourceToken>] = []
        var (depth, start) = (0, startIndex)
        for index in indices {
            if brackets.contains(where: { self[index].has($0.open) }) { depth += 1 }
            if brackets.contains(where: { self[index].has($0.close) }) { depth -= 1 }
            guard depth == 0, self[index].has(",") else { continue }
            parts.append(self[start..<index])
            start = index + 1
        }
        return parts + [self[start...]]
    }
}

/// The lines of a file.
struct SourceLines {
    /// The offsets of the first bytes of all lines.
    let starts: [Int]
    let byteCount: Int

    /// - Parameter countingReturns: Whether a carriage return alone ends a line, as it does for compilers.
    init(of bytes: [UInt8], countingReturns: Bool = false) {
        var starts = [0]
        for index in bytes.indices {
            switch bytes[index] {
            case "\n": starts.append(index + 1)
            case "\r" where countingReturns && !bytes[(index + 1)...].starts(with: "\n".utf8):
                starts.append(index + 1)
            default: break
            }
        }
        if starts.count > 1, starts.last == bytes.count { starts.removeLast() }
        (self.starts, byteCount) = (starts, bytes.count)
    }

    /// The line of a byte, from 1.
    func line(of offset: Int) -> Int {
        var (low, high) = (0, starts.count)
        while low + 1 < high {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The line of a byte that is in a known line or soon behind it, as that of the next token is.
    func line(of offset: Int, from known: Int) -> Int {
        var line = known
        while line < starts.count, starts[line] <= offset { line += 1 }
        return line
    }

    /// The bytes of a line, with its newline.
    func range(of line: Int) -> Range<Int> {
        starts[line - 1]..<(line < starts.count ? starts[line] : byteCount)
    }
}

// MARK: - Bytes

/// Lets a `switch` over bytes have characters as patterns.
func ~= (scalar: Unicode.Scalar, byte: UInt8) -> Bool { scalar.value == UInt32(byte) }

func ~= (range: ClosedRange<Unicode.Scalar>, byte: UInt8) -> Bool { range.contains(Unicode.Scalar(byte)) }

extension UInt8 {
    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// Whether it can begin a name, in UTF-8.
    var beginsName: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "_", "$": true
        default: self >= 0x80
        }
    }

    var continuesName: Bool { beginsName || isDigit }
}

extension [UInt8] {
    /// The length of the byte order mark of UTF-8 at the beginning.
    var markLength: Int { starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }
}
