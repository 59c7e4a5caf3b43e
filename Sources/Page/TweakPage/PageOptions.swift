// SPDX-License-Identifier: BSD-3-Clause
package import ArgumentParser

/// The options of `tweak ui`.
package struct PageOptions: ParsableArguments, Sendable {
    @OptionGroup package var listening: ListenOptions
    @OptionGroup package var secret: TokenOptions

    @Flag(help: "Open the page in the default browser.")
    package var open = false

    @Flag(help: "As root, also show programs of other users; the page cannot restart them.")
    package var allUsers = false

    @Flag(help: "Also show and change the values of a fleet, as tweak fleet does.")
    package var fleet = false

    @Option(
        help: ArgumentHelp(
            "With --fleet: a configuration whose \"etcd\" names the cluster (default: the agent's configuration).",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    package var configuration: String?

    @Option(
        help: ArgumentHelp(
            "Let the page write values into the sources below this folder, as tweak bake does, and save panels there.",
            valueName: "directory"),
        completion: .directory)
    package var sources: String?

    @Option(
        help: ArgumentHelp(
            "The host name under which a reverse proxy serves the page, with the port unless it is 80 or 443. Can be repeated.",
            valueName: "host"))
    package var name: [String] = []

    @Option(
        help: ArgumentHelp(
            "The path prefix of the page, such as /tweaks/, if a reverse proxy does not strip it.",
            valueName: "path"))
    package var path = "/"

    /// Makes options without values.
    package init() {}

    package func validate() throws {
        guard configuration == nil || fleet else { throw ValidationError("--configuration needs --fleet.") }
        for name in name where Origins.name(in: name.lowercased()) == nil {
            throw ValidationError("--name must be a host, such as tweaks.example.org, not \"\(name)\".")
        }
        guard PagePath(path) != nil else {
            throw ValidationError(
                "--path must begin with a slash and contain only letters, digits, hyphens, periods, "
                    + "underscores, tildes and slashes; this is \"\(path)\".")
        }
    }
}

/// The options of `tweak serve`.
package struct ServeOptions: ParsableArguments, Sendable {
    @OptionGroup package var listening: ListenOptions
    @OptionGroup package var secret: TokenOptions

    @Flag(help: "Answer everyone on this machine, without a token.")
    package var noToken = false

    @Flag(help: "Also serve monitors and tweaks as metrics, at /metrics.")
    package var metrics = false

    /// Makes options without values.
    package init() {}

    package func validate() throws {
        guard !noToken || secret.tokenFile == nil else {
            throw ValidationError("Give either --token-file or --no-token, not both.")
        }
    }
}

/// The token that clients send.
package struct TokenOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "A file with the token that clients send (default: a new token, printed at each start).",
            valueName: "file"),
        completion: .file())
    package var tokenFile: String?

    /// Makes options without values.
    package init() {}
}

/// The address and the encryption of a server.
package struct ListenOptions: ParsableArguments, Sendable {
    @Option(help: "The port; 0 picks a free one.")
    package var port: UInt16 = 0

    @Option(
        help: ArgumentHelp(
            "The address to listen on; 0.0.0.0 and :: are all addresses of this machine.",
            valueName: "address"))
    package var listen = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "A certificate chain in PEM (default for tweak ui: a self-signed certificate for each run).",
            valueName: "file"),
        completion: .file())
    package var certificate: String?

    @Option(help: ArgumentHelp("Its private key in PEM.", valueName: "file"), completion: .file())
    package var key: String?

    @Flag(
        help:
            "Serve other machines without encryption. Anyone on the network path can read everything, including secrets."
    )
    package var plainHTTP = false

    /// Makes options without values.
    package init() {}

    package func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("Give --certificate and --key together.")
        }
        guard !plainHTTP || certificate == nil else {
            throw ValidationError("--plain-http cannot be combined with --certificate.")
        }
    }
}
