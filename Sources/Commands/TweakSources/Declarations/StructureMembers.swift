// SPDX-License-Identifier: BSD-3-Clause
/// The members of structures that a source in C or C++ defines itself.
struct StructureMembers {
    private let tokens: [SourceToken]
    private let leftOut: LeftOutParts

    init(_ tokens: [SourceToken], _ leftOut: LeftOutParts) {
        (self.tokens, self.leftOut) = (tokens, leftOut)
    }

    /// The names of the first members of the type before a variable's name, in their order, up to one that is no plain
    /// number; none if the definition is not in the file, or not the only one, or more than a list of such members.
    ///
    /// - Parameter name: The index of the name of the variable.
    func first(ofVariableAt name: Int) -> [String] {
        guard name > 0, let body = body(ofTypeAt: name - 1) else { return [] }
        // Constructors, methods, base classes and bit fields have these; a line of the preprocessor can leave members out.
        let isPlain = body.allSatisfy { token in
            token.kind != .directive && !["(", "{", ":", "static"].contains { $0 == token.text }
        }
        guard isPlain else { return [] }
        var names: [String] = []
        for statement in body.split(whereSeparator: { $0.has(";") }) {
            let type = statement.prefix { Self.numbers.contains($0.text) }
            for declarator in statement.dropFirst(type.count).split(whereSeparator: { $0.has(",") }) {
                guard !type.isEmpty, declarator.count == 1, let name = declarator.first,
                    name.kind == .identifier
                else { return names }
                names.append(name.text)
            }
        }
        return names
    }

    /// The words of types whose members have one value each.
    private static let numbers: Set<String> = [
        "double", "float", "int", "unsigned", "signed", "long", "short", "char", "bool", "_Bool", "const",
        "volatile",
        "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t",
    ]

    /// The tokens between the braces of the type that ends at an index.
    private func body(ofTypeAt end: Int) -> ArraySlice<SourceToken>? {
        if tokens[end].has("}") { return body(closedAt: end) }
        guard tokens[end].kind == .identifier, end == 0 || !tokens[end - 1].has("::") else { return nil }
        let name = tokens[end].text
        var found: [ArraySlice<SourceToken>?] = []
        for index in tokens.indices where tokens[index].kind == .identifier && tokens[index].text == name {
            if index + 1 < tokens.count, index > 0, tokens[index + 1].has("{"),
                tokens[index - 1].has("struct")
            {
                // `struct pid {…}`
                let all = tokens[(index + 1)...]
                found.append(
                    all.end(ofBracketAt: index + 1, VariableInitializer.brackets).map {
                        tokens[(index + 2)..<($0 - 1)]
                    })
            } else if index + 1 < tokens.count, index > 0, tokens[index - 1].has("}"),
                tokens[index + 1].has(";")
            {
                // `typedef struct {…} Pid;`
                found.append(body(closedAt: index - 1))
            }
        }
        guard found.count == 1, let body = found[0], let first = body.first,
            !leftOut.contains(first.range.lowerBound)
        else { return nil }
        return body
    }

    private func body(closedAt closing: Int) -> ArraySlice<SourceToken>? {
        guard let opening = tokens[..<closing].lastIndex(where: { $0.has("{") }), opening > 0,
            !tokens[opening..<closing].contains(where: { $0.has("}") })
        else { return nil }
        let words = tokens[..<opening].suffix(2)
        let isStructure =
            words.last?.has("struct") == true
            || words.last?.kind == .identifier && words.first?.has("struct") == true
        return isStructure ? tokens[(opening + 1)..<closing] : nil
    }
}
