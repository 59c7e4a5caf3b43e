// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TweakSystem

/// The host names under which the server accepts requests.
///
/// A foreign site can make its own name resolve to this machine (DNS rebinding); requests for that name are refused.
struct Origins: Sendable {
    let scheme: String
    let port: Int
    /// Without the port, in lower case; IPv6 addresses in brackets.
    let hosts: Set<String>
    /// Whether every address of this machine is accepted.
    let takesAddresses: Bool

    /// - Parameter address: The address that the server listens at.
    init(address: String, port: Int, isSecure: Bool) {
        scheme = isSecure ? "https" : "http"
        self.port = port
        var hosts: Set = ["localhost", "127.0.0.1", "[::1]"]
        takesAddresses = ["0.0.0.0", "::"].contains(address)
        if !Self.isLoopback(address) {
            hosts.insert(Self.inURL(address))
            var name = [CChar](repeating: 0, count: 256)
            if gethostname(&name, name.count - 1) == 0 {
                let name = name.withUnsafeBufferPointer { buffer in
                    buffer.baseAddress.map { String(cString: $0) } ?? ""
                }.lowercased()
                hosts.formUnion([name, name + ".local"])
            }
        }
        self.hosts = hosts
    }

    /// Returns whether an address is reachable from this machine only.
    static func isLoopback(_ address: String) -> Bool {
        address == "localhost" || address == "::1"
            || (address.hasPrefix("127.") && isAddress(address))
    }

    /// An address at which other machines reach the server.
    static func reachable(_ address: String) -> String {
        let family: CInt
        switch address {
        case "0.0.0.0": family = AF_INET
        case "::": family = AF_INET6
        default: return address
        }
        return ownAddresses().first { $0.contains(":") == (family == AF_INET6) } ?? "localhost"
    }

    /// The addresses of this machine, except loopback ones.
    static func ownAddresses() -> [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var addresses: [String] = []
        for interface in sequence(first: first, next: { $0?.pointee.ifa_next }) {
            guard let interface = interface?.pointee, let address = interface.ifa_addr,
                interface.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            else { continue }
            let family = CInt(address.pointee.sa_family)
            guard family == AF_INET || family == AF_INET6 else { continue }
            let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            var text = [CChar](repeating: 0, count: 256)
            guard getnameinfo(address, socklen_t(size), &text, 256, nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            let name = text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            // Link-local addresses name the interface, which differs on other machines.
            if !name.contains("%") { addresses.append(name) }
        }
        return addresses
    }

    static func inURL(_ address: String) -> String {
        address.contains(":") ? "[\(address.lowercased())]" : address.lowercased()
    }

    /// Returns whether the `Host` of a request is accepted.
    func takes(host: String) -> Bool {
        var name = host.lowercased()[...]
        let suffix = ":\(port)"
        if name.hasSuffix(suffix) {
            name = name.dropLast(suffix.count)
        } else if port != (scheme == "https" ? 443 : 80) {
            return false
        }
        if hosts.contains(String(name)) { return true }
        // DNS cannot redirect an address.
        let isInBrackets = name.hasPrefix("[") && name.hasSuffix("]")
        return takesAddresses && Self.isAddress(String(isInBrackets ? name.dropFirst().dropLast() : name))
    }

    /// Returns whether the `Origin` of a request for this `Host` is accepted.
    func takes(origin: String, of host: String) -> Bool {
        origin.lowercased() == "\(scheme)://\(host.lowercased())"
    }

    static func isAddress(_ text: String) -> Bool {
        var (address4, address6) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, text, &address4) == 1 || inet_pton(AF_INET6, text, &address6) == 1
    }
}
