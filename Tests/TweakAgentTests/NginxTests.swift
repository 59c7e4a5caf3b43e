// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `An agent with a web server` {
    let host: AgentHost
    let server: WebServer

    init() throws {
        (host, server) = (try AgentHost(), try WebServer())
        try server.put(features(["search": true, "old": false]))
        try host.configure(server.url, "\"interval\": 1")
    }

    @Test func `writes the values that apply to this host`() throws {
        try server.put(
            """
            { "version": "1.0", "features": [ { "key": "search", "enabled": true },
              { "key": "elsewhere", "enabled": true, "only-os-versions": ["0.1"] } ] }
            """)
        #expect(try host.once().succeeded)
        #expect(try host.isOn("search") == true)
        #expect(try host.isOn("elsewhere") == false)
        let file = try #require(try host.file())
        #expect(file["from"] as? String == server.url + "features.json")
        let reasons = try #require(file["reasons"] as? [String: String])
        #expect(reasons["Features/elsewhere/enabled"]?.contains("0.1") == true)
    }

    @Test func `reads values of all types from an overrides file`() throws {
        try server.put(#"{ "version": 3, "A": { "B": { "i": 5, "d": 0.5, "t": "x", "b": true } } }"#)
        #expect(try host.once().succeeded)
        let file = try #require(try host.file())
        let values = (file["values"] as? [String: [String: [String: Any]]])?["A"]?["B"]
        #expect(values?["i"] as? Int == 5)
        #expect(values?["d"] as? Double == 0.5)
        #expect(values?["t"] as? String == "x")
        #expect(values?["b"] as? Bool == true)
        #expect(file["version"] as? Int == 3)
    }

    @Test func `loads the file for the configured version of the application`() throws {
        try server.put(
            """
            { "features": [ { "key": "new", "enabled": true, "minimum-application-version": "2.4" },
              { "key": "newer", "enabled": true, "minimum-application-version": "2.5" } ] }
            """)
        try host.configure(server.url, "\"version\": \"2.4.1\"")
        #expect(try host.once().succeeded)
        #expect(try host.isOn("new") == true)
        #expect(try host.isOn("newer") == false)
    }

    @Test func `removes values that are no longer configured, and reports it once`() throws {
        try host.home.write("provided/by-hand/remote.json", "{ \"values\": {} }")
        #expect(try host.once().succeeded)
        try host.configure(server.url, name: "other")
        let message = "its source remote is no longer configured; \(host.path) was removed"
        #expect(try host.once().error == "tweak-agent: search: \(message)\n")
        #expect(FileStatus(host.path) == nil)
        #expect(FileStatus(host.home("provided/.agent/search")) == nil)
        #expect(try host.once().error.isEmpty)
        // No agent has written this one.
        #expect(FileStatus(host.home("provided/by-hand/remote.json")) != nil)
    }

    @Test func `follows changes`() throws {
        try host.following { _ in
            #expect(try waitUntil { try host.isOn("search") == true })
            try server.put(features(["search": false]))
            #expect(try waitUntil { try host.isOn("search") == false })
        }
    }

    @Test func `asks conditionally, and does not rewrite its file without a change`() throws {
        try host.following { _ in
            #expect(try waitUntil { try host.isOn("search") == true })
            let before = try #require(FileStatus(host.path)?.inode)
            #expect(waitUntil { server.log.count { $0.contains("\" 304 ") } >= 2 })
            #expect(FileStatus(host.path)?.inode == before)
            #expect(server.log.count { $0.contains("\" 200 ") } == 1)
        }
    }

    @Test func `keeps its values while the server is down, and reports it once`() throws {
        let result = try host.following { _ in
            #expect(try waitUntil { try host.isOn("search") == true })
            server.stop()
            #expect(try waitUntil { try host.problem() != nil })
            let problem = try #require(try host.problem())
            #expect(problem.hasPrefix("no connection: Connection refused since 2"), "\(problem)")
            #expect(try host.isOn("search") == true)
            try server.put(features(["search": false]))
            try server.restart()
            #expect(try waitUntil { try host.isOn("search") == false })
            #expect(try host.problem() == nil)
        }
        let lines = result.error.split(separator: "\n")
        #expect(lines.count { $0.contains("no connection") } == 1, "\(result.error)")
        #expect(lines.count { $0.contains("loaded again, after failures since") } == 1, "\(result.error)")
    }

    @Test func `times out when a server hangs, and continues when it answers`() throws {
        try host.configure(server.url, "\"interval\": 1, \"timeout\": 1")
        try host.following { _ in
            #expect(try waitUntil { try host.isOn("search") == true })
            server.pause()
            #expect(
                try waitUntil {
                    try host.problem()?.hasPrefix("no complete answer within 1.0 seconds") == true
                })
            #expect(try host.isOn("search") == true)
            try server.put(features(["search": false]))
            server.resume()
            #expect(try waitUntil { try host.isOn("search") == false })
        }
    }

    @Test func `starts with the last valid values and remembers when they were loaded`() throws {
        #expect(try host.once().succeeded)
        server.stop()
        let result = try host.once()
        #expect(result.status == EX_TEMPFAIL)
        #expect(result.error.contains("; the values loaded at "), "\(result.error)")
        let problem = try host.problem()
        #expect(try host.isOn("search") == true)
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem() == problem)
    }

    @Test func `keeps its values when the file is gone`() throws {
        #expect(try host.once().succeeded)
        try FileManager.default.removeItem(atPath: server.home("www/features.json"))
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.hasPrefix("HTTP status 404 since ") == true)
        #expect(try host.isOn("search") == true)
    }

    @Test func `exits successfully on request`() throws {
        let result = try host.following { (_) throws in
            #expect(try waitUntil { try host.isOn("search") == true })
        }
        #expect(result.status == 0)
        #expect(result.error == "")
    }

    @Test func `reloads its configuration on request, unless that is invalid`() throws {
        let other = try WebServer()
        try other.put(features(["search": false]))
        let result = try host.following { agent in
            #expect(try waitUntil { try host.isOn("search") == true })
            try host.home.write("agent.json", "{")
            kill(agent.processID, SIGHUP)
            #expect(waitUntil { agent.written.error.contains("the previous configuration stays in effect") })
            try host.configure(other.url)
            kill(agent.processID, SIGHUP)
            #expect(try waitUntil { try host.isOn("search") == false })
        }
        #expect(result.status == 0)
    }

    @Test func `is the only writer of its folder`() throws {
        try host.following { _ in
            #expect(try waitUntil { try host.file() != nil })
            let second = try host.once()
            #expect(second.status == EX_TEMPFAIL)
            #expect(second.error.contains("another tweak-agent writes into this folder"))
        }
    }

    @Test func `keeps the old file on a full disk, and writes the new one later`() throws {
        #expect(try host.once().succeeded)
        try server.put(features(["search": false]))
        let limited = try run(
            "/bin/sh",
            [
                "-c", "ulimit -f 0; exec \"$@\"", "sh", AgentHost.program, "--once", "--configuration",
                host.home("agent.json"), "--folder", host.home("provided"),
            ], home: host.home)
        #expect(limited.status == EX_IOERR)
        #expect(limited.error.contains("cannot write"), "\(limited.error)")
        #expect(try host.isOn("search") == true)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: host.home("provided/search")) == [
                "remote.json"
            ])
        #expect(try host.once().succeeded)
        #expect(try host.isOn("search") == false)
    }

    @Test func `leaves a complete file whenever it is killed`() throws {
        try host.configure(server.url, "\"interval\": 1")
        for round in 0..<(isLong ? 300 : 12) {
            try server.put(
                features(Dictionary(uniqueKeysWithValues: (0..<200).map { ("f\($0)", round % 2 == 0) })))
            let agent = try start(
                AgentHost.program,
                ["--configuration", host.home("agent.json"), "--folder", host.home("provided")],
                home: host.home)
            usleep(UInt32.random(in: 10_000...80_000))
            agent.kill()
            _ = agent.wait()
            if FileManager.default.fileExists(atPath: host.path) {
                #expect(try host.file()?["values"] != nil)
            }
        }
        // What a kill has left beside it goes when the file is written again, which only new values are a reason for.
        try server.put(features(["search": true]))
        #expect(try host.once().succeeded)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: host.home("provided/search")) == [
                "remote.json"
            ])
    }

    @Test func `ignores a damaged file of its own`() throws {
        try host.home.write("provided/search/remote.json", "{ \"values\": ")
        let result = try host.once()
        #expect(result.succeeded)
        #expect(result.error.contains("it is not JSON"), "\(result.error)")
        #expect(try host.isOn("search") == true)
    }

    @Test func `accepts a file of its own from the future`() throws {
        try host.home.write(
            "provided/search/remote.json",
            #"{ "from": "\#(server.url)features.json", "loaded": "2199-01-01T00:00:00Z", "values": {} }"#)
        #expect(try host.once().succeeded)
        #expect(try host.isOn("search") == true)
    }

    @Test func `counts its checks in a file for Prometheus`() throws {
        #expect(try host.once(["--metrics", host.home("tweaks.prom")]).succeeded)
        server.stop()
        var text = try String(contentsOfFile: host.home("tweaks.prom"), encoding: .utf8)
        #expect(text.contains("tweak_agent_up{application=\"search\"} 1\n"))
        #expect(text.contains("tweak_agent_values{application=\"search\"} 2\n"))
        #expect(text.contains("tweak_agent_checks_total{application=\"search\",outcome=\"loaded\"} 1\n"))
        #expect(try host.once(["--metrics", host.home("tweaks.prom")]).status == EX_TEMPFAIL)
        text = try String(contentsOfFile: host.home("tweaks.prom"), encoding: .utf8)
        #expect(text.contains("tweak_agent_up{application=\"search\"} 0\n"))
    }

    @Test func `lets all users read what it writes`() throws {
        #expect(try host.once().succeeded)
        #expect(FileStatus(host.path)?.mode == 0o644)
        #expect(FileStatus(host.home("provided/search"))?.mode == 0o755)
    }
}

