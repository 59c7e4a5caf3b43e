// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The program `tweak-setter follow`, which shows its values whenever they change.
final class Follower: Sendable {
    let program: SetterProgram
    let process: RunningCommand

    init(_ program: SetterProgram, _ command: String = "follow", environment: [String: String] = [:]) throws {
        self.program = program
        let process = try start(SetterProgram.path, [command], home: program.home, environment: environment)
        self.process = process
        #expect(waitUntil { !process.written.output.isEmpty })
    }

    deinit { if process.isRunning { process.kill() } }

    var lastLine: Substring? { process.written.output.split(separator: "\n").last }

    func expect(count: Int, text: String = "hello", _ location: SourceLocation = #_sourceLocation) {
        let line = "false \(count) 0.5 \(text)"
        #expect(waitUntil { lastLine == line[...] || !process.isRunning }, sourceLocation: location)
        #expect(lastLine == line[...], sourceLocation: location)
    }

    /// Ends the program by a tweak, and returns what it said on standard error.
    func end() throws -> String {
        let set = try program.tweak("set", "Setter/Values/Text", "end")
        #expect(set.succeeded, "\(set.error)")
        let result = process.wait()
        #expect(result.status == 0)
        return result.error
    }

    /// Whether it has begun to watch files.
    var watches: Bool {
        get throws { try openFiles(of: process.processID).contains("anon_inode:inotify") }
    }

    /// The directories in `/proc` of its threads other than the first.
    var otherThreads: [String] {
        get throws {
            let tasks = "/proc/\(process.processID)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks)
                .filter { $0 != "\(process.processID)" }.map { "\(tasks)/\($0)" }
        }
    }
}

@Suite struct `A running program follows its overrides` {
    private let program: SetterProgram
    private let manager = FileManager.default

    init() throws { program = try SetterProgram() }

    private static func json(_ count: Int) -> String { "{\"Setter\": {\"Values\": {\"Count\": \(count)}}}" }

