// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords
import TweakSystem

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Give tweaks the values before a change.",
        discussion: """
            Without a number that is the last change of a client or an edited file that has not been undone, so another \
            undo goes further back. Changes made together are undone together; changes of one tweak by one client with at \
            most half a second between them, as of a slider, count as one. If a tweak has another value now than the \
            change made, nothing is undone, and the message says who changed it. Where there was no override there is \
            none afterwards. An undo is a change: undoing its number makes the old changes again.
            """)

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The number that tweak log shows.")
    var number: Int?

    func validate() throws {
        if let number, number < 1 { throw ValidationError("The number of a change is at least 1.") }
    }

    func run() throws {
        try target.forEachRunning(format) { program throws(Failure) in
            let answer = try program.askHistory(UndoChanges(number: number))
            try target.show(answer, of: program, as: format) { () throws(Failure) in
                try program.lines(of: answer.changes, otherwise: "nothing has changed by that")
            }
        }
    }
}

struct RevertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert", abstract: "Give tweaks the values of the program's start, or of a mark.",
        discussion: """
            What was set since goes, as one change; what was reset comes back. Values of providers stay as they are. \
            tweak undo undoes it.
            """)

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The name given to tweak mark; the start if there is none.", completion: .custom(completeMarks))
    var mark: String?

    func run() throws {
        try target.forEachRunning(format) { program throws(Failure) in
            let answer = try program.askHistory(RevertChanges(mark: mark))
            try target.show(answer, of: program, as: format) { () throws(Failure) in
                try program.lines(of: answer.changes, otherwise: "nothing to revert")
            }
        }
    }
}

struct MarkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark", abstract: "Name this moment, so that tweak revert can go back to it.",
        discussion: "A mark of the same name moves here. A program has at most 16, until it ends.")

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

/// The marks of a program.
func completeMarks(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        guard let program = words.program as? LiveProgram,
            let history = try? program.askHistory(ListHistory(limit: 1))
        else { return [] }
        return history.marks.map { Candidate($0.name) }
    }
}

extension LiveProgram {
    /// A line for each tweak that was given a former value.
    fileprivate func lines(
        of changes: [RestoredValue], otherwise none: String
    ) throws(Failure) -> String {
        guard !changes.isEmpty else { return none }
        let tweaks = try tweaks()
        let declarations = Dictionary(tweaks.map { ($0.declaration.key, $0.declaration) }) { first, _ in first
        }
        func text(_ value: JSONValue, _ key: TweakKey) -> String {
            declarations[key]?.text(of: value) ?? value.summary
        }
        return changes.map { change in
            printable(
                "\(change.tweak): \(text(change.oldValue, change.tweak)) → \(text(change.newValue, change.tweak))"
            )
        }.joined(separator: "\n")
    }
}
