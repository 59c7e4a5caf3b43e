// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// The declarations in a file of Swift.
struct SwiftDeclarations {
    private(set) var all: [SourceDeclaration] = []
    private(set) var leftOut = LeftOutParts()

    static let brackets: [(open: StaticString, close: StaticString)] = [("(", ")"), ("[", "]"), ("{", "}")]

    init(_ tokens: [SourceToken]) {
        var numbering = LineNumbering()
        for index in tokens.indices where tokens[index].kind == .identifier {
            // Most names are others, and no text is made of them.
            guard let first = tokens[index].spelling.first,
                first == UInt8(ascii: "#") || first == UInt8(ascii: "@")
            else { continue }
            let (token, rest) = (tokens[index], tokens[index...])
            switch token.text {
            case "#sourceLocation": Self.number(rest, &numbering)
            case "#if", "#elseif", "#else", "#endif":
                leftOut.add(
                    String(token.text.dropFirst()), Self.condition(rest), at: token.range.lowerBound)
            case "#tweak", "#feature":
                guard rest.dropFirst().first?.has("(") == true else { continue }
                add(rest.dropFirst(), token, numbering) { arguments, _ in
                    [Self.expression(token, arguments, numbering)]
                }
            default:
                guard let name = Self.attribute(rest),
                    name + 1 < tokens.count, tokens[name + 1].has("(")
                else { continue }
                add(rest[(name + 1)...], token, numbering) { arguments, end in
                    Self.variable(token, arguments, tokens[end...], numbering)
                }
            }
        }
    }

    /// Adds the declarations with the arguments in the parentheses with which the tokens begin.
    private mutating func add(
        _ tokens: ArraySlice<SourceToken>, _ name: SourceToken, _ numbering: LineNumbering,
        _ read: ([ArraySlice<SourceToken>], _ end: Int) -> [SourceDeclaration]
    ) {
        let isLeftOut = leftOut.contains(name.range.lowerBound)
        guard let (arguments, end) = Self.arguments(tokens) else {
            var declaration = Self.declaration(name, numbering)
            declaration.obstacle = "the parenthesis of the declaration there is not closed"
            declaration.isLeftOut = isLeftOut
            return all.append(declaration)
        }
        for var declaration in read(arguments, end) {
            declaration.isLeftOut = isLeftOut
            all.append(declaration)
        }
    }

    /// The condition of a directive with which the tokens begin if it is a constant.
    private static func condition(_ tokens: ArraySlice<SourceToken>) -> Bool? {
        let line = tokens.prefix(3).filter { $0.line == tokens.first?.line }
        guard line.count == 2 else { return nil }
        return line[1].has("false") ? false : line[1].has("true") ? true : nil
    }

    private static func declaration(_ token: SourceToken, _ numbering: LineNumbering) -> SourceDeclaration {
        let place = numbering.place(ofLine: token.line)
        return SourceDeclaration(
            offset: token.range.lowerBound, place: place, outerPlaces: outer(place, token))
    }

    /// `#sourceLocation(file: "name", line: 7)`; without arguments it ends the other numbering.
    private static func number(_ tokens: ArraySlice<SourceToken>, _ numbering: inout LineNumbering) {
        guard let (arguments, end) = arguments(tokens.dropFirst()), let closing = tokens[..<end].last else {
            return
        }
        guard let line = value(of: "line", in: arguments)?.first.flatMap({ Int($0.text) }) else {
            return numbering.add(behind: closing.line, number: closing.line + 1, file: nil)
        }
        let file = value(of: "file", in: arguments)?.first.flatMap { SwiftString($0)?.content }
        numbering.add(behind: closing.line, number: line, file: file)
    }

    /// The index of `Tweakable` in `@Tweakable` or `@Tweaks.Tweakable`.
    private static func attribute(_ tokens: ArraySlice<SourceToken>) -> Int? {
        let start = tokens.startIndex
        if tokens[start].has("@Tweakable") { return start }
        guard tokens[start].has("@Tweaks"), tokens.count > 2, tokens[start + 1].has("."),
            tokens[start + 2].has("Tweakable")
        else { return nil }
        return start + 2
    }

    /// The arguments in the parentheses with which the tokens begin, and the index behind them.
    static func arguments(
        _ tokens: ArraySlice<SourceToken>
    ) -> (arguments: [ArraySlice<SourceToken>], end: Int)? {
        guard tokens.first?.has("(") == true, let end = tokens.end(ofBracketAt: tokens.startIndex, brackets)
        else {
            return nil
        }
        return (tokens[(tokens.startIndex + 1)..<(end - 1)].arguments(brackets), end)
    }

    static func label(_ argument: ArraySlice<SourceToken>) -> String? {
        guard let first = argument.first, first.kind == .identifier,
            argument.dropFirst().first?.has(":") == true
        else {
            return nil
        }
        return first.text
    }

    static func value(of label: String, in arguments: [ArraySlice<SourceToken>]) -> ArraySlice<SourceToken>? {
        arguments.first { self.label($0) == label }?.dropFirst(2)
    }

    private static func text(_ tokens: ArraySlice<SourceToken>?) -> String? {
        guard let tokens, tokens.count == 1 else { return nil }
        return tokens.first.flatMap { SwiftString($0)?.content }
    }

