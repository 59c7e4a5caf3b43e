// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `An agent with many applications` {
    let host: AgentHost

    init() throws { host = try AgentHost() }

    private func configure(_ count: Int, _ source: String, _ cluster: String = "") throws {
        let all = (0..<count).map { "{ \"name\": \"a\($0)\", \(source) }" }.joined(separator: ", ")
        try host.home.write("agent.json", "{ \(cluster) \"applications\": [ \(all) ] }")
    }

    /// Expects at most 100 MB for 10,000 applications, of which 40 MB are for the program and what runs at a time.
    private func expectLittleMemory(_ agent: RunningCommand, _ count: Int) throws {
        let status = try String(contentsOfFile: "/proc/\(agent.processID)/status", encoding: .utf8)
        let peak = try #require(status.firstMatch(of: /VmHWM:\s+(\d+) kB/)?.1)
        let kilobytes = try #require(Int(peak))
        #expect(kilobytes < 40_000 + 6 * count)
    }

    private func isThere(_ application: Int, _ source: String) -> Bool {
        FileStatus(host.home("provided/a\(application)/\(source).json")) != nil
    }

    @Test func `shares the trusted certificates, and so needs little memory`() throws {
        // With TLS it never comes to a request.
        let server = try HostileServer { _ in }
        let count = 400
        let address = server.url.replacingOccurrences(of: "http:", with: "https:")
        try configure(count, "\"url\": \"\(address)\", \"connectTimeout\": 2")
        try host.following { (agent) throws in
            #expect(
                waitUntil {
                    let lines = agent.written.error.split(separator: "\n")
                    return lines.count { $0.contains("nothing was loaded before") } == count
                })
            let status = try String(contentsOfFile: "/proc/\(agent.processID)/status", encoding: .utf8)
            let peak = try #require(status.firstMatch(of: /VmHWM:\s+(\d+) kB/)?.1)
            // A store of certificates for each was more than a megabyte.
            #expect(try #require(Int(peak)) < 200_000)
        }
    }

    /// In the long form 10,000.
    private let thousands = isLong ? 10_000 : 3_000

    @Test func `keeps thousands of files in little memory`() throws {
        let server = try WebServer()
        try server.put(features(["search": true, "other": false]))
        try configure(thousands, "\"url\": \"\(server.url)\", \"plainHTTP\": true")
        try host.following { (agent) throws in
            #expect(waitUntil { (0..<thousands).reversed().allSatisfy { isThere($0, "remote") } })
            try expectLittleMemory(agent, thousands)
        }
    }

    @Test func `keeps the values of thousands in etcd in little memory`() throws {
        let etcd = try EtcdMembers()
        try configure(
            thousands, "\"fleet\": true",
            "\"etcd\": { \"endpoints\": [ \"\(etcd.endpoints[0])\" ], \"plainHTTP\": true },")
        try host.following { (agent) throws in
            #expect(waitUntil { (0..<thousands).reversed().allSatisfy { isThere($0, "fleet") } })
            try expectLittleMemory(agent, thousands)
        }
    }

    @Test func `loads the files of all from one server`() throws {
        let server = try WebServer()
        try server.put(features(["search": true]))
        let count = 300
        try configure(count, "\"url\": \"\(server.url)\", \"plainHTTP\": true")
        let result = try host.once(["--metrics", host.home("tweaks.prom")])
        #expect(result.succeeded, "\(result.error)")
        #expect((0..<count).allSatisfy { isThere($0, "remote") })
        let metrics = try String(contentsOfFile: host.home("tweaks.prom"), encoding: .utf8)
        let up = metrics.split(separator: "\n").filter { $0.hasPrefix("tweak_agent_up{") }
        #expect(up.count == count && up.allSatisfy { $0.hasSuffix(" 1") })
    }

    @Test func `follows all in one etcd`() throws {
        let etcd = try EtcdMembers()
        let count = 200
        try etcd.put("A/B/C", "{ \"value\": 1 }", application: "a\(count - 1)")
        try configure(
            count, "\"fleet\": true",
            "\"etcd\": { \"endpoints\": [ \"\(etcd.endpoints[0])\" ], \"plainHTTP\": true },")
        let result = try host.following { (agent) throws in
            #expect(waitUntil { (0..<count).allSatisfy { isThere($0, "fleet") } })
            for (application, value) in [(0, 2), (count - 1, 3), (0, 4)] {
                try etcd.put("A/B/C", "{ \"value\": \(value) }", application: "a\(application)")
                #expect(waitUntil { has(value, application) })
            }
            // They share reads and a watch; alone each would have a connection.
            let descriptors = "/proc/\(agent.processID)/fd"
            #expect(
                try waitUntil { try FileManager.default.contentsOfDirectory(atPath: descriptors).count < 50 })
            // After the end of the watch all are read again.
            etcd.kill()
            try etcd.restart()
            for application in [0, 1, count - 1] {
                try etcd.put("A/B/C", "{ \"value\": 5 }", application: "a\(application)")
                #expect(waitUntil { has(5, application) })
            }
        }
        #expect(result.status == 0)
    }

    /// Whether the programs of an application have this value from etcd.
    private func has(_ value: Int, _ application: Int) -> Bool {
        FileManager.default.contents(atPath: host.home("provided/a\(application)/fleet.json"))
            .map { String(decoding: $0, as: UTF8.self).contains("\"C\" : \(value)") } == true
    }

    @Test func `follows all in an etcd that allows it only their keys`() throws {
        let etcd = try EtcdMembers()
        let count = 120
        for arguments in [
            ["user", "add", "root:r"], ["role", "add", "root"], ["user", "grant-role", "root", "root"],
            ["user", "add", "agent:secret"], ["role", "add", "reader"],
            ["role", "grant-permission", "reader", "--prefix=true", "read", "/tweaks/production/a"],
            ["user", "grant-role", "agent", "reader"], ["auth", "enable"],
        ] {
            let result = try etcd.ctl(arguments)
            #expect(result.succeeded, "\(result.error)")
        }
        chmod(try host.home.write("password", "secret"), 0o600)
        try configure(
            count, "\"fleet\": true",
            """
            "etcd": { "endpoints": [ "\(etcd.endpoints[0])" ], "plainHTTP": true, "user": "agent",
              "passwordFile": "password" },
            """)
        try host.following { (_) throws in
            #expect(waitUntil { (0..<count).allSatisfy { isThere($0, "fleet") } })
            for application in [0, count - 1] {
                let key = "/tweaks/production/a\(application)/values/A/B/C"
                #expect(try etcd.ctl(["put", key, "{ \"value\": 2 }"], user: "root:r").succeeded)
                #expect(waitUntil { has(2, application) })
            }
        }
    }

    @Test func `reports those whose file cannot be written, and writes all others`() throws {
        let server = try WebServer()
        try server.put(features(["search": true]))
        let count = 200
        try configure(count, "\"url\": \"\(server.url)\", \"plainHTTP\": true")
        try host.home.write("provided/a7", "not a folder")
        try FileManager.default.createDirectory(
            atPath: host.home("provided/a8/remote.json"), withIntermediateDirectories: true)
        let result = try host.once()
        #expect(result.status == EX_IOERR)
        #expect(result.error.contains("a7: cannot open "), "\(result.error)")
        #expect(result.error.contains("a8: cannot replace "), "\(result.error)")
        let lines = result.error.split(separator: "\n")
        #expect(lines.allSatisfy { $0.contains(": a7: ") || $0.contains(": a8: ") }, "\(result.error)")
        #expect((0..<count).allSatisfy { $0 == 7 || isThere($0, "remote") })
    }

    @Test(.timeLimit(.minutes(5))) func `reads its configuration from a regular file only`() throws {
        try #require(mkfifo(host.home("agent.json"), 0o600) == 0)
        for arguments in [[], ["fleet", "list", "search"]] {
            let result = try run(
                AgentHost.program, arguments + ["--configuration", host.home("agent.json")], home: host.home)
            #expect(result.status == EX_NOINPUT)
            #expect(result.error.contains("agent.json: it is not a regular file"), "\(result.error)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func `reads certificates from regular files only`() throws {
        try #require(mkfifo(host.home("ca.pem"), 0o600) == 0)
        try host.configure("https://127.0.0.1:1/", "\"certificates\": \"ca.pem\"")
        let result = try host.once()
        #expect(result.status == EX_CONFIG)
        #expect(result.error.contains("ca.pem: it is not a regular file"), "\(result.error)")
    }
}
#endif
