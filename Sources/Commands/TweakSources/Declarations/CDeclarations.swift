// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A directive that includes a file.
struct IncludeDirective: Hashable {
    let name: String
    /// Whether the name is in quotation marks, and the folder of the file itself is looked at first.
    let isQuoted: Bool

    /// - Returns: `nil` if the name is that of a macro.
    init?(_ directive: SourceToken) {
        let text = directive.spelling
        guard let start = text.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "<") })
        else { return nil }
        isQuoted = text[start] == UInt8(ascii: "\"")
        let closing = isQuoted ? UInt8(ascii: "\"") : UInt8(ascii: ">")
        guard let end = text[(start + 1)...].firstIndex(of: closing) else { return nil }
        name = String(decoding: text[(start + 1)..<end], as: UTF8.self)
    }
}

/// The declarations in a file of C or C++.
struct CDeclarations {
    private(set) var all: [SourceDeclaration] = []
    /// The macros that the file defines, with the names in their definitions.
    private(set) var macros: [String: Set<String>] = [:]
    /// The files that it includes.
    private(set) var includes: [IncludeDirective] = []
    private(set) var numbering = LineNumbering()
    private(set) var leftOut = LeftOutParts()

    /// Only parentheses protect commas from the preprocessor.
    static let brackets: [(open: StaticString, close: StaticString)] = [("(", ")")]

    private let bytes: [UInt8]

    init(_ tokens: [SourceToken], _ lines: SourceLines, of bytes: [UInt8]) {
        self.bytes = bytes
        // For each open parenthesis the line of the name before it, and the first declaration inside.
        var calls: [(line: Int?, firstDeclaration: Int)] = []
        for index in tokens.indices {
            switch tokens[index].kind {
            case .directive: add(tokens[index], lines)
            case .punctuation where tokens[index].has("("):
                let name = index > 0 && tokens[index - 1].kind == .identifier ? tokens[index - 1] : nil
                let isDeclaration = name.flatMap(Form.init) != nil
                calls.append((name?.line, isDeclaration ? all.count - 1 : all.count))
            case .punctuation where tokens[index].has(")"):
                guard let (line, first) = calls.popLast(), line != nil else { continue }
                // Clang reports the end of the outermost macro, GCC its beginning.
                let end = numbering.place(ofLine: tokens[index].line)
                for index in first..<all.count { all[index].outerPlaces.append(end) }
            case .identifier:
                guard let form = Form(tokens[index]), index + 1 < tokens.count, tokens[index + 1].has("(")
                else { continue }
                let outer = calls.compactMap(\.line).map(numbering.place)
                all.append(declaration(form, tokens[index...], outer))
            default: continue
            }
        }
    }

    private mutating func add(_ directive: SourceToken, _ lines: SourceLines) {
        let words = Self.words(of: directive)
        guard let first = words.first else { return }
        if first.has("include") || first.has("include_next") || first.has("import") {
            guard !leftOut.contains(directive.range.lowerBound) else { return }
            if let include = IncludeDirective(directive) { includes.append(include) }
        } else if first.kind == .identifier, first.text != "line", first.text != "define" {
            let condition: Bool? =
                switch words.count == 2 ? words[1].text : "" {
                case "0", "false": false
                case "1", "true": true
                default: nil
                }
            leftOut.add(first.text, condition, at: directive.range.lowerBound)
        } else if first.has("define"), words.count > 1 {
            let names = words[2...].lazy.filter { $0.kind == .identifier }.map(\.text)
            macros[words[1].text, default: []].formUnion(names)
            if names.contains(where: { $0.hasPrefix("FBTweak") }) { addDefinition(directive, lines) }
        } else if let number = first.kind == .number ? first : words.dropFirst().first,
            first.kind == .number || first.has("line"), let line = Int(number.text)
        {
            let file = words.drop { $0.range.lowerBound <= number.range.lowerBound }.first
            let name = file.flatMap { CString($0) }.map { String(decoding: $0.content, as: UTF8.self) }
            numbering.add(behind: lines.line(of: directive.range.upperBound - 1), number: line, file: name)
        }
    }

    /// Adds the declarations in the definition of a macro.
    private mutating func addDefinition(_ directive: SourceToken, _ lines: SourceLines) {
        // With the places in the file, also behind continued lines.
        let start = directive.range.lowerBound + 1
        let part = Array(bytes[start..<directive.range.upperBound])
        let tokens = CLexer.tokens(of: part, SourceLines(of: part)).map { token in
            let range = (token.range.lowerBound + start)..<(token.range.upperBound + start)
            return SourceToken(
                kind: token.kind, range: range, line: lines.line(of: range.lowerBound),
                spelling: token.spelling)
        }
        guard tokens.count > 2 else { return }
        let name = tokens[1]
        for index in tokens.indices.dropFirst(2) {
            guard let form = Form(tokens[index]), index + 1 < tokens.count, tokens[index + 1].has("(") else {
                continue
            }
            var declaration = declaration(form, tokens[index...], [])
            declaration.macro = name.text
            all.append(declaration)
        }
    }

