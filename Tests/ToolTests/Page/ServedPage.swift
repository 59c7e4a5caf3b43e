// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Synchronization
import TestSupport
import Testing

/// A running `tweak-ui`, and the requests of a page.
final class ServedPage: Sendable {
    let home: TemporaryDirectory
    let process: RunningCommand
    /// The address that it prints.
    let address: String
    let port: Int
    /// The path below which it is.
    let base: String
    let token: String
    /// The session that the token was exchanged for.
    let session: String

    static let path = Locations.product("tweak-ui")

    /// - Parameter command: The program to run instead of `tweak-ui`.
    init(
        _ arguments: [String] = [], home: TemporaryDirectory, command: [String] = [path],
        environment: [String: String] = [:]
    ) throws {
        self.home = home
        try FileManager.default.createDirectory(
            atPath: home("runtime"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        let process = try start(
            command[0], Array(command.dropFirst()) + arguments, home: home, environment: environment)
        self.process = process
        guard waitUntil({ process.written.output.hasSuffix("\n") || !process.isRunning }), process.isRunning
        else { throw CompilationError(description: "tweak-ui has ended: \(process.wait().error)") }
        address = String(process.written.output.dropLast())
        let url = try #require(URLComponents(string: address))
        (port, base) = (try #require(url.port), url.path)
        let fragment = (url.fragment ?? "").split(separator: "&").map(String.init)
        token = String(try #require(fragment.first { $0.hasPrefix("token=") }).dropFirst("token=".count))
        guard url.scheme == "http" else {
            session = ""
            return
        }
        let answer = try HTTPAnswer(
            port, "POST", base + "api/session", ["Content-Type: application/json"], #"{"token":"\#(token)"}"#)
        session = try #require(try answer.json["session"] as? String)
    }

    deinit { if process.isRunning { process.kill() } }

    var host: String { "127.0.0.1:\(port)" }

    /// Sends a request without a session.
    func ask(
        _ method: String = "POST", _ path: String, _ headers: [String] = ["Content-Type: application/json"],
        _ body: String = "{}"
    ) throws -> HTTPAnswer { try HTTPAnswer(port, method, path, headers, body) }

    /// Sends a request with the page's session.
    func api(
        _ name: String, _ body: [String: Any] = [:], _ headers: [String] = []
    ) throws -> HTTPAnswer { try HTTPAnswer(request(name, body, headers).readToEnd()) }

    /// Sends a request with the page's session, and leaves the answer to be read.
    func request(
        _ name: String, _ body: [String: Any] = [:], _ headers: [String] = []
    ) throws -> HTTPClient {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        return try HTTPClient(
            port, "POST", base + "api/" + name,
            ["Content-Type: application/json", "Authorization: Bearer \(session)"] + headers, text)
    }

    /// Opens an event stream.
    func events() throws -> PageEvents { try PageEvents(port, session, base) }

    /// Waits for the entry of a program.
    func program(
        _ isMeant: @escaping ([String: Any]) -> Bool, _ location: SourceLocation = #_sourceLocation
    ) throws -> [String: Any] {
        var found: [String: Any]?
        #expect(
            try waitUntil {
                let programs = try api("programs").json["programs"] as? [[String: Any]] ?? []
                found = programs.first(where: isMeant)
                return found != nil
            }, sourceLocation: location)
        return try #require(found, sourceLocation: location)
    }

    func id(ofProcess pid: Int32) throws -> String {
        try #require(try program { $0["pid"] as? Int32 == pid }["id"] as? String)
    }
}

/// An HTTP answer.
struct HTTPAnswer {
    let status: Int
    let headers: [String: String]
    let body: String

    init(_ port: Int, _ method: String, _ path: String, _ headers: [String], _ body: String) throws {
        try self.init(HTTPClient(port, method, path, headers, body).readToEnd())
    }

    init(_ text: String) throws {
        let end = try #require(text.range(of: "\r\n\r\n"), "no answer: \(text)")
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        status = try #require(Int(lines[0].split(separator: " ")[1]))
        let pairs = lines.dropFirst().compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (
                line[..<colon].lowercased(),
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            )
        }
        headers = Dictionary(pairs) { "\($0), \($1)" }
        body = String(text[end.upperBound...])
    }

    var json: [String: Any] {
        get throws {
            try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any], "\(body)")
        }
    }
}

/// A connection to a server on this machine.
final class HTTPClient: Sendable {
    let socket: Int32

