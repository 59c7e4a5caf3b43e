import ArgumentParser
import TweakELF
import TweakText

@main
struct TweakDump: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak-dump",
        abstract:
            "Show the tweaks in executables, libraries, object files and archives, without running them.",
        discussion: """
            Binaries of every architecture and byte order are read. A file without tweaks is no error.

            EXIT STATUS
              0   every file was read
              64  the command line is wrong
              65  a file is no ELF file or a broken one
              66  a file is missing or cannot be opened
            """)

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @Flag(help: "Also show the tweaks of the shared libraries that a file needs.")
    var libraries = false

    @Argument(help: "The files to inspect.", completion: .file())
    var files: [String]

    func run() throws {
        var dump = Dump()
        for file in files { dump.add(file, withLibraries: libraries) }
        try dump.write(format)
        for problem in dump.problems { printError("tweak-dump: \(problem.message)") }
        if let code = dump.problems.map(\.exitCode).max() { throw ExitCode(code) }
    }
}

enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json
}
