import ArgumentParser
import CommandCompletion
import CommandSupport
import FleetCommands
import Glibc
import SignOptions
import TweakRecords
import TweakSystem

@main
struct TweakAgent: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak-agent", abstract: "Load values for tweaks from afar.",
        version: "tweak-agent \(libraryVersion)",
        subcommands: [Follow.self, Sign.self, FleetCommand<Fleet>.self],
        defaultSubcommand: Follow.self)

    static func main() {
        reserveStandardDescriptors()
        // A file that may not grow is a failure to write like any other.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        // Values are among them.
        let arguments = commandArguments(of: "tweak-agent").map(repaired)
        runCommand("tweak-agent", arguments) {
            if completesFiles(arguments) { return }
            var command = try parseAsRoot(arguments)
            try command.run()
        } ending: {
            ending($0)
        }
    }

    /// Runs what needs the trait, and says what fails.
    static func reportingFailure(_ body: () throws(Failure) -> Void) throws {
        do throws(Failure) {
            #if Remote
            try body()
            #else
            throw Failure(
                "this was built without values from afar; build it with the trait Remote", EX_UNAVAILABLE)
            #endif
        } catch {
            printMessage(error.message, of: "tweak-agent")
            throw ExitCode(error.exitCode)
        }
    }
}

struct Follow: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load the values of all applications, again and again; this is done without a subcommand.",
        discussion: """
            For each application of the configuration it loads a file, checks it, finds out what of it is for this host, and \
            writes FOLDER/<application>/remote.json, which the processes of the application follow. What was loaded once stays \
            until something better is there. SIGHUP has the configuration read again; SIGTERM and SIGINT end the agent within a second.

            EXIT STATUS
              0   it was ended, or with --once all was loaded
              64  the command line is wrong
              66  there is no configuration
              69  it was built without values from afar
              73  the folder cannot be written into
              74  with --once: a file could not be written
              75  with --once: something could not be loaded; or another agent writes into the folder
              78  the configuration is wrong
            """)

    @Flag(help: "Load once, and end.")
    var once = false

    @Option(
        name: .customLong("configuration"),
        help: ArgumentHelp(
            "What to load; without it /etc/tweaks/agent.json for root, $XDG_CONFIG_HOME/tweaks/agent.json for others.",
            valueName: "file"), completion: .file())
    var configurationPath: String?

    @Option(
        help: ArgumentHelp(
            "Where to write; without it $STATE_DIRECTORY, /var/lib/tweaks for root, $XDG_STATE_HOME/tweaks for others.",
            valueName: "folder"), completion: .directory)
    var folder: String?

    @Option(
        help: ArgumentHelp(
            "A file for the textfile collector of Prometheus's node_exporter.", valueName: "file"),
        completion: .file(extensions: ["prom"]))
    var metrics: String?

    func run() throws {
        try TweakAgent.reportingFailure { () throws(Failure) in
            #if Remote
            try follow()
            #endif
        }
    }
}

struct Sign: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign files for agents, and make keys for that; as tweak sign does.",
        discussion: """
            A key is 32 bytes of Ed25519 as Base64, a signature 64. The private key stays where files are signed; the public \
            key, which is printed, goes into the configuration of the agents as "publicKey". A private key that others can read \
            is refused.

            EXIT STATUS
              0   done, or with --check: all signatures are right
              1   with --check: a signature is missing or wrong
              64  the command line is wrong
              65  a file holds no key
              66  a file is missing
              69  it was built without values from afar
              73  a file cannot be made
              77  others can read the private key
            """)

    @OptionGroup var options: SignOptions

    func run() throws {
        try TweakAgent.reportingFailure { () throws(Failure) in
            #if Remote
            try sign()
            #endif
        }
    }
}

/// What `tweak fleet` does.
enum Fleet: FleetRunner {
    static func run(_ action: FleetAction) throws {
        try TweakAgent.reportingFailure { () throws(Failure) in
            #if Remote
            try perform(action)
            #endif
        }
    }
}
