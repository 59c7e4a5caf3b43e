// SPDX-License-Identifier: BSD-3-Clause

/// JavaScript without the spaces and the line ends that only people need.
///
/// Strings, template literals and regular expressions stay as they are. All statements end with semicolons, as the linter
/// checks, and no block comment is on a line with code.
struct CompactScript {
    private(set) var bytes: [UInt8] = []
    private let code: [UInt8]
    private var index = 0
    /// The braces that are open in each substitution of the template literals around this place.
    private var braces: [Int] = []

    init(_ text: String) {
        code = Array(text.utf8)
        bytes.reserveCapacity(code.count)
        while index < code.count { step() }
    }

    private mutating func step() {
        let byte = code[index]
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\n"): space()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): copyText(to: byte)
        case UInt8(ascii: "`"): copyTemplate()
        case UInt8(ascii: "/") where next == byte: skipComment()
        case UInt8(ascii: "/") where isBeforeExpression: copyExpression()
        case UInt8(ascii: "{") where !braces.isEmpty:
            braces[braces.count - 1] += 1
            copy()
        case UInt8(ascii: "}") where !braces.isEmpty:
            copy()
            braces[braces.count - 1] -= 1
            guard braces.last == 0 else { return }
            // The literal goes on.
            braces.removeLast()
            copyTemplatePart()
        default: copy()
        }
    }

    private var next: UInt8? { index + 1 < code.count ? code[index + 1] : nil }

    private mutating func copy() {
        bytes.append(code[index])
        index += 1
    }

    /// Copies a space or a line end if it separates two words, or two operators that would become another one.
    private mutating func space() {
        while index < code.count, code[index] == UInt8(ascii: " ") || code[index] == UInt8(ascii: "\n") {
            index += 1
        }
        guard let last = bytes.last, index < code.count else { return }
        let following = code[index]
        if Self.isOfWord(last) && Self.isOfWord(following)
            || last == following && "+-/".utf8.contains(last)
        {
            bytes.append(UInt8(ascii: " "))
        }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "#"),
            0x80...:
            true
        default: false
        }
    }

    private mutating func copyText(to end: UInt8) {
        copy()
        while index < code.count, code[index] != end { copyEscaped() }
        if index < code.count { copy() }
    }

    private mutating func copyEscaped() {
        if code[index] == UInt8(ascii: "\\"), next != nil { copy() }
        copy()
    }

    private mutating func copyTemplate() {
        copy()
        copyTemplatePart()
    }

    /// Copies a template literal to its end or its next substitution.
    private mutating func copyTemplatePart() {
        while index < code.count {
            switch code[index] {
            case UInt8(ascii: "`"): return copy()
            case UInt8(ascii: "$") where next == UInt8(ascii: "{"):
                copy()
                copy()
                return braces.append(1)
            default: copyEscaped()
            }
        }
    }

    private mutating func skipComment() {
        while index < code.count, code[index] != UInt8(ascii: "\n") { index += 1 }
    }

    /// Whether a slash here begins a regular expression: after an operator or a word such as `return`, and at the beginning.
    private var isBeforeExpression: Bool {
        guard let last = bytes.last else { return true }
        guard Self.isOfWord(last) else { return "(,=:[!&|?{};>".utf8.contains(last) }
        let word = bytes[bytes.index(after: bytes.lastIndex { !Self.isOfWord($0) } ?? -1)...]
        return ["return", "typeof", "case", "await", "else"].contains { word.elementsEqual($0.utf8) }
    }

    private mutating func copyExpression() {
        copy()
        var isInClass = false
        while index < code.count, isInClass || code[index] != UInt8(ascii: "/") {
            if code[index] == UInt8(ascii: "[") { isInClass = true }
            if code[index] == UInt8(ascii: "]") { isInClass = false }
            copyEscaped()
        }
        if index < code.count { copy() }
    }
}