    /// - Parameter last: The last byte of the loopback address.
    init(_ port: Int, at last: UInt32 = 1) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = (0x7F00_0000 + last).bigEndian
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0, "cannot connect: \(errno)")
    }

    /// Connects and sends a request.
    convenience init(
        _ port: Int, _ method: String, _ path: String, _ headers: [String], _ body: String
    ) throws {
        try self.init(port)
        var lines =
            ["\(method) \(path) HTTP/1.1", "Connection: close", "Content-Length: \(body.utf8.count)"]
            + headers
        if !headers.contains(where: { $0.hasPrefix("Host:") }) { lines.append("Host: 127.0.0.1:\(port)") }
        send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    deinit { close(socket) }

    /// - Returns: Whether everything was sent.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// The next bytes, empty at the end.
    func read() -> [UInt8] {
        var part = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &part, part.count, 0)
        return Array(part.prefix(max(0, count)))
    }

    func readToEnd() -> String {
        var bytes: [UInt8] = []
        while case let part = read(), !part.isEmpty { bytes += part }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The events of a stream, as they arrive.
final class PageEvents: Sendable {
    struct Event: @unchecked Sendable {
        // JSON that is never mutated.
        let name: String
        let data: [String: Any]
    }

    let client: HTTPClient
    /// The head of the answer.
    let status: Int
    private let state = Mutex<(events: [Event], hasEnded: Bool, lines: Int)>(([], false, 0))

    init(_ port: Int, _ session: String, _ base: String = "/") throws {
        client = try HTTPClient(port)
        client.send(
            "GET \(base)api/events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(session)\r\n\r\n"
        )
        var head: [UInt8] = []
        while !String(decoding: head, as: UTF8.self).contains("\r\n\r\n"), case let part = client.read(),
            !part.isEmpty
        {
            head += part
        }
        let text = String(decoding: head, as: UTF8.self)
        status = Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0
        let rest = text.range(of: "\r\n\r\n").map { Array(text[$0.upperBound...].utf8) } ?? []
        Thread.detachNewThread { [client, weak self] in
            var bytes = rest
            var name = ""
            while true {
                while let newline = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: bytes[..<newline], as: UTF8.self)
                    bytes.removeSubrange(...newline)
                    // The sizes of chunks are lines too; ignore them.
                    if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
                    guard line.hasPrefix("data: "),
                        let data = try? JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8))
                            as? [String: Any]
                    else { continue }
                    let event = Event(name: name, data: data)
                    self?.state.withLock { $0.events.append(event) }
                }
                let part = client.read()
                guard !part.isEmpty, self != nil else { break }
                bytes += part
            }
            self?.state.withLock { $0.hasEnded = true }
        }
    }

    deinit { shutdown(client.socket, Int32(SHUT_RDWR)) }

    var all: [Event] { state.withLock { $0.events } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Waits for the first event with a name that satisfies a condition.
    func first(
        _ name: String, _ location: SourceLocation = #_sourceLocation,
        where isMeant: ([String: Any]) -> Bool = { _ in true }
    ) throws -> [String: Any] {
        var found: [String: Any]?
        let hasCome = waitUntil {
            found = all.first { $0.name == name && isMeant($0.data) }?.data
            return found != nil || hasEnded
        }
        _ = hasCome
        return try #require(found, "there is no event \(name): \(all.suffix(3))", sourceLocation: location)
    }

    /// The number of the stream.
    func stream() throws -> String { try #require(try first("hello")["stream"] as? String) }

    /// Waits for the first change of a tweak to a value.
    func change(
        of tweak: String, to value: AnyHashable, _ location: SourceLocation = #_sourceLocation
    ) throws -> [String: Any] {
        func changes(_ data: [String: Any]) -> [[String: Any]] { data["changes"] as? [[String: Any]] ?? [] }
        func isMeant(_ change: [String: Any]) -> Bool {
            change["tweak"] as? String == tweak && change["newValue"] as? AnyHashable == value
        }
        let event = try first("changes", location) { changes($0).contains(where: isMeant) }
        return try #require(changes(event).first(where: isMeant), sourceLocation: location)
    }
}

/// A `tweak-ui` that finds a script beside it instead of an installed command.
struct ScriptedPage {
    let home: TemporaryDirectory
    let ui: String
    private let command: String

    /// - Parameter command: The name of the command.
    init(_ command: String) throws {
        home = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: home("programs"), withIntermediateDirectories: true)
        ui = home("programs/tweak-ui")
        self.command = home("programs/" + command)
        // Copied by another process: a child of this one would inherit the file that is written, and while it has it
        // open for writing, nobody can execute it.
        #expect(try run(Locations.program("cp"), [ServedPage.path, ui], home: home).succeeded)
    }

    /// Writes the script.
    func answer(_ script: String) throws {
        let write = "printf '%s' \"$1\" >\"$2\"; chmod 755 \"$2\""
        let arguments = ["-c", write, "bash", "#!/bin/bash\n" + script, command]
        #expect(try run(Locations.program("bash"), arguments, home: home).succeeded)
    }
}
