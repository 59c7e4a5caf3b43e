// SPDX-License-Identifier: BSD-3-Clause
package import ArgumentParser
internal import CommandSupport
internal import TweakJSON
internal import TweakRecords

// Messages about command lines with an unknown command or option, which say what may have been meant.

/// What other tools call a command, behind the commands before it, and the commands that do it here.
private let wordsOfOtherTools: [String: [String]] = [
    "apply": ["preset load", "import"],
    "backup": ["preset save", "export"],
    "blame": ["log", "explain"],
    "browse": ["ui"],
    "call": ["run"],
    "cat": ["get", "list"],
    "changes": ["log", "list --changed"],
    "chart": ["plot"],
    "clear": ["reset"],
    "commit": ["bake"],
    "compare": ["preset diff"],
    "config": ["set", "list"],
    "default": ["reset"],
    "del": ["reset", "forget"],
    "delete": ["reset", "forget"],
    "describe": ["explain", "list"],
    "diff": ["preset diff", "list --changed"],
    "dump": ["export", "list"],
    "events": ["watch"],
    "find": ["list --search"],
    "graph": ["plot"],
    "grep": ["list --search"],
    "gui": ["ui"],
    "history": ["log"],
    "info": ["explain", "list"],
    "inspect": ["explain", "list"],
    "invoke": ["run"],
    "launch": ["exec"],
    "lint": ["check"],
    "list-keys": ["list"],
    "list-recursively": ["list"],
    "load": ["preset load", "import"],
    "ls": ["list", "ps"],
    "modify": ["set", "edit"],
    "monitor": ["watch", "plot"],
    "optimize": ["sweep"],
    "print": ["get", "list"],
    "processes": ["ps"],
    "programs": ["ps"],
    "purge": ["forget"],
    "put": ["set"],
    "query": ["get", "list"],
    "read": ["get"],
    "redo": ["undo"],
    "remove": ["reset", "forget"],
    "reset-all": ["reset --all"],
    "reset-recursively": ["reset"],
    "restore": ["preset load", "revert"],
    "rm": ["reset", "forget"],
    "rollback": ["revert", "undo"],
    "save": ["preset save", "export"],
    "search": ["list --search"],
    "show": ["list", "get"],
    "snapshot": ["preset save", "mark"],
    "spawn": ["exec"],
    "start": ["exec"],
    "stash": ["preset save"],
    "stat": ["measure"],
    "stats": ["measure"],
    "status": ["list", "ps"],
    "tag": ["mark"],
    "tail": ["watch", "log --follow"],
    "test": ["check"],
    "top": ["watch", "ps"],
    "trace": ["watch"],
    "unset": ["reset"],
    "validate": ["check"],
    "verify": ["check"],
    "version": ["--version"],
    "web": ["ui"],
    "why": ["explain"],
    "write": ["set"],
    "preset add": ["save"],
    "preset apply": ["load"],
    "preset compare": ["diff"],
    "preset create": ["save"],
    "preset del": ["remove"],
    "preset delete": ["remove"],
    "preset ls": ["list"],
    "preset new": ["save"],
    "preset restore": ["load"],
    "preset rm": ["remove"],
    "preset set": ["load"],
    "preset show": ["diff", "list"],
    "preset use": ["load"],
]

extension ParsableCommand {
    /// Parses a command line with this command.
    ///
    /// - Parameter others: Returns the names of subcommands that other programs provide.
    /// - Throws: The parser's errors; an unknown command or option is reported with what may have been meant.
    package static func parseLine(
        _ arguments: [String], others: () -> [String] = { [] }
    ) throws -> any ParsableCommand {
        try checkCommands(arguments, others)
        do { return try parseAsRoot(arguments) } catch {
            guard exitCode(for: error) == .validationFailure else { throw error }
            throw correction(of: arguments) ?? error
        }
    }

    /// Throws unless the command line, or what follows `help` in it, begins with existing commands.
    private static func checkCommands(_ arguments: [String], _ others: () -> [String]) throws {
        var path: [any ParsableCommand.Type] = [self]
        for name in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let configuration = path.last?.configuration
            let commands = configuration?.subcommands ?? []
            if commands.isEmpty || configuration?.defaultSubcommand != nil || name.hasPrefix("-")
                || (name == "help" && path.count == 1)
            {
                return
            }
            guard let next = commands.first(where: { $0._commandName == name }) else {
                let names = commands.map { $0._commandName } + (path.count == 1 ? others() + ["help"] : [])
                let problem = "Unknown command '\(printable(name))'"
                throw UnknownWord(problem + meant(by: name, names, in: path, arguments), in: path)
            }
            path.append(next)
        }
    }

    /// The end of a message about a command that does not exist.
    ///
    /// - Parameters:
    ///   - names: The names of the commands that could stand here.
    ///   - path: The commands before it.
    private static func meant(
        by name: String, _ names: [String], in path: [any ParsableCommand.Type], _ arguments: [String]
    ) -> String {
        let isFirst = path.count == 1 && arguments.first == name
        let next = arguments.dropFirst().first.flatMap { names.contains($0) && $0 != "help" ? $0 : nil }
        func meant(byProgramBefore command: String) -> String {
            "; the command comes first: \(_commandName) \(command) \(printable(name))"
        }
        if isFirst, name.contains("/") || Int32(name) != nil {
            return meant(byProgramBefore: next ?? "list")
        }
        let typed = path.dropFirst().map { $0._commandName } + [name.lowercased()]
        let same = (wordsOfOtherTools[typed.joined(separator: " ")] ?? []).filter { command in
            command.hasPrefix("-") || names.contains { command == $0 || command.hasPrefix($0 + " ") }
        }
        let others = same.isEmpty ? names.nearest(to: name) : same
        if !others.isEmpty { return didYouMean(others) }
        return isFirst ? next.map(meant(byProgramBefore:)) ?? "." : "."
    }

    /// The error about an unknown option; `nil` if there is none, or if it resembles nothing.
    private static func correction(of arguments: [String]) -> UnknownWord? {
        guard let root = try? decodeJSON(CommandDescription.Root.self, from: Array(_dumpHelp().utf8)) else {
            return nil
        }
        let line = TypedLine(root.command, arguments)
        var path: [any ParsableCommand.Type] = [self]
        for name in line.path {
            guard let next = path.last?.configuration.subcommands.first(where: { $0._commandName == name })
            else { return nil }
            path.append(next)
        }
        guard !path.contains(where: { $0.configuration.defaultSubcommand != nil }),
            let option = line.unknownOption,
            let meant = line.command.meant(byOption: option, among: root.command)
        else { return nil }
        return UnknownWord("Unknown option '\(printable(option))'\(meant)", in: path)
    }
}

