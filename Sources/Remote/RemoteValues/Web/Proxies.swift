// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import CTweakSystem
internal import Glibc
internal import TweakRecords

/// The proxies for requests to web servers, which the environment names.
///
/// The variables are those of curl: `http_proxy`, `https_proxy`, `no_proxy`, and the last two in upper case. `HTTP_PROXY`
/// is ignored, because a CGI server sets it from the header `Proxy` of a request. As in Go, the names and addresses of
/// this machine need no exception, a domain is an exception together with its subdomains, and one with a leading dot
/// means only these.
package struct Proxies: Sendable {
    /// An HTTP proxy.
    package struct Proxy: Hashable, Sendable {
        /// The host, IPv6 addresses without brackets.
        package let host: String
        package let port: Int
        /// The Base64 of the user, a colon and the password.
        package let credentials: String?

        /// The host and the port, as in a URL.
        package var authority: String {
            (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host) + ":\(port)"
        }
    }

    /// How a request reaches its server.
    package enum Route: Hashable, Sendable {
        case direct
        /// A proxy forwards the request, which has no encryption.
        case forwarded(Proxy)
        /// A proxy forwards bytes, so that it sees only the name of the server.
        case tunnelled(Proxy)

        package var proxy: Proxy? {
            switch self {
            case .direct: nil
            case .forwarded(let proxy), .tunnelled(let proxy): proxy
            }
        }
    }

    private let plain, secure: Result<Proxy?, FetchProblem>
    private let exceptions: [Exception]

    /// - Parameter variable: Returns the value of an environment variable.
    package init(_ variable: (String) -> String?) {
        func value(_ names: String...) -> (name: String, text: String)? {
            for name in names {
                if let text = variable(name), !text.isEmpty { return (name, text) }
            }
            return nil
        }
        func proxy(_ named: (name: String, text: String)?) -> Result<Proxy?, FetchProblem> {
            guard let named else { return .success(nil) }
            if let proxy = Proxy(named.text) { return .success(proxy) }
            // The value may have a password.
            return .failure(
                FetchProblem(
                    message: "the value of \(named.name) is not the address of an HTTP proxy; expected: "
                        + "http://HOST:PORT or http://USER:PASSWORD@HOST:PORT"))
        }
        plain = proxy(value("http_proxy"))
        secure = proxy(value("https_proxy", "HTTPS_PROXY"))
        exceptions = (value("no_proxy", "NO_PROXY")?.text ?? "").split { $0 == "," || $0.isWhitespace }
            .compactMap { Exception($0.lowercased()) }
    }

    /// The proxies of this process. A process that has gained privileges ignores its environment.
    static let ofEnvironment = Proxies { name in
        fbtweak__trusted_environment(name).map { String(cString: $0) }
    }

    /// The route of a request.
    ///
    /// - Throws: ``FetchProblem`` if the environment has a malformed address for it.
    package func route(to url: String) throws(FetchProblem) -> Route {
        let isSecure = url.lowercased().hasPrefix("https:")
        guard let proxy = try (isSecure ? secure : plain).get(),
            let server = HostAndPort(RemoteURL.authority(of: url).lowercased()),
            !isException(server, isSecure)
        else { return .direct }
        return isSecure ? .tunnelled(proxy) : .forwarded(proxy)
    }

    private func isException(_ server: HostAndPort, _ isSecure: Bool) -> Bool {
        let host = server.host.hasSuffix(".") ? String(server.host.dropLast()) : server.host
        let (address, port) = (Self.address(host), server.port ?? (isSecure ? 443 : 80))
        if host == "localhost" || address.map(Self.isLoopback) == true { return true }
        return exceptions.contains { $0.matches(host, address, port) }
    }

    // MARK: - Exceptions

    /// An element of `no_proxy`.
    private struct Exception {
        private enum Hosts {
            case all
            case network([UInt8], bits: Int)
            /// With a leading dot.
            case subdomains(String)
        }

        private let hosts: Hosts
        /// The domain itself, if it is an exception, too.
        private var domain: String?
        private var port: Int?

        /// - Parameter text: In lower case.
        /// - Returns: `nil` if it is malformed: it then matches nothing.
        init?(_ text: String) {
            if text == "*" {
                hosts = .all
                return
            }
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            if parts.count == 2 {
                guard let address = Proxies.address(String(parts[0])), let bits = Int(parts[1]),
                    0...address.count * 8 ~= bits
                else { return nil }
                hosts = .network(address, bits: bits)
                return
            }
            if let address = Proxies.address(text) {
                hosts = .network(address, bits: address.count * 8)
                return
            }
            guard let named = HostAndPort(text) else { return nil }
            port = named.port
            if let address = Proxies.address(named.host) {
                hosts = .network(address, bits: address.count * 8)
                return
            }
            let name = named.host.hasSuffix(".") ? named.host.dropLast() : named.host[...]
            let suffix = name.hasPrefix("*.") ? name.dropFirst() : name
            guard suffix != ".", !suffix.isEmpty else { return nil }
            if suffix.hasPrefix(".") {
                hosts = .subdomains(String(suffix))
            } else {
                (hosts, domain) = (.subdomains("." + suffix), String(suffix))
            }
        }

        func matches(_ host: String, _ address: [UInt8]?, _ port: Int) -> Bool {
            guard self.port == nil || self.port == port else { return false }
            switch hosts {
            case .all: return true
            case .subdomains(let suffix): return address == nil && (host == domain || host.hasSuffix(suffix))
            case .network(let network, let bits):
                guard let address, address.count == network.count else { return false }
                return zip(address, network).enumerated().allSatisfy { index, bytes in
                    let rest = min(max(bits - index * 8, 0), 8)
                    return (bytes.0 ^ bytes.1) >> (8 - rest) == 0
                }
            }
        }
    }

    /// The bytes of an IP address; `nil` if it is a name.
    private static func address(_ text: String) -> [UInt8]? {
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: size)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }

    private static func isLoopback(_ address: [UInt8]) -> Bool {
        address.count == 4
            ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
    }
}

