import Foundation
import TestSupport
import Testing

/// Does what an article says: writes its files, runs its commands in one shell, and compares what they print.
///
/// The package manager would compile swift-syntax, for minutes. So `swift build` is here the compiler with the library
/// and the macros of the example; in the long form it is what it says, but for a release build.
@Suite struct `An article that is followed` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    @Test(arguments: try Article.all.get().filter { $0.blocks.contains { $0.file != nil } })
    func `gives what it shows`(article: Article) throws {
        var script = ""
        var commands: [(text: String, output: [String])] = []
        for block in article.blocks {
            if let file = block.file {
                script += "cat > \(file) <<'END OF FILE'\n\(block.text)END OF FILE\n"
            } else if block.language == "console" {
                for line in block.text.split(separator: "\n").map(String.init) {
                    guard line.hasPrefix("$ ") else {
                        try #require(!commands.isEmpty, "no command prints \"\(line)\"")
                        commands[commands.count - 1].output.append(line)
                        continue
                    }
                    commands.append((String(line.dropFirst(2)), []))
                    script += "printf '\\036'\n\(line.dropFirst(2))\n"
                }
            }
        }
        let outputs = try run(script).split(separator: "\u{1e}", omittingEmptySubsequences: false).dropFirst()
        try #require(outputs.count == commands.count)
        for (command, output) in zip(commands, outputs) where !command.output.isEmpty {
            #expect(lines(output) == lines(command.output.joined(separator: "\n")), "\(command.text)")
        }
    }

    /// What differs from build to build is left out.
    private func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { line in
            String(line).replacing(/build id [0-9a-f]+/, with: "build id …").replacing(
                /\(\d+\):/, with: "(…):"
            )
            .replacing(/\s+$/, with: "")
        }
    }

    private func run(_ script: String) throws -> String {
        try standIn()
        try FileManager.default.createSymbolicLink(
            atPath: home("tweaks"), withDestinationPath: Locations.package)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        // A program that never ends is ended, with all that it has started.
        let result = try TestSupport.run(
            Locations.program("timeout"), [isLong ? "1800" : "120", "bash", "-c", "exec 2>&1\n" + script],
            home: home,
            environment: [
                "XDG_CONFIG_HOME": home(".config"), "PATH": "\(home("bin")):\(Locations.commands):\(path)",
                "CPATH": Locations.include, "TMPDIR": home.path,
            ], in: home.path)
        try #require(result.succeeded, "\(result.output)\(result.error)")
        return result.output
    }

    /// Puts a command `swift` into the search path.
    private func standIn() throws {
        let swift = try Locations.program("swift")
        let user = ProcessInfo.processInfo.environment["HOME"] ?? ""
        let arguments = try (Example.compilerFlags + Example.libraryObjects + ["-lelf", "-lstdc++"])
            .map { "'\($0)'" }.joined(separator: " ")
        let debug = #""build") level='-Onone -DDEBUG' folder=.build/debug ;;"#
        let text = """
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
        let file = try home.write("bin/swift", text)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
    }
}