@Suite struct `An agent and a web server with TLS` {
    let host: AgentHost
    let authority: CertificateAuthority

    init() throws {
        host = try AgentHost()
        authority = try CertificateAuthority(host.home)
    }

    private func server(_ name: String, more: String = "") throws -> WebServer {
        let server = try WebServer(host.home, certificate: name, more: more)
        try server.put(features(["search": true]))
        try host.configure(server.url, "\"certificates\": \"ca.crt\", \"timeout\": 10")
        return server
    }

    @Test func `loads from a host whose certificate is trusted`() throws {
        try authority.make("good")
        let server = try server("good")
        let result = try host.once()
        #expect(result.succeeded, "\(result.error)")
        #expect(try host.isOn("search") == true)
        withExtendedLifetime(server) {}
    }

    @Test func `refuses a host with an expired certificate`() throws {
        try authority.make("expired", isExpired: true)
        let server = try server("expired")
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(
            try host.problem()?.hasPrefix("the certificate of the server is not trusted, or has expired")
                == true)
        withExtendedLifetime(server) {}
    }

    @Test func `refuses the certificate of another host`() throws {
        try authority.make("other", host: "elsewhere.example")
        let server = try server("other")
        #expect(try host.once().status == EX_TEMPFAIL)
        let problem = try #require(try host.problem())
        #expect(problem.hasPrefix("the certificate is for another host"), "\(problem)")
        withExtendedLifetime(server) {}
    }

    @Test func `refuses an untrusted certificate`() throws {
        try authority.make("good")
        let server = try server("good")
        try host.configure(server.url)
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.hasPrefix("the certificate of the server is not trusted") == true)
    }

    @Test func `refuses redirects away from TLS`() throws {
        try authority.make("good")
        let plain = try WebServer()
        try plain.put(features(["search": true]))
        let server = try server("good", more: "location / { return 302 \(plain.url)features.json; }")
        try host.configure(server.url, "\"certificates\": \"ca.crt\", \"redirects\": 3")
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.contains("which does not use TLS") == true)
        #expect(plain.log.isEmpty)
    }
}
#endif
