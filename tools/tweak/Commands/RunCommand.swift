// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakProtocol
import TweakRecords

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run an action in a program.",
        discussion: """
            Waits until the functions of the action return. If they hand work to the main actor, another actor or a \
            queue, that work may still be running; see --wait.
            """)

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The action, as Category/Collection/Name or shorter.", completion: .custom(completeActions))
    var action: String

    @Flag(help: "Also wait until an actor or a queue has run it, without a time limit.")
    var wait = false

    func run() throws {
        try target.forEachRunning { program throws(Failure) in
            let tweak = try tweak(in: program)
            let run = try program.ask(RunAction(tweak: tweak.key, wait: wait ? true : nil), Patience.endless)
            print(printable("\(tweak.key): \(run.taker.map { "handed to \($0)" } ?? "done")"))
        }
    }

    private func tweak(in program: LiveProgram) throws(Failure) -> TweakDeclaration {
        var failure: Failure
        do throws(Failure) {
            let tweak = try program.tweak(named: action).declaration
            if tweak.type == .action { return tweak }
            failure = Failure(TweakError.noAction(tweak))
        } catch {
            failure = error
        }
        guard failure.isAboutName else { throw failure }
        let actions = try program.tweaks().map(\.declaration).filter { $0.type == .action }
        failure.details +=
            [actions.isEmpty ? "the program has no actions" : "the program's actions:"]
            + actions.map(\.key.description).beginning.map { "  " + $0 }
        throw failure
    }
}
