// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The program `tweak-setter serve` while it runs, and the command `tweak` for it. It is reached by its socket alone: it
/// does not follow the file.
final class RunningSetter: Sendable {
    let program: SetterProgram
    let process: RunningCommand

    init(_ program: SetterProgram, environment: [String: String] = ["TWEAKS_WATCH": "0"]) throws {
        self.program = program
        try program.makeRuntimeDirectory()
        process = try start(
            SetterProgram.path, ["serve"], home: program.home, environment: environment)
        #expect(waitUntil { !process.written.output.isEmpty })
        if environment["TWEAKS_CONTROL"] != "0" { #expect(waitUntil { listens }) }
    }

    convenience init() throws { try self.init(SetterProgram()) }

    deinit { if process.isRunning { process.kill() } }

    var pid: Int32 { process.processID }
    var title: String { "tweak-setter (\(pid))" }
    var home: TemporaryDirectory { program.home }
    var socketPath: String { program.socketPath(of: pid) }
    private var listens: Bool { FileManager.default.fileExists(atPath: socketPath) }

    /// Runs the command on the process: `tweak("get", "A/B/C")` is `tweak get PID A/B/C`.
    func tweak(_ command: String, _ arguments: String..., environment: [String: String] = [:]) throws
        -> CommandResult
    {
        try program.command([command, "\(pid)"] + arguments, environment: environment)
    }

    /// Runs `tweak record` until its file holds a text, while something is changed.
    ///
    /// - Parameter name: The file, in the home folder.
    func record(
        _ name: String, _ arguments: String..., until text: String, _ change: () throws -> Void
    ) throws {
        let file = home(name)
        let record = try start(
            Locations.product("tweak"), ["record", "\(pid)", file] + arguments, home: home)
        defer {
            if record.isRunning { record.kill() }
            _ = record.wait()
        }
        #expect(waitUntil { count(of: "snapshot", in: name) > 0 })
        try change()
        #expect(waitUntil { count(of: text, in: name) > 0 }, "\(record.written.error)")
    }

    /// How often a file in the home folder has a text.
    func count(of text: String, in name: String) -> Int {
        guard let content = try? Data(contentsOf: URL(fileURLWithPath: home(name))) else { return 0 }
        var (count, rest) = (0, content.startIndex..<content.endIndex)
        while let found = content.range(of: Data(text.utf8), in: rest) {
            (count, rest) = (count + 1, found.upperBound..<content.endIndex)
        }
        return count
    }

    /// Waits until the program reads these values: `Flag Count Ratio Text`.
    func expect(_ values: String, _ location: SourceLocation = #_sourceLocation) {
        #expect(waitUntil { lastLine == values[...] || !process.isRunning }, sourceLocation: location)
        #expect(lastLine == values[...], sourceLocation: location)
    }

    private var lastLine: Substring? { process.written.output.split(separator: "\n").last }

    /// Sets `Slot 7` again and again until something is so that follows from it.
    func changeSlot(until condition: () -> Bool, _ location: SourceLocation = #_sourceLocation) throws {
        var value = 0
        let isSo = try waitUntil {
            value += 1
            guard try tweak("set", "Slot 7", "\(value)").succeeded else { return false }
            return condition()
        }
        #expect(isSo, sourceLocation: location)
    }
}

extension SetterProgram {
    /// Where sockets are. Without it programs do not listen.
    func makeRuntimeDirectory() throws {
        try FileManager.default.createDirectory(
            atPath: home("runtime"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
    }

    func socketPath(of pid: Int32) -> String { home("runtime/tweaks/\(pid).sock") }

    /// Runs the command with the whole command line.
    func command(_ arguments: [String], environment: [String: String] = [:]) throws -> CommandResult {
        try run(Locations.product("tweak"), arguments, home: home, environment: environment)
    }

    func command(_ arguments: String...) throws -> CommandResult { try command(arguments) }
}

extension CommandResult {
    var lines: [Substring] { output.split(separator: "\n") }

    /// What was printed as JSON.
    var json: [String: Any] {
        get throws {
            try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        }
    }
}
