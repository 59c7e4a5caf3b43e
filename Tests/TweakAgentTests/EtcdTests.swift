// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `From etcd to a program` {
    let host: AgentHost
    let etcd: EtcdMembers

    init() throws {
        (host, etcd) = (try AgentHost(), try EtcdMembers())
        try host.follow(etcd.endpoints, name: "live-program")
    }

    private func agent(_ more: [String] = []) throws -> RunningCommand {
        // The folder is that of the user, which programs look into.
        try start(
            AgentHost.program,
            ["--configuration", host.home("agent.json"), "--folder", host.home("state/tweaks")] + more,
            home: host.home)
    }

    private func fleet(_ arguments: String...) throws -> CommandResult {
        try run(
            Locations.product("tweak"),
            ["fleet", arguments[0], "live-program"] + arguments.dropFirst()
                + ["--configuration", host.home("agent.json")], home: host.home)
    }

    @Test func `tweak fleet changes a running program`() throws {
        let text = "Live/Values/Text"
        #expect(try fleet("set", text, "\"go on\"").succeeded)
        let agent = try agent()
        let program = try start(Locations.product("live-program"), home: host.home)
        #expect(waitUntil { FileStatus(host.home("state/tweaks/live-program/fleet.json")) != nil })
        #expect(program.isRunning)
        // With this value it ends.
        let result = try fleet("set", text, "end", "--program", Locations.product("live-program"))
        #expect(result.succeeded, "\(result.error)")
        #expect(waitUntil { !program.isRunning })
        program.kill()
        #expect(program.wait().status == 0)
        kill(agent.processID, SIGTERM)
        #expect(agent.wait().status == 0)
    }

    @Test func `explain shows who set it, why and at which revision`() throws {
        #expect(
            try fleet(
                "set", "Live/Values/Text", "\"a\"", "--by", "ann@ops", "--why", "the index is broken"
            ).succeeded)
        #expect(try agent(["--once"]).wait().succeeded)
        // 3 January 2030, a little after four.
        let time = timeval(tv_sec: 1_893_643_445, tv_usec: 0)
        #expect(utimes(host.home("state/tweaks/.agent/.fleet/live-program"), [time, time]) == 0)
        let result = try run(
            Locations.product("tweak"), ["explain", Locations.product("live-program"), "Live/Values/Text"],
            home: host.home)
        #expect(result.output.contains("fleet: from etcd "), "\(result.output)\(result.error)")
        #expect(result.output.contains("/tweaks/production/live-program/; loaded "))
        #expect(result.output.contains("checked 2030-01-03T04:04:05Z"))
        #expect(result.output.contains("fleet: the value: set by \(AgentHost.author) (ann@ops) at 2"))
        #expect(result.output.contains("Z (revision 2): the index is broken\n"))
    }

    @Test func `explain shows why a value does not apply to this host`() throws {
        let (tweak, none) = ("Live/Values/Text", "{ \"percentage\": 0 }")
        #expect(try fleet("set", tweak, "\"a\"", "--for", none, "--by", "ann").succeeded)
        #expect(try agent(["--once"]).wait().succeeded)
        let result = try run(
            Locations.product("tweak"), ["explain", Locations.product("live-program"), tweak], home: host.home
        )
        #expect(
            result.output.hasPrefix("\(tweak): \"run\", from default\n"), "\(result.output)\(result.error)")
        let reason = /fleet: no value: not for this: percentage is 0; this host is at [0-9.]+\n/
        #expect(result.output.contains(reason), "\(result.output)")
    }

    @Test func `a value applies to a program that starts without etcd and the agent`() throws {
        #expect(try fleet("set", "Live/Values/Text", "\"end\"").succeeded)
        #expect(try agent(["--once"]).wait().succeeded)
        etcd.stop()
        let program = try start(Locations.product("live-program"), home: host.home)
        #expect(waitUntil { !program.isRunning })
        program.kill()
        #expect(program.wait().status == 0)
    }
}

