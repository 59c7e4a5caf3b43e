// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TweakSystem

/// The host names under which the server accepts requests.
///
/// A foreign site can make its own name resolve to this machine (DNS rebinding); requests for that name are refused. The
/// port of a name does not matter: it is another one if connections are forwarded.
struct Origins: Sendable {
    let scheme: String
    let port: Int
    /// The hosts of a reverse proxy, with their ports if these are not the usual ones.
    var names: Set<String> = []
    /// Without the port, in lower case; IPv6 addresses in brackets.
    let hosts: Set<String>
    /// Whether every address of this machine is accepted.
    let takesAddresses: Bool

    /// - Parameter address: The address that the server listens at.
    init(address: String, port: Int, isSecure: Bool) {
        scheme = isSecure ? "https" : "http"
        self.port = port
        var hosts: Set<String> = []
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
        guard let name = Self.name(in: host.lowercased()) else { return false }
        if isName(name) || hosts.contains(name) { return true }
        // DNS cannot redirect an address.
        let isInBrackets = name.hasPrefix("[")
        let address = isInBrackets ? String(name.dropFirst().dropLast()) : name
        guard Self.isAddress(address), address.contains(":") == isInBrackets else {
            return name == "localhost"
        }
        return takesAddresses || Self.isLoopback(address)
    }

    /// Returns whether the `Origin` of a request for this `Host` is accepted. A proxy may add encryption, and may send
    /// the server's own address as `Host`.
    func takes(origin: String, of host: String) -> Bool {
        let (origin, host) = (origin.lowercased(), host.lowercased())
        if origin == "\(scheme)://\(host)" { return true }
        guard let site = Self.authority(in: origin) else { return false }
        return names.contains(site) || site == host && Self.name(in: host).map(isName) == true
    }

    private func isName(_ name: String) -> Bool { names.contains { Self.name(in: $0) == name } }

    /// The host and port of an origin, in lower case; `nil` unless it is that of a web site.
    static func authority(in origin: String) -> String? {
        ["http://", "https://"].first(where: origin.hasPrefix).map { String(origin.dropFirst($0.count)) }
    }

    /// The part of a `Host` before the port; `nil` if it is malformed.
    static func name(in host: String) -> String? {
        let end = host.hasPrefix("[") ? host.firstIndex(of: "]").map { host.index(after: $0) } : nil
        let name = host[..<(end ?? host.firstIndex(of: ":") ?? host.endIndex)]
        let rest = host[name.endIndex...]
        guard !name.isEmpty, name.utf8.allSatisfy(isInName), !name.hasPrefix("[") || end != nil else {
            return nil
        }
        guard !rest.isEmpty else { return String(name) }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let port = Int(digits), 1...65_535 ~= port
        else { return nil }
        return String(name)
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || "-._[:]".utf8.contains(byte)
    }

    static func isAddress(_ text: String) -> Bool {
        var (address4, address6) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, text, &address4) == 1 || inet_pton(AF_INET6, text, &address6) == 1
    }
}
