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
            throw Obstacle(reason: "the variable \(name) is no longer declared there")
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

    /// The declaration with an initializer of the variable that a name at a place in this file means.
    ///
    /// - Parameters:
    ///   - part: The variable, or a part of it.
    ///   - scope: The name's last qualifier, as in `Ball::mass`; `nil` without one.
    ///   - offset: The place, behind the declaration.
    func declaration(
        of part: VariablePart, in scope: String?, before offset: Int
    ) throws(Obstacle) -> SourceDeclaration {
        let name = part.variable
        var open: [Scope] = []
        var candidates: [(index: Int, scopes: [Scope])] = []
        for index in tokens.indices {
            let token = tokens[index]
            if token.range.lowerBound >= offset { break }
            guard !leftOut.contains(token.range.lowerBound) else { continue }
            if Self.brackets.contains(where: { token.has($0.open) }) {
                open.append(self.scope(openedAt: index))
            } else if Self.brackets.contains(where: { token.has($0.close) }) {
                _ = open.popLast()
            } else if token.kind == .identifier, token.text == name, isDeclared(index) {
                candidates.append((index, open))
            }
        }
        // Another variable of the name must never be taken for it.
        candidates.removeAll { candidate in
            let scopes = candidate.scopes.filter { $0.kind != .unnamed }
            let isMember =
                scopes.last?.kind == .type && !statement(before: candidate.index).contains("static")
            guard !isMember, scopes.allSatisfy({ $0.kind != .other }) else { return true }
            guard candidate.index > 1, tokens[candidate.index - 1].has("::") else {
                return scope.map { $0 != scopes.last?.name }
                    ?? !open.filter { $0.kind != .unnamed }.starts(with: scopes)
            }
            return scope != tokens[candidate.index - 2].text
        }
        if scope == nil, let depth = candidates.map(\.scopes.count).max() {
            // The innermost one hides the others.
            candidates.removeAll { $0.scopes.count < depth }
        }
        // A class only declares what is defined behind it.
        if candidates.count > 1 {
            candidates.removeAll { $0.scopes.last?.kind == .type && !isDefined(behind: $0.index) }
        }
        candidates.removeAll {
            statement(before: $0.index).contains("extern") && !isDefined(behind: $0.index)
        }
        guard candidates.count < 2 else {
            throw Obstacle(reason: "the file has \(candidates.count) variables \(name) that match")
        }
        guard let index = candidates.first?.index else {
            throw Obstacle(reason: "the variable \(name) is not declared in this file")
        }
        return SourceDeclaration(
            offset: tokens[index].range.lowerBound, place: numbering.place(ofLine: tokens[index].line),
            defaultValue: try initializer(behind: index, of: part))
    }

    /// A pair of brackets that a declaration is inside of.
    private struct Scope: Equatable {
        enum Kind { case namespace, unnamed, type, other }
        let kind: Kind
        let name: String?
        /// The index of the opening bracket.
        let start: Int
    }

    private func scope(openedAt index: Int) -> Scope {
        let head = tokens[index].has("{") ? statement(before: index) : []
        func scope(_ kind: Scope.Kind, _ name: String? = nil) -> Scope {
            Scope(kind: kind, name: name, start: index)
        }
        if head.contains("namespace") {
            return head.last == "namespace" ? scope(.unnamed) : scope(.namespace, head.last)
        }
        if head.first == "extern", head.count == 2 { return scope(.unnamed) }
        guard !head.contains("("), !head.contains("="), !head.contains("enum"),
            let keyword = head.firstIndex(where: { ["struct", "class", "union"].contains($0) })
        else { return scope(.other) }
        return scope(.type, head[(keyword + 1)...].prefix { $0 != ":" && $0 != "final" }.last)
    }

    /// The words of a statement before one of its tokens.
    private func statement(before index: Int) -> [String] {
        tokens[..<index].reversed().prefix { token in
            !token.has(";") && !token.has("{") && !token.has("}") && token.kind != .directive
        }.map(\.text).reversed()
    }

    private func isDefined(behind name: Int) -> Bool {
        let next = tokens[(name + 1)...].first
        return next?.has("=") == true || next?.has("{") == true || next?.has("[") == true
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
                reason: "the initializer of the variable \(variable) is not a list in braces: \(value.text)")
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
