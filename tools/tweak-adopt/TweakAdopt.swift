// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakDWARF
import TweakRecords

@main
struct Adopt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", _superCommandName: "tweak",
        abstract: "Turn ordinary variables of a program into tweaks.",
        discussion: """
            VARIABLE is a global or static variable of a program with debug information, or a part of one: gravity, \
            physics.c:gravity, game::Physics::gravity, work::calls of the function work, player.speed, table[3].weight. An \
            adopted variable is a tweak for list, get, set, watch, plot, bake and other commands, for this build of the \
            program. A program with the Tweaks library keeps values and applies them before main. In other programs, values \
            are written into the memory of the running program and not kept for the next start.

            Only variables with their own address in writable memory can be set; for the others, --list shows the reason \
            and a remedy. Optimized code may read a variable only once, before a loop, unless it is volatile.

            EXIT STATUS
              0   done
              64  invalid command line
              65  a name matches no variable or several, a variable cannot be adopted, or
                  the limits are invalid
              66  PROGRAM is missing, or has no debug information
              69  no such process, or it belongs to another user
              74  the file of adopted variables could not be read or written
            """,
        version: "tweak-adopt \(libraryVersion)")

    @Flag(help: "List the variables of the program, with reasons for those that cannot be adopted.")
    var list = false

    @Flag(help: "Stop adopting VARIABLE, which is a variable or its tweak.")
    var remove = false

    @Flag(help: "Look up all adopted variables again, after a rebuild of the program.")
    var renew = false

    @Flag(
        help: "Write values again that the running program has overwritten, such as during initialization.")
    var again = false

    @Option(
        name: .customLong("in"), parsing: .unconditional,
        help: ArgumentHelp("The limits, such as 0..30; either is optional.", valueName: "min..max"))
    var limits: String?

    @Option(
        help: ArgumentHelp(
            "The name of the tweak (default: Variables/<source file>/<variable>).",
            valueName: "category/collection/name"))
    var name: String?

    @Option(help: "The unit to show with the value.")
    var unit: String?

    @Flag(help: "Make it a monitor: shown, but not settable.")
    var monitor = false

    @Flag(help: "Download missing debug information from the servers in DEBUGINFOD_URLS.")
    var debuginfod = false

    @Option(help: "The output format of --list.")
    var format: ListFormat = .table

    enum ListFormat: String, FormatArgument { case table, json }

    @Argument(
        help: "A process id, or the path or name of an executable.",
        completion: .custom(completePrograms))
    var program: String

    @Argument(
        help:
            "The variables. With --list: part of a name, or a pattern with *.",
        completion: .custom(completeVariables))
    var variable: [String] = []

    static func main() {
        reserveStandardDescriptors()
        runProgram("tweak-adopt", commandArguments(of: "tweak-adopt"))
    }

    func validate() throws {
        guard [list, remove, renew, again].count(where: \.self) <= 1 else {
            throw ValidationError("Give only one of --list, --remove, --renew and --again.")
        }
        guard !(list || remove || renew || again) || (limits ?? name ?? unit) == nil && !monitor else {
            throw ValidationError("--in, --name, --unit and --monitor need a variable to adopt.")
        }
        guard !variable.isEmpty || list || renew || again else {
            throw ValidationError("Name a variable to adopt.")
        }
        guard variable.isEmpty || !(renew || again) else {
            throw ValidationError(
                "--\(renew ? "renew" : "again") covers all adopted variables; do not name any.")
        }
        guard name == nil || variable.count == 1 else {
            throw ValidationError("--name needs exactly one variable.")
        }
    }

    func run() throws {
        try Failure.reported(by: "tweak-adopt") { () throws(Failure) in
            let file = try ProgramFile(named: program)
            if list { return try show(file) }
            if remove { return try forget(variable, in: file) }
            if renew { return try lookUpAgain(file) }
            if again { return try storeAgain() }
            try adopt(variable, in: file)
        }
    }

    /// Reads the variables of a file, and warns about what could not be read.
    func variables(of file: ProgramFile) throws(Failure) -> ProgramVariables {
        let variables: ProgramVariables
        do throws(DebugFileError) {
            variables = try ProgramVariables(path: file.path, asksServers: debuginfod)
        } catch {
            throw Failure("\(error)".replacing(file.path, with: file.shownPath), .missing)
        }
        for problem in variables.problems.prefix(10) {
            Warning("\(file.shownPath): \(problem)").write(of: "tweak-adopt")
        }
        return variables
    }
}

/// The executable of a program and its libraries, whose debug information is read when it is needed.
final class ProgramImages {
    let files: [ProgramFile]
    private let read: (ProgramFile) throws(Failure) -> ProgramVariables
    private var known: [Int: Result<ProgramVariables, Failure>] = [:]

    init(of file: ProgramFile, read: @escaping (ProgramFile) throws(Failure) -> ProgramVariables) {
        (files, self.read) = (file.images, read)
    }

    /// The variables of a file; the executable is the first.
    func variables(at index: Int) throws(Failure) -> ProgramVariables {
        if let result = known[index] { return try result.get() }
        let result: Result<ProgramVariables, Failure>
        do throws(Failure) { result = .success(try read(files[index])) } catch { result = .failure(error) }
        known[index] = result
        return try result.get()
    }

    /// Calls `body` with each file that has debug information, until it returns a result.
    ///
    /// - Parameter isMeant: Returns whether to read a file.
    /// - Throws: ``Failure`` if none has any: that of the executable.
    func first<Result>(
        where isMeant: (Int) -> Bool = { _ in true },
        _ body: (ProgramFile, ProgramVariables) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        var failure: Failure?
        for index in files.indices where isMeant(index) {
            let variables: ProgramVariables
            do throws(Failure) { variables = try self.variables(at: index) } catch {
                failure = failure ?? error
                continue
            }
            if let result = try body(files[index], variables) { return result }
        }
        if let failure, !known.values.contains(where: { if case .success = $0 { true } else { false } }) {
            throw failure
        }
        return nil
    }

    /// The part with a name as typed: of the executable, or else of the first library that has one.
    func find(
        _ name: String
    ) throws(Failure) -> (file: ProgramFile, variables: ProgramVariables, part: VariablePart) {
        var unknown: VariableNameError?
        let found =
            try first { (file, variables) throws(Failure) in
                do throws(VariableNameError) {
                    return (file, variables, try variables.part(named: name))
                } catch {
                    guard case .unknown = error else { throw error.failure }
                    unknown = unknown ?? error
                    return nil
                }
            } as (file: ProgramFile, variables: ProgramVariables, part: VariablePart)?
        if let found { return found }
        throw unknown?.failure ?? Failure("\(name): no such variable", .invalid)
    }
}

extension ProgramVariables {
    /// The part with a name as typed.
    func find(_ name: String) throws(Failure) -> VariablePart {
        do throws(VariableNameError) { return try part(named: name) } catch { throw error.failure }
    }
}

extension VariableNameError {
    fileprivate var failure: Failure {
        var details: [String] = []
        if case .ambiguous(_, let names) = self { details = names.beginning }
        return Failure("\(self)", details: details, .invalid)
    }
}
