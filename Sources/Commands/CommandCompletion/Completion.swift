// SPDX-License-Identifier: BSD-3-Clause
package import ArgumentParser
package import CommandSupport
internal import TweakJSON
internal import TweakSystem

/// The values of `--format`. With `json` the warnings of a command are JSON, too.
package protocol FormatArgument: CaseIterable, ExpressibleByArgument, RawRepresentable
where RawValue == String {}

extension FormatArgument {
    package init?(argument: String) {
        self.init(rawValue: argument)
        Warning.areJSON = rawValue == "json"
    }
}

extension Failure {
    /// Runs a command and turns its failure into a message and an exit status.
    ///
    /// - Parameter command: The name of the command for the message.
    package static func reported<Result>(
        by command: String = "tweak", _ body: () throws(Failure) -> Result
    ) throws -> Result {
        do throws(Failure) {
            return try body()
        } catch {
            error.write(of: command)
            throw ExitCode(error.exitCode)
        }
    }
}

extension ParsableCommand {
    /// Runs the command line of a process with this command, and exits.
    ///
    /// - Parameter name: The name of the program for messages.
    package static func runProgram(_ name: String, _ arguments: [String]) -> Never {
        runCommand(name, arguments) {
            if answersShell(arguments) { return }
            var command = try parseLine(arguments)
            try command.run()
        } ending: {
            ending($0)
        }
    }

    /// Answers a completion script, or `tweak`, which asks the programs of other commands for their abstracts.
    ///
    /// The first argument is `---complete`, followed by the words of the command line as typed, without the command's
    /// name and up to the cursor; or it is `---abstract`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process.
    ///   - commands: Returns the subcommands that other programs provide.
    /// - Returns: Whether the arguments were such a question.
    package static func answersShell(
        _ arguments: [String], otherCommands commands: () -> [Candidate] = { [] }
    ) -> Bool {
        switch arguments.first {
        case "---abstract": print(configuration.abstract)
        case "---complete":
            let words = arguments.dropFirst()
            let typed = TypedWord(words.last ?? "")
            let others = words.count == 1 ? commands() : []
            for line in others.compactMap({ $0.line(typed) }) + completed(words.dropLast(), typed) {
                print(line)
            }
        default: return false
        }
        return true
    }

    private static func completed(_ words: ArraySlice<String>, _ typed: TypedWord) -> [String] {
        guard let root = try? decodeJSON(CommandDescription.Root.self, from: Array(_dumpHelp().utf8)) else {
            return []
        }
        let line = TypedLine(root.command, words.map { TypedWord($0).text })
        let names = line.names(typed.text).filter { $0.word.utf8.starts(with: typed.text.utf8) }
            .compactMap { $0.line(typed) }
        guard let (completion, name) = line.argument(typed.text) else { return names }
        if let list = completion.list {
            return names + list.values.compactMap { Candidate($0).line(typed) }
        } else if let files = completion.file {
            return names + completeFiles(suffixes: files.extensions.map { "." + $0 }, typed)
        } else if completion.directory != nil {
            return names + completeFiles(suffixes: nil, typed)
        } else if completion.custom != nil {
            return names + custom(["---completion"] + line.path + ["--", name], words, typed)
        }
        return names
    }

    /// Makes the parser call the custom completion of an argument.
    private static func custom(
        _ request: [String], _ words: ArraySlice<String>, _ typed: TypedWord
    ) -> [String] {
        let line = [_commandName] + words + [typed.typed]
        do {
            _ = try parseAsRoot(request + ["\(line.count - 1)", "\(typed.typed.count)"] + line)
            return []
        } catch {
            guard exitCode(for: error) == .success else { return [] }
            // The parser adds a line with a space for zsh.
            return fullMessage(for: error, columns: nil).split(separator: "\n").map(String.init).filter {
                $0 != " "
            }
        }
    }

    /// Maps an error of the command to an exit status and a message. On success the message is help or a completion script.
    package static func ending(_ error: any Error) -> (status: Int32, message: String) {
        let unknown = error as? UnknownWord
        var message = unknown?.message ?? fullMessage(for: error, columns: nil)
        if let above = configuration._superCommandName {
            message.replace("  See '\(_commandName) ", with: "  See '\(above) \(_commandName) ")
        }
        // The parser's scripts let shells expand candidates, and do not ask other programs.
        let isScript = ["#!/bin/bash\n", "#compdef ", "function __"].contains(where: message.hasPrefix)
        guard isScript, let shell = CompletionShell.requesting else {
            let code = unknown == nil ? exitCode(for: error) : .validationFailure
            return (code.rawValue, message)
        }
        return (exitCode(for: error).rawValue, shellScript(completing: _commandName, for: shell))
    }
}
