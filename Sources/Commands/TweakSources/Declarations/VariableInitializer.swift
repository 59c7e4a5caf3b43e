// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// The initializer of a variable in C or C++ or of a part of one, such as `double gain = 2.5;`, `static int level{3};` or
/// `struct pid pid = {.kp = 1.5};`.
struct VariableInitializer {
    private let tokens: [SourceToken]
    private let numbering: LineNumbering
    private let leftOut: LeftOutParts

    init(_ tokens: [SourceToken], _ numbering: LineNumbering, _ leftOut: LeftOutParts) {
        (self.tokens, self.numbering, self.leftOut) = (tokens, numbering, leftOut)
    }

    /// The declaration of a variable in a line, which debug information has for it.
    ///
    /// - Parameters:
    ///   - part: The variable, or a part of it.
    ///   - line: The line of the name, as the compiler counts.
    ///   - file: The file as the debug information names it.
    func declaration(
        of part: VariablePart, atLine line: Int, of file: String
    ) throws(Obstacle) -> SourceDeclaration {
        let name = part.variable
        let named = tokens.indices.filter { index in
            let token = tokens[index]
            guard token.kind == .identifier, token.text == name else { return false }
            let place = numbering.place(ofLine: token.line)
            return place.line == line && (place.file == nil || place.file == file)
        }
        guard !named.isEmpty else {
            throw Obstacle(reason: "the variable \(name) is not declared there any more")
        }
        let declared = named.filter(isDeclared)
        guard declared.count == 1, let index = declared.first else {
            throw Obstacle(
                reason: declared.isEmpty
                    ? "the declaration of the variable \(name) there cannot be read"
                    : "the variable \(name) is declared \(declared.count) times in that line")
        }
        let initializer = try initializer(behind: index, of: part)
        return SourceDeclaration(
            offset: tokens[index].range.lowerBound, place: numbering.place(ofLine: tokens[index].line),
            defaultValue: initializer)
    }

    /// The declaration with an initializer of a variable of this file, wherever it is.
    func declaration(of part: VariablePart) throws(Obstacle) -> SourceDeclaration {
        let name = part.variable
        let declared = tokens.indices.filter {
            tokens[$0].kind == .identifier && tokens[$0].text == name && isDeclared($0)
                && !leftOut.contains(tokens[$0].range.lowerBound)
        }
        var found: [SourceDeclaration] = []
        var obstacle = Obstacle(reason: "the variable \(name) is not declared in this file")
        for index in declared {
            do throws(Obstacle) {
                found.append(
                    SourceDeclaration(
                        offset: tokens[index].range.lowerBound,
                        place: numbering.place(ofLine: tokens[index].line),
                        defaultValue: try initializer(behind: index, of: part)))
            } catch {
                obstacle = error
            }
        }
        guard found.count < 2 else {
            throw Obstacle(reason: "the file has \(found.count) variables \(name) with initializers")
        }
        guard let declaration = found.first else { throw obstacle }
        return declaration
    }

    /// Returns whether the name is that of a declared variable: a type is before it, or another variable.
    private func isDeclared(_ index: Int) -> Bool {
        var before = index - 1
        while before > 0, tokens[before].has("::"), tokens[before - 1].kind == .identifier { before -= 2 }
        guard before >= 0 else { return false }
        let token = tokens[before]
        if token.has(",") { return isInDeclarators(before) }
        return isType(token) || token.has("}") && endsType(before)
    }

    /// Returns whether a brace closes the definition of a type, as in `struct pid { double kp; } pid = {1.5};`.
    private func endsType(_ closing: Int) -> Bool {
        var depth = 0
        for index in tokens[...closing].indices.reversed() {
            if tokens[index].has("}") { depth += 1 }
            if tokens[index].has("{") { depth -= 1 }
            guard depth == 0 else { continue }
            let words = tokens[..<index].suffix(2)
            let isNamed = words.last.map { $0.kind == .identifier && !isKeyword($0) } ?? false
            return (isNamed ? words.first : words.last).map(isKeyword) ?? false
        }
        return false
    }

    private func isKeyword(_ token: SourceToken) -> Bool {
        token.has("struct") || token.has("union") || token.has("enum") || token.has("class")
    }

