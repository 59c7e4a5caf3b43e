import ArgumentParser
import CommandSupport
import PageOptions
import TweakClient

struct UICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui", abstract: "Show and change the tweaks of all programs in a browser.",
        discussion: """
            It becomes tweak-ui, which prints the address of the page with a secret in it, and serves the page until it is \
            interrupted. Who has that address can see and change the tweaks of all programs of the user. Beyond this machine \
            it is served with TLS only, unless --plain-http is given.
            """)

    @OptionGroup var options: PageOptions

    @Argument(
        help: "What is shown first: a process id, the path of an executable, or the name of one.",
        completion: .custom(completePrograms))
    var program: String?

    func run() throws {
        try reportingFailure { () throws(Failure) in
            // The name of this command is that of its subcommand too.
            try becomePart("tweak-ui", dropping: 1, installedBy: "--with-ui")
        }
    }
}
