// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `From a web server to a program` {
    let host: AgentHost
    let server: WebServer

    init() throws {
        (host, server) = (try AgentHost(), try WebServer())
        try host.configure(server.url, "\"interval\": 1", name: "live-program")
    }

    private static func file(_ text: String) -> String {
        #"{ "Live": { "Values": { "Text": "\#(text)" } } }"#
    }

    private func agent(_ more: [String] = []) throws -> RunningCommand {
        // The folder is that of the user, which programs look into.
        try start(
            AgentHost.program,
            ["--configuration", host.home("agent.json"), "--folder", host.home("state/tweaks")] + more,
            home: host.home)
    }

    private func program() throws -> RunningCommand {
        try start(Locations.product("live-program"), home: host.home)
    }

    @Test func `a change reaches a running program`() throws {
        try server.put(Self.file("go on"))
        let (agent, program) = (try agent(), try program())
        #expect(waitUntil { FileStatus(host.home("state/tweaks/live-program/remote.json")) != nil })
        #expect(program.isRunning)
        // With this value it ends.
        try server.put(Self.file("end"))
        #expect(waitUntil { !program.isRunning })
        program.kill()
        #expect(program.wait().status == 0)
        kill(agent.processID, SIGTERM)
        #expect(agent.wait().status == 0)
    }

    @Test func `explain shows the last check of the agent, even if the file is older`() throws {
        try server.put(Self.file("go on"))
        #expect(try agent(["--once"]).wait().succeeded)
        // 3 January 2030, a little after four.
        let time = timeval(tv_sec: 1_893_643_445, tv_usec: 0)
        #expect(utimes(host.home("state/tweaks/.agent/live-program"), [time, time]) == 0)
        let result = try run(
            Locations.product("tweak"), ["explain", Locations.product("live-program"), "Live/Values/Text"],
            home: host.home)
        #expect(result.output.contains("checked 2030-01-03T04:04:05Z"), "\(result.output)\(result.error)")
        #expect(result.output.contains("from \(server.url)features.json"))
    }

    @Test func `explain shows that no agent is running`() throws {
        try server.put(Self.file("go on"))
        let agent = try agent()
        #expect(waitUntil { FileStatus(host.home("state/tweaks/live-program/remote.json")) != nil })
        func explanation() throws -> String {
            try run(
                Locations.product("tweak"),
                ["explain", Locations.product("live-program"), "Live/Values/Text"],
                home: host.home
            ).output
        }
        let line = "remote: no tweak-agent is running, so nothing newer arrives\n"
        #expect(try explanation().contains("remote: from \(server.url)"))
        #expect(try !explanation().contains(line))
        agent.kill()
        _ = agent.wait()
        #expect(try explanation().hasSuffix(line))
    }

    @Test func `a value applies to a program that starts without server and agent`() throws {
        try server.put(Self.file("end"))
        #expect(try agent(["--once"]).wait().succeeded)
        server.stop()
        let program = try program()
        #expect(waitUntil { !program.isRunning })
        program.kill()
        #expect(program.wait().status == 0)
    }
}
#endif
