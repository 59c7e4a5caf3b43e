// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Overrides that cannot be read` {
    private let program: SetterProgram
    /// The path of the overrides is a link that leads to itself.
    private let directory: String

    init() throws {
        program = try SetterProgram()
        directory = program.home("config/tweaks/tweak-setter")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    private func makeLoop() throws { try #require(symlink("overrides.json", program.overridesPath) == 0) }

    @Test func `Without a set it is reported once`() throws {
        try makeLoop()
        let result = try program.setter("show")
        #expect(result.status == 0)
        #expect(result.errorLines.count == 1)
        #expect(result.error.contains("cannot read \(program.overridesPath)"))
        #expect(!result.error.contains("not kept"))
    }

    @Test func `That a set was not saved is reported once more, and the file is left alone`() throws {
        try makeLoop()
        let result = try program.setter("print", "Setter/Values/Count", "1", "300")
        #expect(result.status == 0)
        #expect(result.errorLines.count == 2)
        #expect(
            result.error.contains(
                "; changes are not kept yet; the next change retries\n"))
        #expect(FileStatus(program.overridesPath)?.isLink == true)
    }

    @Test func `A file that the user may not read is left alone`() throws {
        try program.writeOverrides(Data(#"{"A": {"B": {"C": 1}}}"#.utf8))
        chmod(program.overridesPath, 0)
        // To root nothing is forbidden.
        let isRoot = geteuid() == 0
        if isRoot { for path in [program.home.path, directory] { chmod(path, 0o777) } }
        let result = try run(
            "/usr/bin/env",
            (isRoot ? ["setpriv", "--reuid", "65534", "--clear-groups"] : [])
                + [program.copy(), "set", "Setter/Values/Count", "6"], home: program.home)
        #expect(result.status == 0)
        #expect(result.errorLines.count == 2)
        #expect(result.error.contains("changes are not kept yet"))
        chmod(program.overridesPath, 0o600)
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.overridesPath)).count == 22)
    }

    @Test func `A client is informed, and its set is saved once they can be read`() throws {
        try makeLoop()
        let setter = try RunningSetter(program, environment: [:])
        let set = try setter.tweak("set", "Slot 0", "6")
        #expect(set.status == 74)
        #expect(set.error.contains("will not keep it"))
        try #require(unlink(program.overridesPath) == 0)
        #expect(waitUntil { (try? program.overrides()) == ["Setter": ["Slots": ["Slot 0": 6]]] })
    }
}

@Suite struct `Overrides without a place to store them` {
    @Test func `A client is informed that its set is not saved`() throws {
        let program = try SetterProgram()
        let setter = try RunningSetter(program, environment: ["XDG_CONFIG_HOME": "", "HOME": ""])
        let set = try setter.tweak("set", "Slot 0", "6")
        #expect(set.status == 74)
        #expect(set.error.contains("neither XDG_CONFIG_HOME nor HOME is set to an absolute path"))
        #expect(setter.process.written.error.split(separator: "\n").count == 1)
    }
}

@Suite struct `A machine without /proc` {
    /// In a mount namespace of its own.
    private static let withoutProc = [
        "--map-root-user", "--mount", "sh", "-euc", #"mount -t tmpfs none /proc; exec "$@""#, "sh",
    ]

    static let canHideProc: Bool = {
        guard let home = try? TemporaryDirectory() else { return false }
        return (try? run("/usr/bin/unshare", withoutProc + ["/bin/true"], home: home).succeeded) ?? false
    }()

    /// The program ends when it has the override.
    private func end(_ program: String, home: TemporaryDirectory) throws -> CommandResult {
        try home.write(
            "config/tweaks/live-program/overrides.json", #"{"Live": {"Values": {"Text": "end"}}}"#)
        return try run(
            "/usr/bin/timeout", ["60", "unshare"] + Self.withoutProc + [program], home: home, in: home.path)
    }

    @Test(.enabled(if: canHideProc, "needs user namespaces")) func `has overrides all the same`() throws {
        let result = try end(LiveProgram.path, home: TemporaryDirectory())
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
    }

    @Test(.enabled(if: canHideProc, "needs user namespaces"))
    func `names them by the file that a link leads to`() throws {
        let home = try TemporaryDirectory()
        try #require(symlink(LiveProgram.path, home("another")) == 0)
        let result = try end("./another", home: home)
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
    }
}
