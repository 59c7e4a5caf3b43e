import ArgumentParser
import CommandSupport
import Glibc
import PageOptions
import TweakClient
import TweakRecords

@main
struct TweakUI: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak-ui", abstract: "Show and change the tweaks of programs in a browser.",
        discussion: """
            It prints the address of the page, with a secret, and serves it until it is interrupted. Who has the address can \
            change the tweaks of all programs of the user.

            EXIT STATUS
              64  the command line is wrong
              66  PROGRAM or a file is missing
              69  it was built without the page
              71  the address cannot be listened at
            """,
        version: "tweak-ui \(libraryVersion)")

    @OptionGroup var options: PageOptions

    @Argument(help: "What is shown first: a process id, the path of an executable, or the name of one.")
    var program: String?

    static func main() {
        reserveStandardDescriptors()
        runCommand("tweak-ui", Array(CommandLine.arguments.dropFirst())) {
            var command = try parseAsRoot()
            try command.run()
        } ending: {
            (exitCode(for: $0).rawValue, fullMessage(for: $0, columns: nil))
        }
    }

    func run() throws {
        do throws(Failure) {
            #if UI
            try serve()
            #else
            throw Failure("this was built without the page; build it with the trait UI", EX_UNAVAILABLE)
            #endif
        } catch {
            printMessage((error.subject.map { $0 + ": " } ?? "") + error.message, of: "tweak-ui")
            throw ExitCode(error.exitCode)
        }
    }
}