    /// `#tweak(category, collection, name, default: value, …)` or `#feature(feature, part: part, default: value, …)`.
    private static func expression(
        _ token: SourceToken, _ arguments: [ArraySlice<SourceToken>], _ numbering: LineNumbering
    ) -> SourceDeclaration {
        var declaration = declaration(token, numbering)
        if token.has("#feature") {
            let part = value(of: "part", in: arguments)
            let names = [text(arguments.first), part == nil ? "enabled" : text(part)].compactMap { $0 }
            if names.count == 2 { declaration.key = TweakKey("Features", names[0], names[1]) }
        } else {
            declaration.key = key(arguments)
        }
        declaration.defaultValue = value(of: "default", in: arguments) ?? []
        return declaration
    }

    /// The line in the file itself, because the compiler may report that one.
    private static func outer(_ place: SourcePlace, _ token: SourceToken) -> [SourcePlace] {
        let own = SourcePlace(line: token.line)
        return own == place ? [] : [own]
    }

    private static func key(_ arguments: [ArraySlice<SourceToken>]) -> TweakKey? {
        let names = arguments.prefix(3).compactMap { text($0) }
        return names.count == 3 ? TweakKey(names[0], names[1], names[2]) : nil
    }

    /// `@Tweakable(category, collection, name, …) static var name: Type = value`; for a group one declaration for each
    /// property.
    private static func variable(
        _ token: SourceToken, _ arguments: [ArraySlice<SourceToken>], _ rest: ArraySlice<SourceToken>,
        _ numbering: LineNumbering
    ) -> [SourceDeclaration] {
        var declaration = declaration(token, numbering)
        declaration.key = key(arguments)
        guard let (type, value) = initialValue(rest) else {
            declaration.obstacle = "its variable has no value"
            return [declaration]
        }
        declaration.defaultValue = value
        let called = value.firstIndex { $0.has("(") }.map { value[..<$0] } ?? value
        let names = type.isEmpty ? called : type
        guard let key = declaration.key,
            let layout = GroupLayout.all.first(where: { layout in
                names.contains { $0.kind == .identifier && $0.text == layout.type }
            })
        else { return [declaration] }
        let given = value.firstIndex { $0.has("(") }.flatMap { Self.arguments(value[$0...]) }?.arguments ?? []
        return layout.fields.map { field in
            var member = declaration
            member.key = TweakKey(key.category, key.collection, "\(key.name) \(field.name)")
            member.defaultValue = Self.value(of: field.property, in: given) ?? []
            if member.defaultValue.isEmpty {
                member.obstacle = "its default is that of \(layout.type); write \(field.property): there"
            }
            return member
        }
    }

    /// The type annotation and the value of the variable behind an attribute.
    private static func initialValue(
        _ tokens: ArraySlice<SourceToken>
    ) -> (type: ArraySlice<SourceToken>, value: ArraySlice<SourceToken>)? {
        // Attributes and modifiers come before it.
        var index = tokens.startIndex
        while index < tokens.endIndex, !tokens[index].has("var") {
            if tokens[index].has("("), let end = tokens.end(ofBracketAt: index, brackets) {
                index = end
            } else if tokens[index].kind == .identifier {
                index += 1
            } else {
                return nil
            }
        }
        return initialValue(ofVariableAt: index + 1, in: tokens)
    }

    /// The type annotation and the value of the variable with a name.
    ///
    /// - Parameter name: The index of the name.
    static func initialValue(
        ofVariableAt name: Int, in tokens: ArraySlice<SourceToken>
    ) -> (type: ArraySlice<SourceToken>, value: ArraySlice<SourceToken>)? {
        var equals = name + 1
        guard equals < tokens.endIndex, tokens[equals].has("=") || tokens[equals].has(":") else { return nil }
        while equals < tokens.endIndex, !tokens[equals].has("=") {
            guard Self.continuesType(tokens[equals], behind: tokens[equals - 1]) else { return nil }
            equals += 1
        }
        guard equals + 1 < tokens.endIndex else { return nil }
        let type = tokens[(name + 1)..<equals]
        return (type.first?.has(":") == true ? type.dropFirst() : [], expression(tokens[(equals + 1)...]))
    }

    /// Returns whether a token can be in a type annotation. Two names without anything between them are not: the second
    /// begins another statement.
    private static func continuesType(_ token: SourceToken, behind last: SourceToken) -> Bool {
        guard token.kind == .identifier else {
            return token.kind == .punctuation && !token.has("{") && !token.has("}") && !token.has(";")
        }
        guard last.kind == .punctuation else { return last.has("any") || last.has("some") }
        return !["]", ")", ">", "?", "!"].contains(last.text)
    }

    /// The expression with which the tokens begin: it goes to the end of its line, unless the next one continues it.
    private static func expression(_ tokens: ArraySlice<SourceToken>) -> ArraySlice<SourceToken> {
        var end = tokens.startIndex
        while end < tokens.endIndex {
            let token = tokens[end]
            if token.has(";") || token.has("}") || token.has(")") || token.has(",") { break }
            if end > tokens.startIndex, token.line > lastLine(of: tokens[end - 1]), !continues(token) {
                break
            }
            if brackets.contains(where: { token.has($0.open) }) {
                end = tokens.end(ofBracketAt: end, brackets) ?? end + 1
            } else {
                end += 1
            }
        }
        return tokens[..<end]
    }

    private static func lastLine(of token: SourceToken) -> Int {
        token.line + token.spelling.count { $0 == UInt8(ascii: "\n") }
    }

    /// Returns whether a token at the beginning of a line belongs to the expression before it.
    private static func continues(_ token: SourceToken) -> Bool {
        guard token.kind == .punctuation, let first = token.spelling.first else { return false }
        return ".?:=<>|^%".utf8.contains(first) || "+-*/&".utf8.contains(first)
    }
}
