import ArgumentParser
import CommandSupport
import PageOptions
import TweakClient

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the tweaks of a program to OpenFeature SDKs.",
        discussion: """
            It becomes tweak-ui, which prints the base address and the header that clients send, and answers OFREP there until \
            it is interrupted. A flag is named as the tweak is, Category/Collection/Name; a category or a collection is an \
            object. Clients read what the program has, and change nothing. Beyond this machine it needs a certificate, unless \
            --plain-http is given.
            """)

    @OptionGroup var options: ServeOptions

    @Argument(
        help: "A process id, the path of an executable, or the name of one.",
        completion: .custom(completePrograms))
    var program: String

    func run() throws {
        try reportingFailure { () throws(Failure) in
            // The name of this command is that of its subcommand too.
            try becomePart("tweak-ui", dropping: 1, installedBy: "--with-ui")
        }
    }
}
