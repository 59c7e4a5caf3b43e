// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakSystem

/// The receiver of a stream, such as `udp://127.0.0.1:9870`.
struct StreamAddress: ExpressibleByArgument {
    /// The address as typed.
    let text: String
    private let host: String
    /// `nil` for the usual port of the receiver.
    private let port: UInt16?

    init?(argument: String) {
        guard argument.hasPrefix(Self.scheme) else { return nil }
        var rest = argument.dropFirst(Self.scheme.count)
        if rest.last == "/" { rest.removeLast() }
        let host: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            (host, rest) = (rest[rest.index(after: rest.startIndex)..<end], rest[end...].dropFirst())
        } else {
            host = rest.prefix { $0 != ":" }
            rest = rest[host.endIndex...]
        }
        guard !host.isEmpty, !host.contains("/") else { return nil }
        (text, self.host) = (argument, String(host))
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.first == ":", let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
        self.port = port
    }

    static var allValueStrings: [String] { [] }
    static var defaultCompletionKind: CompletionKind {
        .list(StreamForm.allCases.map { "\(scheme)127.0.0.1:\($0.port)" })
    }

    private static let scheme = "udp://"

    /// Connects a socket. A name is resolved here, and never again.
    ///
    /// - Parameters:
    ///   - usualPort: The port if the address has none.
    ///   - allowsRemote: Whether the receiver may be on another machine.
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/usage`` if it is, but may not be.
    func connect(usualPort: UInt16, allowsRemote: Bool) throws(Failure) -> DatagramSocket {
        var hints = addrinfo()
        (hints.ai_socktype, hints.ai_flags) = (CInt(SOCK_DGRAM.rawValue), AI_NUMERICSERV)
        var first: UnsafeMutablePointer<addrinfo>?
        let problem = getaddrinfo(host, "\(port ?? usualPort)", &hints, &first)
        guard problem == 0 else {
            throw Failure("\(text): \(String(cString: gai_strerror(problem)))", .unavailable)
        }
        defer { freeaddrinfo(first) }
        let found = sequence(first: first) { $0?.pointee.ai_next }.compactMap { $0?.pointee }
        // Receivers usually listen at 127.0.0.1 only, but the first address of localhost is ::1.
        guard let chosen = found.first(where: { $0.ai_family == AF_INET }) ?? found.first,
            let address = chosen.ai_addr
        else { throw Failure("\(text): it has no address", .unavailable) }
        guard allowsRemote || Self.isLoopback(address) else {
            throw Failure(
                "\(text): it is not a loopback address; to send the values to it over the network, unencrypted, "
                    + "add --allow-remote", .usage)
        }
        let descriptor = socket(
            chosen.ai_family,
            CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("\(text): \(systemMessage())", .system) }
        guard Glibc.connect(descriptor, address, chosen.ai_addrlen) == 0 else {
            let problem = errno
            close(descriptor)
            throw Failure("\(text): \(systemMessage(problem))", .unavailable)
        }
        return DatagramSocket(descriptor)
    }

    private static func isLoopback(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { $0.first == 127 }
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { bytes in
                    let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 127]
                    return bytes.elementsEqual(Array(repeating: 0, count: 15) + [1])
                        || bytes.starts(with: mapped)
                }
            }
        default: false
        }
    }
}

/// A connected UDP socket that never blocks. Datagrams that cannot be sent at once are lost.
final class DatagramSocket {
    private let descriptor: CInt
    /// The number of lost datagrams, as far as the system reports it.
    private(set) var lost = 0
    /// The reason of the first loss.
    private(set) var problem: CInt?

    fileprivate init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func send(_ datagram: [UInt8]) {
        // The refusal of an earlier datagram is reported instead of sending this one, so it is sent again.
        for _ in 0..<2 {
            let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
            if Glibc.send(descriptor, datagram, datagram.count, flags) >= 0 { return }
            let error = errno
            lose(error)
            guard error == ECONNREFUSED else { return }
        }
        lose(ECONNREFUSED)
    }

    /// Counts the refusal of the last datagram.
    func finish() {
        var (error, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        if getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0, error != 0 { lose(error) }
    }

    private func lose(_ error: CInt) {
        lost += 1
        problem = problem ?? error
    }
}
