// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `Environments of a fleet` {
    let host: AgentHost
    let etcd: EtcdMembers
    private let limit = "Search/Index/Limit"

    init() throws {
        (host, etcd) = (try AgentHost(source: "fleet"), try EtcdMembers())
        try host.follow(etcd.endpoints)
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func set(_ environment: String, _ tweak: String, _ value: String, _ more: String...) throws {
        let result = try run(
            AgentHost.program,
            [
                "fleet", "set", "--configuration", host.home("agent.json"), "--environment", environment,
                "--create", "search", tweak, value,
            ] + more, home: host.home)
        #expect(result.succeeded, "\(result.error)")
    }

    private func value(_ tweak: String, in environment: String) throws -> String? {
        let result = try host.fleet("get", tweak, "--environment", environment)
        return result.succeeded ? String(result.output.dropLast()) : nil
    }

    private func promote(_ arguments: String...) throws -> CommandResult {
        try run(
            AgentHost.program,
            [
                "fleet", "promote", "--configuration", host.home("agent.json"), "search", "staging",
                "production",
            ] + arguments, home: host.home)
    }

    /// Publishes a build in production.
    private func publish(_ tweaks: String...) {
        let json =
            #"{ "program": "/usr/bin/search", "by": "web1", "at": "", "tweaks": [\#(tweaks.joined(separator: ","))] }"#
        #expect(etcd.put([(Array("/tweaks/production/search/schema/aa.1".utf8), Array(json.utf8))]))
    }

    private static let integer =
        #"{ "tweak": "Search/Index/Limit", "type": "int32", "minimum": 0, "maximum": 10 }"#

    @Test func `differ in values, targets and kills`() throws {
        for environment in ["staging", "production"] { try set(environment, "A/B/Same", "1") }
        #expect(try host.fleet("diff", "staging", "production").output == "search: no differences\n")
        #expect(try host.fleet("diff", "staging", "production", "--check").succeeded)
        try set("staging", limit, "5")
        try set("production", limit, "7")
        try set("staging", "A/B/New", "true")
        try set("production", "A/B/Old", "\"on\"")
        try set("staging", "A/B/Part", "1", "--for", "{ \"percentage\": 10 }")
        try set("production", "A/B/Part", "1")
        #expect(try host.fleet("kill", "Features/fast/enabled", "--why", "broken").succeeded)
        let table = try host.fleet("diff", "staging", "production")
        #expect(table.succeeded)
        let lines = table.output.split(separator: "\n").map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(
            lines == [
                "TWEAK STAGING PRODUCTION", "Features/fast/enabled none killed", "A/B/New true none",
                "A/B/Old none \"on\"", "A/B/Part 1 for {\"percentage\":10} 1", "\(limit) 5 7",
            ])
        let checked = try host.fleet("diff", "staging", "production", "--check")
        #expect(checked.status == 1)
        #expect(checked.error == "tweak-agent: search: 4 values differ, and 1 kill\n")
        let listed = try json(try host.fleet("diff", "staging", "production", "--format", "json").output)
        let differences = try #require(listed["differences"] as? [[String: Any]])
        #expect(differences.map { $0["tweak"] as? String } == ["A/B/New", "A/B/Old", "A/B/Part", limit])
        #expect((differences[0]["from"] as? [String: Any])?["value"] as? Bool == true)
        #expect(differences[0]["to"] == nil)
        #expect((listed["kills"] as? [[String: Any]])?.count == 1)
        #expect(try host.fleet("diff", "staging", "staging").status == EX_USAGE)
        #expect(try host.fleet("diff", "a/b", "staging").status == EX_USAGE)
    }

    @Test func `are promoted as one change, with reason and history`() throws {
        try set("staging", limit, "5", "--for", "{ \"percentage\": 10 }")
        try set("staging", "A/B/New", "true")
        try set("production", limit, "7")
        try set("production", "A/B/Old", "1")
        let dry = try promote("--dry-run")
        #expect(
            dry.output == "A/B/New: none → true (dry run at revision 5)\n"
                + "\(limit): 7 → 5 for {\"percentage\":10} (dry run at revision 5)\n")
        #expect(
            dry.error
                == "tweak fleet: staging has no value for A/B/Old; the value in production stays; --remove "
                + "removes it\n"
        )
        #expect(try value(limit, in: "production") == "7")
        let made = try promote("--why", "tested for a week", "--by", "ann", "--if-revision", "5")
        #expect(
            made.output == "A/B/New: none → true (revision 6)\n"
                + "\(limit): 7 → 5 for {\"percentage\":10} (revision 6)\n")
        let history = try json(try host.fleet("history", "--last", "1", "--format", "json").output)
        let change = try #require((history["changes"] as? [[String: Any]])?.first)
        #expect(change["why"] as? String == "promoted from staging: tested for a week")
        #expect(change["by"] as? String == "\(AgentHost.author) (ann)")
        #expect((change["changes"] as? [Any])?.count == 2)
        #expect(try value("A/B/Old", in: "production") == "1")
        #expect(try promote().output == "search: nothing had to be changed\n")
        #expect(try promote("--remove").output == "A/B/Old: 1 → none (revision 7)\n")
        #expect(try host.fleet("diff", "staging", "production", "--check").succeeded)
        // It can be taken back like any change.
        #expect(try host.fleet("rollback", "5").succeeded)
        #expect(try value(limit, in: "production") == "7")
    }

    @Test func `are not promoted from an environment that there is not`() throws {
        try set("staging", limit, "5")
        let result = try run(
            AgentHost.program,
            [
                "fleet", "promote", "--configuration", host.home("agent.json"), "search", "stagign",
                "production",
            ],
            home: host.home)
        #expect(result.status == EX_DATAERR && result.output.isEmpty)
        #expect(
            result.error == "tweak-agent: stagign: no such environment; did you mean staging?\n",
            "\(result.error)")
        let difference = try host.fleet("diff", "stagign", "staging")
        #expect(difference.succeeded)
        #expect(
            difference.error.contains("warning: stagign: no such environment"), "\(difference.error)"
        )
    }

    @Test(arguments: [
        ["set", "Search/Index/Limit", "1"], ["set", "Search/Index/Limit", "1", "--dry-run"],
        ["kill", "Features/fast/enabled", "--why", "broken"],
        ["rollout", "Search/Index/Limit", "1", "--steps", "100", "--every", "1s", "--why", "tried"],
        ["declare", "/bin/true"],
    ])
    func `are not created by a mistyped name`(command: [String]) throws {
        try set("staging", limit, "5")
        let result = try run(
            AgentHost.program,
            [
                "fleet", command[0], "--configuration", host.home("agent.json"), "--environment", "stagign",
                "search",
            ] + command.dropFirst(), home: host.home)
        #expect(result.status == EX_DATAERR && result.output.isEmpty)
        #expect(
            result.error == "tweak-agent: stagign: no such environment; create it with --create; did you "
                + "mean staging?\n", "\(result.error)")
        let keys = try etcd.ctl(["get", "--prefix", "--keys-only", "/tweaks/stagign/"])
        #expect(keys.succeeded && keys.output.isEmpty, "\(keys.output)")
    }

    @Test func `are not created by a promotion to a mistyped name`() throws {
        try set("staging", limit, "5")
        let refused = try host.fleet("promote", "staging", "prodcution")
        #expect(refused.status == EX_DATAERR && refused.output.isEmpty)
        #expect(
            refused.error
                == "tweak-agent: prodcution: no such environment; create it with --create; did you mean "
                + "production?\n", "\(refused.error)")
        let made = try host.fleet("promote", "staging", "testing", "--create")
        #expect(made.succeeded)
        #expect(made.error == "tweak fleet: testing: this environment is new\n", "\(made.error)")
        #expect(try value(limit, in: "testing") == "5")
        // The environment in the configuration is not mistyped.
        let promoted = try promote()
        #expect(promoted.succeeded && promoted.error.isEmpty, "\(promoted.error)")
    }

    @Test func `are created on request`() throws {
        let words = ["--environment", "testing", "--create"]
        func set(_ arguments: String...) throws -> CommandResult {
            try run(
                AgentHost.program,
                ["fleet", "set", "--configuration", host.home("agent.json"), "search", limit] + arguments
                    + words, home: host.home)
        }
        let dry = try set("5", "--dry-run")
        #expect(dry.succeeded)
        #expect(dry.error == "tweak fleet: testing: no such environment yet\n", "\(dry.error)")
        let refused = try set("nothing")
        #expect(refused.status == EX_DATAERR)
        #expect(!refused.error.contains("this environment is new"), "\(refused.error)")
        let made = try set("5")
        #expect(made.output == "\(limit): none → 5 (revision 2)\n")
        #expect(made.error == "tweak fleet: testing: this environment is new\n", "\(made.error)")
        #expect(try set("6").error.isEmpty)
        #expect(try host.fleet("set", limit, "7", "--environment", "testing").succeeded)
        // Another application is not a new environment.
        let other = try host.fleet("set", "A/B/C", "1", "--environment", "testing", application: "motor")
        #expect(other.succeeded && other.error.isEmpty, "\(other.error)")
    }

    @Test func `are reported as missing where nothing is found`() throws {
        try set("staging", limit, "5")
        for command in [["list"], ["history"], ["builds"], ["rollouts"], ["reset", limit]] {
            let result = try run(
                AgentHost.program,
                [
                    "fleet", command[0], "--configuration", host.home("agent.json"), "--environment",
                    "stagign", "search",
                ] + command.dropFirst(), home: host.home)
            #expect(result.succeeded)
            #expect(
                result.error
                    == "tweak fleet: warning: stagign: no such environment; did you mean staging?\n",
                "\(command): \(result.error)")
        }
        #expect(try host.fleet("list").error.isEmpty)
    }

    @Test func `are promoted by name`() throws {
        try set("staging", limit, "5")
        try set("staging", "A/B/New", "true")
        try set("production", "A/B/Old", "1")
        #expect(try promote("Limit").output == "\(limit): none → 5 (revision 5)\n")
        #expect(try value("A/B/New", in: "production") == nil)
        let missing = try promote("Old")
        #expect(missing.status == EX_DATAERR)
        #expect(
            missing.error
                == "tweak-agent: A/B/Old: it has no value in staging; --remove removes the one in production\n"
        )
        #expect(try promote("Old", "--remove").output == "A/B/Old: 1 → none (revision 6)\n")
        #expect(try promote("Nothing").status == EX_DATAERR)
    }

    @Test func `are promoted only if the builds of the target accept all values`() throws {
        publish(Self.integer)
        try set("staging", limit, "50", "--force")
        try set("staging", "Search/Index/Limti", "1", "--force")
        for arguments in [[], ["--dry-run"]] {
            let refused = try run(
                AgentHost.program,
                [
                    "fleet", "promote", "--configuration", host.home("agent.json"), "search", "staging",
                    "production",
                ] + arguments, home: host.home)
            #expect(refused.status == EX_DATAERR)
            #expect(
                refused.error.contains(
                    "\(limit): 50 is outside the limits; allowed: an integer from 0 to 10"),
                "\(refused.error)")
            #expect(refused.error.contains("Search/Index/Limti: no published build of search declares it"))
            #expect(refused.output.isEmpty)
        }
        #expect(try host.fleet("list").output == "search: no values\n")
        try set("staging", limit, "5", "--force")
        #expect(try promote("Limit").succeeded)
        #expect(try promote("--force").succeeded)
        #expect(try value("Search/Index/Limti", in: "production") == "1")
    }

    @Test func `are promoted only if nobody made a change meanwhile`() throws {
        try set("staging", limit, "5")
        try set("production", limit, "7")
        try set("production", "A/B/C", "1")
        let revision = "4"
        // Another tweak does not matter.
        try set("production", "A/B/C", "2")
        #expect(try promote("--dry-run", "--if-revision", revision).succeeded)
        try set("production", limit, "8")
        let refused = try promote("--if-revision", revision)
        #expect(refused.status == EX_TEMPFAIL)
        #expect(
            refused.error
                == "tweak-agent: \(limit): somebody made a change after revision 4; nothing was changed\n")
        #expect(try value(limit, in: "production") == "8")
        // A removed value is a change too.
        #expect(try host.fleet("reset", limit).succeeded)
        #expect(try promote("--if-revision", "6").status == EX_TEMPFAIL)
        try set("staging", limit, "6")
        #expect(try promote("--if-revision", "7").status == EX_TEMPFAIL)
        #expect(try promote("--if-revision", "8").output == "\(limit): none → 6 (revision 9)\n")
    }

    @Test func `are not promoted with values that cannot be used`() throws {
        let result = try etcd.ctl(["put", "/tweaks/staging/search/values/A/B/C", "{ \"value\": [] }"])
        #expect(result.succeeded)
        let refused = try promote()
        #expect(refused.status == EX_DATAERR)
        #expect(refused.error.contains("A/B/C: its value in staging is invalid"), "\(refused.error)")
    }

    @Test func `are listed with their applications`() throws {
        func list(_ arguments: String...) throws -> CommandResult {
            try run(
                AgentHost.program,
                ["fleet", "applications", "--configuration", host.home("agent.json")] + arguments,
                home: host.home)
        }
        #expect(try list().output == "no applications\n")
        publish(Self.integer)
        try set("staging", limit, "5", "--force")
        #expect(try host.fleet("set", "A/B/C", "1", "--force", application: "motor").succeeded)
        let lines = try list().output.split(separator: "\n").map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(
            lines == [
                "ENVIRONMENT APPLICATION BUILDS", "production motor", "production search published",
                "staging search",
            ])
        let listed = try json(try list("--format", "json", "--environment", "staging").output)
        #expect(listed["environment"] as? String == "staging")
        let environments = try #require(listed["environments"] as? [[String: Any]])
        #expect(environments.count == 1)
        let applications = try #require(environments[0]["applications"] as? [[String: Any]])
        #expect(applications.map { $0["application"] as? String } == ["search"])
        #expect(applications[0]["declared"] as? Bool == false)
    }

    @Test func `are listed as far as the user of etcd may see them`() throws {
        try set("staging", limit, "5")
        try set("production", limit, "5")
        for command in [
            ["user", "add", "root:r"], ["role", "add", "root"], ["user", "grant-role", "root", "root"],
            ["user", "add", "agent:secret"], ["role", "add", "reader"],
            ["role", "grant-permission", "reader", "--prefix=true", "read", "/tweaks/production/"],
            ["user", "grant-role", "agent", "reader"], ["auth", "enable"],
        ] {
            #expect(try etcd.ctl(command).succeeded, "\(command)")
        }
        let password = try host.home.write("password", "secret\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: password)
        try host.follow(etcd.endpoints, #""user": "agent", "passwordFile": "password""#)
        let result = try run(
            AgentHost.program, ["fleet", "applications", "--configuration", host.home("agent.json")],
            home: host.home)
        #expect(result.succeeded)
        #expect(result.output.split(separator: "\n").count == 2)
        #expect(
            result.error.hasPrefix("tweak fleet: warning: only production is shown: "), "\(result.error)")
        #expect(try promote().status == EX_NOPERM)
    }

    @Test func `show what their builds declare`() throws {
        #expect(try host.fleet("builds", "--tweaks").output == "search: no build declares a tweak\n")
        publish(Self.integer)
        let table = try host.fleet("builds", "--tweaks").output
        #expect(table.contains("Search/Index/Limit  int32  an integer from 0 to 10"), "\(table)")
        let listed = try json(try host.fleet("builds", "--tweaks", "--format", "json").output)
        let tweak = try #require((listed["tweaks"] as? [[String: Any]])?.first)
        #expect(tweak["tweak"] as? String == limit)
        #expect(tweak["maximum"] as? Int == 10)
        #expect(try host.fleet("builds", "--tweaks", "--remove", "aa").status == EX_USAGE)
    }

    @Test func `change nothing in a dry run`() throws {
        publish(Self.integer)
        #expect(
            try host.fleet("set", limit, "2*3", "--dry-run").output
                == "\(limit): none → 6 (dry run at revision 2)\n")
        #expect(try host.fleet("set", limit, "11", "--dry-run").status == EX_DATAERR)
        #expect(try host.fleet("list").output == "search: no values\n")
        #expect(try host.fleet("set", limit, "6").succeeded)
        #expect(
            try host.fleet("reset", limit, "--dry-run").output
                == "\(limit): 6 → none (dry run at revision 3)\n")
        #expect(
            try host.fleet("rollback", "2", "--dry-run").output
                == "\(limit): 6 → none (dry run at revision 3)\n")
        #expect(try host.fleet("kill", "Features/a/enabled", "--force", "--dry-run").succeeded)
        #expect(try host.fleet("set", limit, "7").succeeded)
        #expect(try host.fleet("rollback", "3", "--if-revision", "3").status == EX_TEMPFAIL)
        #expect(try host.fleet("rollback", "3", "--if-revision", "4").output.contains("7 → 6"))
        let history = try json(try host.fleet("history", "--format", "json").output)
        #expect((history["changes"] as? [Any])?.count == 3)
    }
}
#endif
