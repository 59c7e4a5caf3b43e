import ArgumentParser
import CommandSupport
import SignOptions

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign files that agents load, and make keys for that.",
        discussion: """
            It becomes tweak-agent. A key is 32 bytes of Ed25519 as Base64, a signature 64. The private key stays where files are \
            signed; the public key, which is printed, goes into the configuration of the agents.
            """)

    @OptionGroup var options: SignOptions

    func run() throws {
        try reportingFailure { () throws(Failure) in
            // The name of this command is that of its subcommand too.
            try becomePart("tweak-agent", dropping: 1, installedBy: "--with-agent")
        }
    }
}
