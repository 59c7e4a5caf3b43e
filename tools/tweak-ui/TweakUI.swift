import ArgumentParser
import CommandSupport
import Glibc
import PageOptions
import TweakClient
import TweakPage
import TweakRecords

@main
struct TweakUI: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak-ui",
        abstract: "Serve the tweaks of programs to browsers, and to OpenFeature SDKs.",
        version: version, subcommands: [ServePage.self, ServeFlags.self], defaultSubcommand: ServePage.self)

    fileprivate static let version = "tweak-ui \(libraryVersion)"

    static func main() {
        reserveStandardDescriptors()
        let arguments = commandArguments(of: "tweak-ui")
        runCommand("tweak-ui", arguments) {
            var command = try parseAsRoot(arguments)
            try command.run()
        } ending: {
            (exitCode(for: $0).rawValue, fullMessage(for: $0, columns: nil))
        }
    }

    /// Runs what needs the trait, and says what fails.
    fileprivate static func reportingFailure(_ body: () throws(Failure) -> Void) throws {
        do throws(Failure) {
            #if UI
            try body()
            #else
            throw Failure("this was built without the page; build it with the trait UI", EX_UNAVAILABLE)
            #endif
        } catch {
            printMessage((error.subject.map { $0 + ": " } ?? "") + error.message, of: "tweak-ui")
            throw ExitCode(error.exitCode)
        }
    }
}

struct ServePage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui", abstract: "Show and change the tweaks of programs in a browser.",
        discussion: """
            It prints the address of the page, with a secret, and serves it until it is interrupted. Who has the address can \
            change the tweaks of all programs of the user.

            EXIT STATUS
              64  the command line is wrong
              65  there is no token, certificate or key in a file
              66  PROGRAM or a file is missing
              69  it was built without the page
              71  the address cannot be listened at
              77  others can change or read the file of the token
            """,
        version: TweakUI.version)

    @OptionGroup var options: PageOptions

    @Argument(help: "What is shown first: a process id, the path of an executable, or the name of one.")
    var program: String?

    func run() throws {
        try TweakUI.reportingFailure { () throws(Failure) in
            #if UI
            try options.serve(first: program)
            #endif
        }
    }
}

struct ServeFlags: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve the tweaks of a program to OpenFeature SDKs.",
        discussion: """
            It prints the base address and the header that clients send, and answers OFREP there until it is interrupted. \
            Clients read what PROGRAM has, and change nothing.

            EXIT STATUS
              64  the command line is wrong
              65  there is no token, certificate or key in a file
              66  PROGRAM or a file is missing
              69  it was built without servers
              71  the address cannot be listened at
              77  others can change or read the file of the token
            """,
        version: TweakUI.version)

    @OptionGroup var options: ServeOptions

    @Argument(help: "A process id, the path of an executable, or the name of one.")
    var program: String

    func run() throws {
        try TweakUI.reportingFailure { () throws(Failure) in
            #if UI
            try options.serve(program)
            #endif
        }
    }
}
