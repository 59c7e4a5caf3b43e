import ArgumentParser
import CommandSupport
import Glibc
import TweakELF
import TweakRecords

@main
struct TweakDump: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak-dump",
        abstract:
            "Show the tweaks in executables, libraries, object files and archives, without running them.",
        discussion: """
            Binaries of every architecture and byte order are read. A file without tweaks is not an error. The members of a \
            thin archive are found from its folder; an archive in an archive is skipped, which is said.

            With --lint all files count as one program. What it finds are declarations of one tweak that differ, \
            defaults outside the limits or not among the choices, tweaks that have expired, invalid records, and sections \
            that cannot hold any.

            EXIT STATUS
              0   every file was read, and --lint found nothing
              64  the command line is wrong
              65  a file is not an ELF file or a broken one, has an invalid record or section, or --lint found something
              66  a file, or a member of a thin archive, is missing or cannot be opened
              74  the output cannot be written
            """,
        version: "tweak-dump \(libraryVersion)")

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @Flag(help: "Also show the tweaks of the shared libraries that a file needs.")
    var libraries = false

    @Flag(help: "Show mistakes instead of the tweaks.")
    var lint = false

    @Argument(help: "The files to inspect.", completion: .file())
    var files: [String]

    static func main() {
        reserveStandardDescriptors()
        let arguments = Array(CommandLine.arguments.dropFirst())
        runCommand("tweak-dump", arguments) {
            var command = try parseAsRoot(arguments)
            try command.run()
        } ending: {
            (exitCode(for: $0).rawValue, fullMessage(for: $0, columns: nil))
        }
    }

    func run() throws {
        let findings = lint ? Lint(format) : nil
        let report: any Report = findings ?? format.report
        var dump = Dump(report)
        for file in files { dump.add(file, withLibraries: libraries) }
        report.finish()
        let code = findings?.hasFindings == true ? max(dump.exitCode, EX_DATAERR) : dump.exitCode
        if code != EXIT_SUCCESS { throw ExitCode(code) }
    }
}

enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json

    /// What writes the tweaks.
    var report: any Report {
        switch self {
        case .table: TableReport()
        case .json: JSONReport()
        }
    }
}
