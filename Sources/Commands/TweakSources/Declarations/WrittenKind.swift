// SPDX-License-Identifier: BSD-3-Clause
extension SourceFile {
    /// Returns whether a text in place of a literal is read as a literal or a name of the same kind, and leaves the tokens
    /// around it as they are. The text may be made of what somebody else wrote, such as the names in debug information.
    func isSameKind(_ text: [UInt8], inPlaceOf range: Range<Int>) -> Bool {
        let window = window(around: range)
        let start = range.lowerBound - window.lowerBound
        var changed = Array(bytes[window])
        let old = lexed(changed)
        changed.replaceSubrange(start..<start + range.count, with: text)
        let new = lexed(changed)
        let before = old.prefix { $0.range.upperBound <= start }
        let behind = old.drop { $0.range.lowerBound < start + range.count }
        guard new.count > before.count + behind.count, new.prefix(before.count).hasSameSpelling(as: before),
            new.suffix(behind.count).hasSameSpelling(as: behind)
        else { return false }
        let (oldValue, newValue) = (
            old[before.count..<behind.startIndex], new.dropFirst(before.count).dropLast(behind.count)
        )
        guard newValue.range.map({ start <= $0.lowerBound && $0.upperBound <= start + text.count }) == true,
            gaps(in: newValue, text, from: start) == gaps(in: oldValue, Array(bytes[range]), from: start)
        else { return false }
        let known = Set(oldValue.lazy.filter { $0.kind == .identifier }.map(\.spelling))
        let areNames = newValue.allSatisfy {
            // The type of a cast, see `ValueShape`.
            $0.kind != .identifier || known.contains($0.spelling) || $0.has("int") || language.isName($0.text)
        }
        return areNames && ValueShape(newValue, language).isSame(as: ValueShape(oldValue, language))
    }

    /// The bytes from the token before a range to the one behind it; the inside of a directive around it.
    private func window(around range: Range<Int>) -> Range<Int> {
        let next = tokens.partitioningIndex { $0.range.lowerBound >= range.upperBound }
        let first = tokens.partitioningIndex { $0.range.upperBound > range.lowerBound }
        if first < tokens.count, tokens[first].kind == .directive,
            tokens[first].range.lowerBound < range.lowerBound
        {
            return (tokens[first].range.lowerBound + 1)..<tokens[first].range.upperBound
        }
        let start =
            first > 0 && tokens[first - 1].kind != .directive
            ? tokens[first - 1].range.lowerBound : range.lowerBound
        let end =
            next < tokens.count && tokens[next].kind != .directive
            ? tokens[next].range.upperBound : range.upperBound
        return start..<end
    }

    private func lexed(_ bytes: [UInt8]) -> ArraySlice<SourceToken> {
        let lines = SourceLines(of: bytes)
        return switch language {
        case .c: CLexer.tokens(of: bytes, lines)[...]
        case .swift: SwiftLexer.tokens(of: bytes, lines)[...]
        }
    }

    /// The parts of a text that are neither tokens nor blanks: comments and continued lines.
    private func gaps(in tokens: ArraySlice<SourceToken>, _ text: [UInt8], from start: Int) -> [UInt8] {
        var gaps: [UInt8] = []
        var next = 0
        for token in tokens {
            let (lower, upper) = (token.range.lowerBound - start, token.range.upperBound - start)
            guard next <= lower, upper <= text.count else { return text }
            gaps += text[next..<lower]
            next = upper
        }
        return (gaps + text[next...]).filter { !" \t\r\n".utf8.contains($0) }
    }
}

extension [SourceToken] {
    /// The index of the first token for which a condition holds, which holds for all behind it.
    fileprivate func partitioningIndex(where holds: (SourceToken) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension SourceLanguage {
    /// Returns whether a text is one name, and no keyword.
    func isName(_ text: String) -> Bool {
        if text == "true" || text == "false" { return true }
        guard let first = text.unicodeScalars.first, self == .swift || !CKeywords.all.contains(text) else {
            return false
        }
        func isLetter(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "_" || scalar == "$" || scalar.properties.isXIDStart
        }
        return isLetter(first)
            && text.unicodeScalars.allSatisfy { isLetter($0) || $0.properties.isXIDContinue }
    }
}

/// The kinds of the tokens of a value. Numbers with a sign or a cast are numbers; so are characters, which C takes for
/// such. Names with scopes are names, and neighbouring strings one string.
private struct ValueShape {
    private enum Part: Equatable {
        case number, string, name
        /// `nil` in Swift.
        case nothing
        case mark(String)
    }

    private var parts: [Part] = []

    init(_ tokens: ArraySlice<SourceToken>, _ language: SourceLanguage) {
        var rest = tokens
        while let token = rest.popFirst() {
            switch token.kind {
            case .number, .character: parts.append(.number)
            case .string: if parts.last != .string { parts.append(.string) }
            case .identifier where language == .swift && token.has("nil"): parts.append(.nothing)
            case .identifier:
                if parts.last == .mark("::"), parts.dropLast().last == .name {
                    parts.removeLast()
                } else {
                    parts.append(.name)
                }
            case .punctuation where (token.has("-") || token.has("+")) && rest.first?.kind == .number: break
            case .punctuation where token.has("(") && Self.isCast(rest): rest = rest.dropFirst(2)
            case .punctuation, .directive: parts.append(.mark(token.text))
            }
        }
    }

    /// `int)` or `int64_t)` before a number, which the smallest integers have.
    private static func isCast(_ rest: ArraySlice<SourceToken>) -> Bool {
        guard let type = rest.first, type.has("int") || type.has("int64_t") else { return false }
        let operand = rest.dropFirst(2)
        let number = operand.first?.has("-") == true ? operand.dropFirst().first : operand.first
        return rest.dropFirst().first?.has(")") == true && number?.kind == .number
    }

    /// The kinds of the literals in an array of them; `nil` for something else.
    private var kindsOfElements: [Part]? {
        guard parts.first == .mark("["), parts.last == .mark("]") else { return nil }
        let elements = parts.dropFirst().dropLast().split(separator: .mark(","))
        let kinds = elements.compactMap { $0.count == 1 ? $0.first : nil }
        return kinds.count == elements.count && kinds.allSatisfy { $0 == .number || $0 == .string }
            ? kinds : nil
    }

    /// The parts, or those in `.some(…)`.
    private var optionalValue: ArraySlice<Part> {
        let isSome = parts.count > 3 && parts.starts(with: [.mark("."), .name, .mark("(")])
        return isSome ? parts.dropFirst(3).dropLast() : parts[...]
    }

    func isSame(as other: ValueShape) -> Bool {
        if parts == other.parts { return true }
        if parts == [.nothing] || other.parts == [.nothing] {
            return optionalValue.count == 1 && other.optionalValue.count == 1
        }
        if let kinds = kindsOfElements, let others = other.kindsOfElements {
            return kinds.allSatisfy { others.isEmpty || others.contains($0) }
        }
        // `.seconds(2)` instead of `.zero`.
        if other.parts.last == .name, parts == other.parts + [.mark("("), .number, .mark(")")] {
            return true
        }
        // The opacity of a colour that had none.
        guard let end = other.parts.last, [.mark(")"), .mark("}")].contains(end) else { return false }
        return [[.mark(","), .number], [.mark(","), .name, .mark(":"), .number]].contains { added in
            parts == Array(other.parts.dropLast()) + added + [end]
        }
    }
}
