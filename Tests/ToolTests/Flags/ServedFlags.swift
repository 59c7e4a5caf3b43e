// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// `tweak serve` while it runs, and what clients ask it.
final class ServedFlags: Sendable {
    let home: TemporaryDirectory
    let process: RunningCommand
    /// The base address.
    let address: String
    let port: Int
    /// Empty if there is none.
    let token: String

    static let path = "/ofrep/v1/evaluate/flags"

    /// - Parameter lines: How many it prints.
    init(_ arguments: [String], home: TemporaryDirectory, lines: Int = 2) throws {
        self.home = home
        let process = try start(Locations.product("tweak"), ["serve"] + arguments, home: home)
        self.process = process
        let isServing = waitUntil {
            process.written.output.count { $0 == "\n" } == lines || !process.isRunning
        }
        guard isServing, process.isRunning else {
            throw CompilationError(description: "tweak serve has ended: \(process.wait().error)")
        }
        let printed = process.written.output.split(separator: "\n").map(String.init)
        address = printed[0]
        port = try #require(URLComponents(string: address)?.port)
        token = printed.count > 1 ? String(printed[1].dropFirst("Authorization: Bearer ".count)) : ""
    }

    deinit { if process.isRunning { process.kill() } }

    /// Starts a program that can be asked.
    static func program(_ mode: String = "follow", home: TemporaryDirectory) throws -> RunningCommand {
        // Without it the program would listen elsewhere.
        try FileManager.default.createDirectory(
            atPath: home("runtime"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        let process = try start(SetterProgram.path, [mode], home: home)
        let socket = home("runtime/tweaks/\(process.processID).sock")
        #expect(waitUntil { FileStatus(socket) != nil && !process.written.output.isEmpty })
        return process
    }

    var host: String { "127.0.0.1:\(port)" }

    /// Asks as a client that has the token.
    func ask(
        _ path: String = path, _ headers: [String] = [], body: String = "{}", method: String = "POST"
    ) throws -> HTTPAnswer {
        try HTTPAnswer(
            port, method, path,
            ["Content-Type: application/json", "Authorization: Bearer \(token)"] + headers,
            body)
    }

    /// The answer for one flag.
    func flag(_ key: String) throws -> [String: Any] { try ask(Self.path + "/" + key).json }

    /// Evaluates flags as a program with OpenFeature's SDK does.
    func sdk(_ flags: [String], token: String? = nil) throws -> RunningCommand {
        let (python, arguments) = try OpenFeature.command("sdk.py", [address, token ?? self.token] + flags)
        return try start(python, arguments, home: home)
    }

    /// A stream of events, by the address that the answer for all flags has.
    func events() throws -> FlagEvents {
        let streams = try #require(try ask().json["eventStreams"] as? [[String: String]])
        let address = try #require(URLComponents(string: streams[0]["url"] ?? ""))
        return try FlagEvents(port, "\(address.path)?\(address.query ?? "")")
    }
}

/// The lines of a stream of events.
final class FlagEvents: Sendable {
    private let client: HTTPClient
    private let text = Locked("")
    private let hasEnded = Locked(false)

    init(_ port: Int, _ path: String, _ headers: [String] = []) throws {
        client = try HTTPClient(port)
        let lines = ["GET \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + headers
        client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        Thread.detachNewThread { [client, text, hasEnded] in
            while case let part = client.read(), !part.isEmpty {
                text.withLock { $0 += String(decoding: part, as: UTF8.self) }
            }
            hasEnded.withLock { $0 = true }
        }
    }

    deinit { shutdown(client.socket, Int32(SHUT_RDWR)) }

    /// All that has come.
    var all: String { text.withLock { $0 } }
    var isAtEnd: Bool { hasEnded.withLock { $0 } }

    /// The status, when it has come.
    var status: Int {
        _ = waitUntil { all.contains("\r\n\r\n") || isAtEnd }
        return Int(all.split(separator: " ").dropFirst().first ?? "") ?? 0
    }

    /// The tags of the events that have come.
    var tags: [String] {
        all.split(whereSeparator: \.isNewline).compactMap { line in
            line.hasPrefix("id: ") ? String(line.dropFirst(4)) : nil
        }
    }
}
