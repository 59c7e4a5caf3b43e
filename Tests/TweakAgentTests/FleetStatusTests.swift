// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `The status of a fleet` {
    let hosts: [AgentHost]
    let etcd: EtcdMembers
    private static let root = "/tweaks/production/search/"

    init() throws {
        let etcd = try EtcdMembers()
        self.etcd = etcd
        hosts = try (1...3).map { number in
            let host = try AgentHost(source: "fleet")
            try host.follow(etcd.endpoints, #""host": "web\#(number)""#)
            return host
        }
    }

    private func status(_ arguments: String...) throws -> CommandResult {
        try run(
            AgentHost.program,
            ["fleet", "status", "--configuration", hosts[0].home("agent.json"), "search"] + arguments,
            home: hosts[0].home)
    }

    /// Waits until the first line says this of the application.
    private func waits(for text: String, _ location: SourceLocation = #_sourceLocation) throws {
        var output = ""
        let isThere = try waitUntil {
            output = try status().output
            return output.hasPrefix("search: \(text)\n")
        }
        #expect(isThere, "\(output)", sourceLocation: location)
    }

    /// - Returns: The revision of the change.
    @discardableResult
    private func set(_ value: String, _ more: String...) throws -> String {
        let result = try run(
            AgentHost.program,
            [
                "fleet", "set", "--configuration", hosts[0].home("agent.json"), "search", "Live/Values/Step",
                value,
            ]
                + more, home: hosts[0].home)
        #expect(result.succeeded, "\(result.error)")
        return String(try #require(result.output.firstMatch(of: /\(revision (\d+)\)/)).1)
    }

    private func keys(_ root: String = root) throws -> [Substring] {
        try etcd.ctl(["get", "--prefix", "--keys-only", root]).output.split(separator: "\n").filter {
            !$0.isEmpty
        }
    }

    @Test func `tells what has arrived where, and who is silent since when`() throws {
        #expect(try status().output == "search: no host has reported\n")
        #expect(try status("--check").succeeded)
        try hosts[0].following { (_) throws in
            try waits(for: "1 of 1 known host follows it; there are no changes")
            try hosts[1].following { (_) throws in
                try hosts[2].following { (third) throws in
                    try waits(for: "3 of 3 known hosts follow it; there are no changes")
                    let first = try set("1")
                    try waits(for: "3 of 3 known hosts have revision \(first)")
                    #expect(try waitUntil { try status("--check").succeeded })
                    third.pause()
                    try waits(for: "2 of 3 known hosts have revision \(first)")
                    let second = try set("2")
                    try waits(for: "2 of 3 known hosts have revision \(second)")
                    let silent = try status("--check")
                    #expect(silent.status == 1)
                    #expect(
                        silent.error.contains("search: 1 host lacks the newest change"), "\(silent.error)")
                    let lines = silent.output.split(separator: "\n")
                    #expect(lines.count == 4 && lines[1] == "1 host is silent:", "\(lines)")
                    let last = try #require(
                        lines.last?.wholeMatch(of: /web3  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  (\d+)/))
                    #expect(last.1 == first)
                    third.resume()
                    try waits(for: "3 of 3 known hosts have revision \(second)")
                    third.kill()
                    try waits(for: "2 of 3 known hosts have revision \(second)")
                    try hosts[2].following { (_) throws in
                        try waits(for: "3 of 3 known hosts have revision \(second)")
                    }
                    // Its agent said so at its end.
                    try waits(for: "2 of 3 known hosts have revision \(second)")
                    #expect(try hosts[0].fleet("history", "--last", "1").output.contains("\n\(second)  "))
                }
            }
        }
        let rest = try status()
        #expect(rest.output.hasPrefix("search: 0 of 3 known hosts have revision "), "\(rest.output)")
    }

    @Test func `lists values that a build refuses`() throws {
        let program = Locations.product("live-program")
        try hosts[0].follow(
            etcd.endpoints, #""host": "web1""#, application: #""programs": [ "\#(program)" ]"#)
        try hosts[0].following { (_) throws in
            let red = try set("\"red\"", "--force")
            #expect(try waitUntil { try status().output.contains("1 host refuses values:") })
            let output = try status().output
            #expect(output.hasPrefix("search: 0 of 1 known host have revision \(red)\n"), "\(output)")
            #expect(output.contains(#"web1  Live/Values/Step  "red" is not an int32"#), "\(output)")
            #expect(try status("--check").status == 1)
            // The build may not be published yet.
            try waits(for: "1 of 1 known host has revision \(set("3", "--force"))")
        }
    }

    @Test func `is JSON for scripts`() throws {
        try hosts[1].following { (_) throws in
            let revision = try set("1")
            try waits(for: "1 of 1 known host has revision \(revision)")
            let json = try JSONSerialization.jsonObject(
                with: Data(try status("--format", "json").output.utf8))
            let object = try #require(json as? [String: Any])
            #expect(object["application"] as? String == "search")
            #expect(object["newest"] as? Int == 1)
            #expect(object["newestRevision"] as? Int == Int(revision))
            #expect(object["known"] as? Int == 1 && object["current"] as? Int == 1)
            let host = try #require((object["hosts"] as? [[String: Any]])?.first)
            #expect(host["host"] as? String == "web2" && host["state"] as? String == "current")
            #expect(host["newestRevision"] as? Int == Int(revision))
            #expect(host["version"] as? Int == 1 && host["loaded"] is String && host["agent"] is String)
            let source = try #require((host["sources"] as? [[String: Any]])?.first)
            #expect(source["source"] as? String == "fleet" && source["kind"] as? String == "etcd")
        }
        let all = try status("--all").output.split(separator: "\n")
        #expect(all.contains { $0.hasPrefix("web2  silent") }, "\(all)")
    }

    @Test func `tells what each host has of a tweak`() throws {
        func has(_ host: String) throws -> String {
            let rows = try status("--tweak", "step").output.split(separator: "\n")
            let row = try #require(rows.first { $0.hasPrefix(host) }, "\(rows)")
            return row.split(separator: " ").dropFirst().joined(separator: " ")
        }
        try hosts[0].following { (_) throws in
            try hosts[1].following { (_) throws in
                let first = try set("1")
                try waits(for: "2 of 2 known hosts have revision \(first)")
                #expect(try has("web1") == "current 1" && has("web2") == "current 1")
                let second = try set("4", "--for", #"{ "percentage": 0 }"#)
                try waits(for: "2 of 2 known hosts have revision \(second)")
                #expect(try has("web1") == "current none" && has("web2") == "current none")
                let third = try set("2", "--for", #"{ "percentage": 100 }"#)
                try waits(for: "2 of 2 known hosts have revision \(third)")
                #expect(try has("web1") == "current 2" && has("web2") == "current 2")
                // Without a change that is recorded.
                try etcd.put("Live/Values/Step", #"{ "value": 5 }"#)
                #expect(try waitUntil { try has("web1") == "current 5" && has("web2") == "current 5" })
            }
            // The second host keeps what it had when its agent ended.
            let last = try set("3")
            try waits(for: "1 of 2 known hosts has revision \(last)")
            #expect(try has("web1") == "current 3" && has("web2") == "silent 5")
            #expect(try hosts[0].fleet("set", "Live/Values/On", "true", "--force").succeeded)
            #expect(try hosts[0].fleet("kill", "Live/Values/On", "--force", "--why", "broken").succeeded)
            #expect(
                waitUntil {
                    (try? status("--tweak", "Live/Values/On").output.contains("current  off: killed")) == true
                })
        }
        let json = try JSONSerialization.jsonObject(
            with: Data(try status("--tweak", "Live/Values/Step", "--format", "json").output.utf8))
        let object = try #require(json as? [String: Any])
        #expect(object["tweak"] as? String == "Live/Values/Step")
        let holding = try #require((object["hosts"] as? [[String: Any]])?.last?["has"] as? [String: Any])
        #expect(holding["kind"] as? String == "value" && holding["value"] as? Int == 5)
        // Its change is gone from etcd.
        let revision = try #require(object["newestRevision"] as? Int)
        #expect(try etcd.ctl(["compact", "\(revision)"]).succeeded)
        #expect(try has("web2") == "silent not known")
        let unknown = try status("--tweak", "Live/Values/Other")
        #expect(unknown.status != 0 && unknown.error.contains("Other"), "\(unknown.error)")
    }

    @Test func `tells commands when the programs of a host are published`() throws {
        let program = Locations.product("live-program")
        try hosts[0].follow(
            etcd.endpoints, #""host": "web1""#, application: #""programs": [ "\#(program)" ]"#)
        func unpublished() throws -> Int? {
            try etcd.ctl(["get", Self.root + "hosts/web1"]).output.firstMatch(of: /"unpublished":(\d)/)
                .flatMap { Int($0.1) }
        }
        try hosts[0].following { (_) throws in
            #expect(try waitUntil { try unpublished() != nil })
            // An agent publishes at a random time within half a minute.
            #expect(try waitUntil { try unpublished() == 0 })
            #expect(try hosts[0].fleet("builds").output.contains(program))
            #expect(try status("--all").output.contains("  live-program "))
        }
    }

    @Test func `counts the processes of an application`() throws {
        try hosts[0].follow(etcd.endpoints, #""host": "web1""#, name: "live-program")
        try #require(mkdir(hosts[0].home("runtime"), 0o700) == 0)
        let path = try ProgramBuild.usual.path("live-program")
        let process = try start(path, home: hosts[0].home, environment: ProgramBuild.usual.environment)
        defer {
            process.kill()
            _ = process.wait()
        }
        #expect(waitUntil { FileStatus(hosts[0].home("runtime/tweaks/\(process.processID).sock")) != nil })
        func isCounted() throws -> Bool {
            let all = try hosts[0].fleet("status", "--all", application: "live-program").output
            let row = all.split(separator: "\n").first { $0.hasPrefix("web1") }
            return row?.contains("  1          ") == true
        }
        try hosts[0].following { (_) throws in #expect(try waitUntil { try isCounted() }) }
    }

    @Test func `harms no keys that it does not know, and reports them`() throws {
        let strange = ["hosts/a/b", "hosts/web9", "hosts.alive/web9", "hosts.other", "hostsfile"]
        for key in strange { #expect(try etcd.ctl(["put", Self.root + key, "{"]).succeeded) }
        try hosts[0].following { (_) throws in
            try waits(for: "1 of 1 known host has revision \(set("1"))")
        }
        let result = try status()
        #expect(result.error.contains("hosts/a/b: this is not the name of a host"), "\(result.error)")
        #expect(result.error.contains("hosts/web9: "), "\(result.error)")
        let left = try keys().filter { key in strange.contains { key.hasSuffix("/" + $0) } }
        #expect(left.count == strange.count)
        // Commands of earlier versions do not read hosts.
        #expect(try hosts[0].fleet("list").error.isEmpty)
        #expect(try hosts[0].fleet("history").error.isEmpty)
    }

    @Test func `is of agents that stay, and may report`() throws {
        #expect(try hosts[0].once().succeeded)
        #expect(try keys().isEmpty)
        try hosts[0].follow(etcd.endpoints, #""host": "web1", "reports": false"#)
        try hosts[0].following { (_) throws in
            try set("1")
            #expect(try waitUntil { try hosts[0].number("Live/Values/Step") == 1 })
        }
        #expect(try keys(Self.root + "hosts").isEmpty)
    }

    @Test func `lacks hosts whose user may only read, which follow all the same`() throws {
        for arguments in [
            ["user", "add", "root:r"], ["role", "add", "root"], ["user", "grant-role", "root", "root"],
            ["user", "add", "agent:secret"], ["role", "add", "reader"],
            ["role", "grant-permission", "reader", "--prefix=true", "read", "/tweaks/production/"],
            ["user", "grant-role", "agent", "reader"], ["auth", "enable"],
        ] {
            let result = try etcd.ctl(arguments)
            #expect(result.succeeded, "\(result.error)")
        }
        chmod(try hosts[0].home.write("password", "secret"), 0o600)
        try hosts[0].follow(etcd.endpoints, #""host": "web1", "user": "agent", "passwordFile": "password""#)
        let result = try hosts[0].following { (agent) throws in
            #expect(waitUntil { agent.written.error.contains("the state of this host is not reported: ") })
            let key = Self.root + "values/Live/Values/Step"
            #expect(try etcd.ctl(["put", key, "{ \"value\": 2 }"], user: "root:r").succeeded)
            #expect(try waitUntil { try hosts[0].number("Live/Values/Step") == 2 })
        }
        #expect(result.error.split(separator: "\n").count { $0.contains("is not reported") } == 1)
        #expect(try etcd.ctl(["get", "--prefix", Self.root + "hosts"], user: "root:r").output.isEmpty)
        // No lease is left behind.
        let leases = try etcd.ctl(["lease", "list"], user: "root:r").output
        #expect(leases.contains("found 0 leases"), "\(leases)")
    }

    @Test func `costs etcd one renewal of a lease at a time, on one connection`() throws {
        func sockets(_ agent: RunningCommand) throws -> Set<String> {
            Set(try openFiles(of: agent.processID).filter { $0.hasPrefix("socket:") })
        }
        try hosts[0].following { (agent) throws in
            try waits(for: "1 of 1 known host follows it; there are no changes")
            let before = try sockets(agent)
            let report = try #require(
                try etcd.ctl(["get", Self.root + "hosts/web1", "-w", "fields"]).output
                    .firstMatch(of: /"Lease" : (\d+)/)
            ).1
            let lease = String(try #require(Int(report)), radix: 16)
            // The short lease ends and is renewed meanwhile.
            let start = ContinuousClock.now
            #expect(waitUntil { start.duration(to: .now) > .seconds(8) })
            #expect(try sockets(agent).isSubset(of: before))
            // The age of the other lease tells when the host was last heard.
            #expect(
                try waitUntil {
                    let time = try etcd.ctl(["lease", "timetolive", lease]).output
                    return try #require(time.firstMatch(of: /remaining\((\d+)s\)/).flatMap { Int($0.1) })
                        >= 86_398
                })
            #expect(try keys(Self.root + "hosts.alive/").count == 1)
        }
    }

    @Test func `is right after a restart of etcd`() throws {
        try hosts[0].following { (_) throws in
            try waits(for: "1 of 1 known host has revision \(set("1"))")
            etcd.kill()
            try etcd.restart()
            try waits(for: "1 of 1 known host has revision \(set("2"))")
        }
    }

    @Test(arguments: [true, false])
    func `is right after a backup of etcd was restored`(isSameCluster: Bool) throws {
        let more = #""host": "web1", "interval": 1, "timeout": 5"#
        try hosts[0].follow(etcd.endpoints, more)
        let first = try set("1")
        let backup = etcd.home("backup.db")
        try etcd.save(to: backup)
        try hosts[0].following { (_) throws in
            try waits(for: "1 of 1 known host has revision \(set("2"))")
            try etcd.restore(from: backup, isSameCluster: isSameCluster)
            try waits(for: "1 of 1 known host has revision \(first)")
            #expect(try waitUntil { try hosts[0].number("Live/Values/Step") == 1 })
            try waits(for: "1 of 1 known host has revision \(set("3"))")
            #expect(try waitUntil { try hosts[0].number("Live/Values/Step") == 3 })
        }
    }

    @Test func `is there for all applications of an agent, which share its leases`() throws {
        let names = (0..<70).map { "a\($0)" }
        let all = names.map { #"{ "name": "\#($0)", "fleet": true }"# }.joined(separator: ", ")
        try hosts[0].home.write(
            "agent.json",
            """
            { "etcd": { "endpoints": [ "\(etcd.endpoints[0])" ], "plainHTTP": true, "host": "web1" },
              "applications": [ \(all) ] }
            """)
        try hosts[0].following { (_) throws in
            #expect(try waitUntil { try keys("/tweaks/production/").count == 2 * names.count })
            let made = try hosts[0].fleet("set", "A/B/C", "1", application: "a69").output
            let revision = try #require(made.firstMatch(of: /revision (\d+)/)).1
            #expect(
                try waitUntil {
                    try hosts[0].fleet("status", application: "a69").output
                        == "a69: 1 of 1 known host has revision \(revision)\n"
                })
            #expect(try etcd.ctl(["lease", "list"]).output.contains("found 2 leases"))
        }
        #expect(try keys("/tweaks/production/").count { $0.contains("/hosts.alive/") } == 0)
    }
}
#endif
