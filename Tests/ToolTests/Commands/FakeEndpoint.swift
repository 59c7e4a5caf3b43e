// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A socket of this process that answers whatever a test wants, until it is stopped.
final class FakeEndpoint: Sendable {
    enum Reaction: Sendable {
        case line(String)
        case bytes([UInt8])
        /// Says the same again and again.
        case endless([UInt8], everyMicroseconds: UInt32)
        /// Says nothing, and keeps the connection.
        case silence
        case end
    }

    private let listener: Int32

    /// - Parameter react: What to do when a request has come, given as its line.
    init(_ program: SetterProgram, _ react: @escaping @Sendable (String) -> Reaction) throws {
        try program.makeRuntimeDirectory()
        try FileManager.default.createDirectory(
            atPath: program.home("runtime/tweaks"), withIntermediateDirectories: true)
        let path = program.socketPath(of: getpid())
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        try #require(listen(listener, 8) == 0)
        Thread.detachNewThread { [listener] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { Self.serve(client, react) }
            }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ client: Int32, _ react: (String) -> Reaction) {
        defer { close(client) }
        var read: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(client, &part, part.count, 0)
            guard count > 0 else { return }
            read += part.prefix(count)
            while let newline = read.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: read[..<newline], as: UTF8.self)
                read.removeSubrange(...newline)
                switch react(line) {
                case .line(let text): guard send(Array((text + "\n").utf8), client) else { return }
                case .bytes(let bytes): guard send(bytes, client) else { return }
                case .endless(let bytes, let interval): while send(bytes, client) { usleep(interval) }
                case .silence: break
                case .end: return
                }
            }
        }
    }

    private static func send(_ bytes: [UInt8], _ client: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}

extension FakeEndpoint {
    /// Answers each method with a result, as JSON text; others with an error.
    convenience init(_ program: SetterProgram, results: [String: String]) throws {
        try self.init(program) { request in
            let message = try? JSONSerialization.jsonObject(with: Data(request.utf8)) as? [String: Any]
            let id = message?["id"] as? Int ?? 0
            guard let result = (message?["method"] as? String).flatMap({ results[$0] }) else {
                return .line(
                    #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32601,"message":"no such method"}}"#)
            }
            return .line(#"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#)
        }
    }
}
