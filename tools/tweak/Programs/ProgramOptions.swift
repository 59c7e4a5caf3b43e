// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient

/// The program that a command is about, or several processes of it.
struct ProgramOptions: ParsableArguments, ProgramChoice {
    @Flag(
        help: """
            Apply to all running processes of the program, including its forks. Also spelled --all, except for reset.
            """)
    var allProcesses = false

    @Argument(
        help: "A process id, the path of an executable, or the name of one.",
        completion: .custom(completePrograms))
    var program: String
}

/// The program of a command that can wait until it runs.
struct AwaitedProgramOptions: ParsableArguments, ProgramChoice {
    @Option(
        help: ArgumentHelp("Wait until the program runs, at most this long, such as 30s.", valueName: "time"))
    var wait: DurationArgument?

    @OptionGroup var options: ProgramOptions

    var program: String { options.program }
    var allProcesses: Bool { options.allProcesses }
}

/// The program of a command that is about one process.
struct ProcessOptions: ParsableArguments, ProgramChoice {
    @Argument(
        help: "A process id, the path of an executable, or the name of one.",
        completion: .custom(completePrograms))
    var program: String

    var allProcesses: Bool { false }
}

/// A choice of processes on the command line.
protocol ProgramChoice {
    var program: String { get }
    var allProcesses: Bool { get }
    /// How long to wait until the program runs; `nil` if it need not run.
    var wait: DurationArgument? { get }
}

extension ProgramChoice {
    var wait: DurationArgument? { nil }
}

extension ProgramChoice {
    /// The process id on the command line, or `nil`.
    var processID: pid_t? { program.allSatisfy { $0.isASCII && $0.isNumber } ? pid_t(program) : nil }

    /// Calls `body` with the program, or with each of its processes. A failure in one does not affect the others.
    ///
    /// - Parameters:
    ///   - checkingValues: Whether the caller must know which values the tweaks take.
    ///   - format: The output format. For several processes, a line with the title precedes each, except in JSON.
    ///   - isForNextStart: Whether to say that it is about the next start of a program that is not running.
    func forEach(
        checkingValues: Bool = false, _ format: OutputFormat = .table, isForNextStart: Bool = true,
        _ body: (any Program) throws(Failure) -> Void
    ) throws {
        let programs = try Failure.reported { () throws(Failure) in try find(checkingValues: checkingValues) }
        if let status = visit(programs, format, isForNextStart: isForNextStart, body) {
            throw ExitCode(status)
        }
    }

    /// Calls `body` as ``forEach(checkingValues:_:isForNextStart:_:)`` does, to change values, and reports running
    /// processes that have not got the change.
    ///
    /// - Parameters:
    ///   - joined: Whether processes with the same overrides file are changed together, as the forks of the first.
    ///   - body: Notes changes in the processes that it gets.
    func forEachChanged(
        checkingValues: Bool = false, joined: Bool = false, _ format: OutputFormat = .table,
        _ body: (any Program, ChangedProcesses) throws(Failure) -> Void
    ) throws {
        var programs = try Failure.reported { () throws(Failure) in try find(checkingValues: checkingValues) }
        if joined, allProcesses { programs = joinedByFile(programs) }
        let changed = ChangedProcesses(of: programs, named: processID)
        var status = visit(programs, format) { program throws(Failure) in try body(program, changed) }
        if changed.areChanged {
            for missed in changed.missed {
                missed.failure.write()
                status = status ?? missed.failure.exitCode
            }
        }
        if let status { throw ExitCode(status) }
    }

    /// - Returns: The exit status of the first failure, or `nil`.
    private func visit(
        _ programs: [any Program], _ format: OutputFormat, isForNextStart: Bool = true,
        _ body: (any Program) throws(Failure) -> Void
    ) -> Int32? {
        var status: Int32?
        for program in programs {
            if programs.count > 1, format == .table { print(printable(program.title) + ":") }
            if isForNextStart, program.pid == nil, isatty(STDERR_FILENO) == 1 {
                printMessage("\(program.title) is not running; using the values for its next start")
            }
            do throws(Failure) { try body(program) } catch {
                error.write(about: programs.count > 1 ? program.title : nil)
                status = status ?? error.exitCode
            }
        }
        return status
    }

    /// Calls `body` once with all processes: the program and its forks, or all its processes if they are wanted.
    ///
    /// - Parameter body: Returns the exit status for failures that it has reported, or `nil`.
    func together(_ body: ([any Program]) throws(Failure) -> Int32?) throws {
        let status = try Failure.reported { () throws(Failure) in
            try body(find(checkingValues: false).flatMap(\.withForks))
        }
        if let status { throw ExitCode(status) }
    }

