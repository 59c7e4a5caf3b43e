// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Whether this process may give a file to another group, and its temporary directory lets programs have more rights.
private let canMakePrivileged: Bool = {
    var status = statvfs()
    return geteuid() == 0 && statvfs(NSTemporaryDirectory(), &status) == 0
        && status.f_flag & UInt(ST_NOSUID) == 0
}()

@Suite(.enabled(if: canMakePrivileged, "needs root, and a temporary directory without nosuid"))
struct `A process with more rights than its user` {
    private let home: TemporaryDirectory
    private let program: String
    private let overrides: String
    private static let json = #"{ "Setter": { "Values": { "Count": 77 } } }"#

    init() throws {
        home = try TemporaryDirectory()
        program = home("setter")
        // Not by this process: a test that starts a program at this moment would hand the open file on to it, and what
        // is open for writing cannot be run.
        #expect(try run("/bin/cp", [Locations.product("tweak-setter"), program], home: home).succeeded)
        overrides = try home.write("config/tweaks/setter/overrides.json", Self.json)
    }

    /// Lets the program run with a group that is not its user's.
    private func makePrivileged() {
        #expect(chown(program, 0, 65534) == 0)
        #expect(chmod(program, 0o2755) == 0)
    }

    @Test func `The same program without privileges reads the overrides`() throws {
        #expect(try run(program, ["show"], home: home).output == "false 77 0.5 hello\n")
    }

    @Test func `It does not read the overrides`() throws {
        makePrivileged()
        #expect(try run(program, ["show"], home: home).output == "false 5 0.5 hello\n")
    }

    @Test func `It does not read its environment`() throws {
        makePrivileged()
        let environment = ["TWEAK_SETTER__VALUES__COUNT": "6", "TWEAKS": Self.json]
        #expect(
            try run(program, ["show"], home: home, environment: environment).output == "false 5 0.5 hello\n")
    }

    @Test func `It does not follow the overrides`() throws {
        makePrivileged()
        let process = try start(program, ["follow"], home: home)
        #expect(waitUntil { process.written.output == "false 5 0.5 hello\n" })
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processID)/task").count == 1)
        process.kill()
        #expect(process.wait().error.isEmpty)
    }

    @Test func `It accepts no requests`() throws {
        makePrivileged()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let process = try start(program, ["follow"], home: home)
        let later = try LiveProgram()
        #expect(try waitUntil { try later.processes().count == 1 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: home("runtime")).isEmpty)
        process.kill()
        #expect(process.wait().error.isEmpty)
    }

    @Test func `It does not write the overrides`() throws {
        makePrivileged()
        #expect(try run(program, ["set", "Setter/Values/Count", "9"], home: home).succeeded)
        #expect(try String(contentsOfFile: overrides, encoding: .utf8) == Self.json)
    }
}
