import CommandCompletion

/// The words of a command line that is being completed.
struct CommandLineWords {
    /// Those before the one that is completed, without the command and its options.
    let arguments: [String]
    /// The one that is completed.
    let typed: TypedWord
    /// Whether it is an argument, whatever it begins with.
    let isAfterOptions: Bool

    /// - Parameters:
    ///   - words: As they are written, with quotation marks.
    ///   - index: Which one is completed.
    init(_ words: [String], at index: Int) {
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
