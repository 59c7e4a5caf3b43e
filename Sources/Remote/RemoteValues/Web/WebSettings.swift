#if Remote
package import TweakRecords

/// Where one application's values are on a web server or at a flag service, and what is believed of what is there.
package struct WebSettings: SourceSettings, Hashable {
    package let name: String
    package var version: String?
    /// The file, or where an OFREP service evaluates flags.
    package let url: RemoteURL
    /// What that service is asked; `nil` if ``url`` is a file.
    package var evaluation: FlagEvaluation?
    /// From the end of one check to the next, but for the jitter.
    package var interval: Duration = .seconds(60)
    /// For a whole check.
    package var timeout: Duration = .seconds(30)
    /// For a connection, with TLS.
    package var connectTimeout: Duration = .seconds(10)
    /// The most bytes that a file has.
    package var sizeLimit = 1 << 20
    /// How many redirects are followed.
    package var redirects = 0
    /// Whether what is not encrypted is loaded.
    package var plainHTTP = false
    /// The certificates, in PEM, of those that are trusted instead of the system's.
    package var certificates: String?
    /// Of whoever signs the file; `nil` if it need not be signed.
    package var publicKey: PublicKey?
    /// A file with a lower version, or with none, is refused.
    package var lowestVersion: Int?

    package init(name: String, url: RemoteURL) {
        self.name = name
        self.url = url
    }

    package var provider: TweakSource { .remote }
    package var kind: String { evaluation == nil ? "http" : "ofrep" }

    package func source(sharing resources: SharedResources) throws(FetchProblem) -> any ValueSource {
        try WebSource(self, resources)
    }
}

/// The address of a file.
package struct RemoteURL: Hashable, Sendable {
    package let text: String
    package let isPlain: Bool

    /// The scheme, the host and the port.
    var server: String { Self.server(of: text) }

    /// What an address has before its path.
    static func server(of text: String) -> String {
        text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
            .joined(separator: "/")
    }

    /// What is added to an address that is not one of a JSON file.
    private static let fileName = "features.json"

    /// Reads an address: `https://`, a host and a path. One that does not end with `.json` is where ``fileName`` is.
    ///
    /// - Parameter service: The path of a service below the address, which is not a file then.
    /// - Returns: `nil` if it is something else. What has a user's name, a query or a fragment is; everybody can read it
    ///   in the file that is written.
    package init?(_ text: String, service: String? = nil) {
        let bytes = text.utf8
        guard bytes.allSatisfy({ 0x21..<0x7F ~= $0 }) else { return nil }
        let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme else { return nil }
        let rest = bytes.dropFirst(scheme.utf8.count)
        let host = rest.prefix { $0 != UInt8(ascii: "/") }
        guard !host.isEmpty, host.first != UInt8(ascii: ":"),
            !rest.contains(where: { [UInt8(ascii: "@"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) })
        else { return nil }
        isPlain = scheme == "http://"
        if let service {
            self.text = (text.hasSuffix("/") ? String(text.dropLast()) : text) + service
            return
        }
        let isFile = text.hasSuffix(".json") && host.count < rest.count
        self.text = isFile ? text : text + (text.hasSuffix("/") ? "" : "/") + Self.fileName
    }
}
#endif
