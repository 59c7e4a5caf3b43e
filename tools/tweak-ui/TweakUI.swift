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
            It prints the address of the page, with a secret, and serves the page until it is interrupted. Anyone with the \
            address can read and change the tweaks of all programs of the user, and the sources below the folder given with \
            --sources. Beyond this machine the page is served with TLS only, unless --plain-http is given.

            EXIT STATUS
              64  the command line is wrong
              65  there is no token, certificate or key in a file
              66  PROGRAM or a file is missing
              69  it was built without the page, or a command that it needs is not
                  installed
              71  the address cannot be listened at
              77  others can change or read the file of the token
            """,
        version: TweakUI.version)

    @OptionGroup var options: PageOptions

    @Argument(
        help: "What is shown first: a process id, the path of an executable, or the name of one.",
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
            It prints the base address and the header that clients send, and answers OFREP there until it is interrupted. \
            A flag is named as the tweak is, Category/Collection/Name; a category or a collection is an object. Clients \
            read what the program has, and change nothing. Beyond this machine it needs a certificate, unless --plain-http \
            is given. With --metrics, Prometheus and others that read OpenMetrics find monitors and tweaks at /metrics, \
            with the same token: numbers and Bools as gauges, named values as state sets.

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

    @Argument(
        help: "A process id, the path of an executable, or the name of one.",
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