@Suite struct `An agent that follows etcd` {
    let host: AgentHost
    let etcd: EtcdMembers
    private let tweak = "Features/search/enabled"

    init() throws {
        (host, etcd) = (try AgentHost(source: "fleet"), try EtcdMembers())
        try host.follow(etcd.endpoints, "\"interval\": 1")
        try etcd.put(tweak, "{ \"value\": true }")
    }

    private func isOn() throws -> Bool? { try host.flag(tweak) }

    /// When a file was written.
    private func time(of path: String) -> [Int] {
        var status = stat()
        guard stat(path, &status) == 0 else { return [] }
        return [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    /// Runs an agent that has what is there.
    @discardableResult
    private func following(_ body: (RunningCommand) throws -> Void) throws -> CommandResult {
        try host.following { (agent) throws in
            #expect(try waitUntil { try isOn() == true })
            try body(agent)
        }
    }

    @Test func `reports an unknown filter once, and skips the value`() throws {
        let result = try following { (_) throws in
            try etcd.put(tweak, "{ \"value\": true, \"for\": { \"percentag\": 100 } }")
            #expect(try waitUntil { try isOn() == nil })
            let reasons = try host.file()?["reasons"] as? [String: String]
            #expect(reasons?[tweak] == "not for this: the filter percentag is not known")
            try etcd.put("A/B/C", "{ \"value\": 1 }")
            #expect(try waitUntil { try host.number("A/B/C") == 1 })
        }
        let lines = result.error.split(separator: "\n").filter { $0.contains("percentag:") }
        #expect(lines.count == 1, "\(result.error)")
        #expect(
            lines.first?.hasPrefix(
                "tweak-agent: search: a value applies to no host: \(tweak): for.percentag: no such filter; allowed: "
            ) == true)
    }

    @Test func `writes the values, and their changes`() throws {
        let result = try following { (_) throws in
            #expect(try host.file()?["version"] as? Int == 2)
            try etcd.put(tweak, "{ \"value\": false, \"by\": \"ann\" }")
            #expect(try waitUntil { try isOn() == false })
            // The agent's own reports are revisions, too.
            #expect(try host.file()?["version"] as? Int ?? 0 > 2)
            try etcd.put("A b/Größe/50%25", "{ \"value\": 1.5 }")
            #expect(try waitUntil { try host.number("A b/Größe/50%") == 1.5 })
            etcd.remove(tweak)
            #expect(try waitUntil { try isOn() == nil })
        }
        #expect(result.status == 0)
        #expect(result.error == "")
    }

    @Test func `starts with its saved values, and keeps them while etcd is down`() throws {
        #expect(try host.once().succeeded)
        etcd.kill()
        let result = try host.once()
        #expect(result.status == EX_TEMPFAIL)
        #expect(
            result.error.contains("no connection: Connection refused; the values loaded at 2"),
            "\(result.error)")
        #expect(try host.problem()?.contains("no connection: Connection refused since 2") == true)
        #expect(try isOn() == true)
        // What was said is not said again.
        #expect(try !host.once().error.contains("what was loaded"))
    }

    @Test func `reports once that etcd was killed, and continues when it is back`() throws {
        let result = try following { (_) throws in
            etcd.kill()
            #expect(try waitUntil { try host.problem() != nil })
            #expect(try isOn() == true)
            try etcd.restart()
            try etcd.put(tweak, "{ \"value\": false }")
            #expect(try waitUntil { try isOn() == false })
            #expect(try host.problem() == nil)
        }
        let lines = result.error.split(separator: "\n")
        #expect(lines.count { $0.contains("no connection: Connection refused") } == 1, "\(result.error)")
        #expect(lines.last?.contains("loaded again, after failures since 2") == true)
    }

