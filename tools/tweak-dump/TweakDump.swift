import ArgumentParser
import Glibc
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

            With --lint all files count as one program. What it finds are declarations of one tweak that differ, \
            defaults outside the limits or not among the choices, tweaks that have expired, and invalid records.

            EXIT STATUS
              0   every file was read, and --lint found nothing
              64  the command line is wrong
              65  a file is no ELF file or a broken one, has an invalid record, or --lint found something
              66  a file is missing or cannot be opened
            """)

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @Flag(help: "Also show the tweaks of the shared libraries that a file needs.")
    var libraries = false

    @Flag(help: "Show mistakes instead of the tweaks.")
    var lint = false

    @Argument(help: "The files to inspect.", completion: .file())
    var files: [String]

    func run() throws {
        var dump = Dump()
        for file in files { dump.add(file, withLibraries: libraries) }
        // What the lint shows is not said twice.
        let problems = dump.problems.filter { !lint || $0.invalidRecord == nil }
        var exitCodes = dump.problems.map(\.exitCode)
        if lint {
            let lint = Lint(dump)
            try lint.write(format)
            if !lint.findings.isEmpty { exitCodes.append(EX_DATAERR) }
        } else {
            try dump.write(format)
        }
        for problem in problems { printError("tweak-dump: \(problem.message)") }
        if let code = exitCodes.max() { throw ExitCode(code) }
    }
}

enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json
}
