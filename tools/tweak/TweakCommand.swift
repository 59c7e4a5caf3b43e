import ArgumentParser
import TweakText

@main
struct TweakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak",
        abstract: "Show and change the tweaks of a program.",
        discussion: """
            PROGRAM is the path of an executable. It is not run: what can be changed is read from it and from the \
            shared libraries that it needs, what is changed is kept in \
            $XDG_CONFIG_HOME/tweaks/<name of the executable>/overrides.json, which the program reads when it starts \
            and follows while it runs.

            A tweak is named Category/Collection/Name, with %2F for a slash and %25 for a percent sign inside a level.

            EXIT STATUS
              0   done; a value outside the limits was clamped, with a warning
              64  the command line is wrong
              65  there is no such tweak, it cannot take the value, or PROGRAM is no ELF file
              66  PROGRAM is missing or cannot be opened
              74  the overrides could not be read or written
            """,
        subcommands: [ListCommand.self, GetCommand.self, SetCommand.self, ResetCommand.self])

    /// Reads `-5` after `set PROGRAM KEY` as a value and not as an option.
    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "set", !arguments.contains("--"),
            let value = arguments.firstIndex(where: {
                $0.first == "-" && $0.dropFirst().first?.isNumber == true
            })
        {
            arguments.insert("--", at: value)
        }
        main(arguments)
    }
}

/// What ends a command: a message for standard error, and an exit status of sysexits.h.
struct Failure: Error {
    let message: String
    let exitCode: Int32
}

/// Runs a command and turns a failure into its message and exit status.
func reportingFailure<Result>(_ body: () throws(Failure) -> Result) throws -> Result {
    do throws(Failure) {
        return try body()
    } catch {
        writeMessage(error.message)
        throw ExitCode(error.exitCode)
    }
}

func writeMessage(_ message: String) {
    printError("tweak: \(message)")
}
