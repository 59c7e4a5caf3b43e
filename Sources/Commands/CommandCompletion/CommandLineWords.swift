/// The words of a command line that is being completed.
package struct CommandLineWords {
    /// Those before the one that is completed, without the command and its options.
    package let arguments: [String]
    /// The one that is completed.
    package let typed: TypedWord
    /// Whether it is an argument, whatever it begins with.
    package let isAfterOptions: Bool

    /// - Parameters:
    ///   - words: As they are written, with quotation marks.
    ///   - index: Which one is completed.
    package init(_ words: [String], at index: Int) {
        var arguments: [String] = []
        var rest = words.prefix(max(0, index)).dropFirst().map { TypedWord($0).text }[...]
        var areOptions = true
        while let word = rest.popFirst() {
            if areOptions, word == "--" {
                areOptions = false
            } else if areOptions, word.hasPrefix("-"), word.dropFirst().first?.isNumber != true {
                if word == "--format" { rest = rest.dropFirst() }
            } else {
                arguments.append(word)
            }
        }
        self.arguments = arguments
        typed = TypedWord(words.dropFirst(index).first ?? "")
        isAfterOptions = !areOptions
    }
}

/// Completes a word as a function of the argument parser does.
///
/// - Parameters:
///   - words: The command line, as for ``CommandLineWords``.
///   - candidates: Returns what the word may become. What does not begin with it is dropped by the shell.
package func complete(
    _ words: [String], _ index: Int, _ candidates: (CommandLineWords) -> [Candidate]
) -> [String] {
    let line = CommandLineWords(words, at: index)
    return candidates(line)
        // A command takes a name with a hyphen before it for an option, and not a number.
        .filter {
            line.isAfterOptions || !$0.word.hasPrefix("-") || $0.word.dropFirst().first?.isNumber == true
        }
        .compactMap { $0.line(line.typed) }
}
