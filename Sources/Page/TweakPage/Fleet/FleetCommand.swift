// SPDX-License-Identifier: BSD-3-Clause
import CTweakPage
import CommandSupport
import Dispatch
import Glibc
import TweakSystem

/// Runs `tweak fleet`, a program of its own, so that the page has its credentials, checks and messages without its
/// libraries.
final class FleetCommand: Sendable {
    /// The program, and the words before the name of a subcommand.
    private let program: [String]
    /// The configuration whose `etcd` names the cluster; `nil` for the agent's.
    private let configuration: String?
    /// Others wait until one of these has ended.
    private let free = DispatchSemaphore(value: 8)

    /// Longer than the command asks a cluster of several members.
    private static let patience = Duration.seconds(30)
    /// Some thousand changes, or all declarations of 16 builds.
    private static let mostOutput = 16 << 20

    /// - Throws: ``Failure`` if the command is not installed.
    init(configuration: String?) throws(Failure) {
        let own = executablePath() ?? ""
        let places = [["tweak-fleet"], ["tweak-agent", "fleet"]].map { words in
            [resolvedPath(words[0], relativeTo: own)] + words.dropFirst()
        }
        guard
            let program = places.first(where: {
                stat(path: $0[0])?.isRegularFile == true && isAccessible($0[0], X_OK)
            })
        else {
            throw Failure(
                "tweak-agent is not installed; it would be \(places.map { $0[0] }.joined(separator: " or "))"
                    + "; tools/install --with-agent installs it", .unavailable)
        }
        (self.program, self.configuration) = (program, configuration)
    }

    /// The end of a run of the command.
    struct Answer: Sendable {
        /// The exit status; 128 more than its number for a signal, as in a shell.
        let status: CInt
        let output: [UInt8]
        let messages: String
    }

    /// Runs a subcommand that prints JSON. Blocks the thread.
    ///
    /// - Parameters:
    ///   - options: Each option as one word with its value, so that no value is taken for an option.
    ///   - arguments: Never taken for options.
    func run(
        _ subcommand: String, _ options: [String], _ arguments: [String]
    ) throws(Failure) -> Answer {
        guard free.wait(timeout: .now() + Self.patience / .seconds(1)) == .success else {
            throw Failure("many requests to the fleet are being answered; try again", .busy)
        }
        defer { free.signal() }
        let given = configuration.map { ["--configuration=\($0)"] } ?? []
        let words = program + [subcommand, "--format=json"] + given + options + ["--"] + arguments
        return try Self.run(words)
    }

    private static func run(_ words: [String]) throws(Failure) -> Answer {
        let (output, errors) = (try Pipe(), try Pipe())
        let nothing = openFile("/dev/null", O_RDONLY)
        defer { if nothing >= 0 { close(nothing) } }
        let process = try StartedProcess(
            words[0], words.map { Array($0.utf8) }, standard: [nothing, output.writing, errors.writing])
        output.closeWriting()
        errors.closeWriting()
        let end = ContinuousClock.now + patience
        while !(output.isAtEnd && errors.isAtEnd), .now < end,
            output.bytes.count + errors.bytes.count <= mostOutput
        {
            var entries = [output, errors].map { pollfd(fd: $0.pollable, events: Int16(POLLIN), revents: 0) }
            let left = CInt(clamping: Int64((end - .now) / .milliseconds(1)) + 1)
            guard poll(&entries, 2, max(0, left)) > 0 else { continue }
            if entries[0].revents != 0 { output.read() }
            if entries[1].revents != 0 { errors.read() }
        }
        guard output.isAtEnd, errors.isAtEnd, process.waitForEnd(max(.zero, end - .now)) else {
            if process.status == nil { kill(process.pid, SIGKILL) }
            throw Failure(
                output.bytes.count + errors.bytes.count > mostOutput
                    ? "tweak fleet printed more than \(mostOutput) bytes"
                    : "tweak fleet did not end within \(patience); if it was to change something, it may have",
                .busy)
        }
        return Answer(
            status: shellStatus(ofWait: process.status ?? 0), output: output.bytes,
            messages: String(decoding: errors.bytes, as: UTF8.self))
    }
}

/// A pipe from a child process.
private final class Pipe {
    private var reading: CInt = -1
    private(set) var writing: CInt = -1
    private(set) var bytes: [UInt8] = []
    private(set) var isAtEnd = false

    init() throws(Failure) {
        var ends: [CInt] = [-1, -1]
        let problem = tweak_page_pipe(&ends)
        guard problem == 0 else { throw Failure("cannot make a pipe: \(systemMessage(problem))", .system) }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        closeWriting()
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// The descriptor to wait for; none at the end.
    var pollable: CInt { isAtEnd ? -1 : reading }

    func read() {
        let size = 1 << 16
        let part = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, Glibc.read(reading, buffer.baseAddress, size))
        }
        isAtEnd = part.isEmpty
        bytes += part
    }
}
