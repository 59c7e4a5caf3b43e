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

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.", completion: .custom(completeTweaks))
    var tweak: String

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            let tweak = try program.tweak(named: tweak)
            try target.show(tweak, of: program, as: format) { printable("\(tweak.value ?? .nothing)") }
        }
    }
}
