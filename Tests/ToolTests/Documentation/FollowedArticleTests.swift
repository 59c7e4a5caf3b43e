// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Follows an article: writes its files, makes its edits, runs its commands in one shell, and compares what they print.
///
/// Only the runbook in `RemoteValues` is followed elsewhere, by `RunbookTests`, which have etcd and a web server.
@Suite struct `Following an article` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    @Test(arguments: try Article.all.get().filter { $0.hasCommands && $0.description != "RemoteValues.md" })
    func `prints the output that it shows`(article: Article) throws {
        try makeStandIns()
        let shell = try ArticleShell(home: home)
        defer { shell.end() }
        for block in article.blocks {
            if let file = block.file {
                let url = URL(fileURLWithPath: "\(try shell.folder())/\(file)")
                let text = block.language == "diff" ? try edited(url, block) : block.text
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try text.write(to: url, atomically: true, encoding: .utf8)
            }
            for command in try block.commands {
                let output = try shell.run(command)
                #expect(
                    command.output.isEmpty || output == ArticleShell.comparable(command.output),
                    "\(article):\(block.line): \(command.text): \(output)")
            }
        }
    }

    /// The contents of a file with the lines of a diff replaced.
    private func edited(_ url: URL, _ diff: Article.Block) throws -> String {
        func lines(_ mark: Character) -> String {
            diff.text.split(separator: "\n").filter { $0.first == mark }.map { $0.dropFirst() + "\n" }
                .joined()
        }
        let text = try String(contentsOf: url, encoding: .utf8)
        let range = try #require(text.range(of: lines("-")), "\(url.path) lacks these lines:\n\(lines("-"))")
        return text.replacingCharacters(in: range, with: lines("+"))
    }

    private func makeStandIns() throws {
        for (name, script) in try ["swift": swift(), "sudo": Self.sudo, "nc": Self.nc] {
            let file = try home.write("bin/\(name)", script)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
        }
        try FileManager.default.createSymbolicLink(
            atPath: home("tweaks"), withDestinationPath: Locations.package)
    }

    /// A `swift` that compiles with the library and the macros of the example, because the package manager would first
    /// compile swift-syntax for minutes. In the long form it is the real one for debug builds.
    private func swift() throws -> String {
        let swift = try Locations.program("swift")
        let user = ProcessInfo.processInfo.environment["HOME"] ?? ""
        let arguments = try (Example.compilerFlags + Example.libraryObjects + ["-lelf", "-lstdc++"])
            .map { "'\($0)'" }.joined(separator: " ")
        let debug = #""build") level='-Onone -DDEBUG' folder=.build/debug ;;"#
        return """
            #!/bin/bash
            case "$*" in
              \(isLong ? "" : debug)
              "build -c release") level=-O folder=.build/release ;;
              # The package manager may need its mirrors and caches.
              *) HOME='\(user)' exec '\(swift)' "$@" ;;
            esac
            mkdir -p "$folder"
            exec '\(swift)c' -swift-version 6 -parse-as-library -module-name metronome $level \\
              Sources/metronome/*.swift -o "$folder/metronome" \(arguments)

            """
    }

    /// A `sudo` that runs the command as the same user, except for an installation, which the tests have already.
    private static let sudo = """
        #!/bin/sh
        [ "$1" = tools/install ] || exec "$@"

        """

    /// The netcat of OpenBSD, with the options `-N -U`.
    private static let nc = """
        #!/usr/bin/env python3
        import socket, sys
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[-1])
        client.sendall(sys.stdin.buffer.read())
        client.shutdown(socket.SHUT_WR)
        while data := client.recv(4096):
            sys.stdout.buffer.write(data)

        """
}
