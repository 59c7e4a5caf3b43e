import ArgumentParser
import CommandCompletion
import CommandSupport
import TweakRecords

@main
struct TweakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak",
        abstract: "Show and change the tweaks of programs.",
        discussion: """
            PROGRAM is a process id, the path of an executable, or the name of one. A program that runs is asked, and \
            what is changed it has at once; without the Tweaks library in it its memory is read and written, and what is \
            changed lasts as long as it runs. Of one that does not run, what can be changed is read from the executable \
            and the shared libraries that it needs; what is changed is kept in \
            $XDG_CONFIG_HOME/tweaks/<name of the executable>/overrides.json, which the program reads when it starts.

            A tweak is named Category/Collection/Name, with %2F for a slash and %25 for a percent sign inside a \
            level. Less is enough if it fits one tweak only: the last levels, or the beginning or the end of each; \
            what is written exactly goes before what differs in upper and lower case, or has colour for color.

            EXIT STATUS
              0   done; a value outside the limits was clamped, with a warning
              64  the command line is wrong, or several processes of the program run
              65  there is no such tweak, or several fit the name, it cannot take the value, or a file holds none or a mistake
              66  PROGRAM, a file or a preset is missing or cannot be opened
              69  the program does not run, does not listen, or ended before it answered, or cannot have the library
              70  the editor failed
              71  the system refused a socket
              73  there can be no file to edit
              74  the overrides, a preset or a file could not be read or written
              75  the program does not answer, as one that is stopped, or is busy
              76  what the program answered makes no sense
              77  the program may not be asked, or its memory not be read
              126 the program to start cannot be executed
              127 there is no program to start
            """,
        version: "tweak \(libraryVersion)",
        subcommands: [
            PsCommand.self, ListCommand.self, GetCommand.self, SetCommand.self, ResetCommand.self,
            WatchCommand.self, PlotCommand.self, RunCommand.self, ExecCommand.self, EditCommand.self,
            ExplainCommand.self, CheckCommand.self,
            ExportCommand.self,
            ImportCommand.self, PresetCommand.self, GenerateCommand.self,
        ])

    /// Reads `-5` after `set PROGRAM KEY` as a value and not as an option, and `--all` as `--all-processes` where it has
    /// no other meaning.
    static func main() {
        _ = reservedDescriptors
        var arguments = commandArguments(of: "tweak")
        // What follows a program to start is for that.
        if !["reset", "exec", "ps", "---complete"].contains(arguments.first) {
            let options = arguments.prefix { $0 != "--" }
            arguments.replaceSubrange(
                options.indices, with: options.map { $0 == "--all" ? "--all-processes" : $0 })
        }
        if arguments.first == "set", !arguments.contains("--"),
            let value = arguments.firstIndex(where: {
                $0.first == "-" && $0.dropFirst().first?.isNumber == true
            })
        {
            arguments.insert("--", at: value)
        }
        runCommand("tweak", arguments) {
            let own = configuration.subcommands.map { $0._commandName }
            try Failure.reported { () throws(Failure) in try OtherCommands.become(arguments, own: own) }
            if answersShell(arguments, otherCommands: { OtherCommands.installed }) { return }
            var command = try parseAlone(arguments) ?? parseWhole(arguments)
            try command.run()
        } ending: {
            let (status, message) = ending($0)
            return (status, OtherCommands.added(to: message))
        }
    }
}

extension TweakCommand {
    /// Parses what follows the name of a command without looking at the other commands, which takes less time.
    ///
    /// - Returns: `nil` if something is wrong, or help is wanted: what is said then has the names of both.
    fileprivate static func parseAlone(_ arguments: [String]) -> (any ParsableCommand)? {
        guard let command = configuration.subcommands.first(where: { $0._commandName == arguments.first }),
            let parsed = try? command.parseAsRoot(Array(arguments.dropFirst()))
        else { return nil }
        // Not the parser's own command that shows help.
        let own = [command] + command.configuration.subcommands
        return own.contains { $0 == type(of: parsed) } ? parsed : nil
    }

    fileprivate static func parseWhole(_ arguments: [String]) throws -> any ParsableCommand {
        try checkCommand(arguments)
        return try parseAsRoot(arguments)
    }

    /// Expects that the command line begins with commands that there are.
    fileprivate static func checkCommand(_ arguments: [String]) throws {
        var command: any ParsableCommand.Type = TweakCommand.self
        for name in arguments {
            let commands = command.configuration.subcommands
            if commands.isEmpty || name.hasPrefix("-") || (name == "help" && command == TweakCommand.self) {
                return
            }
            guard let next = commands.first(where: { $0._commandName == name }) else {
                let others =
                    command == TweakCommand.self ? OtherCommands.installed.map(\.word) + ["help"] : []
                let nearest = (commands.map { $0._commandName } + others).nearest(to: name)
                throw ValidationError(
                    "There is no command '\(printable(name))'" + (nearest.isEmpty ? "." : didYouMean(nearest))
                )
            }
            command = next
        }
    }
}

/// The numbers of standard streams that this command was started without.
let reservedDescriptors = reserveStandardDescriptors()

func warn(_ message: String) { printMessage("warning: " + message) }
