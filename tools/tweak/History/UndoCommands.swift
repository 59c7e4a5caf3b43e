// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords
import TweakSystem

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo a change of tweaks.",
        discussion: """
            Without a number, undoes the latest change by a client or an edited file that is not undone yet; repeat the \
            command to go further back. Changes made together are undone together. Changes of one tweak by one client at \
            most half a second apart, such as those of a slider, count as one. If a tweak has changed since, nothing is \
            undone, and the message says who changed it. An override that did not exist before is removed. An undo is a \
            change too: undo its number to redo the changes.
            """)

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The number that tweak log shows.")
    var number: Int?

    func validate() throws {
        if let number, number < 1 { throw ValidationError("The number of a change must be at least 1.") }
    }

    func run() throws {
        let sharing = SharedRestoration(target)
        try target.forEachChanged(format) { program, processes throws(Failure) in
            let program = try target.running(program)
            if try sharing.reaches(program) { return }
            let answer = try program.askHistory(UndoChanges(number: number))
            try sharing.note(answer.changes, answer.ineffective, in: program)
            if !answer.changes.isEmpty { processes.noteChange() }
            try target.show(
                answer, answer.changes, of: program, format, otherwise: "the values did not change")
            try program.reportIneffective(answer.ineffective)
        }
    }
}

struct RevertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert", abstract: "Return tweaks to their values at the program's start or at a mark.",
        discussion: """
            Removes overrides set since then and restores those changed or reset, as one change, which tweak undo takes \
            back. Values of providers stay as they are.
            """)

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The name given to tweak mark (default: the start).", completion: .custom(completeMarks))
    var mark: String?

    func run() throws {
        let sharing = SharedRestoration(target)
        try target.forEachChanged(format) { program, processes throws(Failure) in
            let program = try target.running(program)
            if try sharing.reaches(program) { return }
            let answer = try program.askHistory(RevertChanges(mark: mark))
            try sharing.note(answer.changes, answer.ineffective, in: program)
            if !answer.changes.isEmpty { processes.noteChange() }
            try target.show(answer, answer.changes, of: program, format, otherwise: "nothing to revert")
            try program.reportIneffective(answer.ineffective)
        }
    }
}

struct MarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark", abstract: "Name this moment, so that tweak revert can restore it.",
        discussion:
            "An existing mark with this name moves. A program has at most 16 marks; they last until it ends.")

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The name of the mark.", completion: .custom(completeMarks))
    var name: String

    func run() throws {
        try target.forEachRunning { program throws(Failure) in
            let answer = try program.askHistory(MarkHistory(name: repaired(name)))
            print(printable("\(name): after change \(answer.number)"))
        }
    }
}

/// The processes of one command with the same overrides file. Only the first of them is asked and the others follow the file,
/// because the next one would undo the change by which it has followed.
private final class SharedRestoration {
    private let isOfSeveral: Bool
    /// The values in each overrides file that another process has restored.
    private var restored: [String: [TweakKey: JSONValue]] = [:]

    /// The time in which a process follows its file, also on a busy machine.
    private static let patience: Duration = .seconds(2)

    init(_ target: ProgramOptions) { isOfSeveral = target.allProcesses }

    func note(
        _ changes: [RestoredValue], _ ineffective: [IneffectiveValue]?, in program: LiveProgram
    ) throws(Failure) {
        guard isOfSeveral, let file = try program.description.overrides else { return }
        var values = Dictionary(changes.map { ($0.tweak, $0.newValue) }) { $1 }
        for value in ineffective ?? [] { values[value.tweak] = nil }
        restored[file] = values
    }

    /// Waits until a process has got restored values from its overrides file.
    ///
    /// - Returns: `false` if no other process has restored values there.
    /// - Throws: ``Failure`` if it does not follow the file.
    func reaches(_ program: LiveProgram) throws(Failure) -> Bool {
        guard isOfSeveral, let file = try program.description.overrides, let values = restored[file] else {
            return false
        }
        let deadline = ContinuousClock.now + Self.patience
        for (key, value) in values {
            while let tweak = try program.tweak(key), tweak.lease == nil,
                tweak.lastingValue != value.value(of: tweak.declaration.type)
            {
                guard .now < deadline else {
                    throw Failure(
                        "\(key): it has another value, because it does not follow \(file); undo it there by its process id",
                        about: program.title, .unavailable)
                }
                usleep(10_000)
            }
        }
        return true
    }
}

/// The marks of a program.
func completeMarks(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        guard let program = words.program as? LiveProgram,
            let history = try? program.askHistory(ListHistory(limit: 1))
        else { return [] }
        return history.marks.map { Candidate($0.name) }
    }
}

extension ProgramOptions {
    /// Prints an answer, as JSON or with a line for each restored tweak.
    fileprivate func show(
        _ answer: some Encodable, _ changes: [RestoredValue], of program: LiveProgram, _ format: OutputFormat,
        otherwise none: String
    ) throws(Failure) {
        try show(answer, of: program, as: format) { () throws(Failure) in
            guard !changes.isEmpty else { return none }
            let tweaks = try program.tweaks()
            let declarations = Dictionary(tweaks.map { ($0.declaration.key, $0.declaration) }) { first, _ in
                first
            }
            func text(_ value: JSONValue, _ key: TweakKey) -> String {
                declarations[key]?.text(of: value) ?? value.summary
            }
            return changes.map { change in
                let key = change.tweak
                let (old, new) = (text(change.oldValue, key), text(change.newValue, key))
                return printable("\(key): \(old) \(Signs.shown.arrow) \(new)")
            }.joined(separator: "\n")
        }
    }
}
