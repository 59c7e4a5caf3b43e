// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `A rollout in a fleet` {
    let host: AgentHost
    let etcd: EtcdMembers
    private static let tweak = "Search/Index/Limit"
    private static let root = "/tweaks/production/search/"

    init() throws {
        (host, etcd) = (try AgentHost(source: "fleet"), try EtcdMembers())
        try configure()
    }

    /// Lets the agent carry out rollouts, with a check that the file `bad` makes fail.
    private func configure() throws {
        try executable(
            "check",
            """
            #!/bin/sh
            echo "$* $(ls /proc/self/fd | tr -d '\\n')" >> \(host.home("checked"))
            [ ! -e \(host.home("bad")) ]

            """)
        try host.follow(
            etcd.endpoints, application: #""rollouts": { "checks": { "errors": "check" } }"#)
    }

    private func executable(_ name: String, _ text: String, mode: Int = 0o755) throws {
        let path = try host.home.write(name, text)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func rollOut(_ arguments: String...) throws -> CommandResult {
        try run(AgentHost.program, words("rollout", [Self.tweak, "300"] + arguments), home: host.home)
    }

    private func words(_ command: String, _ arguments: [String]) -> [String] {
        ["fleet", command, "--configuration", host.home("agent.json"), "search"] + arguments + [
            "--why", "more",
        ]
    }

    /// All plans, sorted by tweak.
    private func plans() throws -> [[String: Any]] {
        let json = try host.fleet("rollouts", "--format", "json").output
        let all = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        return all?["rollouts"] as? [[String: Any]] ?? []
    }

    /// The first plan; empty if there is none.
    private func plan() throws -> [String: Any] { try plans().first ?? [:] }

    private func state() throws -> String? { try plan()["state"] as? String }
    private func steps() throws -> Int? { try plan()["done"] as? Int }

    /// The percentages and the reasons of all changes, without those of markers.
    private func changes() throws -> [(share: Double?, new: Int?, why: String)] {
        let json = try host.fleet("history", "--format", "json").output
        let all = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        return try #require(all?["changes"] as? [[String: Any]]).compactMap { change in
            let part = (change["changes"] as? [[String: Any]])?.first
            if (part?["tweak"] as? String)?.hasSuffix("/Marker") == true { return nil }
            let filters = part?["newFor"] as? [String: Any]
            return (
                filters?["percentage"] as? Double, part?["newValue"] as? Int, change["why"] as? String ?? ""
            )
        }
    }

    /// Waits until an agent has made a step of a rollout that begins now, and so has looked at the earlier ones.
    private func waitForStepOfAnother() throws {
        let words = words("rollout", ["Zoo/Index/Marker", "1", "--steps", "1,100", "--every", "1h"])
        let result = try run(AgentHost.program, words, home: host.home)
        #expect(result.succeeded, "\(result.error)")
        #expect(try waitUntil { try plans().last?["done"] as? Int == 1 })
    }

    // MARK: - Agents

    @Test func `is carried out by an agent, with a change for each step`() throws {
        #expect(try host.fleet("set", Self.tweak, "200").succeeded)
        #expect(try host.fleet("rollouts").output == "search: no rollouts\n")
        try host.following { (_) throws in
            let result = try rollOut("--steps", "1,50,100", "--every", "3s", "--check", "errors")
            #expect(result.output == "\(Self.tweak): running, no step yet\n", "\(result.error)")
            #expect(try waitUntil { try state() == "finished" })
            #expect(try waitUntil { try host.number(Self.tweak) == 300 })
        }
        let changes = try changes()
        #expect(changes.map(\.share) == [nil, 1, 50, nil])
        #expect(changes.map(\.new) == [200, 300, 300, 300])
        #expect(changes.last?.why == "more (step 3 of 3: 100 %)")
        // It has no arguments, and no descriptors but the standard ones and that of the listed folder.
        let checks = try String(contentsOfFile: host.home("checked"), encoding: .utf8).split(separator: "\n")
        #expect(checks.count >= 4 && checks.allSatisfy { $0 == " 0123" }, "\(checks)")
        let again = try rollOut("--steps", "1,100", "--every", "1s")
        #expect(again.status == EX_DATAERR && again.error.contains("have this value already"))
    }

    @Test func `leaves other hosts their value`() throws {
        #expect(try host.fleet("set", Self.tweak, "200").succeeded)
        let result = try rollOut(
            "--steps", "0.000000001,100", "--every", "1h", "--attend", "--until-failing", "false")
        #expect(result.status == 1, "\(result.error)")
        #expect(try changes().count == 1)
        try host.following { (_) throws in
            #expect(try waitUntil { try host.number(Self.tweak) == 200 })
            #expect(try rollOut("--steps", "0.000000001,100", "--every", "1h").succeeded)
            #expect(try waitUntil { try steps() == 1 })
            #expect(
                try waitUntil {
                    let reasons = try host.file()?["reasons"] as? [String: String]
                    return reasons?[Self.tweak]?.contains("the value for others: percentage is 1e-09") == true
                })
            #expect(try host.number(Self.tweak) == 200)
        }
    }

    @Test func `is aborted by the check of an agent`() throws {
        #expect(try host.fleet("set", Self.tweak, "200").succeeded)
        try host.following { (_) throws in
            #expect(try rollOut("--steps", "1,10,100", "--every", "15s", "--check", "errors").succeeded)
            #expect(try waitUntil { try steps() == 2 })
            try host.home.write("bad", "")
            #expect(try waitUntil { try state() == "aborted" })
            #expect(try waitUntil { try host.number(Self.tweak) == 200 })
        }
        #expect(try changes().map(\.new) == [200, 300, 300, 200])
        #expect(try changes().last?.why == "more (aborted: the check errors failed with the status 1)")
    }

    @Test func `is left alone by agents without the permission or the check`() throws {
        try host.following { (agent) throws in
            #expect(try rollOut("--steps", "1", "--every", "1s", "--check", "other").succeeded)
            // Whoever can write to etcd executes nothing.
            let command = #""check": "/bin/sh", "command": "touch \#(host.home("owned"))""#
            let json =
                #"{ "value": 1, "steps": [ 1 ], "every": 1, "state": "running", "done": 0, \#(command) }"#
            #expect(etcd.put([(Array((Self.root + "plans/A/B/C").utf8), Array(json.utf8))]))
            #expect(waitUntil { agent.written.error.contains("the rollout of A/B/C: ") })
            try waitForStepOfAnother()
            #expect(try host.fleet("rollouts").error.contains("warning: the rollout of A/B/C: "))
            #expect(try steps() == 0)
        }
        try host.follow(etcd.endpoints)
        try host.following { (_) throws in
            #expect(try host.fleet("abort", Self.tweak).succeeded)
            #expect(try rollOut("--steps", "1", "--every", "1s").succeeded)
            // An agent that carries it out changes the value before it gives programs a later one.
            #expect(try host.fleet("set", "Other/Index/Marker", "1").succeeded)
            #expect(try waitUntil { try host.number("Other/Index/Marker") == 1 })
            #expect(try steps() == 0)
        }
        #expect(!FileManager.default.fileExists(atPath: host.home("owned")))
        #expect(try changes().isEmpty)
    }

    @Test func `is aborted if everybody can write to the check`() throws {
        try executable("check", "#!/bin/sh\n", mode: 0o777)
        try host.following { (_) throws in
            #expect(try rollOut("--steps", "1", "--every", "1s", "--check", "errors").succeeded)
            #expect(try waitUntil { try state() == "aborted" })
        }
        #expect((try plan()["reason"] as? String)?.contains("could not be executed") == true)
        #expect(try changes().isEmpty)
    }

    @Test func `is paused, resumed and aborted`() throws {
        try host.following { (_) throws in
            #expect(try rollOut("--steps", "1,2,100", "--every", "10s").succeeded)
            #expect(try waitUntil { try steps() == 1 })
            let paused = try host.fleet("pause", Self.tweak, "--by", "ann", "--why", "wait")
            #expect(
                paused.output == "\(Self.tweak): paused, step 1 of 3, 1 %: \(AgentHost.author) (ann): wait\n",
                "\(paused.error)")
            #expect(try host.fleet("pause", "Limit").output == "search: nothing had to be changed\n")
            try waitForStepOfAnother()
            #expect(try steps() == 1)
            let second = try rollOut("--steps", "1", "--every", "1s")
            #expect(second.status == EX_DATAERR && second.error.contains("a rollout is paused"))
            #expect(try host.fleet("resume", "Limit").succeeded)
            #expect(try waitUntil { try steps() == 2 })
            #expect(try host.fleet("abort", "Limit", "--why", "slow").succeeded)
        }
        #expect(try changes().map(\.new) == [300, 300, nil])
        #expect(try changes().last?.why == "more (aborted: \(AgentHost.author): slow)")
        #expect(try host.fleet("abort", "Limit").output == "search: nothing had to be changed\n")
        #expect(try host.fleet("resume", "Limit").status == EX_DATAERR)
        #expect(try host.fleet("resume", "Other").status == EX_DATAERR)
    }

    @Test func `is stopped by somebody who sets the value, and paused by a kill`() throws {
        try host.following { (_) throws in
            #expect(try rollOut("--steps", "1,100", "--every", "10s").succeeded)
            #expect(try waitUntil { try steps() == 1 })
            let result = try host.fleet("set", Self.tweak, "250", "--by", "bob")
            #expect(result.succeeded)
            let warning =
                "tweak fleet: warning: \(Self.tweak): its running rollout ends when somebody changes the value\n"
            #expect(result.error == warning)
            #expect(try waitUntil { try state() == "stopped" })
            #expect(try host.fleet("set", Self.tweak, "250", "--why", "again").error.isEmpty)
            #expect(try changes().last?.new == 250)
            let words = words("rollout", ["fast", "--steps", "1,100", "--every", "10s"])
            #expect(try run(AgentHost.program, words, home: host.home).succeeded)
            #expect(try waitUntil { try plan()["done"] as? Int == 1 })
            #expect(try host.fleet("kill", "fast", "--why", "broken").succeeded)
            #expect(try waitUntil { try state() == "paused" })
        }
        #expect((try plan()["reason"] as? String)?.hasSuffix(": broken") == true)
        #expect(try changes().last?.why == "broken")
    }

    /// What the agent of a host would report.
    private func report(_ host: String, _ members: String = "", isAlive: Bool) {
        let json = #"{ "version": 999, "revision": 1\#(members) }"#
        var entries = [(Array((Self.root + "hosts/" + host).utf8), Array(json.utf8))]
        if isAlive { entries.append((Array((Self.root + "hosts.alive/" + host).utf8), [])) }
        #expect(etcd.put(entries))
    }

    @Test func `is paused when a host falls silent, and aborted when one refuses the value`() throws {
        try host.following { (_) throws in
            #expect(try rollOut("--steps", "1,100", "--every", "60s").succeeded)
            #expect(try waitUntil { try steps() == 1 })
            report("web1", isAlive: false)
            #expect(try waitUntil { try state() == "paused" })
            #expect(try plan()["reason"] as? String == "web1 fell silent")
            #expect(try host.fleet("resume", "Limit").succeeded)
            report("web2", isAlive: true)
            try waitForStepOfAnother()
            #expect(try state() == "running")
            let refusal = #"{ "tweak": "\#(Self.tweak)", "reason": "it is above 250" }"#
            report("web2", #", "refused": [ \#(refusal) ]"#, isAlive: true)
            #expect(try waitUntil { try state() == "aborted" })
        }
        #expect(try plan()["reason"] as? String == "web2 refuses it: it is above 250")
        #expect(try changes().map(\.new) == [300, nil])
    }

    @Test func `waits for its time`() throws {
        try host.following { (_) throws in
            let time = (Date() + 10).ISO8601Format()
            let planned = try rollOut("--steps", "100", "--every", "1s", "--at", time)
            #expect(
                planned.output.wholeMatch(
                    of: /Search.Index.Limit: running, no step yet, begins at (.+), in \d+ s\n/)?.1
                    == time[...], "\(planned.output)")
            #expect(try steps() == 0 && plan()["start"] as? String == time)
            #expect(try waitUntil { try steps() == 1 })
        }
        let words = ["--steps", "100", "--every", "1s", "--at"]
        for time in ["25:00", "soon", "1:5", "", "2020-01-01T00:00:00Z"] {
            let result = try run(
                AgentHost.program, self.words("rollout", [Self.tweak, "1"] + words + [time]), home: host.home)
            #expect(result.status == EX_USAGE, "\(time)")
        }
        for time in ["2099-02-30T10:00:00Z", "2099-01-01T24:00:00Z"] {
            let result = try run(
                AgentHost.program, self.words("rollout", [Self.tweak, "1"] + words + [time]), home: host.home)
            #expect(result.status == EX_USAGE)
            #expect(result.error.contains("--at: \"\(time)\" is not a time; write it as"), "\(result.error)")
        }
    }

    @Test func `says when it begins, also in the foreground and as JSON`() throws {
        let time = "2099-01-01T00:00:00Z"
        let more = ["300", "--steps", "100", "--every", "1s", "--at", time, "--attend"]
        let attended = try start(
            AgentHost.program, words("rollout", [Self.tweak] + more + ["--format", "json"]), home: host.home)
        #expect(waitUntil { attended.written.output.contains("\n") })
        let line = Data(attended.written.output.utf8)
        let json = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
        #expect(json["start"] as? String == time && json["nextIn"] as? Int ?? 0 > 1_000_000)
        #expect(try host.fleet("rollouts").output.contains("  \(time), in "))
        Glibc.kill(attended.processID, SIGINT)
        #expect(attended.wait().status == 128 + SIGINT)
        #expect(try host.fleet("abort", Self.tweak).succeeded)
    }

    @Test func `is aborted only if the builds accept the value before`() throws {
        #expect(try host.fleet("set", Self.tweak, "500").succeeded)
        try host.following { (_) throws in
            #expect(try rollOut("--steps", "1,100", "--every", "1h").succeeded)
            #expect(try waitUntil { try steps() == 1 })
        }
        let build =
            #"{ "tweaks": [ { "tweak": "\#(Self.tweak)", "type": "int32", "minimum": 0, "maximum": 400 } ] }"#
        #expect(etcd.put([(Array((Self.root + "schema/aa.1").utf8), Array(build.utf8))]))
        let refused = try host.fleet("abort", Self.tweak)
        #expect(refused.status == EX_DATAERR)
        #expect(refused.error.contains("500 is outside the limits"), "\(refused.error)")
        #expect(try state() == "running")
        let forced = try host.fleet("abort", Self.tweak, "--force")
        #expect(forced.succeeded && forced.output.contains("aborted"), "\(forced.error)")
        #expect(try host.fleet("get", Self.tweak).output == "500\n")
    }

    // MARK: - In the foreground

    @Test func `is aborted at ten percent by its command`() throws {
        #expect(try host.fleet("set", Self.tweak, "200").succeeded)
        let key = "\(Self.root)values/\(Self.tweak)"
        let command = "! etcdctl --endpoints \(etcd.endpoints[0]) get \(key) | grep '\"percentage\":10'"
        let result = try run(
            AgentHost.program,
            words(
                "rollout",
                [Self.tweak, "300", "--steps", "1,10,50,100", "--every", "2s", "--until-failing", command]),
            home: host.home, environment: ["ETCDCTL_API": "3"])
        #expect(result.status == 1, "\(result.error)")
        #expect(
            result.error.contains("the rollout was aborted: the command failed with the status 1"),
            "\(result.error)")
        let lines = result.output.split(separator: "\n")
        #expect(
            lines.count == 3 && lines[1].hasPrefix("\(Self.tweak): running, step 2 of 4, 10 %"), "\(lines)")
        #expect(try changes().map(\.share) == [nil, 1, 10, nil])
        #expect(try changes().map(\.new) == [200, 300, 300, 200])
        // The text of the command stays here.
        let keys = try etcd.ctl(["get", "--prefix", "/tweaks/"]).output
        #expect(!keys.contains("etcdctl"))
    }

    @Test func `is paused by a signal, and goes on after SIGKILL where somebody resumes it`() throws {
        func attended(_ command: String, _ more: [String] = []) throws -> RunningCommand {
            try start(
                AgentHost.program, words(command, [Self.tweak] + more + ["--until-failing", "true"]),
                home: host.home)
        }
        let first = try attended("rollout", ["300", "--steps", "1,2,100", "--every", "10s"])
        #expect(try waitUntil { try steps() == 1 })
        Glibc.kill(first.processID, SIGINT)
        let result = first.wait()
        #expect(result.status == 128 + SIGINT, "\(result.error)")
        #expect(result.error.contains("the rollout is paused"), "\(result.error)")
        #expect(try state() == "paused")
        #expect(try host.fleet("resume", Self.tweak).status == EX_USAGE)
        let second = try attended("resume")
        #expect(try waitUntil { try steps() == 2 })
        second.kill()
        _ = second.wait()
        #expect(try host.fleet("rollouts").succeeded)
        #expect(try attended("resume").wait().succeeded)
        #expect(try state() == "finished")
        #expect(try changes().map(\.share) == [1, 2, nil])
    }

    // MARK: - Killed leaders

    /// Agents of several hosts, of which one is killed after the other.
    @Test func `makes no step twice and leaves none out, whenever its leader is killed`() throws {
        let (steps, kills) = isLong ? (100, 100) : (14, 10)
        let shares = (1...steps).map { "\($0)" }.joined(separator: ",")
        #expect(try rollOut("--steps", shares, "--every", "1s", "--check", "errors").succeeded)
        func agent(_ number: Int) throws -> RunningCommand {
            try start(
                AgentHost.program,
                ["--configuration", host.home("agent.json"), "--folder", host.home("agent\(number % 2)")],
                home: host.home)
        }
        /// On a busy machine the host can fall silent between two agents, which pauses the rollout.
        func isRunning() throws -> Bool {
            let plan = try plan()
            guard plan["state"] as? String == "paused", let reason = plan["reason"] as? String,
                reason.hasSuffix("fell silent")
            else { return plan["state"] as? String == "running" }
            return try host.fleet("resume", Self.tweak).succeeded
        }
        func revision(_ place: String) throws -> String {
            let key = "\(Self.root)\(place)/\(Self.tweak)"
            let json = try etcd.ctl(["get", key, "--write-out", "json"]).output
            return json.firstMatch(of: /"mod_revision":(\d+)/).map { String($0.1) } ?? ""
        }
        var running = try [agent(0)]
        defer {
            for agent in running {
                agent.kill()
                _ = agent.wait()
            }
        }
        var killed = 0
        while try isRunning(), killed < kills {
            let isLed = try waitUntil { try !revision("plans.leader").isEmpty || !isRunning() }
            #expect(isLed)
            let (leader, plan) = (try revision("plans.leader"), try revision("plans"))
            // Another one waits already.
            running.append(try agent(killed + 1))
            switch killed % 3 {
            case 0: usleep(.random(in: 0...2_000_000))
            case 1: #expect(try waitUntil { try revision("plans.wait").isEmpty || !isRunning() })
            default: #expect(try waitUntil { try revision("plans") != plan || !isRunning() })
            }
            let old = running.removeFirst()
            old.kill()
            _ = old.wait()
            killed += 1
            #expect(try waitUntil { try revision("plans.leader") != leader || !isRunning() })
        }
        #expect(killed >= kills / 3)
        #expect(try waitUntil { try !isRunning() })
        let end = try plan()
        #expect(end["state"] as? String == "finished", "\(end)")
        let changes = try changes()
        #expect(changes.map(\.why) == (1...steps).map { "more (step \($0) of \(steps): \($0) %)" })
        #expect(changes.map(\.share) == (1...steps).map { $0 == 100 ? nil : Double($0) })
    }
}
#endif
