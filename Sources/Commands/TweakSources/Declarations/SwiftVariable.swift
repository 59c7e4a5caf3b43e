// SPDX-License-Identifier: BSD-3-Clause
/// The initial value of a global or static variable in Swift, such as `static var gain: Double = 2.5`.
struct SwiftVariable {
    private let tokens: [SourceToken]

    init(_ tokens: [SourceToken]) { self.tokens = tokens }

    /// The declaration of a variable in a line, which debug information has for it.
    ///
    /// - Parameters:
    ///   - name: The name without scopes.
    ///   - line: The line of the name, as the compiler counts.
    func declaration(of name: String, atLine line: Int) throws(Obstacle) -> SourceDeclaration {
        guard !tokens.contains(where: { $0.has("#sourceLocation") }) else {
            throw Obstacle(reason: "#sourceLocation gives the lines of the file other numbers")
        }
        let named = tokens.indices.filter { tokens[$0].line == line && isName(tokens[$0], name) }
        guard !named.isEmpty else {
            throw Obstacle(reason: "the variable \(name) is no longer declared there")
        }
        let declared = named.filter { $0 > 0 && tokens[$0 - 1].has("var") }
        guard declared.count == 1, let index = declared.first else {
            throw Obstacle(
                reason: declared.isEmpty
                    ? "the declaration of the variable \(name) there cannot be read"
                    : "the variable \(name) is declared \(declared.count) times in that line")
        }
        guard let (_, value) = SwiftDeclarations.initialValue(ofVariableAt: index, in: tokens[...]) else {
            throw Obstacle(reason: "the variable \(name) has no initial value there")
        }
        let isLiteral = value.allSatisfy {
            $0.kind == .number || $0.has("-") || $0.has("true") || $0.has("false")
        }
        guard isLiteral else { throw Obstacle(reason: "its default is an expression: \(value.text)") }
        return SourceDeclaration(
            offset: tokens[index].range.lowerBound, place: SourcePlace(line: line), defaultValue: value)
    }

    private func isName(_ token: SourceToken, _ name: String) -> Bool {
        token.kind == .identifier && (token.text == name || token.text == "`\(name)`")
    }
}
