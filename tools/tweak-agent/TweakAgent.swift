// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakFleet
import TweakSystem

@main
struct TweakAgent: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweak-agent", abstract: "Load remote values for tweaks.",
        version: version, subcommands: [Follow.self, Sign.self, FleetCommand.self],
        defaultSubcommand: Follow.self)

    static let version = agentVersion

    static func main() {
        reserveStandardDescriptors()
        // Exceeding a file size limit is a write error like any other.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        // The arguments include values.
        let arguments = joiningTimes(
            in: commandArguments(of: "tweak-agent").map(repaired), after: ["--every"])
        // `tweak` runs this program under the names of its commands.
        switch programName {
        case "tweak-fleet": FleetCommand.runProgram("tweak-agent", arguments)
        case "tweak-sign": Sign.runProgram("tweak-agent", arguments)
        default: runProgram("tweak-agent", arguments)
        }
    }
}

struct Follow: AgentCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load and follow the values of all applications. This is the default subcommand.",
        discussion: """
            For each application in the configuration, the agent loads a document, checks it, evaluates it for this host, and \
            writes FOLDER/<application>/remote.json, which the processes of the application follow. Values stay until newer \
            ones are loaded. SIGHUP reloads the configuration; SIGTERM and SIGINT stop the agent within a second.

            EXIT STATUS
              0   stopped by a signal, or with --once: everything was loaded
              64  invalid command line
              66  the configuration is missing
              69  it was built without remote values
              73  the folder is not writable
              74  with --once: a file could not be written
              75  with --once: something could not be loaded; or another agent writes into
                  the folder
              78  the configuration is wrong
            """)

    @Flag(help: "Load once, and exit.")
    var once = false

    @Option(
        name: .customLong("configuration"),
        help: ArgumentHelp(
            "The configuration (default: /etc/tweaks/agent.json for root, $XDG_CONFIG_HOME/tweaks/agent.json for others).",
            valueName: "file"), completion: .file())
    var configurationPath: String?

    @Option(
        help: ArgumentHelp(
            "The folder to write to (default: $STATE_DIRECTORY, or /var/lib/tweaks for root, $XDG_STATE_HOME/tweaks for others).",
            valueName: "folder"), completion: .directory)
    var folder: String?

    @Option(
        help: ArgumentHelp(
            "Write metrics to this file for the textfile collector of Prometheus's node_exporter.",
            valueName: "file"),
        completion: .file(extensions: ["prom"]))
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "Write the monitors and tweaks of the applications that this user runs to this file, for the same collector.",
            valueName: "file"),
        completion: .file(extensions: ["prom"]))
    var programMetrics: String?
}

struct Sign: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", _superCommandName: "tweak",
        abstract: "Sign files for agents, and make keys.",
        discussion: """
            Keys are Ed25519: 32 bytes in Base64; signatures have 64. Keep the private key where you sign files, and put \
            the printed public key into the configuration of the agents as "publicKey". A private key that others can \
            read is refused.

            EXIT STATUS
              0   done, or with --check: all signatures are valid
              1   with --check: a signature is missing or invalid
              64  invalid command line
              65  a file contains no key
              66  a file is missing
              69  it was built without remote values
              73  a file cannot be created
              77  others can read the private key
            """,
        version: TweakAgent.version)

    @Option(
        help: ArgumentHelp(
            "Make a private key in this new file, and print the public key.", valueName: "file"),
        completion: .file())
    var newKey: String?

    @Option(help: ArgumentHelp("Sign with the key in this file.", valueName: "file"), completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Check the signature of each file with this public key, and sign nothing.",
            valueName: "public key"))
    var check: String?

    @Argument(
        help: "The files to sign or check. The signature of FILE is FILE.sig.",
        completion: .file())
    var files: [String] = []

    func validate() throws {
        guard [newKey, key, check].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("Give one of --new-key, --key and --check.")
        }
        guard newKey == nil || files.isEmpty else {
            throw ValidationError("--new-key signs no files; sign them with --key FILE.")
        }
        guard newKey != nil || !files.isEmpty else {
            throw ValidationError("Name the files to sign or check.")
        }
    }
}
