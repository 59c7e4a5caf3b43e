import ArgumentParser
import CommandSupport
import Glibc
import PageOptions
import TweakClient
import TweakSystem

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
            let name = "tweak-ui"
            let path = try partOfTweak(
                name, also: pathInSearchPath(of: name),
                missing: "tools/install --with-ui installs it")
            fflush(nil)
            for descriptor in reservedDescriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            // What is behind the name of this command, as bytes.
            let arguments = Array(
                UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst(2))
            path.withCString { first in
                _ = execv(path, [UnsafeMutablePointer(mutating: first)] + arguments + [nil])
            }
            throw Failure("\(path): it cannot be executed: \(systemMessage())", EX_OSERR)
        }
    }
}
