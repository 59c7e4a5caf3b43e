// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import TweakRecords

/// The settings of one application's file on a web server, or flag service.
package struct WebSettings: OriginSettings, Hashable {
    package let name: String
    package var version: String?
    /// The URL of the file, or of the OFREP service's evaluation.
    package let url: RemoteURL
    /// The settings of that service; `nil` if ``url`` is a file.
    package var evaluation: FlagEvaluation?
    /// The interval between checks, apart from the jitter.
    package var interval: Duration = .seconds(60)
    /// The timeout of a whole check.
    package var timeout: Duration = .seconds(30)
    /// The timeout of connecting, including TLS.
    package var connectTimeout: Duration = .seconds(10)
    /// The maximum size of a file in bytes.
    package var sizeLimit = 1 << 20
    /// The maximum number of redirects.
    package var redirects = 0
    /// Whether unencrypted connections are allowed.
    package var plainHTTP = false
    /// A PEM file of certificates to trust instead of the system's.
    package var certificates: String?
    /// The key to verify the file's signature; `nil` if none is required.
    package var publicKey: PublicKey?
    /// The minimum version of a file; older ones, and those without a version, are refused.
    package var lowestVersion: Int?

    package init(name: String, url: RemoteURL) {
        self.name = name
        self.url = url
    }

    package var provider: TweakSource { .remote }
    package var kind: String { evaluation == nil ? "http" : "ofrep" }
    package var server: String { url.server }

    package func origin(sharing resources: SharedResources) throws(FetchProblem) -> any RemoteOrigin {
        try WebOrigin(self, resources)
    }
}

/// The URL of a file.
package struct RemoteURL: Hashable, Sendable {
    package let text: String
    package let isPlain: Bool

    /// The scheme, the host and the port.
    var server: String { Self.server(of: text) }

    /// The part of a URL before its path.
    static func server(of text: String) -> String {
        text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
            .joined(separator: "/")
    }

    /// The file name appended to URLs that do not end with `.json`.
    private static let fileName = "features.json"

    /// Parses a URL: `https://`, a host and a path. Unless it ends with `.json`, ``fileName`` is appended.
    ///
    /// - Parameter service: The path of a service below the URL, in place of a file.
    /// - Returns: `nil` if the URL is malformed, or has a user name, a query or a fragment: the file written with it is
    ///   world-readable.
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