    /// Calls `body` with each of the program's processes, which must be running.
    func forEachRunning(
        _ format: OutputFormat = .table, _ body: (LiveProgram) throws(Failure) -> Void
    ) throws {
        try forEach(format) { program throws(Failure) in try body(running(program)) }
    }

    /// Throws unless a program is running and answers requests.
    func running(_ program: any Program) throws(Failure) -> LiveProgram {
        if let program = program as? LiveProgram { return program }
        throw Failure(
            program is MemoryProgram
                ? "this needs the Tweaks library in the process; link the program with it, or start it "
                    + "with tweak exec"
                : "it is not running, or does not accept connections", about: program.title, .unavailable)
    }

    /// The programs on the command line, at least one. A program that has forked has its forks, unless all processes are
    /// wanted.
    ///
    /// - Throws: ``Failure`` if there are several and not all of them are wanted.
    private func find(checkingValues: Bool) throws(Failure) -> [any Program] {
        let programs = try search(checkingValues: checkingValues)
        guard programs.count > 1, !allProcesses else { return programs }
        // The forks of a program follow its overrides.
        let running = programs.compactMap { ($0 as? LiveProgram)?.running }
        let first = programs.filter { ($0 as? LiveProgram)?.running.parent(among: running) == nil }
        guard first.count > 1 else {
            (first.first as? LiveProgram)?.forks = programs.compactMap { $0 as? LiveProgram }
                .filter { $0 !== first.first }
            return first
        }
        let option = self is ProcessOptions ? "" : ", or --all-processes"
        throw Failure(
            "\(program): \(first.count) processes are running; give the id of one\(option)",
            details: first.map(\.title), .usage)
    }

    private func search(checkingValues: Bool) throws(Failure) -> [any Program] {
        let search = ProgramSearch(warn: warn)
        if let wait, let running = try search.programs(named: program, within: wait.seconds) {
            return running
        }
        let programs = try search.programs(named: program, checkingValues: checkingValues)
        guard let wait, programs.allSatisfy({ $0.pid == nil }) else { return programs }
        throw Failure("\(program): it did not start within \(wait.text)", .unavailable)
    }

    /// The programs, of those that run and have the same overrides file only the first, with the others as its forks.
    private func joinedByFile(_ programs: [any Program]) -> [any Program] {
        var first: [String: LiveProgram] = [:]
        return programs.filter { program in
            guard let program = program as? LiveProgram, let file = try? program.description.overrides
            else { return true }
            first[file]?.forks.append(program)
            if first[file] != nil { return false }
            first[file] = program
            return true
        }
    }

    /// Prints something about a program, as JSON or as a table.
    func show(
        _ form: some Encodable, of program: any Program, as format: OutputFormat,
        table: () throws(Failure) -> String
    ) throws(Failure) {
        switch format {
        case .json: try printJSON(form, of: program)
        case .table: print(try table())
        }
    }

    /// Prints JSON about a program; with `--all-processes` on one line that begins with the process id.
    ///
    /// - Parameter isOneOfSeveral: Whether to print that line in any case.
    func printJSON(
        _ form: some Encodable, of program: any Program, isOneOfSeveral: Bool = false
    ) throws(Failure) {
        do {
            if allProcesses || isOneOfSeveral {
                try printJSONLine(OfProcess(pid: program.pid, result: form))
            } else {
                try CommandSupport.printJSON(form)
            }
        } catch {
            throw Failure("\(error)", .failed)
        }
    }
}

extension Program {
    /// The program, and the processes that it has forked, if they are meant, too.
    var withForks: [any Program] { [self] + ((self as? LiveProgram)?.forks ?? []) }
}

/// The JSON form of something about one of several processes. Scripts rely on its keys.
struct OfProcess<Form: Encodable>: Encodable {
    let pid: pid_t?
    let result: Form
}

enum OutputFormat: String, Keyword, FormatArgument {
    case table, json
}

/// An option with keywords as values. Conforming a type this way saves a tenth of the time that a command needs to
/// start.
protocol Keyword: CaseIterable, ExpressibleByArgument, RawRepresentable where RawValue == String {}

extension Keyword {
    static var allValueStrings: [String] { allCases.map(\.rawValue) }
    static var allValueDescriptions: [String: String] { [:] }
    var defaultValueDescription: String { rawValue }
}
