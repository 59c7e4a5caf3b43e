// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// One shell in which the commands of an article run, each when the one before has ended.
///
/// A command that runs until it is interrupted, such as `tweak ui`, runs in the background until the next such command.
/// What the machine chooses, such as a port or a token, replaces what the article shows in all later commands.
final class ArticleShell {
    private static let servers = ["tweak ui", "tweak serve", "tweak exec"]
    private let process: RunningCommand
    private let commands: FileHandle
    private let home: String
    private var read = 0
    private var isServing = false
    private var chosen: [String: String] = [:]

    init(home: TemporaryDirectory) throws {
        self.home = home.path
        try FileManager.default.createDirectory(
            atPath: home("runtime"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.createDirectory(
            atPath: home(".config"), withIntermediateDirectories: true)
        mkfifo(home("commands"), 0o600)
        let environment = ProcessInfo.processInfo.environment
        let library = try Installation.path("lib")
        // For what an article waits a second, a busy machine may need more.
        let loop = #"""
            exec 2>&1
            sleep() { command sleep "$1"; [ "${1%%.*}" -lt 1 ] || command sleep 2; }
            while IFS= read -r -d $'\036' command <&9; do eval "$command"; status=$?; printf '\036'; done 9<commands
            """#
        // A program that never ends is ended, with all that it has started.
        process = try start(
            Locations.program("timeout"), [isLong ? "1800" : "600", "bash", "-c", loop], home: home,
            environment: [
                "XDG_CONFIG_HOME": home(".config"), "CPATH": Locations.include, "TMPDIR": home.path,
                "LIBRARY_PATH": library, "LD_LIBRARY_PATH": library,
                "PKG_CONFIG_PATH": "\(library)/pkgconfig",
                "PATH": "\(home("bin")):\(Locations.commands):\(environment["PATH"] ?? "")",
            ], in: home.path)
        commands = try #require(FileHandle(forUpdatingAtPath: home("commands")))
    }

    /// Ends what still runs, and the shell.
    func end() {
        _ = try? send("kill $(jobs -p); exit")
        _ = process.wait()
    }

    /// The shell's current folder.
    func folder() throws -> String {
        try send("pwd").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a command of an article.
    ///
    /// - Returns: The lines that it printed, with a mark for what the machine chooses.
    /// - Throws: If it failed and the article does not show why.
    func run(_ command: Article.Command) throws -> [String] {
        var text = chosen.reduce(command.text) { $0.replacing($1.key, with: $1.value) }
        if !text.contains("&"), Self.servers.contains(where: text.hasPrefix) {
            if isServing { _ = try send("kill $server; wait $server") }
            text += " & server=$!"
            isServing = true
        }
        let output = try send(text, lines: text.contains("&") ? command.output.count : 0)
            .replacing(home, with: "/home/ada")
        if command.output.isEmpty {
            let status = try send("echo $status")
            try #require(status == "0\n", "\(command.text): \(output)")
        }
        for (shown, real) in zip(Self.choices(command.output.joined(separator: "\n")), Self.choices(output)) {
            chosen[shown.text] = real.text
        }
        return Self.comparable(output.split(separator: "\n").map(String.init))
    }

    private func send(_ command: String, lines: Int = 0) throws -> String {
        try commands.write(contentsOf: Data((command + "\u{1e}").utf8))
        var text: Substring { process.written.output.dropFirst(read) }
        let isDone = waitUntil {
            !process.isRunning || (text.contains("\u{1e}") && text.count { $0 == "\n" } >= lines)
        }
        let output = String(text)
        read += output.count
        try #require(isDone && process.isRunning || command.hasSuffix("exit"), "\(command): \(output)")
        return output.replacing("\u{1e}", with: "")
    }

    /// What differs from machine to machine: build ids, processes, addresses, tokens and fingerprints.
    private static func choices(_ text: String) -> [(range: Range<String.Index>, text: String)] {
        text.matches(
            of:
                /build id ([0-9a-f]+)|\((\d+)\):|(?:token=|Bearer )([\w%-]+)|\/\/[0-9.]+:(\d+)|((?:[0-9A-F]{2}:){31}[0-9A-F]{2})/
        ).map { match in
            (match.range, String(match.1 ?? match.2 ?? match.3 ?? match.4 ?? match.5 ?? match.0))
        }
    }

    /// Lines without what differs from machine to machine, and without empty ones.
    static func comparable(_ lines: [String]) -> [String] {
        lines.map { line in
            choices(line).reversed().reduce(line) { $0.replacingCharacters(in: $1.range, with: "…") }
                .replacing(/\s+$/, with: "")
        }.filter { !$0.isEmpty }
    }
}
