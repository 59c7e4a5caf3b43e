/// The words of a command line that is being completed.
struct CommandLineWords {
    /// Those before the one that is completed, without the command and its options.
    let arguments: [String]
    /// What there is of the one that is completed.
    let prefix: String

    /// - Parameters:
    ///   - words: As they are written, with quotation marks.
    ///   - index: Which one is completed.
    init(_ words: [String], at index: Int) {
        var arguments: [String] = []
        var rest = words.prefix(max(0, index)).dropFirst().map(Self.unquoted)[...]
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
        prefix = words.dropFirst(index).first.map(Self.unquoted) ?? ""
    }

    /// A word as a shell passes it on, if it holds only quotation marks and backslashes.
    private static func unquoted(_ word: String) -> String {
        var text = ""
        var quotation: Character?
        var rest = word[...]
        while let character = rest.popFirst() {
            switch (character, quotation) {
            case ("\\", nil): if let next = rest.popFirst() { text.append(next) }
            case ("\\", "\""):
                if let next = rest.first, "$`\"\\".contains(next) {
                    text.append(next)
                    rest = rest.dropFirst()
                } else {
                    text.append(character)
                }
            case ("'", nil), ("\"", nil): quotation = character
            case (_, let open) where character == open: quotation = nil
            default: text.append(character)
            }
        }
        return text
    }
}
