// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakPage
import TweakRecords

@main
enum TweakUI {
    static func main() {
        reserveStandardDescriptors()
        let arguments = commandArguments(of: "tweak-ui")
        // Under this name `tweak` finds its command that this program does too.
        if programName == "tweak-serve" { ServeFlags.runProgram("tweak-ui", arguments) }
        ServePage.runProgram("tweak-ui", arguments)
    }

    fileprivate static let version = "tweak-ui \(libraryVersion)"

}

/// A command that needs the trait `UI`.
protocol PageCommand: ParsableCommand {
    func perform() throws(Failure)
}

extension PageCommand {
    func run() throws {
        try Failure.reported(by: "tweak-ui") { () throws(Failure) in
            #if UI
            try perform()
            #else
            throw Failure("this was built without the page; build it with the trait UI", .unavailable)
            #endif
        }
    }

    #if !UI
    func perform() {}
    #endif
}

struct ServePage: PageCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui", _superCommandName: "tweak",
        abstract: "Show and change the tweaks of all programs in a browser.",
        discussion: """
            Prints the address of the page, which contains a secret, and serves the page until interrupted. Anyone with the \
            address can read and change the tweaks of all programs of the user, and the sources below --sources. Other \
            machines are served over TLS only, unless --plain-http is given.

            EXIT STATUS
              64  invalid command line
              65  a file contains no token, certificate or key
              66  PROGRAM or a file is missing
              69  it was built without the page, or a command that it needs is not
                  installed
              71  the server cannot listen on the address
              77  others can read or change the token file
            """,
        version: TweakUI.version)

    @OptionGroup var options: PageOptions

    @Argument(
        help: "The program to show first: a process id, or the path or name of an executable.",
        completion: .custom(completePrograms))
    var program: String?

    #if UI
    func perform() throws(Failure) { try options.serve(first: program) }
    #endif
}

struct ServeFlags: PageCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", _superCommandName: "tweak",
        abstract: "Serve the tweaks of a program to OpenFeature SDKs and as metrics.",
        discussion: """
            Prints the base address and the header that clients send, and serves OFREP there until interrupted. A flag has \
            the name of its tweak, Category/Collection/Name; a category or collection is an object flag. Clients can read \
            values but not change them. Serving other machines needs a certificate or --plain-http. --metrics adds monitors \
            and tweaks at /metrics, with the same token, for Prometheus and other readers of OpenMetrics: numbers and Bools \
            as gauges, named values as state sets.

            EXIT STATUS
              64  invalid command line
              65  a file contains no token, certificate or key
              66  PROGRAM or a file is missing
              69  it was built without servers
              71  the server cannot listen on the address
              77  others can read or change the token file
            """,
        version: TweakUI.version)

    @OptionGroup var options: ServeOptions

    @Argument(
        help: "A process id, or the path or name of an executable.",
        completion: .custom(completePrograms))
    var program: String

    #if UI
    func perform() throws(Failure) { try options.serve(program) }
    #endif
}

private func completePrograms(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        runningPrograms().map { Candidate($0.word, details: $0.details) } + executables(words.typed.text)
    }
}
