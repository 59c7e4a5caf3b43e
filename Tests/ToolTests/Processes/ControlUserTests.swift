// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A client in Python, which can become another user: asks the program and prints the answer, or nothing.
private let clientOfUser = """
    import os, socket, sys
    # What is above the directory may be closed to the user.
    os.chdir(os.path.dirname(sys.argv[1]))
    os.setgroups([])
    os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.path.basename(sys.argv[1]))
    try:
        connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"describe"}\\n')
        print(connection.makefile().readline(), end="")
    except ConnectionError:
        pass
    """

@Suite(.enabled(if: geteuid() == 0, "needs root"))
struct `Requests of other users` {
    private static let nobody: uid_t = 65534

    private func answer(_ program: LiveProgram, to user: uid_t) throws -> String {
        let socket = program.socket(of: program.process.processID)
        let result = try run(
            Locations.program("python3"), ["-c", clientOfUser, socket, "\(user)"], home: program.home)
        #expect(result.succeeded, "\(result.error)")
        return result.output
    }

    @Test func `Another user is refused, even with access to the directory`() throws {
        let program = try LiveProgram()
        _ = try program.connect()
        let socket = program.socket(of: program.process.processID)
        #expect(chmod(program.directory, 0o755) == 0 && chmod(socket, 0o777) == 0)
        #expect(try answer(program, to: Self.nobody).isEmpty)
        #expect(try answer(program, to: 0).contains("live-program"))
    }

    @Test func `Root is answered by a program of another user`() throws {
        let home = try LiveProgram.home()
        for path in [home.path, home("runtime")] { #expect(chown(path, Self.nobody, Self.nobody) == 0) }
        let program = try LiveProgram(
            home: home,
            runBy: [
                try Locations.program("setpriv"), "--reuid", "\(Self.nobody)", "--regid", "\(Self.nobody)",
                "--clear-groups",
            ])
        #expect(try program.connect().request("describe").errorCode == nil)
        #expect(try answer(program, to: Self.nobody).contains("live-program"))
    }
}

@Suite struct `The sources` {
    @Test func `change the ids of no process`() throws {
        let call = try Regex(#"\b(set(e|re|res|fs)?[ug]id|(set|init)groups|set_?res?[ug]id)\s*\("#)
        var found: [String] = []
        for folder in ["Sources", "CSupport", "tools"] {
            let path = Locations.package + "/" + folder
            let names = try FileManager.default.subpathsOfDirectory(atPath: path)
            for name in names where [".swift", ".c", ".cpp", ".h", ".py"].contains(where: name.hasSuffix) {
                if name.contains(".build/") { continue }
                let text = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
                if text.contains(call) { found.append("\(folder)/\(name)") }
            }
        }
        #expect(found == [])
    }
}