/// A host, IPv6 addresses without brackets, and an optional port.
private struct HostAndPort {
    let host: String
    private(set) var port: Int?

    init?(_ text: String) {
        var rest = text[...]
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            rest = text[text.index(after: end)...]
            host = String(text[..<end].dropFirst())
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
        } else {
            let name = text.prefix { $0 != ":" }
            (host, rest) = (String(name), text[name.endIndex...])
        }
        guard !host.isEmpty else { return nil }
        guard !rest.isEmpty else { return }
        let digits = rest.dropFirst()
        guard digits.allSatisfy({ "0"..."9" ~= $0 }), let port = Int(digits), 1...65_535 ~= port else {
            return nil
        }
        self.port = port
    }
}

extension Proxies.Proxy {
    /// Parses the address of a proxy: `http://`, which may be missing, optional credentials, a host and a port, which is
    /// 80 by default.
    fileprivate init?(_ text: String) {
        guard text.utf8.allSatisfy({ 0x21..<0x7F ~= $0 }) else { return nil }
        let scheme = "http://"
        var rest = text.lowercased().hasPrefix(scheme) ? text.dropFirst(scheme.count) : text[...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains(where: { "/?#".contains($0) }) else { return nil }
        var credentials: String?
        if let end = rest.lastIndex(of: "@") {
            let parts = rest[..<end].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.compactMap { String(percentEncoded: $0) }
            guard decoded.count == parts.count else { return nil }
            credentials = Base64.text(of: Array("\(decoded[0]):\(decoded.dropFirst().first ?? "")".utf8))
            rest = rest[rest.index(after: end)...]
        }
        guard let server = HostAndPort(String(rest)),
            server.host.utf8.allSatisfy({ byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || "0123456789.-_:".utf8.contains(byte)
            })
        else { return nil }
        self.init(host: server.host, port: server.port ?? 80, credentials: credentials)
    }
}
#endif
