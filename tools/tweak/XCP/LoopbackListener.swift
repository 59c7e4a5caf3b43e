// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakSystem

/// A TCP socket at 127.0.0.1 that accepts connections of the own user and root. Everybody on the machine can connect to
/// such a socket, and XCP knows no passwords.
struct LoopbackListener {
    let descriptor: CInt
    /// The address and the port.
    let address: String

    /// Starts to listen.
    ///
    /// - Parameter port: The port; 0 for any free one.
    /// - Throws: ``Failure`` of the kind `system`, for example because another program listens there.
    init(port: UInt16) throws(Failure) {
        guard readWhole(Self.connections) != nil else {
            throw Failure("cannot read \(Self.connections), which names the users of connections", .system)
        }
        let listener = socket(
            AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var isReused: CInt = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        own.sin_port = port.bigEndian
        let isBound = withSocketAddress(&own) { bind(listener, $0, $1) == 0 }
        guard listener >= 0, isBound, listen(listener, 8) == 0 else {
            throw Failure("cannot listen at 127.0.0.1:\(port): \(systemMessage())", .system)
        }
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withSocketAddress(&own) { address, _ in _ = getsockname(listener, address, &size) }
        (descriptor, address) = (listener, "127.0.0.1:\(UInt16(bigEndian: own.sin_port))")
    }

    /// The next client.
    enum Client {
        /// Its socket, which does not block.
        case accepted(CInt)
        /// It belonged to another user.
        case refused
        /// There was none, or it has closed its connection already.
        case none
    }

    /// Accepts a connection, if one waits.
    func accept() -> Client {
        var peer = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let client = withSocketAddress(&peer) { address, _ in Glibc.accept(descriptor, address, &size) }
        guard client >= 0 else {
            // Without descriptors or memory, the connection keeps waiting.
            if ![EAGAIN, ECONNABORTED, EINTR].contains(errno) { usleep(20_000) }
            return .none
        }
        var own = sockaddr_in()
        size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withSocketAddress(&own) { address, _ in _ = getsockname(client, address, &size) }
        let user = Self.user(ofConnectionFrom: peer, to: own)
        guard user == geteuid() || user == 0 else {
            close(client)
            return user == nil ? .none : .refused
        }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        _ = fcntl(client, F_SETFL, fcntl(client, F_GETFL) | O_NONBLOCK)
        var isImmediate: CInt = 1
        setsockopt(
            client, CInt(IPPROTO_TCP), TCP_NODELAY, &isImmediate, socklen_t(MemoryLayout<CInt>.size))
        return .accepted(client)
    }

    private static let connections = "/proc/self/net/tcp"

    /// The user whose process has made a connection on this machine; `nil` if it is closed already.
    ///
    /// Source: proc(5), `/proc/net/tcp`.
    private static func user(ofConnectionFrom peer: sockaddr_in, to own: sockaddr_in) -> uid_t? {
        let (from, to) = (text(peer), text(own))
        for line in readWhole(connections)?.split(separator: UInt8(ascii: "\n")) ?? [] {
            let fields = line.split(separator: UInt8(ascii: " ")).prefix(8).map {
                String(decoding: $0, as: UTF8.self)
            }
            // The socket of a connection that its process has closed belongs to root. 01 is one that is open.
            guard fields.count == 8, fields[1] == from, fields[2] == to, fields[3] == "01" else { continue }
            return uid_t(fields[7])
        }
        return nil
    }

    /// The address and the port as in `/proc/net/tcp`: the bytes of the address as a number of this machine.
    private static func text(_ address: sockaddr_in) -> String {
        func hexadecimal(_ number: UInt32, _ digits: Int) -> String {
            let text = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(digits - text.utf8.count, 0)) + text
        }
        return hexadecimal(address.sin_addr.s_addr, 8) + ":"
            + hexadecimal(UInt32(UInt16(bigEndian: address.sin_port)), 4)
    }
}

/// Calls `body` with the address as the functions of sockets take it, and its size.
private func withSocketAddress<Result>(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
