// SPDX-License-Identifier: BSD-3-Clause
/// A partly typed word of a command line, up to the cursor, as typed and as a shell reads it.
package struct TypedWord: Sendable {
    /// The word as typed, with quotation marks.
    package let typed: String
    /// The word as the shell passes it on, if it contains only quotation marks and backslashes.
    package let text: String
    private let quotation: Quotation

    /// The quotation that is open at the end of the word.
    private enum Quotation { case none, single, double, backslash }

    /// Reads a word.
    package init(_ typed: String) {
        self.typed = typed
        var text = ""
        var quotation = Quotation.none
        var isEscaped = false
        for scalar in typed.unicodeScalars {
            switch (quotation, scalar) {
            case _ where isEscaped:
                if quotation == .double, !"$`\"\\".unicodeScalars.contains(scalar) { text += "\\" }
                text.unicodeScalars.append(scalar)
                isEscaped = false
            case (.none, "\\"), (.double, "\\"): isEscaped = true
            case (.none, "'"): quotation = .single
            case (.none, "\""): quotation = .double
            case (.single, "'"), (.double, "\""): quotation = .none
            default: text.unicodeScalars.append(scalar)
            }
        }
        self.text = text
        self.quotation = isEscaped && quotation == .none ? .backslash : quotation
    }

    /// The whole word as the shell reads it: the typed text, and the rest quoted so that nothing in it is expanded.
    ///
    /// - Parameter word: A word that begins with the bytes of ``text``.
    /// - Returns: `nil` if the word begins otherwise.
    package func completed(to word: String) -> String? {
        guard word.utf8.starts(with: text.utf8),
            let missing = String(word.utf8.dropFirst(text.utf8.count))
        else { return nil }
        var line = typed
        for (index, scalar) in missing.unicodeScalars.enumerated() {
            let isSafe = !scalar.isASCII || Self.safe.contains(scalar)
            switch quotation {
            case .backslash where index == 0, _ where isSafe: break
            case .single:
                if scalar != "'" { break }
                line += "'\\'"
            case .double:
                // A backslash would stay before an exclamation mark.
                if scalar == "!" {
                    line += "\"'!'\""
                    continue
                }
                if "$`\"\\".unicodeScalars.contains(scalar) { line += "\\" }
            case .none, .backslash: line += "\\"
            }
            line.unicodeScalars.append(scalar)
        }
        return line
    }

    /// The ASCII characters that a shell never interprets. Some of the others are harmless, but end a word for bash's
    /// completion.
    private static let safe = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,%".unicodeScalars)
}
