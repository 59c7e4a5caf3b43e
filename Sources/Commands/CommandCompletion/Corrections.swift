// SPDX-License-Identifier: BSD-3-Clause
package import ArgumentParser
internal import CommandSupport
internal import TweakJSON
internal import TweakRecords

// Messages about command lines with an unknown command or option, which say what may have been meant.

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
                let nearest = names.nearest(to: name)
                let end = nearest.isEmpty ? "." : didYouMean(nearest)
                throw UnknownWord("There is no command '\(printable(name))'" + end, in: path)
            }
            path.append(next)
        }
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
        return UnknownWord("Unknown option '--\(printable(option))'\(meant)", in: path)
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
    ///   - option: The option, without its dashes.
    ///   - root: The command with all others.
    /// - Returns: `nil` if nothing resembles the option.
    fileprivate func meant(byOption option: String, among root: CommandDescription) -> String? {
        // The parser gives each root one.
        guard (subcommands ?? []).allSatisfy({ $0.commandName == "help" }) else {
            return all.contains { $0.options.contains("--" + option) } ? "; options follow the command" : nil
        }
        // An option, or a value of one, such as json.
        var words: [String: String] = [:]
        for argument in arguments ?? [] where argument.shouldDisplay {
            for name in argument.longNames {
                words[String(name.dropFirst(2))] = name
                for value in argument.values { words[value] = words[value] ?? "\(name) \(value)" }
            }
        }
        if let word = words[option] { return didYouMean([word]) }
        if option == "format" || root.all.contains(where: { $0.formats.contains(option) }) {
            return formats.isEmpty
                ? "; \(commandName) takes no format"
                : "; the formats of \(commandName) are \(formats.joined(separator: ", "))"
        }
        let nearest = words.keys.nearest(to: option).compactMap { words[$0] }
        if !nearest.isEmpty { return didYouMean(nearest) }
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
