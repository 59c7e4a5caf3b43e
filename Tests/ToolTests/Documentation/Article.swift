// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport

/// An article of the documentation, the README or CONTRIBUTING, with the code in it.
///
/// What a snippet assumes and a reader need not see stands before it in an HTML comment, as a snippet too.
struct Article: Sendable, CustomStringConvertible {
    struct Block: Sendable {
        let language: String
        /// The file that the line before names, as in "All of `Package.swift`:". A diff edits it.
        let file: String?
        /// The line of the article with the first line of the text.
        let line: Int
        let text: String

        /// The commands of a block of `console`, with what each prints, or all of a block of `sh` as one.
        var commands: [Command] {
            get throws {
                guard language == "console" else { return language == "sh" ? [Command(text: text)] : [] }
                var commands: [Command] = []
                for line in text.split(separator: "\n").map(String.init) {
                    if line.hasPrefix("$ ") {
                        commands.append(Command(text: String(line.dropFirst(2))))
                    } else if commands.isEmpty {
                        throw CompilationError(description: "no command prints \"\(line)\"")
                    } else if commands[commands.count - 1].text.hasSuffix("\\") {
                        commands[commands.count - 1].text += "\n" + line
                    } else {
                        commands[commands.count - 1].output.append(line)
                    }
                }
                return commands
            }
        }
    }

    struct Command: Sendable {
        var text: String
        /// The lines that it prints, where the article shows them.
        var output: [String] = []
    }

    /// The name of the article's file.
    let description: String
    let text: String
    let blocks: [Block]

    static let catalogue = Locations.package + "/Sources/Library/Tweaks/Tweaks.docc"
    static let all = Result {
        let names = try FileManager.default.contentsOfDirectory(atPath: catalogue)
        return try
            (names.filter { $0.hasSuffix(".md") }.sorted().map { "\(catalogue)/\($0)" }
            + ["README.md", "CONTRIBUTING.md"].map { "\(Locations.package)/\($0)" }).map(Article.init)
    }

    private init(path: String) throws {
        description = URL(fileURLWithPath: path).lastPathComponent
        let text = try String(contentsOfFile: path, encoding: .utf8)
        self.text = text
        blocks = text.matches(of: /(?m)^```(\w+)\n((?:.*\n)*?)```$/).map { match in
            let before = text[..<match.range.lowerBound].split(
                separator: "\n", omittingEmptySubsequences: false)
            let heading = before.last { !$0.isEmpty } ?? ""
            return Block(
                language: String(match.1),
                file: heading.firstMatch(of: /`([^`]+\.\w+)`:$/).map { String($0.1) },
                line: before.count + 1, text: String(match.2))
        }
    }

    var hasCommands: Bool { blocks.contains { ["console", "sh"].contains($0.language) } }

    /// The snippets of a language. Files and manifests are none of them.
    func snippets(_ language: String) -> [Block] {
        blocks.filter { $0.language == language && $0.file == nil && !$0.isManifest }
    }

    var manifests: [Block] { blocks.filter(\.isManifest) }
}

extension Article.Block {
    fileprivate var isManifest: Bool { text.contains("import PackageDescription") }
}