    @Test func `removes values of a web server that is no longer configured`() throws {
        let server = try WebServer()
        try server.put(features(["search": false]))
        try host.follow(
            etcd.endpoints, application: "\"url\": \"\(server.url)\", \"plainHTTP\": true")
        let remote = host.home("provided/search/remote.json")
        let result = try following { (agent) throws in
            #expect(waitUntil { FileStatus(remote) != nil })
            try host.follow(etcd.endpoints)
            kill(agent.processID, SIGHUP)
            #expect(waitUntil { FileStatus(remote) == nil })
            #expect(try isOn() == true)
        }
        #expect(
            result.error.contains(
                "search: its source remote is no longer configured; \(remote) was removed\n"),
            "\(result.error)")
    }

    @Test func `notices a frozen member`() throws {
        try host.follow(etcd.endpoints, "\"interval\": 1, \"timeout\": 0.5")
        try following { (_) throws in
            etcd.pause()
            #expect(
                try waitUntil {
                    try host.problem()?.contains("no complete answer within 0.5 seconds") == true
                })
            #expect(try isOn() == true)
            etcd.resume()
            try etcd.put(tweak, "{ \"value\": false }")
            #expect(try waitUntil { try isOn() == false })
            #expect(try waitUntil { try host.problem() == nil })
        }
    }

    @Test func `recovers after being frozen while changes were compacted`() throws {
        try following { (agent) throws in
            agent.pause()
            for number in 1...20 { try etcd.put("Features/f\(number)/enabled", "{ \"value\": true }") }
            etcd.remove(tweak)
            etcd.kill()
            try etcd.restart()
            #expect(try etcd.ctl(["compact", "--physical", "22"]).succeeded)
            agent.resume()
            #expect(try waitUntil { try host.flag("Features/f20/enabled") == true })
            // It may have been told of the others before etcd was killed.
            #expect(try waitUntil { try isOn() == nil })
        }
    }

    @Test func `does not rewrite its file for unrelated changes in etcd`() throws {
        // Reports would change the revisions.
        try host.follow(etcd.endpoints, "\"interval\": 1, \"reports\": false")
        try following { (_) throws in
            let before = time(of: host.path)
            for number in 0..<20 {
                #expect(try etcd.ctl(["put", "/other/\(number)", "x"]).succeeded)
                try etcd.put(tweak, "{ \"value\": false }", application: "searching")
            }
            try etcd.put("Features/last/enabled", "{ \"value\": true }")
            #expect(try waitUntil { try host.value("Features/last/enabled") != nil })
            // It has been written once, for the last one.
            #expect(try host.file()?["version"] as? Int == 43)
            let after = time(of: host.path)
            #expect(after != before)
            // Checks write nothing.
            let check = host.home("provided/.agent/.fleet/search")
            let checked = time(of: check)
            #expect(waitUntil { time(of: check) != checked })
            #expect(time(of: host.path) == after)
        }
    }

    private static let wrongValues = [
        ("{ \"value\": 1 ", "it is not JSON"),
        ("{ \"by\": \"ann\" }", "value: it is missing: true, false, a number or text"),
        ("{ \"value\": null }", "value: got null, expected true, false, a number or text"),
        ("{ \"value\": [] }", "value: got an array"),
        ("[]", "got an array, expected an object"),
        ("{ \"value\": true, \"only\": [] }", "unknown member \"only\""),
        ("{ \"value\": true, \"for\": { \"percentage\": 101 } }", "for.percentage: got 101"),
    ]

    @Test func `keeps a value when its update is invalid, and applies valid ones`() throws {
        let result = try following { (_) throws in
            for (number, (json, problem)) in Self.wrongValues.enumerated() {
                try etcd.put(tweak, json)
                try etcd.put("Features/f\(number)/enabled", "{ \"value\": false }")
                #expect(try waitUntil { try host.flag("Features/f\(number)/enabled") == false })
                #expect(try isOn() == true)
                let reasons = try host.file()?["reasons"] as? [String: String]
                #expect(reasons?[tweak]?.contains(problem) == true, "\(reasons ?? [:])")
            }
            try etcd.put(tweak, "{ \"value\": false }")
            #expect(try waitUntil { try isOn() == false })
        }
        for (_, problem) in Self.wrongValues { #expect(result.error.contains(problem), "\(result.error)") }
        #expect(result.error.components(separatedBy: "the previous value stays").count == 8)
    }

    @Test func `reports an invalid key, and applies the others`() throws {
        let names = ["Features/search", "Features/search/enabled/more", "Features/%search/enabled", ""]
        for name in names {
            #expect(try etcd.ctl(["put", "/tweaks/production/search/values/\(name)", "{}"]).succeeded)
        }
        let result = try host.once()
        #expect(result.succeeded)
        for name in names {
            #expect(result.error.contains("\(name): this is not the name of a tweak"), "\(result.error)")
        }
        #expect(try isOn() == true)
    }

    @Test func `applies a value only to its hosts`() throws {
        try etcd.put(tweak, "{ \"value\": false, \"for\": { \"only-host\": [\"elsewhere\"] } }")
        try etcd.put("Features/a/enabled", "{ \"value\": true, \"for\": { \"percentage\": 100 } }")
        #expect(try host.once().succeeded)
        #expect(try isOn() == nil)
        #expect(try host.flag("Features/a/enabled") == true)
        let reasons = try host.file()?["reasons"] as? [String: String]
        #expect(reasons?[tweak]?.hasPrefix("not for this: only-host asks for elsewhere") == true)
    }

    @Test func `rejects a member that went back in time`() throws {
        etcd.kill()
        try FileManager.default.copyItem(atPath: etcd.data(), toPath: etcd.home("backup"))
        try etcd.restart()
        try etcd.put("Features/a/enabled", "{ \"value\": true }")
        try etcd.put(tweak, "{ \"value\": false }")
        #expect(try host.once().succeeded)
        etcd.kill()
        try FileManager.default.removeItem(atPath: etcd.data())
        try FileManager.default.moveItem(atPath: etcd.home("backup"), toPath: etcd.data())
        try etcd.restart()
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(
            try host.problem()?.contains("its revision is 2, and 4 is known; what is older is not believed")
                == true)
        #expect(try isOn() == false)
    }

    @Test func `accepts the values of another cluster, and reports it`() throws {
        #expect(try host.once().succeeded)
        let other = try EtcdMembers()
        try other.put(tweak, "{ \"value\": false }")
        try host.follow(other.endpoints)
        let result = try host.once()
        #expect(result.succeeded)
        #expect(result.error.contains("its values are from etcd "), "\(result.error)")
        #expect(try isOn() == false)
        #expect(try host.once().error == "")
    }

    @Test func `tries the next member if one is unreachable`() throws {
        try host.follow(["http://127.0.0.1:1", "http://127.0.0.1:2"] + etcd.endpoints)
        for _ in 0..<4 {
            let result = try host.once()
            #expect(result.succeeded)
            #expect(result.error == "")
        }
    }

    @Test func `keeps the old file on a full disk, and writes the new one later`() throws {
        #expect(try host.once().succeeded)
        try etcd.put(tweak, "{ \"value\": false }")
        let limited = try run(
            "/bin/sh",
            [
                "-c", "ulimit -f 0; exec \"$@\"", "sh", AgentHost.program, "--once", "--configuration",
                host.home("agent.json"), "--folder", host.home("provided"),
            ], home: host.home)
        #expect(limited.status == EX_IOERR)
        #expect(limited.error.contains("cannot write"), "\(limited.error)")
        #expect(try isOn() == true)
        #expect(try host.once().succeeded)
        #expect(try isOn() == false)
    }

    @Test func `leaves a complete file whenever it is killed`() throws {
        for round in 0..<(isLong ? 200 : 6) {
            let agent = try start(
                AgentHost.program,
                ["--configuration", host.home("agent.json"), "--folder", host.home("provided")],
                home: host.home)
            for number in 0..<3 {
                try etcd.put("Features/f\(number)/enabled", "{ \"value\": \(round % 2 == 0) }")
            }
            usleep(UInt32.random(in: 0...20_000))
            agent.kill()
            _ = agent.wait()
            if FileManager.default.fileExists(atPath: host.path) {
                #expect(try host.file()?["values"] != nil)
            }
        }
        #expect(try host.once().succeeded)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: host.home("provided/search")) == [
                "fleet.json"
            ])
    }

    @Test(arguments: [true, false])
    func `follows etcd after a backup was restored`(isSameCluster: Bool) throws {
        // Reports would change the revisions.
        try host.follow(etcd.endpoints, "\"interval\": 1, \"timeout\": 0.5, \"reports\": false")
        // Also what was there before and after, and so never changes on the host.
        try etcd.put("Features/other/enabled", "{ \"value\": true }")
        let backup = etcd.home("backup.db")
        try etcd.save(to: backup)
        let result = try following { (_) throws in
            for isOn in [true, false, true, false] { try etcd.put(tweak, "{ \"value\": \(isOn) }") }
            #expect(try waitUntil { try host.file()?["version"] as? Int == 7 })
            try etcd.restore(from: backup, isSameCluster: isSameCluster)
            #expect(try waitUntil { try isOn() == true })
            #expect(try waitUntil { try host.problem() == nil })
            try etcd.put(tweak, "{ \"value\": false }")
            #expect(try waitUntil { try isOn() == false })
        }
        #expect(
            result.error.contains(
                isSameCluster
                    ? "etcd went back from revision 7 to 3, as after restoring a backup"
                    : "this is another cluster; its values are from etcd "), "\(result.error)")
        // The next agent goes on from there.
        #expect(try host.once().succeeded)
        #expect(try host.file()?["version"] as? Int == 4)
    }

    @Test func `reloads its configuration on request`() throws {
        let other = try EtcdMembers()
        try other.put(tweak, "{ \"value\": false }")
        let result = try following { (agent) throws in
            try host.follow(other.endpoints)
            kill(agent.processID, SIGHUP)
            #expect(try waitUntil { try isOn() == false })
        }
        #expect(result.status == 0)
    }

    @Test func `combines them with values of a web server`() throws {
        let server = try WebServer()
        try server.put(features(["search": false]))
        try host.follow(etcd.endpoints, application: "\"url\": \"\(server.url)\", \"plainHTTP\": true")
        #expect(try host.once(["--metrics", host.home("tweaks.prom")]).succeeded)
        #expect(try isOn() == true)
        #expect(FileStatus(host.home("provided/search/remote.json")) != nil)
        let text = try String(contentsOfFile: host.home("tweaks.prom"), encoding: .utf8)
        #expect(text.contains("tweak_agent_up{application=\"search\"} 1\n"))
        #expect(text.contains("tweak_agent_up{application=\"search\",source=\"fleet\"} 1\n"))
        #expect(text.contains("tweak_agent_version{application=\"search\",source=\"fleet\"} 2\n"))
    }
}

