// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Reads the default of a declaration in C or C++.
struct CDefault {
    let bytes: [UInt8]
    /// Whether the file is in UTF-8.
    let isUTF8: Bool
    let macros: Set<String>
    let declaration: SourceDeclaration

    private typealias Tokens = ArraySlice<SourceToken>

    /// The default as it is written.
    ///
    /// - Parameter type: The type of the tweak.
    func read(_ type: TweakType) throws(Obstacle) -> WrittenDefault {
        try read(declaration.defaultValue, type, isCast: false)
    }

    private func read(_ given: Tokens, _ type: TweakType, isCast: Bool) throws(Obstacle) -> WrittenDefault {
        var tokens = given
        while tokens.first?.has("(") == true, end(ofBracketIn: tokens) == tokens.endIndex {
            tokens = tokens.dropFirst().dropLast()
        }
        guard let range = tokens.range, let first = tokens.first else { throw expression(given) }
        if first.kind == .string || tokens.contains(where: { $0.kind == .string }) {
            return try strings(tokens)
        }
        if let color = try color(tokens) { return color }
        if let (cast, rest) = cast(tokens) {
            let types = Self.types(named: cast)
            // Another type would round or wrap around the new value, too; a name may be one for the same type.
            guard types?.contains(type) ?? !isCast else { throw expression(tokens) }
            return try read(rest, type, isCast: true)
        }
        if first.kind == .character, tokens.count == 1 { return try character(first) }
        if let bool = bool(tokens, type) { return bool }
        if let number = number(tokens) {
            let decidesType = declaration.decidesType && !isCast
            return WrittenDefault(range: range, type: decidesType ? number.ownType : nil) {
                number.value(of: $0.type)
            } written: { value, tweak in
                number.written(value, of: tweak.type, decidesType: decidesType).map { Array($0.utf8) }
            }
        }
        return try constant(tokens, range)
    }

    private func expression(_ tokens: Tokens) -> Obstacle {
        let names = tokens.filter { $0.kind == .identifier }.map(\.text)
        if let macro = names.first(where: { macros.contains($0) }) {
            return Obstacle(reason: "its default contains the macro \(macro)")
        }
        return Obstacle(
            reason: tokens.isEmpty ? "it has no default" : "its default is an expression: \(tokens.text)")
    }

    private func end(ofBracketIn tokens: Tokens) -> Int? {
        tokens.end(ofBracketAt: tokens.startIndex, [("(", ")"), ("{", "}")])
    }
}

// MARK: - Constants

extension CDefault {
    /// A name: a choice that can be replaced by the name of another one, or else an obstacle.
    private func constant(_ tokens: Tokens, _ range: Range<Int>) throws(Obstacle) -> WrittenDefault {
        let isName = tokens.allSatisfy { $0.kind == .identifier || $0.has("::") }
        guard isName else { throw expression(tokens) }
        let choices = declaration.choices
        guard let own = choices.firstIndex(where: { $0.hasSameSpelling(as: tokens) }) else {
            let kind = tokens.contains { macros.contains($0.text) } ? "macro" : "constant"
            if let macro = declaration.macro, kind == "constant" {
                throw Obstacle(
                    reason: "its default is \(tokens.text) in the definition of the macro \(macro)")
            }
            throw Obstacle(reason: "its default is the \(kind) \(tokens.text)")
        }
        return WrittenDefault(range: range, copiesExpressions: true) { tweak in
            tweak.choices.count == choices.count ? tweak.choices[own].value : nil
        } written: { value, tweak in
            guard let index = tweak.choices.firstIndex(where: { $0.value == value }), index < choices.count
            else {
                return nil
            }
            return choices[index].range.map { Array(bytes[$0]) }
        }
    }

    private func bool(_ tokens: Tokens, _ type: TweakType) -> WrittenDefault? {
        let words = [("true", "false"), ("TRUE", "FALSE"), ("YES", "NO")]
        guard type == .bool, tokens.count == 1, let token = tokens.first, token.kind == .identifier,
            let pair = words.first(where: { token.text == $0.0 || token.text == $0.1 })
        else { return nil }
        return WrittenDefault(range: token.range) { _ in
            .bool(token.text == pair.0)
        } written: { value, _ in
            Array((value == .bool(true) ? pair.0 : pair.1).utf8)
        }
    }
}