/// The error of a command line with a command or an option that does not exist.
struct UnknownWord: Error {
    /// The message with the usage of the command, as the parser's errors have it.
    let message: String

    /// - Parameter path: The commands on the line up to the wrong word, at least one.
    init(_ problem: String, in path: [any ParsableCommand.Type]) {
        let usage = path.first.flatMap { first in path.last.map { first.usageString(for: $0) } } ?? ""
        let names = path.map { $0._commandName }.joined(separator: " ")
        message = """
            Error: \(problem)
            Usage: \(usage.replacing("\n", with: "\n       "))
              See '\(names) --help' for more information.
            """
    }
}

extension CommandDescription {
    /// The end of a message about an option that the command does not have.
    ///
    /// - Parameters:
    ///   - option: The option, with its dashes.
    ///   - root: The command with all others.
    /// - Returns: `nil` if nothing resembles the option.
    fileprivate func meant(byOption option: String, among root: CommandDescription) -> String? {
        // An option, or a value of one, such as json.
        var words: [String: String] = [:]
        for argument in arguments ?? [] where argument.shouldDisplay {
            for name in argument.longNames {
                words[String(name.dropFirst(2))] = name
                for value in argument.values { words[value] = words[value] ?? "\(name) \(value)" }
            }
        }
        guard option.hasPrefix("--") else {
            let same = words.filter { $0.key.hasPrefix(option.dropFirst()) }.values.sorted()
            return (1...3).contains(same.count) ? didYouMean(same) : nil
        }
        return meant(byWord: String(option.dropFirst(2)), words, among: root)
    }

    /// - Parameters:
    ///   - option: A long option, without its dashes.
    ///   - words: The options of the command and their values, and how each is written.
    private func meant(
        byWord option: String, _ words: [String: String], among root: CommandDescription
    ) -> String? {
        let nearest = words.keys.nearest(to: option).compactMap { words[$0] }
        // The parser gives each root one.
        guard (subcommands ?? []).allSatisfy({ $0.commandName == "help" }) else {
            if (subcommands ?? []).contains(where: { $0.commandName == option }) {
                return didYouMean([option])
            }
            if all.contains(where: { $0.options.contains("--" + option) }) {
                return "; options follow the command"
            }
            return nearest.isEmpty ? nil : didYouMean(nearest)
        }
        if let word = words[option] { return didYouMean([word]) }
        if option == "format" || root.all.contains(where: { $0.formats.contains(option) }) {
            return formats.isEmpty
                ? "; \(commandName) takes no format"
                : "; the formats of \(commandName) are \(formats.joined(separator: ", "))"
        }
        if !nearest.isEmpty { return didYouMean(nearest) }
        let shorter = words.filter { $0.key.count > 2 && option.hasPrefix($0.key) }.values.sorted()
        if !shorter.isEmpty { return didYouMean(shorter) }
        if let value = (arguments ?? []).first(where: { $0.kind == .positional && $0.valueName == option }) {
            return "; <\(value.valueName)> is written without an option"
        }
        let others = root.all.filter { $0.options.contains("--" + option) }.map(\.commandName)
        guard (1...3).contains(others.count) else { return nil }
        return "; \(others.joined(separator: ", ")) \(others.count == 1 ? "has" : "have") it"
    }

    /// The command and all below it.
    private var all: [CommandDescription] { [self] + (subcommands ?? []).flatMap(\.all) }

    private var options: [String] { (arguments ?? []).filter(\.shouldDisplay).flatMap(\.longNames) }

    private var formats: [String] {
        (arguments ?? []).first { $0.longNames.contains("--format") }?.values ?? []
    }
}

extension CommandDescription.Argument {
    fileprivate var longNames: [String] { (names ?? []).map(\.text).filter { $0.hasPrefix("--") } }

    /// The words that the value of an option can be, if it is a keyword.
    fileprivate var values: [String] { kind == .option ? completionKind?.list?.values ?? [] : [] }
}
