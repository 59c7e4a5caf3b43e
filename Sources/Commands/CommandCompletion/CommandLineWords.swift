// SPDX-License-Identifier: BSD-3-Clause
/// The words of a command line that is being completed.
package struct CommandLineWords {
    /// The words before the completed one, without the command and its options.
    package let arguments: [String]
    /// The completed word.
    package let typed: TypedWord
    /// Whether the word is an argument even if it begins like an option.
    package let isAfterOptions: Bool

    /// - Parameters:
    ///   - words: The words as typed, with quotation marks.
    ///   - index: The index of the completed word.
    ///   - valued: The options with values.
    package init(_ words: [String], at index: Int, valued: Set<String> = ["--format"]) {
        var arguments: [String] = []
        var rest = words.prefix(max(0, index)).dropFirst().map { TypedWord($0).text }[...]
        var areOptions = true
        while let word = rest.popFirst() {
            if areOptions, word == "--" {
                areOptions = false
            } else if areOptions, word.hasPrefix("-"), word.dropFirst().first?.isNumber != true {
                if valued.contains(word) { rest = rest.dropFirst() }
            } else {
                arguments.append(word)
            }
        }
        self.arguments = arguments
        typed = TypedWord(words.dropFirst(index).first ?? "")
        isAfterOptions = !areOptions
    }
}

/// Completes a word as a custom completion of the argument parser.
///
/// - Parameters:
///   - words: The command line, as for ``CommandLineWords``.
///   - valued: The options of the command that have values.
///   - candidates: Returns the candidates. The shell drops those that do not begin with the word.
package func complete(
    _ words: [String], _ index: Int, valued: Set<String> = ["--format"],
    _ candidates: (CommandLineWords) -> [Candidate]
) -> [String] {
    let line = CommandLineWords(words, at: index, valued: valued)
    return candidates(line)
        // A leading hyphen would make a name an option, but not a number.
        .filter {
            line.isAfterOptions || !$0.word.hasPrefix("-") || $0.word.dropFirst().first?.isNumber == true
        }
        .compactMap { $0.line(line.typed) }
}
