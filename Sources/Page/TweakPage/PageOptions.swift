package import ArgumentParser

/// Where the page of `tweak ui` is served, for that command and for the program that it becomes.
package struct PageOptions: ParsableArguments, Sendable {
    @OptionGroup package var listening: ListenOptions
    @OptionGroup package var secret: TokenOptions

    @Flag(help: "Open the page in the browser of the desktop.")
    package var open = false

    @Flag(help: "As root, also show the programs of other users, which are never restarted.")
    package var allUsers = false

    /// Makes options without values.
    package init() {}
}

/// Who may ask `tweak serve`, and where, for that command and for the program that it becomes.
package struct ServeOptions: ParsableArguments, Sendable {
    @OptionGroup package var listening: ListenOptions
    @OptionGroup package var secret: TokenOptions

    @Flag(help: "Answer everybody on this machine, without a token.")
    package var noToken = false

    /// Makes options without values.
    package init() {}

    package func validate() throws {
        guard !noToken || secret.tokenFile == nil else {
            throw ValidationError("Either there is a token, or there is none.")
        }
    }
}

/// What a client has to know.
package struct TokenOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "A file with the token that clients need; without it one is made for the run and printed.",
            valueName: "file"),
        completion: .file())
    package var tokenFile: String?

    /// Makes options without values.
    package init() {}
}

/// Where a server listens, and how what it says is encrypted.
package struct ListenOptions: ParsableArguments, Sendable {
    @Option(help: "The port; a free one if it is 0.")
    package var port: UInt16 = 0

    @Option(
        help: ArgumentHelp(
            "The address of this machine at which to listen; 0.0.0.0 and :: are all of them.",
            valueName: "address"))
    package var listen = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "A certificate in PEM, with those that have signed it; tweak ui makes one for the run without it.",
            valueName: "file"),
        completion: .file())
    package var certificate: String?

    @Option(help: ArgumentHelp("Its private key in PEM.", valueName: "file"), completion: .file())
    package var key: String?

    @Flag(
        help:
            "Listen beyond this machine without encryption: whoever is on the way reads all, the secret too.")
    package var plainHTTP = false

    /// Makes options without values.
    package init() {}

    package func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("A certificate and its key belong together.")
        }
        guard !plainHTTP || certificate == nil else {
            throw ValidationError("Either there is a certificate, or HTTP is plain.")
        }
    }
}
