import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakProtocol
import TweakRecords

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run an action in a program, and wait until it is done.")

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The action, as Category/Collection/Name or shorter.", completion: .custom(completeActions))
    var action: String

    func run() throws {
        try target.forEachRunning { program throws(Failure) in
            let tweak = try program.tweak(named: action).declaration
            guard tweak.type == .action else { throw Failure(TweakError.noAction(tweak)) }
            _ = try program.ask(RunAction(tweak: tweak.key), Patience.endless)
            print(printable("\(tweak.key): done"))
        }
    }
}
