// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import FoundationEssentials
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
    /// A private file with additional headers of requests, read for each request so that it can be replaced.
    package var headersFile: String?
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

/// The URL of a file or a service.
package struct RemoteURL: Hashable, Sendable {
    /// The URL for people: without its query, which may be a secret.
    package let shown: String
    package let isPlain: Bool
    /// The query with its question mark; empty if there is none.
    private let query: String

    package var text: String { shown + query }

    /// The scheme, the host and the port.
    var server: String { Self.server(of: text) }

    /// The URL of the file whose name has another suffix.
    func adding(_ suffix: String) -> String { shown + suffix + query }

    /// The URL with another query, which begins with a question mark, in addition to its own.
    func asking(_ more: String) -> String {
        text + (query.isEmpty || more.isEmpty ? more : "&" + more.dropFirst())
    }

    /// The part of a URL before its path and query.
    static func server(of text: String) -> String {
        let bytes = text.utf8
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }.count + "://".utf8.count
        let host = bytes.dropFirst(scheme).prefix { !"/?#".utf8.contains($0) }
        return String(decoding: bytes.prefix(scheme + host.count), as: UTF8.self)
    }

    /// The host and the port of a URL.
    static func authority(of text: String) -> String {
        let server = server(of: text)
        let start = server.utf8.prefix { $0 != UInt8(ascii: ":") }.count + "://".utf8.count
        let named = server.utf8.dropFirst(start)
        return String(
            named.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? named) ?? ""
    }

    /// The parts of a URL, or of what should be one, that are no secrets.
    package static func shown(_ text: String) -> String {
        let plain = text.prefix { !"?#".contains($0) }
        guard let end = plain.lastIndex(of: "@") else { return String(plain) }
        return "…" + plain[end...]
    }

    /// The file name appended to URLs that do not end with `.json`.
    private static let fileName = "features.json"

    /// Parses a URL: `https://`, a host, a path, and optionally a query. A URL with a query is that of a file, as it
    /// stands: a signature in the query may be for this path alone. Otherwise, unless it ends with `.json`, ``fileName``
    /// is appended.
    ///
    /// - Parameter service: The path of a service below the URL, in place of a file.
    /// - Returns: `nil` if the URL is malformed, has a user name or a fragment, or a query that would be encoded once more.
    package init?(_ text: String, service: String? = nil) {
        let bytes = text.utf8
        guard bytes.allSatisfy({ 0x21..<0x7F ~= $0 }) else { return nil }
        let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme else { return nil }
        let rest = bytes.dropFirst(scheme.utf8.count)
        let place = rest.prefix { $0 != UInt8(ascii: "?") }
        let host = place.prefix { $0 != UInt8(ascii: "/") }
        guard !host.isEmpty, host.first != UInt8(ascii: ":"), !place.contains(UInt8(ascii: "@")),
            !rest.contains(UInt8(ascii: "#"))
        else { return nil }
        guard place.count == rest.count || URL(string: text)?.absoluteString == text else { return nil }
        isPlain = scheme == "http://"
        query = String(decoding: rest[place.endIndex...], as: UTF8.self)
        let address = String(text[..<place.endIndex])
        if let service {
            shown = (address.hasSuffix("/") ? String(address.dropLast()) : address) + service
            return
        }
        let isFile = !query.isEmpty || address.hasSuffix(".json") && host.count < place.count
        shown = isFile ? address : address + (address.hasSuffix("/") ? "" : "/") + Self.fileName
    }
}
#endif