// MARK: - Numbers

extension CDefault {
    private func number(_ tokens: Tokens) -> NumberLiteral? {
        guard let last = tokens.last, last.kind == .number, tokens.count <= 2 else { return nil }
        guard tokens.count == 2, let sign = tokens.first else { return NumberLiteral(last.text, .c) }
        guard sign.has("-") || sign.has("+") else { return nil }
        let blanks = bytes[sign.range.upperBound..<last.range.lowerBound]
        guard blanks.allSatisfy({ $0 == UInt8(ascii: " ") }) else { return nil }
        return NumberLiteral(last.text, sign: sign.text + String(decoding: blanks, as: UTF8.self), .c)
    }

    /// A character is an `int` in C and a `char` in C++.
    private func character(_ token: SourceToken) throws(Obstacle) -> WrittenDefault {
        let inside = token.spelling.dropFirst().dropLast()
        guard token.spelling.first == UInt8(ascii: "'"), token.spelling.count > 2,
            let content = CString.unescaped(
                inside == [UInt8(ascii: "\"")] ? Array("\\\"".utf8)[...] : inside),
            content.count == 1, let byte = content.first
        else { throw Obstacle(reason: "its default is the character \(token.text)") }
        return WrittenDefault(range: token.range) { tweak in
            .integer(tweak.type == .uint8 ? Int128(byte) : Int128(Int8(bitPattern: byte)))
        } written: { value, tweak in
            guard case .integer(let number) = value else { return nil }
            let byte =
                tweak.type == .uint8
                ? UInt8(exactly: number) : Int8(exactly: number).map { UInt8(bitPattern: $0) }
            guard let byte else {
                let literal = NumberLiteral("0", .c)
                return literal?.written(value, of: tweak.type, decidesType: declaration.decidesType).map {
                    Array($0.utf8)
                }
            }
            let text =
                byte == UInt8(ascii: "'")
                ? "\\'" : byte == UInt8(ascii: "\"") ? "\"" : CString.escaped([byte], isASCII: true)
            return Array("'\(text)'".utf8)
        }
    }

    /// The type and the operand of a cast: `(type)operand`, `type(operand)`, `type{operand}` or
    /// `static_cast<type>(operand)`.
    private func cast(_ tokens: Tokens) -> (type: Tokens, operand: Tokens)? {
        guard let first = tokens.first else { return nil }
        if first.has("("), let end = end(ofBracketIn: tokens), end < tokens.endIndex {
            let type = tokens[(tokens.startIndex + 1)..<(end - 1)]
            let operand = tokens[end...]
            guard !type.isEmpty, type.allSatisfy({ $0.kind == .identifier || $0.has("::") }) else {
                return nil
            }
            // `(GAIN)-1` may be a difference.
            let isSigned = operand.first.map { $0.has("-") || $0.has("+") } ?? false
            return !isSigned || Self.types(named: type) != nil ? (type, operand) : nil
        }
        guard let opening = tokens.firstIndex(where: { $0.has("(") || $0.has("{") }),
            opening > tokens.startIndex,
            tokens.end(ofBracketAt: opening, [("(", ")"), ("{", "}")]) == tokens.endIndex
        else { return nil }
        var type = tokens[..<opening]
        let operand = tokens[(opening + 1)...].dropLast()
        if first.has("static_cast"), type.count > 3 {
            type = type.dropFirst(2).dropLast()
        } else if Self.types(named: type) == nil {
            return nil
        }
        return (type, operand)
    }

    /// The types of tweaks that a type of C can be; `nil` for the name of something else.
    private static func types(named tokens: Tokens) -> [TweakType]? {
        let words = tokens.map(\.text).filter { !["std", "::", "const"].contains($0) }
        switch words.sorted().joined(separator: " ") {
        case "bool", "_Bool": return [.bool]
        case "char": return [.int8, .uint8]
        case "char signed", "int8_t": return [.int8]
        case "char unsigned", "uint8_t": return [.uint8]
        case "short", "int short", "short signed", "int short signed", "int16_t": return [.int16]
        case "short unsigned", "int short unsigned", "uint16_t": return [.uint16]
        case "int", "int signed", "signed", "int32_t": return [.int32]
        case "unsigned", "int unsigned", "uint32_t": return [.uint32]
        case "int64_t", "long long", "int long long": return [.int64]
        case "uint64_t", "long long unsigned", "int long long unsigned": return [.uint64]
        case "long", "int long", "ssize_t", "ptrdiff_t", "intptr_t": return [.int32, .int64]
        case "long unsigned", "int long unsigned", "size_t", "uintptr_t": return [.uint32, .uint64]
        case "float": return [.float]
        case "double": return [.double]
        default: return nil
        }
    }
}