    /// Writes into the file that is there.
    private func overwrite(_ text: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: program.overridesPath))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    private func writeOverrides(_ count: Int) throws {
        try program.writeOverrides(Data(Self.json(count).utf8))
    }

    private func shell(_ script: String) throws {
        let result = try run("/bin/sh", ["-euc", script], home: program.home, in: program.home.path)
        #expect(result.succeeded, "\(result.error)")
    }

    @Test func `An edit in place through another name of the file`() throws {
        try writeOverrides(6)
        let follower = try Follower(program)
        follower.expect(count: 6)
        for count in [7, 8] {
            // Of a file that has taken the place of the former one.
            try shell(
                """
                cd config/tweaks/tweak-setter
                cp overrides.json new
                mv new overrides.json
                ln -f overrides.json other
                printf '%s' '\(Self.json(count))' > other
                """)
            follower.expect(count: count)
        }
        // A file with two names is not replaced.
        try shell("rm config/tweaks/tweak-setter/other")
        #expect(try follower.end().isEmpty)
    }

    @Test func `Sets and resets of the command`() throws {
        let follower = try Follower(program)
        follower.expect(count: 5)
        #expect(try program.tweak("set", "Setter/Values/Count", "7").succeeded)
        follower.expect(count: 7)
        #expect(try program.tweak("set", "Setter/Values/Count", "8").succeeded)
        follower.expect(count: 8)
        #expect(try program.tweak("reset", "Setter/Values/Count").succeeded)
        follower.expect(count: 5)
        #expect(try follower.end().isEmpty)
    }

    @Test func `Sets of another process of the program`() throws {
        let follower = try Follower(program)
        #expect(try program.setter("set", "Setter/Values/Count", "7").succeeded)
        follower.expect(count: 7)
        #expect(try follower.end().isEmpty)
    }

    @Test func `An edit in place, a rename, a copy, git checkout and a removal`() throws {
        try writeOverrides(6)
        let follower = try Follower(program)
        follower.expect(count: 6)
        try overwrite(Self.json(7))
        follower.expect(count: 7)
        let other = try program.home.write("config/tweaks/tweak-setter/other.json", Self.json(8))
        #expect(rename(other, program.overridesPath) == 0)
        follower.expect(count: 8)
        let copy = try program.home.write("copy.json", Self.json(9))
        try shell("cp '\(copy)' '\(program.overridesPath)'")
        follower.expect(count: 9)
        // What git does with a file that differs.
        try manager.removeItem(atPath: program.overridesPath)
        #expect(manager.createFile(atPath: program.overridesPath, contents: Data(Self.json(10).utf8)))
        follower.expect(count: 10)
        try manager.removeItem(atPath: program.overridesPath)
        follower.expect(count: 5)
        #expect(try follower.end().isEmpty)
    }

    @Test func `The file is a symbolic link`() throws {
        try program.home.write("dotfiles/one.json", Self.json(6))
        try program.home.write("dotfiles/two.json", Self.json(20))
        try shell(
            "mkdir -p config/tweaks/tweak-setter; ln -s ../../../dotfiles/one.json '\(program.overridesPath)'"
        )
        let follower = try Follower(program)
        follower.expect(count: 6)
        try overwrite(Self.json(7))
        follower.expect(count: 7)
        try shell("echo '\(Self.json(8))' > dotfiles/new; mv dotfiles/new dotfiles/one.json")
        follower.expect(count: 8)
        #expect(try program.tweak("set", "Setter/Values/Count", "9").succeeded)
        follower.expect(count: 9)
        try shell("ln -sfn '\(program.home("dotfiles/two.json"))' '\(program.overridesPath)'")
        follower.expect(count: 20)
        try overwrite(Self.json(21))
        follower.expect(count: 21)
        #expect(try follower.end().isEmpty)
    }

    @Test func `A directory above is a symbolic link`() throws {
        for (name, count) in [("one", 6), ("two", 20)] {
            try program.home.write("\(name)/tweaks/tweak-setter/overrides.json", Self.json(count))
        }
        try shell("ln -s one config")
        let follower = try Follower(program)
        follower.expect(count: 6)
        try overwrite(Self.json(7))
        follower.expect(count: 7)
        try shell("ln -sfn two config")
        follower.expect(count: 20)
        try overwrite(Self.json(21))
        follower.expect(count: 21)
        #expect(try follower.end().isEmpty)
    }

    @Test func `Directories are created later, removed, and created again`() throws {
        let follower = try Follower(program)
        // For the watcher to have begun, most likely; the test is right either way.
        usleep(400_000)
        #expect(try manager.contentsOfDirectory(atPath: program.home.path).isEmpty)
        for (step, directory) in ["config", "config/tweaks", "config/tweaks/tweak-setter"].enumerated() {
            try writeOverrides(10 + step)
            follower.expect(count: 10 + step)
            try shell("rm -r \(directory)")
            follower.expect(count: 5)
            try writeOverrides(20 + step)
            follower.expect(count: 20 + step)
            try shell("mv \(directory) away")
            follower.expect(count: 5)
            try shell("mv away \(directory)")
            follower.expect(count: 20 + step)
            try overwrite(Self.json(30 + step))
            follower.expect(count: 30 + step)
        }
        #expect(try follower.end().isEmpty)
    }

    @Test func `A broken edit is reported once, and the next valid one applies`() throws {
        try writeOverrides(6)
        let follower = try Follower(program)
        follower.expect(count: 6)
        try overwrite("{\"Setter\": {")
        #expect(waitUntil { follower.process.written.error.contains("the values stay as they are") })
        #expect(try program.names() == ["overrides.json"])
        try overwrite(Self.json(7))
        follower.expect(count: 7)
        #expect(try follower.end().split(separator: "\n").count == 1)
    }

    @Test func `A file unreadable at the start is reported once, and followed later`() throws {
        let blocked = try program.home.write("config", "")
        let follower = try Follower(program)
        #expect(try waitUntil { try follower.watches })
        try manager.removeItem(atPath: blocked)
        try writeOverrides(7)
        follower.expect(count: 7)
        #expect(try follower.end().split(separator: "\n").filter { $0.contains("cannot read") }.count == 1)
    }

    @Test func `Invalid values are reported, and numbers outside the limits clamped`() throws {
        try writeOverrides(6)
        let follower = try Follower(program)
        follower.expect(count: 6)
        try overwrite(#"{"Setter": {"Values": {"Count": 2000000, "Text": 7}}}"#)
        follower.expect(count: 1_000_000)
        try overwrite(#"{"Setter": {"Values": {"Count": "many", "Text": "bye"}}}"#)
        follower.expect(count: 1_000_000, text: "bye")
        let errors = try follower.end().split(separator: "\n")
        #expect(errors.count == 3)
        #expect(errors.filter { $0.contains("outside the limits") }.count == 1)
        #expect(errors.filter { $0.contains("override ignored") }.count == 2)
    }

    @Test func `A forked child exits, and the parent continues to follow`() throws {
        let follower = try Follower(program, "fork")
        try writeOverrides(6)
        #expect(waitUntil { follower.process.written.output.contains("child ended with status 0") })
        try writeOverrides(7)
        follower.expect(count: 7)
        #expect(try follower.end().isEmpty)
    }
}

@Suite struct `The thread that watches the overrides` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    // ThreadSanitizer has a thread of its own.
    @Test(.enabled(if: sanitizer != "thread"))
    func `It blocks all signals, and programs that are started do not get its descriptor`() throws {
        let follower = try Follower(program)
        try program.writeOverrides(Data(#"{"Setter": {"Values": {"Count": 6}}}"#.utf8))
        follower.expect(count: 6)
        #expect(waitUntil { (try? follower.otherThreads.count) == 1 })
        let thread = try #require(try follower.otherThreads.first)
        let status = try String(contentsOfFile: thread + "/status", encoding: .utf8)
        // All but SIGKILL and SIGSTOP, which cannot be blocked, and two that the C library needs.
        #expect(status.contains("SigBlk:\tfffffffe7ffbfeff\n"))
        let descriptors = "/proc/\(follower.process.processID)/fdinfo"
        let inotify = try FileManager.default.contentsOfDirectory(atPath: descriptors)
            .map { try String(contentsOfFile: "\(descriptors)/\($0)", encoding: .utf8) }
            .filter { $0.contains("\ninotify wd:") }
        #expect(inotify.count == 1)
        // O_CLOEXEC and O_NONBLOCK, octal.
        #expect(inotify.first?.contains("flags:\t02004000\n") == true)
        #expect(try follower.end().isEmpty)
    }

    @Test func `TWEAKS_WATCH=0 is without it`() throws {
        // That of root looks whether it has become another user, who could then reach it.
        let follower = try Follower(program, environment: ["TWEAKS_WATCH": "0", "TWEAKS_CONTROL": "0"])
        #expect(try follower.otherThreads.isEmpty)
        follower.process.kill()
        #expect(follower.process.wait().error.isEmpty)
    }

    /// In a user namespace of its own, whose limits a user may lower.
    private static func limited(_ limit: String, _ program: String = "/bin/true") -> [String] {
        ["-Ur", "/bin/sh", "-c", "echo 0 > /proc/sys/user/\(limit) && exec \"$0\" follow", program]
    }

    private static let canLimit: Bool = {
        guard let home = try? TemporaryDirectory() else { return false }
        return (try? run("/usr/bin/unshare", limited("max_inotify_watches"), home: home).succeeded) ?? false
    }()

    @Test(
        .enabled(if: canLimit, "needs user namespaces"),
        arguments: ["max_inotify_instances", "max_inotify_watches"])
    func `Without inotify the program polls its files twice a second, and reports it once`(limit: String)
        throws
    {
        let process = try start(
            "/usr/bin/unshare", Self.limited(limit, SetterProgram.path), home: program.home)
        #expect(waitUntil { process.written.error.contains("\n") })
        // Looked at twice a second, the file counts all the same.
        for count in [6, 7] {
            try program.writeOverrides(Data("{\"Setter\": {\"Values\": {\"Count\": \(count)}}}".utf8))
            #expect(waitUntil { process.written.output.contains("false \(count) 0.5 hello\n") })
        }
        process.kill()
        let result = process.wait()
        #expect(result.errorLines.count == 1)
        #expect(result.error.contains("cannot watch \(program.overridesPath)"))
        #expect(result.error.contains("the limits are in /proc/sys/fs/inotify"))
    }
}
