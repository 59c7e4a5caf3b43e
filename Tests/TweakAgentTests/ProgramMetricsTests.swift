// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `Metrics of an agent's applications` {
    private let host: AgentHost

    init() throws {
        host = try AgentHost()
        try #require(mkdir(host.home("runtime"), 0o700) == 0)
        try host.configure("http://127.0.0.1:9/features.json", name: "live-program")
    }

    private var text: String {
        (try? String(contentsOfFile: host.home("programs.prom"), encoding: .utf8)) ?? ""
    }

    /// Starts a program that listens.
    private func program(_ path: String) throws -> RunningCommand {
        let process = try start(path, home: host.home, environment: ProgramBuild.usual.environment)
        let socket = host.home("runtime/tweaks/\(process.processID).sock")
        #expect(waitUntil { FileStatus(socket) != nil })
        return process
    }

    @Test func `have each process of an application, and no other program`() throws {
        let path = try ProgramBuild.usual.path("live-program")
        let other = host.home("other-program")
        try FileManager.default.copyItem(atPath: path, toPath: other)
        let processes = try [path, path, other].map { try program($0) }
        defer { for process in processes { process.kill() } }
        #expect(try host.once(["--program-metrics", host.home("programs.prom")]).status == EX_TEMPFAIL)
        for process in processes.prefix(2) {
            let labels = "program=\"live-program\",process=\"\(process.processID)\""
            #expect(text.contains("tweak_program_up{\(labels)} 1\n"), "\(text)")
            #expect(
                text.contains(
                    "tweak_value{\(labels),name=\"Live/Values/Step\",source=\"default\"} 0\n"), "\(text)")
        }
        #expect(!text.contains("other-program"))
        let result = try run(
            Locations.program("bash"),
            ["-c", "exec promtool check metrics <\"$0\"", host.home("programs.prom")], home: host.home)
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
        for process in processes {
            process.kill()
            _ = process.wait()
        }
        _ = try host.once(["--program-metrics", host.home("programs.prom")])
        #expect(text.hasSuffix("tweak_program_up{program=\"live-program\"} 0\n"), "\(text)")
    }

    @Test func `are written while the agent follows`() throws {
        let process = try program(ProgramBuild.usual.path("live-program"))
        defer { process.kill() }
        try host.following(["--program-metrics", host.home("programs.prom")]) { _ in
            #expect(waitUntil { text.contains("process=\"\(process.processID)\"} 1\n") })
        }
    }
}
#endif