// MARK: - Texts

extension CDefault {
    private func strings(_ tokens: Tokens) throws(Obstacle) -> WrittenDefault {
        if let other = tokens.first(where: { $0.kind != .string }) {
            let isPart = tokens.allSatisfy { $0.kind == .string || $0.kind == .identifier }
            guard isPart else { throw expression(tokens) }
            throw Obstacle(reason: "its default contains the macro \(other.text)")
        }
        let literals = tokens.compactMap { CString($0) }
        guard literals.count == tokens.count, let range = tokens.range else { throw expression(tokens) }
        let content = literals.flatMap(\.content)
        return WrittenDefault(range: range) { _ in
            String(validating: content, as: UTF8.self).map { .string($0) }
        } written: { value, _ in
            guard case .string(let text) = value else { return nil }
            return written(Array(text.utf8), tokens, literals)
        }
    }

    /// Neighbouring literals with another text. Literals at both ends whose text does not change stay, and so do the
    /// lines and the comments between all of them.
    private func written(_ text: [UInt8], _ tokens: Tokens, _ literals: [CString]) -> [UInt8] {
        var rest = text[...]
        var (first, last) = (0, literals.count)
        while first < last - 1, rest.starts(with: literals[first].content) {
            rest = rest.dropFirst(literals[first].content.count)
            first += 1
        }
        while last - 1 > first,
            rest.suffix(literals[last - 1].content.count).elementsEqual(literals[last - 1].content)
        {
            rest = rest.dropLast(literals[last - 1].content.count)
            last -= 1
        }
        var written: [UInt8] = []
        for (index, token) in tokens.enumerated() {
            if index > 0 {
                let gap = bytes[
                    tokens[tokens.startIndex + index - 1].range.upperBound..<token.range.lowerBound]
                let isBlank = gap.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                if index > first, index < last, isBlank { continue }
                written += gap
            }
            if index < first || index >= last {
                written += bytes[token.range]
            } else {
                let part = index == first ? Array(rest) : []
                written += Array(literals[index].written(part, isASCII: !isUTF8).utf8)
            }
        }
        return written
    }
}

// MARK: - Colours

extension CDefault {
    /// `FBTweakRGB(…)`, `FBTweakRGBA(…)`, `(fbtweak_color){…}` or `fbtweak_color{…}` with literals.
    private func color(_ tokens: Tokens) throws(Obstacle) -> WrittenDefault? {
        var rest = tokens
        if rest.first?.has("(") == true, rest.dropFirst().first?.has("fbtweak_color") == true {
            rest = rest.dropFirst()
        }
        guard let name = rest.first,
            name.has("FBTweakRGB") || name.has("FBTweakRGBA") || name.has("fbtweak_color"),
            let opening = rest.firstIndex(where: { $0.has("(") || $0.has("{") }),
            tokens.end(ofBracketAt: opening, [("(", ")"), ("{", "}")]) == tokens.endIndex,
            let range = tokens.range
        else { return nil }
        let parts = tokens[(opening + 1)...].dropLast().arguments(Self.allBrackets)
        let components = parts.compactMap { part in
            part.range.flatMap { range in number(part).map { ColorComponent(range: range, literal: $0) } }
        }
        let isOpaque = name.has("FBTweakRGB")
        guard components.count == parts.count,
            parts.count == (name.has("FBTweakRGBA") ? 4 : 3) || !isOpaque && parts.count == 4
        else { throw expression(tokens) }
        let color = WrittenColor(
            components: components, range: range, bytes: bytes, missingAlpha: isOpaque ? 255 : 0,
            added: { alpha in
                (isOpaque ? [(name.range.upperBound..<name.range.upperBound, "A")] : [])
                    + [(components[2].range.upperBound..<components[2].range.upperBound, ", \(alpha)")]
            })
        return color.asDefault
    }

    private static let allBrackets: [(open: StaticString, close: StaticString)] = [("(", ")"), ("{", "}")]
}
