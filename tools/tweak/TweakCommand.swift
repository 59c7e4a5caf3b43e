// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakRecords

@main
struct TweakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak",
        abstract: "Show and change the tweaks of programs.",
        discussion: """
            PROGRAM is a process id, or the path or name of an executable. A running program changes at once. If it \
            does not contain the Tweaks library, its memory is read and written, and changes last until it exits. If the \
            program is not running, its tweaks are read from the executable and its shared libraries, and changes are \
            kept in $XDG_CONFIG_HOME/tweaks/<name of the executable>/overrides.json for its next start.

            A tweak is named Category/Collection/Name, with %2F for a slash and %25 for a percent sign inside a \
            level. An abbreviation works if it matches exactly one tweak: the last levels, or the beginning or end of each. \
            Exact matches take precedence over matches that differ in case, or in colour for color.

            EXIT STATUS
              0   success; values outside the limits were clamped, with a warning
              1   bake --check found defaults that differ; a monitor deviated under
                  replay --check; a review or forget was cancelled; a sweep's guard failed
              3   a sweep found no better value, and kept none
              64  invalid command line, or several processes of the program are running
              65  no tweak or several match the name, the value is not allowed, or a file
                  is malformed or has no values
              66  PROGRAM, a file or a preset is missing or cannot be opened
              69  the program is not running, accepts no connections, ended before it
                  answered, or cannot load the library; or a running process did not
                  receive the change
              70  the editor, or the command of a sweep, failed
              71  a system call failed, such as socket()
              73  a file cannot be created
              74  the overrides, a preset or another file cannot be read or written
              75  the program is busy or does not answer, for example because it is
                  stopped; or forget found it running
              76  the program sent a malformed answer
              77  no permission to connect to the program or to read its memory; or only
                  another user runs it, so no process received the change
              126 the program to start cannot be executed
              127 the program to start was not found
              130 Ctrl-C ended a sweep; for another signal, 128 plus its number
            """,
        version: "tweak \(libraryVersion)",
        subcommands: [
            PsCommand.self, ListCommand.self, GetCommand.self, SetCommand.self, ResetCommand.self,
            WatchCommand.self, PlotCommand.self, MeasureCommand.self, SweepCommand.self,
            LogCommand.self, UndoCommand.self, RevertCommand.self,
            MarkCommand.self, RecordCommand.self, ReplayCommand.self, RunCommand.self, ExecCommand.self,
            EditCommand.self, BakeCommand.self, FollowCommand.self,
            ExplainCommand.self, CheckCommand.self,
            ExportCommand.self,
            ImportCommand.self, PresetCommand.self, ForgetCommand.self, GenerateCommand.self, XCPCommand.self,
            EnvironmentCommand.self,
        ])

    /// Reads `-5` and `-=` after `set PROGRAM KEY` as values and not as an option, and `--all` as `--all-processes` where it
    /// has no other meaning.
    static func main() {
        _ = reservedDescriptors
        var arguments = commandArguments(of: "tweak")
        if arguments.first == MemoryGuard.argument { return MemoryGuard.run(arguments.dropFirst().first) }
        // The arguments after the program to start belong to that program.
        if !["reset", "exec", "ps", "---complete"].contains(arguments.first) {
            let options = arguments.prefix { $0 != "--" }
            arguments.replaceSubrange(
                options.indices, with: options.map { $0 == "--all" ? "--all-processes" : $0 })
        }
        if arguments.first == "set" { takeAttended(from: &arguments) }
        if let command = arguments.first, Self.commandsWithTimes.contains(command) {
            let options = arguments.prefix { $0 != "--" }
            arguments.replaceSubrange(
                options.indices,
                with: joiningTimes(
                    in: Array(options),
                    after: [
                        "--budget", "--duration", "--for", "--ramp", "--settle", "--shift", "--wait",
                    ]))
        }
        if arguments.first == "set", !arguments.contains("--"),
            let value = arguments.firstIndex(where: {
                $0.first == "-" && $0.dropFirst().first.map { $0.isNumber || $0 == "." || $0 == "=" } == true
            })
        {
            // Options may follow the value.
            let options = optionsOfSet(in: arguments[value...])
            let words = arguments[value...].indices.filter { !options.contains($0) }.map { arguments[$0] }
            arguments = arguments[..<value] + options.map { arguments[$0] } + ["--"] + words
        }
        runCommand("tweak", arguments) {
            let own = configuration.subcommands.map { $0._commandName }
            try Failure.reported { () throws(Failure) in try OtherCommands.become(arguments, own: own) }
            if answersShell(arguments, otherCommands: { OtherCommands.installed }) { return }
            var command =
                try parseAlone(arguments) ?? parseLine(arguments) { OtherCommands.installed.map(\.word) }
            try command.run()
        } ending: {
            let (status, message) = ending($0)
            return (status, OtherCommands.added(to: message))
        }
    }
}

extension TweakCommand {
    fileprivate static let commandsWithTimes: Set = [
        "get", "set", "watch", "plot", "measure", "sweep", "record", "replay",
    ]

    /// The command that `set --while --` is to run. Only the beginning of the process changes it.
    nonisolated(unsafe) private(set) static var attendedWords: [String] = []

    /// Takes the command behind `--while --` from the arguments, because the parser would see values in it.
    private static func takeAttended(from arguments: inout [String]) {
        guard let option = arguments.firstIndex(of: "--while"),
            !arguments[..<option].contains("--"), arguments[(option + 1)...].first == "--"
        else { return }
        attendedWords = Array(arguments[(option + 2)...])
        arguments.removeSubrange((option + 1)...)
    }

    /// The indices of options of `set`, and of their values.
    private static func optionsOfSet(in arguments: ArraySlice<String>) -> [Int] {
        var indices: [Int] = []
        var index = arguments.startIndex
        while index < arguments.endIndex {
            let takesValue = ["--for", "--ramp", "--wait", "--format"].contains(arguments[index])
            if arguments[index].hasPrefix("--") { indices.append(index) }
            if takesValue, index + 1 < arguments.endIndex { indices.append(index + 1) }
            index += takesValue ? 2 : 1
        }
        return indices
    }

    /// Parses the arguments of a command without looking at the other commands, which takes less time.
    ///
    /// - Returns: `nil` on errors and for help, whose texts need the names of all commands.
    fileprivate static func parseAlone(_ arguments: [String]) -> (any ParsableCommand)? {
        guard let command = configuration.subcommands.first(where: { $0._commandName == arguments.first }),
            let parsed = try? command.parseAsRoot(Array(arguments.dropFirst()))
        else { return nil }
        // The parser's own help command is not in the list.
        let own = [command] + command.configuration.subcommands
        return own.contains { $0 == type(of: parsed) } ? parsed : nil
    }
}

/// The standard descriptors that were closed when the command started.
let reservedDescriptors = reserveStandardDescriptors()

/// Starts the next program with those descriptors closed, as this one was started.
func closeReservedDescriptorsOnExec() {
    for descriptor in reservedDescriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}

func warn(_ warning: Warning) { warning.write() }

func warn(_ message: String, _ kind: Warning.Kind = .other, _ tweak: TweakKey? = nil) {
    warn(Warning(message, kind, tweak: tweak))
}

/// Asks the user on the terminal; the end of the input means no.
///
/// - Parameter usual: The answer if the user only presses Return.
func isConfirmed(_ question: String, byDefault usual: Bool) -> Bool {
    while true {
        printError(question)
        switch readLine()?.lowercased() {
        case "": return usual
        case "y", "yes": return true
        case "n", "no", nil: return false
        default: continue
        }
    }
}
