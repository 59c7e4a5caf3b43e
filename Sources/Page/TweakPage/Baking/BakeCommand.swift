// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakRecords
import TweakSystem

/// Runs `tweak bake`, which makes values the defaults in sources.
final class BakeCommand: Sendable {
    private let command = InstalledCommand(
        "tweak bake", of: "tweak", at: [["tweak", "bake"], ["../../bin/tweak", "bake"]],
        installedBy: "tools/install")
    /// The folder below which sources may be written, without symbolic links; `nil` if none may.
    let folder: String?

    /// - Throws: ``Failure`` if there is no such folder, or the command that is to write in it is not installed.
    init(folder: String?) throws(Failure) {
        self.folder = try folder.map(existingFolder)
        if folder != nil { try command.find() }
    }

    /// Shows what the command would change. Blocks the thread.
    ///
    /// - Parameter tweaks: The tweaks whose values become defaults; empty for all that have other values.
    func plan(_ entry: ProgramEntry, _ tweaks: [TweakKey]) throws(Failure) -> BakePlan {
        if let user = entry.user ?? entry.pid.flatMap({ otherUserName(of: $0) }) {
            throw Failure(
                "it is a program of \(user), whose sources this page does not read", about: entry.name,
                .forbidden)
        }
        let program = entry.pid.map { "\($0)" } ?? entry.executable ?? entry.name
        let words = [program] + tweaks.map { "\($0)" }
        guard words.allSatisfy({ !$0.utf8.contains(0) }) else {
            throw Failure("a name contains NUL, which no argument of a command can", .invalid)
        }
        let answer = try command.run(options + ["--"] + words, in: folder)
        return BakePlan(words: words, answer: answer, command: shellCommand(words))
    }

    /// Writes what a plan has shown, or nothing if the difference has changed. Blocks the thread.
    ///
    /// - Parameter folder: ``folder``, without which nothing is written.
    func write(_ plan: BakePlan, below folder: String) throws(Failure) -> InstalledCommand.Answer {
        try command.run(
            ["--write", "--if-difference=-", "--format=json", "--within=\(folder)", "--"] + plan.words,
            input: plan.answer.output, in: folder)
    }

    private var options: [String] { folder.map { ["--within=\($0)"] } ?? [] }

    private func shellCommand(_ words: [String]) -> String {
        let bake = (["tweak", "bake", "--write"] + options + ["--"] + words).map { shellWord(Array($0.utf8)) }
        let start = (folder ?? realPath(".")).map { "cd \(shellWord(Array($0.utf8))) && " } ?? ""
        return start + bake.joined(separator: " ")
    }
}

/// What `tweak bake` would change.
struct BakePlan: Sendable {
    /// The program, and the tweaks.
    let words: [String]
    /// The difference, and messages about what stays.
    let answer: InstalledCommand.Answer
    /// A shell command that writes it.
    let command: String
}
