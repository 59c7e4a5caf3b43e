// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Values from clients that cannot be saved` {
    private func expectNotKept(_ client: ControlClient, reason: String) throws {
        for value in 1...3 {
            let answer = try client.request("set", ["tweak": LiveProgram.text, "value": "\(value)"])
            #expect(answer.errorCode == 5)
            #expect(answer.errorMessage.contains(reason))
            // The program has it all the same.
            #expect(
                try client.request("get", ["tweak": LiveProgram.text]).result["value"] as? String
                    == "\(value)")
        }
        #expect(try client.request("reset", ["all": true]).errorCode == 5)
    }

    @Test func `A directory that cannot be created is an error, until it can`() throws {
        let home = try LiveProgram.home()
        let blocked = try home.write("config", "")
        let program = try LiveProgram(home: home)
        let client = try program.connect()
        try expectNotKept(client, reason: "cannot make directory")
        try FileManager.default.removeItem(atPath: blocked)
        // The first one may come while the program waits before it tries again.
        #expect(
            try waitUntil {
                try client.request("set", ["tweak": LiveProgram.text, "value": UUID().uuidString]).errorCode
                    == nil
            })
        #expect(FileManager.default.fileExists(atPath: home("config/tweaks/live-program/overrides.json")))
    }

    /// In a user namespace of its own, where a user may mount.
    private static func withFullDisk(_ command: String...) -> [String] {
        [
            "/usr/bin/unshare", "-Urm", "/bin/sh", "-euc",
            """
            mkdir -p "$XDG_CONFIG_HOME"
            mount -t tmpfs -o size=64k none "$XDG_CONFIG_HOME"
            mkdir -p "$XDG_CONFIG_HOME/tweaks/live-program"
            head -c 100000 /dev/zero > "$XDG_CONFIG_HOME/fill" 2>/dev/null || exec "$@"
            """, "sh",
        ] + command
    }

    private static let canMount: Bool = {
        guard let home = try? TemporaryDirectory() else { return false }
        let words = withFullDisk("/bin/true")
        return (try? run(words[0], Array(words.dropFirst()), home: home).succeeded) ?? false
    }()

    @Test(.enabled(if: canMount, "needs user namespaces")) func `A full disk is an error`() throws {
        let program = try LiveProgram(runBy: Self.withFullDisk())
        try expectNotKept(try program.connect(), reason: "No space left on device")
        #expect(waitUntil { program.process.written.error.contains("\n") })
        #expect(program.process.written.error.split(separator: "\n").count == 1)
    }
}
