// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport

/// A server that answers as no web server does.
final class HostileServer: Sendable {
    let port: UInt16
    private let descriptor: CInt
    private let state: Locked<State>

    private struct State {
        var answer: @Sendable (Request) -> Void
        var requests: [String] = []
    }

    /// A request, and the connection to answer on.
    struct Request: Sendable {
        let path: String
        /// All of it.
        let text: String
        fileprivate let connection: CInt

        /// - Returns: Whether the client still listens.
        @discardableResult
        func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            Glibc.send(connection, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
        }

        /// Says nothing more, and returns when the client has hung up.
        func waitForEnd() {
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
        }

        /// Answers as a proxy that has connected to a server on this machine, and passes bytes on until the end.
        func tunnel(to port: UInt16) {
            send("HTTP/1.1 200 Connection established\r\n\r\n")
            let server = CountingProxy.connect(to: port)
            defer { close(server) }
            let connection = connection
            let back = DispatchGroup()
            back.enter()
            Thread.detachNewThread {
                CountingProxy.pass(from: server, to: connection) { _ in }
                back.leave()
            }
            CountingProxy.pass(from: connection, to: server) { _ in }
            back.wait()
        }

        /// Answers as a web server does.
        func answer(
            _ body: String, status: String = "200 OK", headers: [String] = ["Content-Type: application/json"]
        ) {
            let lines =
                ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
            send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
        }
    }

    init(_ answer: @escaping @Sendable (Request) -> Void) throws {
        let listener = try Listener()
        (descriptor, port) = (listener.descriptor, listener.port)
        state = Locked(State(answer: answer))
        let (descriptor, state) = (descriptor, state)
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { Self.serve(connection, state) }
            }
        }
    }

    deinit {
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }

    private static func serve(_ connection: CInt, _ state: Locked<State>) {
        defer { close(connection) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !isWhole(bytes) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            bytes += buffer.prefix(count)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: " ")
        let request = Request(
            path: parts.count > 1 ? String(parts[1]) : "", text: text, connection: connection)
        let answer = state.withLock { state in
            state.requests.append(text)
            return state.answer
        }
        answer(request)
    }

    /// Whether there is a head, and the body of which it has the length.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let length = text[..<end.lowerBound].lowercased().components(separatedBy: "\r\n")
            .first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) }
        return text[end.upperBound...].utf8.count >= length ?? 0
    }

    /// What it does from now on.
    func answer(_ answer: @escaping @Sendable (Request) -> Void) { state.withLock { $0.answer = answer } }

    /// What it was asked.
    var requests: [String] { state.withLock { $0.requests } }

    var url: String { "http://127.0.0.1:\(port)/" }
}
#endif
