import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakRecords
import TweakSystem

@main
struct TweakAgent: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak-agent", abstract: "Load remote values for tweaks.",
        version: version, subcommands: [Follow.self, Sign.self, FleetCommand.self],
        defaultSubcommand: Follow.self)

    static let version = "tweak-agent \(libraryVersion)"

    static func main() {
        reserveStandardDescriptors()
        // A file that may not grow is a failure to write like any other.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        // Values are among them.
        let arguments = commandArguments(of: "tweak-agent").map(repaired)
        // Under these names `tweak` finds its commands that this program does.
        switch programName {
        case "tweak-fleet": FleetCommand.runProgram("tweak-agent", arguments)
        case "tweak-sign": Sign.runProgram("tweak-agent", arguments)
        default: runProgram("tweak-agent", arguments)
        }
    }
}

/// A command that needs the trait `Remote`.
protocol AgentCommand: ParsableCommand {
    func perform() throws(Failure)
}

extension AgentCommand {
    func run() throws {
        try Failure.reported(by: "tweak-agent") { () throws(Failure) in
            #if Remote
            try perform()
            #else
            throw Failure(
                "this was built without remote values; build it with the trait Remote", .unavailable)
            #endif
        }
    }

    #if !Remote
    func perform() {}
    #endif
}

struct Follow: AgentCommand {
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
              69  it was built without remote values
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
}

struct Sign: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", _superCommandName: "tweak",
        abstract: "Sign files that agents load, and make keys for that.",
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
              69  it was built without remote values
              73  a file cannot be made
              77  others can read the private key
            """,
        version: TweakAgent.version)

    @Option(
        help: ArgumentHelp("Make a key in this new file, and print its public key.", valueName: "file"),
        completion: .file())
    var newKey: String?

    @Option(help: ArgumentHelp("Sign with the key in this file.", valueName: "file"), completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Sign nothing, and see that the signature of each file was made with the key that belongs to this one.",
            valueName: "public key"))
    var check: String?

    @Argument(
        help: "What is signed. The signature goes into a file beside it, with .sig behind the name.",
        completion: .file())
    var files: [String] = []

    func validate() throws {
        guard [newKey, key, check].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("One of --new-key, --key and --check is needed.")
        }
        guard newKey == nil || files.isEmpty else {
            throw ValidationError("A new key signs nothing yet; --key FILE does.")
        }
        guard newKey != nil || !files.isEmpty else { throw ValidationError("There is no file.") }
    }
}
