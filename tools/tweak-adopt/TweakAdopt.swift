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
        abstract: "Make tweaks of variables that nobody declared as tweaks.",
        discussion: """
            VARIABLE is a global or static variable of a program with debug information, or a part of one: gravity, \
            physics.c:gravity, game::Physics::gravity, work::calls of the function work, player.speed, table[3].weight. Once \
            adopted it is a tweak for list, get, set, watch, plot, bake and others, for this build of the program. A program \
            with the Tweaks library keeps values, and has them before main. In others they are written into the memory of the \
            running program, and not kept for its next start.

            Only variables with an address of their own in writable memory can be set; --list shows the reason for others, \
            and what to do about it. Optimized code may have read a variable before a loop, unless it is volatile.

            EXIT STATUS
              0   done
              64  the command line is wrong
              65  no variable or several match the name, it cannot be adopted, or the limits are wrong
              66  PROGRAM is missing, or has no debug information
              69  there is no such process, or it belongs to another user
              74  the file of adopted variables could not be read or written
            """,
        version: "tweak-adopt \(libraryVersion)")

    @Flag(help: "Show the variables of the program, and the reason why one cannot be adopted.")
    var list = false

    @Flag(help: "Adopt no longer: VARIABLE is a variable or its tweak.")
    var remove = false

    @Flag(help: "Look up all adopted variables again, after the program was built again.")
    var renew = false

    @Option(
        name: .customLong("in"), parsing: .unconditional,
        help: ArgumentHelp("The limits, such as 0..30. Either may be left out.", valueName: "min..max"))
    var limits: String?

    @Option(
        help: ArgumentHelp(
            "The name of the tweak (default: Variables/<source file>/<variable>).",
            valueName: "category/collection/name"))
    var name: String?

    @Option(help: "The unit of the value, for people.")
    var unit: String?

    @Flag(help: "Make a monitor, which people see and do not set.")
    var monitor = false

    @Flag(help: "Ask the servers in DEBUGINFOD_URLS for debug information that is not on this machine.")
    var debuginfod = false

    @Option(help: "The output format of --list.")
    var format: ListFormat = .table

    enum ListFormat: String, CaseIterable, ExpressibleByArgument { case table, json }

    @Argument(
        help: "A process id, the path of an executable, or the name of one.",
        completion: .custom(completePrograms))
    var program: String

    @Argument(
        help:
            "The variables; with --list, only variables with this in their names, or whose names match a pattern with *.",
        completion: .custom(completeVariables))
    var variable: [String] = []

    static func main() {
        reserveStandardDescriptors()
        runProgram("tweak-adopt", commandArguments(of: "tweak-adopt"))
    }

    func validate() throws {
        guard [list, remove, renew].count(where: \.self) <= 1 else {
            throw ValidationError("Only one of --list, --remove and --renew can be given.")
        }
        guard !(list || remove || renew) || (limits ?? name ?? unit) == nil && !monitor else {
            throw ValidationError("--in, --name, --unit and --monitor describe a variable that is adopted.")
        }
        guard !variable.isEmpty || list || renew else { throw ValidationError("The variable is missing.") }
        guard variable.isEmpty || !renew else {
            throw ValidationError("--renew is for all adopted variables.")
        }
        guard name == nil || variable.count == 1 else {
            throw ValidationError("--name is for one variable.")
        }
    }

    func run() throws {
        try Failure.reported(by: "tweak-adopt") { () throws(Failure) in
            let file = try ProgramFile(named: program)
            if list { return try show(file) }
            if remove { return try forget(variable, in: file) }
            if renew { return try lookUpAgain(file) }
            try adopt(variable, in: file)
        }
    }

    /// Reads the variables, and warns about what could not be read.
    func variables(of file: ProgramFile) throws(Failure) -> ProgramVariables {
        let variables: ProgramVariables
        do throws(DebugFileError) {
            variables = try ProgramVariables(path: file.path, asksServers: debuginfod)
        } catch {
            throw Failure("\(error)".replacing(file.path, with: file.shownPath), .missing)
        }
        for problem in variables.problems.prefix(10) {
            printMessage("warning: \(file.shownPath): \(problem)", of: "tweak-adopt")
        }
        return variables
    }
}

extension ProgramVariables {
    /// The part with a name as typed.
    func find(_ name: String) throws(Failure) -> VariablePart {
        do throws(VariableNameError) { return try part(named: name) } catch {
            var details: [String] = []
            if case .ambiguous(_, let names) = error { details = names.beginning }
            throw Failure("\(error)", details: details, .invalid)
        }
    }
}
