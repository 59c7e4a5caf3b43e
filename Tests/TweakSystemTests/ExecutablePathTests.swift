// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TestSupport
import Testing
import TweakSystem

@Suite struct `The executable of a process` {
    @Test func `may really have the name that the kernel shows for one that was deleted`() throws {
        let home = try TemporaryDirectory()
        let path = home("sleep (deleted)")
        let copied = try run("/bin/cp", ["/bin/sleep", path], home: home)
        try #require(copied.succeeded)
        let process = try start(path, ["60"], home: home)
        defer { process.kill() }
        #expect(waitUntil { executablePath(of: "\(process.processID)") == path })
        #expect(!executableIsReplaced(of: "\(process.processID)"))
        #expect(unlink(path) == 0)
        #expect(executablePath(of: "\(process.processID)") == path)
        #expect(executableIsReplaced(of: "\(process.processID)"))
    }

    @Test func `is not the file that has its name and the mark`() throws {
        let home = try TemporaryDirectory()
        let path = home("sleep")
        try #require(run("/bin/cp", ["/bin/sleep", path], home: home).succeeded)
        let process = try start(path, ["60"], home: home)
        defer { process.kill() }
        #expect(waitUntil { executablePath(of: "\(process.processID)") == path })
        #expect(unlink(path) == 0)
        try home.write("sleep (deleted)", "another file")
        #expect(executablePath(of: "\(process.processID)") == path)
    }
}