@Suite struct `An agent and an etcd with authentication` {
    let host: AgentHost
    let etcd: EtcdMembers
    private let tweak = "Features/search/enabled"

    init() throws {
        (host, etcd) = (try AgentHost(source: "fleet"), try EtcdMembers())
        try etcd.put(tweak, "{ \"value\": true }")
        for arguments in [
            ["user", "add", "root:r"], ["role", "add", "root"], ["user", "grant-role", "root", "root"],
            ["user", "add", "agent:secret"], ["role", "add", "reader"],
            ["role", "grant-permission", "reader", "--prefix=true", "read", "/tweaks/production/search/"],
            ["user", "grant-role", "agent", "reader"], ["auth", "enable"],
        ] {
            let result = try etcd.ctl(arguments)
            guard result.succeeded else { throw CompilationError(description: result.error) }
        }
        try password("secret\n")
        try host.follow(
            etcd.endpoints,
            "\"user\": \"agent\", \"passwordFile\": \"password\", \"interval\": 1, \"timeout\": 2")
    }

    private func password(_ text: String, mode: mode_t = 0o600) throws {
        chmod(try host.home.write("password", text), mode)
    }

    @Test func `authenticates with a password, and again when the session expires`() throws {
        try host.following { (_) throws in
            #expect(try waitUntil { try host.flag(tweak) == true })
            // With it the tokens are gone.
            etcd.kill()
            try etcd.restart(user: "root:r")
            let json = "{ \"value\": false }"
            #expect(
                try etcd.ctl(["put", "/tweaks/production/search/values/\(tweak)", json], user: "root:r")
                    .succeeded)
            #expect(try waitUntil { try host.flag(tweak) == false })
        }
    }

    @Test func `is refused with a wrong password, until it is right`() throws {
        try password("guess")
        try host.following { (agent) throws in
            #expect(waitUntil { agent.written.error.contains("invalid user ID or password") })
            #expect(try host.value(tweak) == nil)
            try password("secret")
            #expect(try waitUntil { try host.flag(tweak) == true })
        }
    }

    @Test func `receives nothing of other applications`() throws {
        try host.follow(
            etcd.endpoints, "\"user\": \"agent\", \"passwordFile\": \"password\"", name: "other")
        let result = try host.once()
        #expect(result.status == EX_TEMPFAIL)
        #expect(result.error.contains("HTTP status 403: etcdserver: permission denied"), "\(result.error)")
    }

    @Test func `is refused without a user name`() throws {
        try host.follow(etcd.endpoints)
        #expect(try host.once().error.contains("user name is empty"))
    }

    @Test func `refuses a password file that others can read`() throws {
        try password("secret", mode: 0o644)
        let result = try host.once()
        #expect(result.status == EX_CONFIG)
        #expect(result.error.contains("password: the file is world-readable"), "\(result.error)")
    }

    @Test func `cannot change what it can read`() throws {
        let result = try host.fleet("set", tweak, "false")
        #expect(result.status == EX_NOPERM)
        #expect(result.error.contains("permission denied"), "\(result.error)")
    }
}

