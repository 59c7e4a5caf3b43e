// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

/// With `other-clock.c`, which gives a program another time of day and leaves alone by what it waits.
@Suite struct `An agent with a wrong clock` {
    let host: AgentHost

    private let library: String

    init() throws {
        host = try AgentHost()
        library = host.home("other-clock.so")
        let compiled = try run(
            Locations.program("gcc"),
            [
                "-shared", "-fPIC", "-o", library,
                Locations.package + "/Tests/Programs/other-clock/other-clock.c",
            ], home: host.home)
        #expect(compiled.succeeded, "\(compiled.error)")
    }

    private static let twentyYears = 20 * 365 * 24 * 3600

    /// Sets the clock of the agents that are started, and of those that run.
    private func set(_ offset: Int) throws {
        // As a whole: who reads a part has another time.
        try host.home.write("clock.new", "\(offset)\n")
        rename(host.home("clock.new"), host.home("clock"))
    }

    private func agent(_ more: [String] = []) throws -> RunningCommand {
        try start(
            AgentHost.program,
            ["--configuration", host.home("agent.json"), "--folder", host.home("provided")] + more,
            home: host.home,
            environment: ["LD_PRELOAD": library, "OTHER_CLOCK": host.home("clock")])
    }

    /// Loads once.
    private func load() throws -> CommandResult {
        try agent(["--once"]).wait()
    }

    /// The year in which the agent has loaded the file that it wrote last, as its clock says.
    private func year() throws -> Int? {
        (try host.file()?["loaded"] as? String).flatMap { Int($0.prefix(4)) }
    }

    @Test func `keeps checking when the clock jumps, and when it is corrected`() throws {
        let server = try WebServer()
        try host.configure(server.url, "\"interval\": 1, \"timeout\": 5")
        try server.put(features(["search": true]))
        try set(0)
        let agent = try agent()
        #expect(try waitUntil { try host.isOn("search") == true })
        let now = try #require(try year())
        for (number, offset) in [Self.twentyYears, -Self.twentyYears, 0].enumerated() {
            try set(offset)
            let isOn = number % 2 == 1
            try server.put(features(["search": isOn]))
            #expect(try waitUntil { try host.isOn("search") == isOn }, "\(offset)")
            let years = offset / Self.twentyYears * 20
            let year = try year() ?? 0
            #expect(abs(year - now - years) <= 1)
        }
        try set(-Self.twentyYears)
        server.stop()
        #expect(try waitUntil { try host.problem() != nil })
        #expect(try host.isOn("search") == false)
        try server.put(features(["search": true]))
        try server.restart()
        #expect(try waitUntil { try host.isOn("search") == true })
        #expect(try host.problem() == nil)
        kill(agent.processID, SIGTERM)
        #expect(agent.wait().status == 0)
    }

    @Test(arguments: [twentyYears, -twentyYears])
    func `keeps its values while no certificate can be valid`(offset: Int) throws {
        let authority = try CertificateAuthority(host.home)
        try authority.make("good")
        let server = try WebServer(host.home, certificate: "good")
        try host.configure(server.url, "\"certificates\": \"ca.crt\"")
        try server.put(features(["search": true]))
        try set(0)
        #expect(try load().succeeded)
        try server.put(features(["search": false]))
        try set(offset)
        #expect(try load().status == EX_TEMPFAIL)
        #expect(
            try host.problem()?.hasPrefix("the certificate of the server is not trusted, or has expired")
                == true)
        #expect(try host.isOn("search") == true)
        try set(0)
        #expect(try load().succeeded)
        #expect(try host.isOn("search") == false)
    }

    @Test(arguments: [twentyYears, -twentyYears])
    func `starts with the file of an agent whose clock was different`(offset: Int) throws {
        let server = try WebServer()
        try host.configure(server.url)
        try server.put(features(["search": true], version: 7))
        try set(offset)
        #expect(try load().succeeded)
        try set(0)
        server.stop()
        #expect(try load().status == EX_TEMPFAIL)
        #expect(try host.isOn("search") == true)
        try server.put(features(["search": false], version: 8))
        try server.restart()
        #expect(try load().succeeded)
        #expect(try host.isOn("search") == false)
    }
}
#endif
