// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The program `live-program` with a home of its own, where its socket is.
final class LiveProgram: Sendable {
    let home: TemporaryDirectory
    let process: RunningCommand
    static let path = Locations.product("live-program")
    static let step = "Live/Values/Step"
    static let text = "Live/Values/Text"

    init(
        _ arguments: String..., build: ProgramBuild = .usual, home: TemporaryDirectory? = nil,
        environment: [String: String] = [:], runBy command: [String] = []
    ) throws {
        self.home = try home ?? Self.home()
        let words = try command + [build.path("live-program")] + arguments
        process = try start(
            words[0], Array(words.dropFirst()), home: self.home,
            environment: build.environment.merging(environment) { $1 })
    }

    /// Leaves nothing running, whatever the processes have become.
    deinit {
        for process in (try? processes()) ?? [] { kill(process, SIGKILL) }
        if process.isRunning { process.kill() }
    }

    /// A home with a directory for what lasts until the end of a session.
    static func home() throws -> TemporaryDirectory {
        let home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        return home
    }

    var directory: String { home("runtime/tweaks") }

    /// The names of what is where the sockets are.
    func names() throws -> [String] {
        guard access(directory, F_OK) == 0 else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    /// The processes that have a socket.
    func processes() throws -> [Int32] {
        try names().compactMap { $0.hasSuffix(".sock") ? Int32($0.dropLast(".sock".count)) : nil }
    }

    func socket(of process: Int32) -> String { "\(directory)/\(process).sock" }

    func connect() throws -> ControlClient { try ControlClient(socket(of: process.processID)) }

    /// Has the program do what it was started for.
    func takeStep() throws { _ = try connect().post("set", ["tweak": Self.step, "value": 1]) }

    /// Ends the program, with its children, by a tweak.
    ///
    /// - Returns: What it said on standard error.
    func end() throws -> String {
        let new = try home.write(
            "config/tweaks/live-program/new.json", #"{"Live": {"Values": {"Text": "end"}}}"#)
        #expect(rename(new, home("config/tweaks/live-program/overrides.json")) == 0)
        let result = process.wait()
        #expect(result.status == 0)
        return result.error
    }
}