    private func isType(_ token: SourceToken) -> Bool {
        if token.has(">") || token.has("]") { return true }
        let others: Set<String> = [
            "return", "goto", "case", "else", "do", "throw", "delete", "new", "enum", "struct", "union",
            "class", "namespace", "typename", "using",
        ]
        return token.kind == .identifier && !others.contains(token.text)
    }

    /// Returns whether the statement that a comma is in begins like a declaration: `double a = 1, gain = 2.5;`.
    private func isInDeclarators(_ comma: Int) -> Bool {
        var depth = 0
        var start = comma
        while start > 0 {
            let token = tokens[start - 1]
            if token.has(")") || token.has("]") || token.has("}") { depth += 1 }
            if token.has("(") || token.has("[") || token.has("{") { depth -= 1 }
            if depth < 0 || depth == 0 && token.has(";") || token.kind == .directive { break }
            start -= 1
        }
        guard start + 1 < comma, depth == 0 || start == 0 || tokens[start - 1].has("{") else { return false }
        return isType(tokens[start]) && tokens[start + 1].kind == .identifier
    }

    static let brackets: [(open: StaticString, close: StaticString)] = [
        ("(", ")"), ("[", "]"), ("{", "}"),
    ]

    private func initializer(
        behind name: Int, of part: VariablePart
    ) throws(Obstacle) -> ArraySlice<SourceToken> {
        let variable = part.variable
        var rest = tokens[(name + 1)...]
        if case .element = part.steps.first {
            while rest.first?.has("[") == true,
                let end = rest.end(ofBracketAt: rest.startIndex, Self.brackets)
            {
                rest = tokens[end...]
            }
        }
        let value = try wholeInitializer(rest, of: variable)
        let inside = value.insideBraces(Self.brackets)
        // The value of `= { value }` is that inside.
        guard !part.steps.isEmpty else { return inside ?? value }
        guard let list = inside else {
            throw Obstacle(
                reason: "the initializer of the variable \(variable) is no list in braces: \(value.text)")
        }
        let members = StructureMembers(tokens, leftOut).first(ofVariableAt: name)
        let found = try InitializerList(tokens: list, members: members).value(of: part.steps[...])
        return found.insideBraces(Self.brackets) ?? found
    }

    /// The initializer of a variable, with its braces.
    private func wholeInitializer(
        _ rest: ArraySlice<SourceToken>, of variable: String
    ) throws(Obstacle) -> ArraySlice<SourceToken> {
        guard let next = rest.first else {
            throw Obstacle(reason: "the declaration of the variable \(variable) there cannot be read")
        }
        if next.has("{"), let end = rest.end(ofBracketAt: rest.startIndex, Self.brackets) {
            return rest[..<end]
        }
        guard next.has("=") else {
            throw Obstacle(
                reason: next.has(";") || next.has(",")
                    ? "the variable \(variable) has no initializer there"
                    : "the declaration of the variable \(variable) there cannot be read")
        }
        var depth = 0
        for index in rest.indices.dropFirst() {
            let token = rest[index]
            if Self.brackets.contains(where: { token.has($0.open) }) { depth += 1 }
            if Self.brackets.contains(where: { token.has($0.close) }) { depth -= 1 }
            if depth <= 0, token.has(";") || token.has(",") {
                return rest[(rest.startIndex + 1)..<index]
            }
            if token.kind == .directive { break }
        }
        throw Obstacle(reason: "the initializer of the variable \(variable) there has no end")
    }

    /// An enumerator as it is written, and others of the same enumeration, whose names are those of the choices.
    static func enumerator(_ tokens: ArraySlice<SourceToken>, _ tweak: TweakDeclaration) -> WrittenDefault? {
        guard let name = tokens.last, name.kind == .identifier,
            tokens.allSatisfy({ $0.kind == .identifier || $0.has("::") }),
            tweak.choices.contains(where: { $0.label == name.text })
        else { return nil }
        return WrittenDefault(range: name.range) { tweak in
            tweak.choices.first { $0.label == name.text }?.value
        } written: { value, tweak in
            tweak.choices.first { $0.value == value }?.label.map { Array($0.utf8) }
        }
    }
}
