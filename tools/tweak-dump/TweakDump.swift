// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
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
            Reads binaries of every architecture and byte order. A file without tweaks is not an error. The members of a \
            thin archive are looked up relative to its folder. Everything that cannot be read is an error: broken files, \
            and archive members that are archives, not ELF files, or not compiled yet, as with link-time optimization. \
            Separate debug files have no records; they are errors only with --lint, --diff and --forbid.

            --lint checks all files as one program. Its rules are \(Rule.allValueStrings.joined(separator: ", ")). Findings of \
            \(Rule.allCases.filter(\.isAdvice).map(\.rawValue).joined(separator: " and ")) are advice, not errors.

            EXIT STATUS
              0   every file was read, --diff or --forbid found nothing, and --lint nothing
                  but advice
              1   --diff or --forbid found something
              64  invalid command line
              65  a file or archive member is broken, not ELF or not compiled, has an
                  invalid record, cannot be described in A2L, or --lint found a mistake
              66  a file, or a member of a thin archive, is missing or cannot be opened, or
                  there was nothing to check
              69  no such process
              71  the memory of a process cannot be read for another reason
              74  the output cannot be written
              77  no permission to read the memory of a process
            """,
        version: "tweak-dump \(libraryVersion)")

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @Flag(help: "Also show the tweaks of the shared libraries that a file needs.")
    var libraries = false

    @Flag(help: "Read all files below folders, by default the current one.")
    var recursive = false

    @Flag(
        help: "Read the sources, if available, and name the macros whose definitions contain tweaks.")
    var sources = false

    @OptionGroup var memory: MemoryInputs

    @OptionGroup var selection: Selection

    @Flag(exclusivity: .exclusive)
    var task: Task?

    @Option(help: "Ignore this rule of --lint.")
    var ignore: [Rule] = []

    @Flag(help: "With --lint, also fail on advice.")
    var strict = false

    @Argument(help: "The files to inspect; - is standard input.", completion: .file())
    var files: [String] = []

    func validate() throws {
        guard !files.isEmpty || recursive || !memory.isEmpty else {
            throw ValidationError("Name a file to inspect.")
        }
        guard task == .lint || ignore.isEmpty else { throw ValidationError("--ignore needs --lint.") }
        guard task == .lint || !strict else { throw ValidationError("--strict needs --lint.") }
        guard !sources || task == nil && format == .table else {
            throw ValidationError("--sources works only with the table of tweaks.")
        }
        guard format != .a2l || memory.isEmpty else {
            throw ValidationError("--format a2l describes files, not processes and cores.")
        }
        guard let task else { return }
        guard format == .table || format == .json else {
            throw ValidationError("--\(task) supports only the formats table and json.")
        }
        guard task != .diff || (files.count == 2 && memory.isEmpty) else {
            throw ValidationError("--diff needs two files or folders: the old one, then the new one.")
        }
    }

    static func main() {
        reserveStandardDescriptors()
        runProgram("tweak-dump", commandArguments(of: "tweak-dump"))
    }

    func run() throws {
        var exitCode: Int32
        switch task {
        case nil: exitCode = read(files, for: format.report)
        case .lint:
            let lint = Lint(Findings(format, ignoring: ignore))
            exitCode = read(files, for: lint)
            if lint.findings.hasMistakes || strict && !lint.findings.isEmpty {
                exitCode = max(exitCode, EX_DATAERR)
            }
        case .forbid:
            let forbid = Forbid(Findings(format, ignoring: []))
            exitCode = read(files, for: forbid)
            if !forbid.findings.isEmpty { exitCode = max(exitCode, EXIT_FAILURE) }
        case .diff:
            let (old, new) = (DeclaredTweaks(), DeclaredTweaks())
            exitCode = max(read([files[0]], for: old), read([files[1]], for: new))
            if try write(differences(between: old, and: new), format) {
                exitCode = max(exitCode, EXIT_FAILURE)
            }
        }
        if exitCode != EXIT_SUCCESS { throw ExitCode(exitCode) }
    }

    /// - Returns: The exit status of the command.
    private func read(_ files: [String], for report: any Report) -> Int32 {
        var dump = Dump(
            report,
            .init(
                isRecursive: recursive, hasLibraries: libraries, isCheck: task != nil,
                findsUnread: task == .lint, readsSources: sources), selection)
        if files.isEmpty, memory.isEmpty { dump.add(folder: "") }
        for file in files { dump.add(file) }
        memory.add(to: &dump)
        if task == .lint || task == .forbid, dump.hasNothing {
            printProblem("nothing was checked: there is no ELF file")
            dump.end(with: .missing)
        }
        report.finish()
        return dump.exitCode
    }
}

/// The task, instead of showing the tweaks.
enum Task: String, EnumerableFlag {
    case lint, diff, forbid

    static func help(for task: Task) -> ArgumentHelp? {
        switch task {
        case .lint: "Report mistakes instead of listing tweaks."
        case .diff: "Show the differences between two files or folders."
        case .forbid:
            "Check a release: fail if there are records, or code that makes tweaks at run time, and show them."
        }
    }
}
