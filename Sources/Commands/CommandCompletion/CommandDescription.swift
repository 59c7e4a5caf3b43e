// SPDX-License-Identifier: BSD-3-Clause
/// A command as the argument parser describes it, in the JSON of `--experimental-dump-help`.
struct CommandDescription: Decodable {
    let commandName: String
    let abstract: String?
    let shouldDisplay: Bool?
    let subcommands: [CommandDescription]?
    let arguments: [Argument]?

    /// The whole JSON document.
    struct Root: Decodable { let command: CommandDescription }

    /// A positional argument, an option or a flag.
    struct Argument: Decodable {
        enum Kind: String, Decodable { case positional, option, flag }

        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        /// The completion of the value. One of these is not `nil`.
        struct Completion: Decodable {
            struct List: Decodable { let values: [String] }
            struct Files: Decodable { let extensions: [String] }
            struct Nothing: Decodable {}

            let list: List?
            let file: Files?
            let directory, custom: Nothing?
        }

        let kind: Kind
        let shouldDisplay, isRepeating: Bool
        let parsingStrategy: String
        let names: [Name]?
        let abstract: String?
        /// The name of the value in help, such as `tweak` in `<tweak>`.
        let valueName: String
        let completionKind: Completion?
    }
}

/// The command line up to the word to complete.
struct TypedLine {
    /// The subcommands, below the command of the initializer.
    private(set) var path: [String] = []
    /// The last subcommand.
    private(set) var command: CommandDescription
    /// The number of its positional arguments so far.
    private var positionalCount = 0
    /// The option whose value comes next.
    private var option: CommandDescription.Argument?
    /// The options and flags so far.
    private var given: Set<String> = []
    private var isAfterOptions = false
    /// The first option that the command does not have, long or of one letter, with its dashes and without its value.
    private(set) var unknownOption: String?

    init(_ command: CommandDescription, _ words: some Sequence<String>) {
        self.command = command
        for word in words { read(word) }
    }

    private mutating func read(_ word: String) {
        if option != nil {
            option = nil
        } else if !isAfterOptions, word == "--" {
            isAfterOptions = true
        } else if !isAfterOptions, word.hasPrefix("-"), word.dropFirst().first?.isNumber != true {
            let name = String(word.prefix { $0 != "=" })
            let argument = command.arguments?.first { $0.names?.contains { $0.text == name } == true }
            given.formUnion(argument?.names?.map(\.text) ?? [])
            if argument?.kind == .option, name == word { option = argument }
            if argument == nil, name.hasPrefix("--") || name.count == 2, unknownOption == nil {
                unknownOption = name
            }
        } else if positionalCount == 0,
            let next = command.subcommands?.first(where: { $0.commandName == word })
        {
            path.append(word)
            (command, given) = (next, [])
        } else {
            // The words after the program to start belong to that program.
            if positional?.argument.parsingStrategy == "allRemainingInput" { isAfterOptions = true }
            positionalCount += 1
        }
    }

    /// The next positional argument, and its index.
    private var positional: (argument: CommandDescription.Argument, index: Int)? {
        let all = (command.arguments ?? []).filter { $0.kind == .positional }
        guard let last = all.last else { return nil }
        if positionalCount < all.count { return (all[positionalCount], positionalCount) }
        return last.isRepeating ? (last, all.count - 1) : nil
    }

    /// The argument that a word is a value of, and the parser's name for it.
    func argument(_ typed: String) -> (completion: CommandDescription.Argument.Completion, name: String)? {
        if let option {
            return option.completionKind.map { ($0, option.names?.first?.text ?? "") }
        }
        // A negative number is not an option.
        let isOption = typed.hasPrefix("-") && typed.dropFirst().first?.isNumber == false
        guard isAfterOptions || !isOption else { return nil }
        return positional.flatMap { positional in
            positional.argument.completionKind.map { ($0, "positional@\(positional.index)") }
        }
    }

    /// The subcommands, and the options if the next word begins like one, that may come next.
    func names(_ typed: String) -> [Candidate] {
        guard option == nil else { return [] }
        var names: [Candidate] = []
        if positionalCount == 0 {
            names = (command.subcommands ?? []).filter { $0.shouldDisplay != false }
                .map { Candidate($0.commandName, details: $0.abstract ?? "") }
        }
        guard typed.hasPrefix("-"), !isAfterOptions else { return names }
        for argument in command.arguments ?? [] where argument.shouldDisplay && argument.kind != .positional {
            names += (argument.names ?? []).map(\.text).filter { argument.isRepeating || !given.contains($0) }
                .map { Candidate($0, details: argument.abstract ?? "") }
        }
        return names
    }
}