    /// The tokens of a directive behind its number sign.
    private static func words(of directive: SourceToken) -> [SourceToken] {
        let bytes = Array(directive.spelling.dropFirst())
        return CLexer.tokens(of: bytes, SourceLines(of: bytes))
    }

    /// The arguments of a macro: where the names begin, and what they are.
    private enum Form {
        case value, binding, variable, feature, featurePart

        init?(_ token: SourceToken) {
            // Most names are others, and no text is made of them.
            guard token.kind == .identifier, token.spelling.first == UInt8(ascii: "F") else { return nil }
            switch token.text {
            case "FBTweakValue", "FBTweakInline": self = .value
            case "FBTweakBind", "FBTweakBinding": self = .binding
            case "FBTweakVariable": self = .variable
            case "FBTweakFeature": self = .feature
            case "FBTweakFeaturePart": self = .featurePart
            default: return nil
            }
        }

        var names: Range<Int> {
            switch self {
            case .value: 0..<3
            case .binding, .variable: 1..<4
            case .feature: 0..<1
            case .featurePart: 0..<2
            }
        }
    }

    private func declaration(
        _ form: Form, _ tokens: ArraySlice<SourceToken>, _ outer: [SourcePlace]
    ) -> SourceDeclaration {
        let place = numbering.place(ofLine: tokens[tokens.startIndex].line)
        let offset = tokens[tokens.startIndex].range.lowerBound
        var declaration = SourceDeclaration(
            offset: offset, place: place, outerPlaces: outer, decidesType: form == .value,
            isLeftOut: leftOut.contains(offset))
        let opening = tokens.startIndex + 1
        guard let end = tokens.end(ofBracketAt: opening, Self.brackets) else {
            declaration.obstacle = "the parenthesis of the declaration there is not closed"
            return declaration
        }
        let inside = tokens[(opening + 1)..<(end - 1)]
        let arguments = inside.arguments(Self.brackets)
        guard arguments.count >= form.names.upperBound else {
            declaration.obstacle = "the declaration there has too few arguments"
            return declaration
        }
        let literals = arguments[form.names].compactMap { CString.content(of: $0) }
        let names = literals.compactMap { String(validating: $0, as: UTF8.self) }
        if names.count < literals.count {
            declaration.obstacle = "the declaration there has a name that is not in UTF-8"
        }
        if names.count == form.names.count {
            switch form {
            case .value, .binding, .variable: declaration.key = TweakKey(names[0], names[1], names[2])
            case .feature: declaration.key = TweakKey("Features", names[0], "enabled")
            case .featurePart: declaration.key = TweakKey("Features", names[0], names[1])
            }
        }
        if form == .variable { declaration.object = arguments[0] }
        guard arguments.count > form.names.upperBound else { return declaration }
        if form != .variable { declaration.defaultValue = arguments[form.names.upperBound] }
        for option in arguments[(form.names.upperBound + 1)...] {
            guard option.first?.has("FBTweakChoices") == true, option.count > 2 else { continue }
            declaration.choices = option.dropFirst(2).dropLast().arguments(Self.brackets).map(Self.choice)
        }
        if inside.contains(where: { $0.kind == .directive }) {
            declaration.obstacle = "a line of the preprocessor is inside its declaration"
        } else if Self.endsStatement(inside) {
            declaration.obstacle = "its parenthesis is not closed"
        }
        return declaration
    }

    /// Returns whether a statement ends in the tokens, or the block around them.
    private static func endsStatement(_ tokens: ArraySlice<SourceToken>) -> Bool {
        var depth = 0
        for token in tokens where token.kind == .punctuation {
            if token.has("{") { depth += 1 }
            if token.has("}") { depth -= 1 }
            if depth < 0 || depth == 0 && token.has(";") { return true }
        }
        return false
    }

    /// The value of `value` or `(value, label)`.
    private static func choice(_ tokens: ArraySlice<SourceToken>) -> ArraySlice<SourceToken> {
        guard tokens.first?.has("(") == true,
            tokens.end(ofBracketAt: tokens.startIndex, brackets) == tokens.endIndex
        else { return tokens }
        let parts = tokens.dropFirst().dropLast().arguments(brackets)
        return parts.count == 2 ? parts[0] : tokens
    }
}
