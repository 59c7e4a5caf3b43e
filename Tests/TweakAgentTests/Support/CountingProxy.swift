// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport

/// Passes bytes on to a server on this machine, and counts the connections and requests of its clients.
final class CountingProxy: Sendable {
    private let listener: Listener
    /// What each connection has sent.
    private let sent = Locked<[[UInt8]]>([])

    /// - Parameter port: The port of the server.
    init(to port: UInt16) throws {
        listener = try Listener()
        let (descriptor, sent) = (listener.descriptor, sent)
        Thread.detachNewThread {
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { return }
                let server = Self.connect(to: port)
                let number = sent.withLock { sent in
                    sent.append([])
                    return sent.count - 1
                }
                Thread.detachNewThread { Self.pass(from: server, to: client) { _ in } }
                Thread.detachNewThread {
                    Self.pass(from: client, to: server) { part in sent.withLock { $0[number] += part } }
                }
            }
        }
    }

    deinit {
        shutdown(listener.descriptor, CInt(SHUT_RDWR))
        close(listener.descriptor)
    }

    var url: String { "http://127.0.0.1:\(listener.port)" }

    var connections: Int { sent.withLock { $0.count } }

    /// The paths of all requests, in order for each connection.
    var requests: [String] {
        sent.withLock { $0 }.flatMap { bytes in
            String(decoding: bytes, as: UTF8.self).matches(of: #/POST (\S+) HTTP/#).map { String($0.1) }
        }
    }

    static func connect(to port: UInt16) -> CInt {
        let server = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = loopback(port)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return server
    }

    /// Passes bytes on until there are no more. The other direction then ends, too; descriptors of a test stay open.
    static func pass(from source: CInt, to target: CInt, _ noted: (ArraySlice<UInt8>) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            noted(buffer[..<count])
            guard send(target, buffer, count, CInt(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(source, CInt(SHUT_RDWR))
        shutdown(target, CInt(SHUT_RDWR))
    }
}
#endif
