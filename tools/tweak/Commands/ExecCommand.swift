// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakSystem

struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Start a program with the library, even if it was built without it.",
        usage: """
            tweak exec [--preset <preset>] [--set <tweak=value> ...] [--library <library>] <program> [<argument> ...]
            """,
        discussion: """
            The program replaces this command and keeps its signals, file descriptors and exit status. The dynamic linker \
            preloads the library into the program, and into each program that it starts in turn. A program that already \
            has the library is simply started.

            The values of --preset and --set last for this run and take precedence over kept values and over changes while \
            the program runs; --set takes precedence over --preset. They are checked as by tweak set. The tweaks of a \
            script are unknown, so it needs full names, and accepts no preset.

            For example:

              tweak exec --preset fast --set Gain=2.5 ./motor --verbose
            """)

    @Option(help: ArgumentHelp("A preset of the program, for this run.", valueName: "preset"))
    var preset: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("A value for this run. Can be repeated.", valueName: "tweak=value"))
    var values: [Assignment] = []

    @Option(
        help: "The library (default: the one installed with this command).",
        completion: .file())
    var library: String?

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The program and its arguments.", valueName: "program-argument"),
        completion: .custom(completeExecutables))
    var command: [String] = []

    func validate() throws {
        guard let first = command.first, !words.isEmpty else {
            throw ValidationError("Give the program to start.")
        }
        // The captured arguments begin with an unknown option.
        if ["-h", "--help"].contains(first) { throw CleanExit.helpRequest(self) }
        if first.hasPrefix("-"), first != "--" {
            throw ValidationError("Unknown option '\(printable(first))'")
        }
    }

    func run() throws {
        try Failure.reported { () throws(Failure) in
            let start = try ProgramStart(
                of: words[0], library: library, takesValues: !values.isEmpty || preset != nil, warn: warn)
            if start.declarations?.isEmpty == true {
                warn("\(start.path): neither the program nor its libraries have tweaks")
            }
            var started = StartValues()
            if let preset {
                for note in try started.set(preset: repaired(preset), of: start) { warn(note) }
            }
            for value in values {
                if let warning = try started.set(value.name, to: repaired(value.text), of: start) {
                    warn(warning)
                }
            }
            try started.export()
            Self.preload(start.preloaded)
            try execute(start.path)
        }
    }

    /// The captured arguments begin with the terminator if there was one.
    private var words: [String] { Array(command.first == "--" ? command.dropFirst() : command[...]) }

    /// Appends to the existing list of the dynamic linker, whose libraries may have to be first.
    private static func preload(_ libraries: [String]) {
        let variable = "LD_PRELOAD"
        let present = (environment(variable) ?? "").split { $0 == ":" || $0 == " " }
        guard !libraries.isEmpty, !present.contains(where: ProgramStart.isLibrary) else { return }
        setenv(variable, (present.map(String.init) + libraries).joined(separator: ":"), 1)
    }

    /// Replaces this process by the program.
    private func execute(_ path: String) throws(Failure) {
        // As bytes, because arguments need not be text.
        let arguments = Array(argumentBytes.suffix(words.count))
        fflush(nil)
        closeReservedDescriptorsOnExec()
        _ = withPath(path) { execv($0, arguments + [nil]) }
        if errno == ENOEXEC {
            // A file of unknown format is a script for the shell, as for execvp(3).
            let shell = "/bin/sh"
            shell.withCString { first in
                withPath(path) { second in
                    let words = [first, second].map { UnsafeMutablePointer(mutating: $0) }
                    _ = execv(shell, words + arguments.dropFirst() + [nil])
                }
            }
        }
        guard errno != ENOENT else {
            throw Failure(
                "\(path): its interpreter or dynamic linker is missing", .notFound)
        }
        throw Failure("\(path): it cannot be executed: \(systemMessage())", .notExecutable)
    }
}
