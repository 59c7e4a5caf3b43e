public import ArgumentParser

/// Where the page of `tweak ui` is served, for that command and for the program that it becomes.
public struct PageOptions: ParsableArguments, Sendable {
    @Option(help: "The port; a free one if it is 0.")
    public var port: UInt16 = 0

    @Flag(help: "Open the page in the browser of the desktop.")
    public var open = false

    @Option(
        help: ArgumentHelp(
            "The address of this machine at which to listen; 0.0.0.0 and :: are all of them.",
            valueName: "address"))
    public var listen = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "A certificate in PEM, with those that have signed it; without it one is made for this run.",
            valueName: "file"),
        completion: .file())
    public var certificate: String?

    @Option(help: ArgumentHelp("Its private key in PEM.", valueName: "file"), completion: .file())
    public var key: String?

    @Flag(
        help: "Listen beyond this machine without encryption: whoever is on the way reads and changes all.")
    public var plainHTTP = false

    @Flag(help: "Draw the address as a QR code, on a terminal.")
    public var qr = false

    /// Makes options without values.
    public init() {}

    public func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("A certificate and its key belong together.")
        }
        guard !plainHTTP || certificate == nil else {
            throw ValidationError("Either there is a certificate, or HTTP is plain.")
        }
    }
}
