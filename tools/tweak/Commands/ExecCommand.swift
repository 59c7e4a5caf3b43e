import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakSystem

struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Start a program with the library, also if it was built without.",
        usage: "tweak exec [--set <tweak=value> ...] [--library <library>] <program> [<argument> ...]",
        discussion: """
            The program takes the place of this command: its signals, descriptors and exit status are its own. The \
            dynamic linker loads the library before it, and before each program that it starts in turn. A program that \
            has the library already is just started.

            A value that is set is for this run and counts more than what is kept for the program, or is set while it \
            runs. It is checked as tweak set does; the tweaks of a script are not known, so there a name must be whole.
            """)

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("A value for this run; may be given several times.", valueName: "tweak=value"))
    var values: [Assignment] = []

    @Option(
        help: "The library, if it is not to be the one that was installed with this command.",
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
        // What was captured begins with what is none of the options.
        if ["-h", "--help"].contains(first) { throw CleanExit.helpRequest(self) }
        if first.hasPrefix("-"), first != "--" {
            throw ValidationError("Unknown option '\(printable(first))'")
        }
    }

    func run() throws {
        try Failure.reported { () throws(Failure) in
            let start = try ProgramStart(
                of: words[0], library: library, takesValues: !values.isEmpty, warn: warn)
            if start.declarations?.isEmpty == true {
                warn("\(start.path): there are no tweaks in it, nor in the libraries that it needs")
            }
            var started = StartValues()
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

    /// What was captured begins with the terminator if there was one.
    private var words: [String] { Array(command.first == "--" ? command.dropFirst() : command[...]) }

    /// Adds to what the dynamic linker is told already, behind it: what is there may want to be the first.
    private static func preload(_ libraries: [String]) {
        let variable = "LD_PRELOAD"
        let present = (environment(variable) ?? "").split { $0 == ":" || $0 == " " }
        guard !libraries.isEmpty, !present.contains(where: ProgramStart.isLibrary) else { return }
        setenv(variable, (present.map(String.init) + libraries).joined(separator: ":"), 1)
    }

    /// Becomes the program.
    private func execute(_ path: String) throws(Failure) {
        // As bytes: an argument need not be text.
        let arguments = Array(argumentBytes.suffix(words.count))
        fflush(nil)
        for descriptor in reservedDescriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        _ = withPath(path) { execv($0, arguments + [nil]) }
        if errno == ENOEXEC {
            // What has no format is a script for the shell, as execvp(3) has it.
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
                "\(path): its interpreter, or its dynamic linker, is not there", .notFound)
        }
        throw Failure("\(path): it cannot be executed: \(systemMessage())", .notExecutable)
    }
}
