// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `A kill in a fleet` {
    let host: AgentHost
    let etcd: EtcdMembers
    private let tweak = "Features/search/enabled"

    init() throws {
        (host, etcd) = (try AgentHost(source: "fleet"), try EtcdMembers())
        try host.follow(etcd.endpoints)
    }

    /// The kill of the feature in the file for programs.
    private func killed() throws -> Bool? {
        let kills = try host.file()?["kills"] as? [String: [String: [String: Bool]]]
        return kills?["Features"]?["search"]?["enabled"]
    }

    private func kill(_ arguments: String...) throws -> CommandResult {
        try run(
            AgentHost.program,
            ["fleet", "kill", "--configuration", host.home("agent.json"), "search"] + arguments,
            home: host.home)
    }

    @Test func `says what it is above of, and needs a reason`() throws {
        #expect(try kill("search").status == EX_USAGE)
        #expect(try host.fleet("set", tweak, "true", "--by", "ann", "--why", "go live").succeeded)
        try host.home.write(
            "state/tweaks/search/remote.json",
            """
            { "from": "https://a.example/features.json", "values": { "Features": { "search": { "enabled": true } } } }
            """)
        let result = try kill("search", "--why", "the index is broken")
        #expect(result.succeeded, "\(result.error)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.first == "\(tweak): killed (revision 3)")
        #expect(
            lines.dropFirst().first
                == "  above remote on this host: true, from https://a.example/features.json")
        #expect(lines.last?.hasPrefix("  above fleet: true, set by \(AgentHost.author) (ann) at ") == true)
    }

    @Test func `reaches the programs of all hosts until it ends, beside the values`() throws {
        #expect(try host.fleet("set", tweak, "true").succeeded)
        try host.following { (_) throws in
            #expect(try waitUntil { try host.flag(tweak) == true })
            #expect(try killed() == nil)
            #expect(try kill("search", "--why", "it is broken").succeeded)
            #expect(try waitUntil { try killed() == false })
            #expect(try host.flag(tweak) == true)
            let reasons = try host.file()?["killReasons"] as? [String: String]
            let reason = try #require(reasons?[tweak])
            #expect(reason.hasPrefix("killed by \(AgentHost.author) at "), "\(reason)")
            // Reports make revisions, too.
            #expect(reason.contains(/Z \(revision \d+\): it is broken$/), "\(reason)")
            let set = try host.fleet("set", tweak, "true", "--why", "again")
            #expect(set.error.contains("the value takes effect after tweak fleet unkill"), "\(set.error)")
            #expect(try host.fleet("unkill", "search").output.hasPrefix("\(tweak): no longer killed"))
            #expect(try waitUntil { try killed() == nil })
            #expect(try host.flag(tweak) == true)
        }
        #expect(try host.fleet("unkill", "search").output == "search: nothing had to be changed\n")
    }

    @Test func `is there after a restart of the agent, and after one of etcd`() throws {
        #expect(try kill("search", "--why", "it is broken").succeeded)
        #expect(try host.once().succeeded)
        #expect(try killed() == false)
        etcd.kill()
        #expect(try !host.once().succeeded)
        #expect(try killed() == false)
        try etcd.restart()
        #expect(try host.fleet("unkill", "search").succeeded)
        #expect(try host.once().succeeded)
        #expect(try killed() == nil)
    }

    @Test func `is told beside the value that it hides`() throws {
        #expect(try host.fleet("set", tweak, "true").succeeded)
        #expect(try host.fleet("get", tweak).error.isEmpty)
        #expect(try kill("search", "--why", "it is broken").succeeded)
        #expect(try kill("fast", "--why", "it is slow").succeeded)
        let hidden = try host.fleet("get", tweak)
        #expect(hidden.output == "true\n")
        #expect(
            hidden.error.contains("warning: \(tweak): it is killed by \(AgentHost.author) at "),
            "\(hidden.error)")
        let none = try host.fleet("get", "fast")
        #expect(none.status == EX_DATAERR)
        #expect(none.error.contains("it has no value; it is killed by "), "\(none.error)")
    }

    @Test func `is ended by its name only, and others are named`() throws {
        #expect(try kill("search", "--why", "a").succeeded)
        let other = try host.fleet("unkill", "serach")
        #expect(other.output == "search: nothing had to be changed\n")
        #expect(other.error.contains("warning: still killed: \(tweak)"), "\(other.error)")
        let json =
            #"{ "tweaks": [ { "tweak": "Features/fast/enabled", "type": "bool" }, { "tweak": "\#(tweak)", "type": "bool" } ] }"#
        #expect(etcd.put([(Array("/tweaks/production/search/schema/aa.1".utf8), Array(json.utf8))]))
        let unknown = try host.fleet("unkill", "serach")
        #expect(unknown.status == EX_DATAERR)
        #expect(
            unknown.error.contains(
                "it is not killed, and no published build declares it; did you mean \(tweak)?"),
            "\(unknown.error)")
        #expect(try host.fleet("unkill", "fast").output == "search: nothing had to be changed\n")
        #expect(try host.fleet("unkill", "sear").output.hasPrefix("\(tweak): no longer killed"))
    }

    @Test func `is shown in the list and the history`() throws {
        #expect(try kill("search", "--by", "ann", "--why", "it is broken").succeeded)
        let list = try host.fleet("list").output.split(separator: "\n")
        #expect(list.count == 2 && list[1].hasPrefix("\(tweak)  killed "), "\(list)")
        #expect(try host.fleet("unkill", "search", "--by", "bob").succeeded)
        let history = try host.fleet("history", "search").output.split(separator: "\n")
        #expect(history.count == 3)
        #expect(history[1].contains("killed") && history[1].hasSuffix("it is broken"))
        #expect(history[2].contains("no longer killed"))
        #expect(try host.fleet("list").output == "search: no values\n")
    }

    @Test func `is not what a rollback goes back to`() throws {
        #expect(try host.fleet("set", tweak, "true").succeeded)
        #expect(try kill("search", "--why", "it is broken").succeeded)
        #expect(try host.fleet("set", tweak, "false").succeeded)
        #expect(try etcd.ctl(["compact", "4"]).succeeded)
        #expect(try host.fleet("rollback", "3").output == "\(tweak): false → true (revision 5)\n")
        #expect(try host.fleet("list").output.contains("  killed "))
        // An older version reads changes without kills, in which it knows all members.
        let records = try etcd.ctl(["get", "--prefix", "/tweaks/production/search/history/"]).output
        #expect(records.contains(#""changes":[],"#) && records.contains(#""kills":[{"#), "\(records)")
    }

    @Test func `is only of bools, and of what is declared`() throws {
        let schema = "/tweaks/production/search/schema/aa.1"
        let json =
            #"{ "tweaks": [ { "tweak": "Search/Index/Limit", "type": "int32" }, { "tweak": "\#(tweak)", "type": "bool" } ] }"#
        #expect(etcd.put([(Array(schema.utf8), Array(json.utf8))]))
        let wrong = try kill("Limit", "--why", "a")
        #expect(wrong.status == EX_DATAERR)
        #expect(
            wrong.error.contains("it is an int32; only features and other bools can be killed"),
            "\(wrong.error)")
        let unknown = try kill("serach", "--why", "a")
        #expect(unknown.status == EX_DATAERR)
        #expect(unknown.error.contains("did you mean \(tweak)?"), "\(unknown.error)")
        #expect(try kill("serach", "--why", "a", "--force").succeeded)
        // It stays a mistake.
        let again = try kill("serach", "--why", "a")
        #expect(again.succeeded)
        #expect(
            again.error.contains(
                "warning: Features/serach/enabled: no published build declares it; did you mean \(tweak)?"),
            "\(again.error)")
        #expect(
            try host.fleet("list").error.contains("Features/serach/enabled: it is killed, but no published"))
        // Declarations that cannot be read keep nobody from a kill.
        let large = Array(String(repeating: " ", count: 1_000_000).utf8)
        for number in 10..<26 {
            #expect(etcd.put([(Array("/tweaks/production/search/schema/bb.\(number)".utf8), large)]))
        }
        let result = try kill("search", "--why", "a")
        #expect(result.succeeded)
        #expect(result.error.contains("it is not checked whether this feature exists"), "\(result.error)")
    }

    @Test func `of a tweak that does not take it is told as one without an effect`() throws {
        let limit = "Search/Index/Limit"
        #expect(try host.fleet("set", limit, "4").succeeded)
        #expect(try kill(limit, "--why", "a").succeeded)
        #expect(try host.fleet("set", limit, "5").error.contains("the value takes effect after"))
        let json = #"{ "tweaks": [ { "tweak": "\#(limit)", "type": "int32" } ] }"#
        #expect(etcd.put([(Array("/tweaks/production/search/schema/aa.1".utf8), Array(json.utf8))]))
        for arguments in [
            ["set", limit, "6"], ["rollback", "3"], ["list"], ["get", limit],
            ["declare", Locations.product("live-program")], ["kill", limit, "--why", "a", "--force"],
        ] {
            let result = try run(
                AgentHost.program,
                ["fleet", arguments[0], "--configuration", host.home("agent.json"), "search"]
                    + arguments.dropFirst(), home: host.home)
            #expect(result.succeeded, "\(arguments): \(result.error)")
            #expect(result.error.contains("warning: \(limit): false is not an int32"), "\(result.error)")
            #expect(result.error.contains("; so its kill has no effect\n"), "\(result.error)")
            #expect(!result.error.contains("it is killed by "), "\(result.error)")
        }
        // A build that takes it is stopped.
        let other = #"{ "tweaks": [ { "tweak": "\#(limit)", "type": "bool" } ] }"#
        #expect(etcd.put([(Array("/tweaks/production/search/schema/bb.2".utf8), Array(other.utf8))]))
        #expect(try host.fleet("get", limit).error.contains("it is killed by "))
    }

    @Test func `does not keep an agent from values if it may only read these`() throws {
        try etcd.put(tweak, "{ \"value\": true }")
        #expect(try kill("search", "--why", "a").succeeded)
        for command in [
            ["user", "add", "root:a"], ["role", "add", "root"], ["user", "grant-role", "root", "root"],
            ["user", "add", "agent:secret"], ["role", "add", "reader"],
            [
                "role", "grant-permission", "reader", "--prefix=true", "read",
                "/tweaks/production/search/values/",
            ],
            ["user", "grant-role", "agent", "reader"], ["auth", "enable"],
        ] {
            #expect(try etcd.ctl(command).succeeded, "\(command)")
        }
        let password = try host.home.write("password", "secret\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: password)
        try host.follow(etcd.endpoints, #""user": "agent", "passwordFile": "password""#)
        let result = try host.once()
        #expect(result.succeeded, "\(result.error)")
        #expect(result.error.contains("kills are not followed: "), "\(result.error)")
        #expect(try host.flag(tweak) == true)
        #expect(try killed() == nil)
    }

    @Test(arguments: ["", "{", "[]", "{ \"value\": {} }", "{ \"value\": false, \"later\": 1 }"])
    func `stays while its key is malformed`(json: String) throws {
        #expect(try kill("search", "--why", "a").succeeded)
        #expect(try host.once().succeeded)
        #expect(try killed() == false)
        #expect(etcd.put([(Array("/tweaks/production/search/values.kill/\(tweak)".utf8), Array(json.utf8))]))
        let result = try host.once()
        #expect(result.error.contains("; the previous value stays"), "\(result.error)")
        #expect(try killed() == false)
        #expect(try host.fleet("unkill", "search").succeeded)
        #expect(try host.once().succeeded)
        #expect(try killed() == nil)
    }
}
#endif