@Suite struct `An agent and an etcd with TLS` {
    let host: AgentHost
    let authority: CertificateAuthority

    init() throws {
        host = try AgentHost(source: "fleet")
        authority = try CertificateAuthority(host.home)
    }

    private func follow(_ name: String) throws -> EtcdMembers {
        let etcd = try EtcdMembers(home: host.home, certificate: name, isWaitedFor: name == "good")
        try host.follow(etcd.endpoints, "\"certificates\": \"ca.crt\"")
        return etcd
    }

    @Test func `connect if the configured authority signed the certificate`() throws {
        try authority.make("good")
        let etcd = try follow("good")
        try etcd.put("Features/search/enabled", "{ \"value\": true }")
        let result = try host.once()
        #expect(result.succeeded, "\(result.error)")
        #expect(try host.flag("Features/search/enabled") == true)
        try host.follow(etcd.endpoints)
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.contains("the certificate of the server is not trusted") == true)
    }

    @Test func `refuse an expired certificate`() throws {
        try authority.make("expired", isExpired: true)
        let etcd = try follow("expired")
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(
            try host.problem()?.contains("the certificate of the server is not trusted, or has expired")
                == true)
        withExtendedLifetime(etcd) {}
    }

    @Test func `refuse the certificate of another host`() throws {
        try authority.make("other", host: "elsewhere.example")
        let etcd = try follow("other")
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.contains("the certificate is for another host") == true)
        withExtendedLifetime(etcd) {}
    }
}
#endif
