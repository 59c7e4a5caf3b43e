import ArgumentParser
import CommandSupport
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value of one tweak.",
        discussion:
            "It is printed without its unit and with all decimals; control characters in a text are escaped.")

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @Flag(help: "Print a text as it is, also what a terminal would take as a command.")
    var raw = false

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.", completion: .custom(completeTweaks))
    var tweak: String

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            let tweak = try program.tweak(named: tweak)
            guard tweak.declaration.type != .action else {
                throw Failure(TweakValueError.isAction(tweak.declaration))
            }
            try target.show(tweak, of: program, as: format) {
                let text = "\(tweak.value ?? .nothing)"
                return raw ? text : printable(text)
            }
        }
    }
}
