// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `Values of a fleet and what builds declare` {
    let host: AgentHost
    let etcd: EtcdMembers
    private let tweak = "Search/Index/Limit"
    private static let root = "/tweaks/production/search/schema/"

    init() throws {
        (host, etcd) = (try AgentHost(source: "fleet"), try EtcdMembers())
        try host.follow(etcd.endpoints)
    }

    private static let integer =
        #"{ "tweak": "Search/Index/Limit", "type": "int32", "minimum": 0, "maximum": 10 }"#
    private static let double = #"{ "tweak": "Search/Index/Limit", "type": "double", "maximum": 100 }"#
    private static let mode =
        #"{ "tweak": "Search/Index/Mode", "type": "string", "choices": [ { "value": "fast" }, { "value": "slow" } ] }"#

    /// Publishes a build as an agent does.
    private func publish(_ id: String, _ tweaks: String...) {
        let json =
            #"{ "program": "/usr/bin/search", "by": "web1", "at": "", "tweaks": [\#(tweaks.joined(separator: ","))] }"#
        #expect(etcd.put([(Array((Self.root + id).utf8), Array(json.utf8))]))
    }

    private func refuses(
        _ arguments: [String], _ reason: String, application: String = "search",
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let result = try run(
            AgentHost.program,
            ["fleet", "set", "--configuration", host.home("agent.json"), application] + arguments,
            home: host.home)
        #expect(result.status == EX_DATAERR, sourceLocation: location)
        #expect(result.error.contains(reason), "\(result.error)", sourceLocation: location)
        #expect(result.error.contains("--force"), "\(result.error)", sourceLocation: location)
        #expect(result.output.isEmpty, sourceLocation: location)
    }

    @Test func `are refused if of the wrong type, outside the limits or not among the choices`() throws {
        publish("aa.1", Self.integer, Self.mode)
        try refuses([tweak, "1.5"], "\(tweak): 1.5 is not an int32; allowed: an integer from 0 to 10")
        try refuses([tweak, "11"], "\(tweak): 11 is outside the limits")
        try refuses(["Mode", "quick"], #"allowed: one of "fast", "slow""#)
        #expect(try host.fleet("list").output == "search: no values\n")
        #expect(try host.fleet("set", "Limit", "5").output.hasPrefix("\(tweak): none → 5"))
        #expect(try host.fleet("set", "Mode", "slow").output.hasPrefix("Search/Index/Mode: none → \"slow\""))
    }

    @Test func `are none of an optional tweak only`() throws {
        publish(
            "aa.1", #"{ "tweak": "Search/Index/Limit", "type": "double", "maximum": 2, "optional": true }"#,
            Self.mode)
        try refuses(["Mode", "none"], #"allowed: one of "fast", "slow""#)
        try refuses([tweak, "3"], "allowed: a number of at most 2.0, or none")
        #expect(try host.fleet("set", "Limit", "none").output.hasPrefix("\(tweak): none → \"none\""))
        #expect(try host.fleet("builds", "--tweaks").output.contains("double?"))
    }

    @Test func `are refused if one build of several would differ`() throws {
        publish("aa.1", Self.integer)
        publish("bb.2", Self.double)
        try refuses([tweak, "1.5"], "(build aa.1 of /usr/bin/search, published by web1")
        try refuses([tweak, "50"], "outside the limits; allowed: an integer from 0 to 10 (build aa.1")
        try refuses([tweak, "500"], "(build bb.2")
        #expect(try host.fleet("set", tweak, "7").succeeded)
        let builds = try host.fleet("builds").output.split(separator: "\n").map { $0.prefix(4) }
        #expect(builds == ["BUIL", "bb.2", "aa.1"])
        // Once no host has it.
        #expect(try host.fleet("builds", "--remove", "a").succeeded)
        #expect(try host.fleet("set", tweak, "1.5").succeeded)
        #expect(try host.fleet("builds", "--remove", "a").status == EX_DATAERR)
    }

    @Test func `are refused for mistyped tweaks and applications`() throws {
        publish("aa.1", Self.integer)
        try refuses(
            ["Search/Index/Limti", "5"],
            "no published build of search declares it, so it is only set with --force; did you mean \(tweak)?"
        )
        try refuses([tweak, "5"], "did you mean search?", application: "serach")
        try refuses([tweak, "5"], "motor: no build of it is published", application: "motor")
        #expect(try etcd.ctl(["get", "--prefix", "/tweaks/production/motor/"]).output.isEmpty)
    }

    @Test func `are set with force`() throws {
        publish("aa.1", Self.integer)
        #expect(try host.fleet("set", tweak, "1.5", "--force").output.hasPrefix("\(tweak): none → 1.5"))
        #expect(try host.fleet("set", "Search/Index/New", "5", "--force").succeeded)
        // A tweak with a value is known.
        let again = try host.fleet("set", "Search/Index/New", "6")
        #expect(again.succeeded)
        #expect(again.error.contains("no published build declares it"), "\(again.error)")
        #expect(try host.fleet("set", "A/B/C", "5", "--force", application: "motor").succeeded)
    }

    @Test func `are shown of applications that there are, and others are told`() throws {
        #expect(try host.fleet("list", application: "serach").error.isEmpty)
        #expect(try host.fleet("set", tweak, "5").succeeded)
        for command in ["list", "history", "status", "builds", "rollouts"] {
            let result = try host.fleet(command, application: "serach")
            #expect(result.succeeded)
            #expect(
                result.error
                    == "tweak fleet: warning: serach: no such application; did you mean search?\n",
                "\(command): \(result.error)")
            #expect(try host.fleet(command).error.isEmpty)
        }
    }

    @Test func `are set with a warning if no known host has the name`() throws {
        #expect(try host.fleet("set", tweak, "5", "--for", #"{ "only-host": ["web9"] }"#).error.isEmpty)
        report("web1", unpublished: nil)
        for (names, isMeant) in [(#"["web9", "db*"]"#, false), (#"["web*"]"#, true), ("[]", true)] {
            let result = try host.fleet("set", tweak, "5", "--for", #"{ "only-host": \#(names) }"#)
            #expect(result.succeeded)
            #expect(
                result.error.contains("none of 1 known host has a name that only-host asks for") != isMeant)
        }
    }

    @Test func `are reset only if somebody knows them`() throws {
        #expect(try host.fleet("reset", "Search/Index/Limti").output == "search: nothing had to be changed\n")
        publish("aa.1", Self.integer, Self.mode)
        #expect(try host.fleet("set", tweak, "5").succeeded)
        let result = try host.fleet("reset", "Search/Index/Limti")
        #expect(result.status == EX_DATAERR)
        #expect(
            result.error.contains(
                "it has no value, and no published build declares it; did you mean \(tweak)?"),
            "\(result.error)")
        #expect(try host.fleet("reset", "Mode").output == "search: nothing had to be changed\n")
        #expect(try host.fleet("reset", "Limit").output.hasPrefix("\(tweak): 5 → none"))
    }

    @Test func `are said to be missing if a build declares the tweak`() throws {
        publish("aa.1", Self.integer, Self.mode)
        #expect(try host.fleet("set", tweak, "5").succeeded)
        for arguments in [["Mode"], ["Search/Index/Mode", "--format", "json"]] {
            let result = try run(
                AgentHost.program,
                ["fleet", "get", "--configuration", host.home("agent.json"), "search"] + arguments,
                home: host.home)
            #expect(result.status == EX_DATAERR && result.output.isEmpty)
            #expect(result.error.hasSuffix(": Search/Index/Mode: it has no value\n"), "\(result.error)")
        }
        let unknown = try host.fleet("get", "Elsewhere")
        #expect(unknown.status == EX_DATAERR)
        #expect(
            unknown.error.hasSuffix(": Elsewhere: no such tweak; tweak fleet list shows all\n"),
            "\(unknown.error)")
    }

    @Test func `are not checked where nothing is published`() throws {
        #expect(try host.fleet("set", tweak, "1.5").succeeded)
        #expect(try host.fleet("set", tweak, "5", application: "unrelated").succeeded)
    }

    @Test func `are checked against a published program`() throws {
        let program = Locations.product("live-program")
        let declared = try host.fleet("declare", program)
        #expect(declared.succeeded, "\(declared.error)")
        #expect(declared.output.contains(" declares "), "\(declared.output)")
        #expect(try host.fleet("declare", program).output.contains("was published before"))
        try refuses(["Step", "1.5"], "Live/Values/Step: 1.5 is not an int32")
        #expect(try host.fleet("set", "Step", "3").output.hasPrefix("Live/Values/Step: none → 3"))
    }

    @Test func `are not declared by kills and other files of the host that publishes a program`() throws {
        let program = Locations.product("live-program")
        try host.home.write(
            "state/tweaks/live-program/fleet.json",
            """
            { "values": { "Features": { "mistyped": { "enabled": true } } },
              "kills": { "Features": { "instant_search": { "enabled": false } } } }
            """)
        try host.home.write(
            "state/tweaks/live-program/remote.json",
            #"{ "values": { "Features": { "remote": { "depth": 5 } } } }"#)
        let kill = try host.fleet("kill", "instant_search", "--why", "it is broken")
        #expect(kill.succeeded)
        #expect(kill.error.contains("no build of search is published, so it is not checked"), "\(kill.error)")
        let declared = try host.fleet("declare", program)
        #expect(declared.succeeded)
        let warning = "Features/instant_search/enabled: it is killed, but no published build declares it"
        #expect(declared.error.contains(warning), "\(declared.error)")
        let tweaks = try host.fleet("builds", "--tweaks").output
        #expect(tweaks.contains("Live/Values/Step") && !tweaks.contains("Features/"), "\(tweaks)")
        #expect(try host.fleet("list").error.contains(warning))
        for tweak in ["mistyped/enabled", "remote/depth"] {
            try refuses(["Features/\(tweak)", "true"], "no published build of search declares it")
            let known = try host.fleet("set", "Features/\(tweak)", "1", "--force", "--program", program)
            #expect(known.status == EX_DATAERR)
            #expect(known.error.contains("does not declare it"), "\(known.error)")
        }
        #expect(try host.fleet("unkill", "instant_search").succeeded)
        let again = try host.fleet("kill", "instant_search", "--why", "it is broken")
        #expect(again.status == EX_DATAERR)
        #expect(try host.fleet("list").error.isEmpty)
    }

    @Test func `are published by the same name by a command and by agents`() throws {
        let program = Locations.product("live-program")
        try host.home.write(
            "state/tweaks/live-program/remote.json",
            #"{ "values": { "Features": { "a": { "enabled": true } } } }"#)
        #expect(try host.fleet("declare", program).output.contains(" declares "))
        try host.follow(etcd.endpoints, application: #""programs": [ "\#(program)" ]"#)
        #expect(try host.once().error.isEmpty)
        #expect(
            try etcd.ctl(["get", "--prefix", "--keys-only", Self.root]).output.split(separator: "\n").count
                == 1)
    }

    @Test func `are restored only if all builds accept them`() throws {
        #expect(try host.fleet("set", tweak, "50").succeeded)
        #expect(try host.fleet("set", "Search/Index/Old", "1").succeeded)
        #expect(try host.fleet("reset", "Search/Index/Old").succeeded)
        #expect(try host.fleet("set", tweak, "5").succeeded)
        publish("aa.1", Self.integer)
        for arguments in [["3"], ["3", "--dry-run"], ["3", tweak]] {
            let result = try run(
                AgentHost.program,
                ["fleet", "rollback", "--configuration", host.home("agent.json"), "search"] + arguments,
                home: host.home)
            #expect(result.status == EX_DATAERR && result.output.isEmpty, "\(result.output)")
            #expect(result.error.contains("\(tweak): 50 is outside the limits"), "\(result.error)")
            #expect(result.error.contains("--force"), "\(result.error)")
            #expect(
                result.error.contains("\n  Search/Index/Old: no published build") == (arguments.last != tweak)
            )
        }
        #expect(try host.fleet("get", tweak).output == "5\n")
        // What is removed need not be accepted.
        #expect(try host.fleet("set", "Search/Index/New", "1", "--force").succeeded)
        #expect(try host.fleet("rollback", "5").output.hasPrefix("Search/Index/New: 1 → none"))
        let forced = try host.fleet("rollback", "3", "--force").output
        #expect(
            forced.contains("\(tweak): 5 → 50 ") && forced.contains("Search/Index/Old: none → 1 "),
            "\(forced)")
    }

    @Test func `are restored only if the value for other hosts is accepted, too`() throws {
        try etcd.put(tweak, #"{ "value": 5, "for": { "percentage": 10 }, "otherwise": { "value": 50 } }"#)
        #expect(try host.fleet("set", tweak, "7").succeeded)
        publish("aa.1", Self.integer)
        let result = try host.fleet("rollback", "2")
        #expect(result.status == EX_DATAERR)
        #expect(result.error.contains("\(tweak): 50 is outside the limits"), "\(result.error)")
    }

    /// Reports that a host has this number of unpublished programs; `nil` for an agent without programs.
    private func report(_ host: String, unpublished: Int?) {
        let member = unpublished.map { #", "unpublished": \#($0)"# } ?? ""
        let json = #"{ "version": 0, "revision": 1\#(member) }"#
        #expect(etcd.put([(Array("/tweaks/production/search/hosts/\(host)".utf8), Array(json.utf8))]))
    }

    @Test func `are set with a warning until all known hosts have published`() throws {
        report("web1", unpublished: nil)
        report("web2", unpublished: nil)
        #expect(try host.fleet("set", tweak, "5").error.isEmpty)
        report("web1", unpublished: 1)
        #expect(
            try host.fleet("set", tweak, "6").error.contains(
                "warning: 0 of 2 known hosts have published what their programs declare"))
        publish("aa.1", Self.integer)
        report("web1", unpublished: 0)
        for arguments in [["set", tweak, "7"], ["rollback", "2"]] {
            let result = try run(
                AgentHost.program,
                ["fleet", arguments[0], "--configuration", host.home("agent.json"), "search"]
                    + arguments.dropFirst(), home: host.home)
            #expect(result.succeeded)
            #expect(
                result.error.contains(
                    "warning: 1 of 2 known hosts has published what their programs declare"),
                "\(result.error)")
        }
        report("web2", unpublished: 0)
        #expect(try host.fleet("set", tweak, "9").error.isEmpty)
    }

    @Test func `are checked against the programs of agents`() throws {
        let program = Locations.product("live-program")
        try host.follow(etcd.endpoints, application: #""programs": [ "\#(program)" ]"#)
        let result = try host.once()
        #expect(result.succeeded && result.error.contains("was published"), "\(result.error)")
        #expect(try host.once().error.isEmpty)
        try refuses(["Step", "red"], "Live/Values/Step")
        // Values and history are as an older agent knows them.
        let keys = try etcd.ctl(["get", "--prefix", "--keys-only", "/tweaks/"]).output
        #expect(keys.split(separator: "\n").allSatisfy { $0.hasPrefix(Self.root) }, "\(keys)")
    }

    @Test func `leave agents alone that cannot publish`() throws {
        try host.follow(etcd.endpoints, application: #""programs": [ "\#(host.home("missing"))" ]"#)
        let result = try host.once()
        #expect(result.succeeded)
        #expect(result.error.contains("search: its declarations are not published: "), "\(result.error)")
    }

    @Test func `need the newest builds only`() throws {
        for number in 10..<30 { publish("aa.\(number)", Self.integer) }
        #expect(etcd.put([(Array((Self.root + "Not a build").utf8), [])]))
        #expect(try host.fleet("declare", Locations.product("live-program")).succeeded)
        let keys = try etcd.ctl(["get", "--prefix", "--keys-only", Self.root]).output.split(separator: "\n")
        #expect(keys.count == 17, "\(keys)")
        #expect(keys.contains { $0.hasSuffix("Not a build") } && keys.contains { $0.hasSuffix("aa.29") })
        #expect(!keys.contains { $0.hasSuffix("aa.14") })
    }

    @Test(arguments: [
        "", "[]", "{", "{ \"tweaks\": 1 }", "{ \"tweaks\": [ {} ] }",
        "{ \"tweaks\": [ { \"tweak\": \"A\", \"type\": \"int32\" } ] }",
        "{ \"tweaks\": [ { \"tweak\": \"A/B/C\", \"type\": \"int33\" } ] }",
        "{ \"tweaks\": [ { \"tweak\": \"A/B/C\", \"type\": \"int32\", \"minimum\": \"a\" } ] }",
        "{ \"tweaks\": [ { \"tweak\": \"A/B/C\", \"type\": \"bool\", \"choices\": [ 1 ] } ] }",
    ])
    func `do not depend on malformed declarations`(json: String) throws { try ignores(json) }

    @Test func `do not depend on deep or long declarations`() throws {
        try ignores(String(repeating: "[", count: 100_000))
        try ignores("\"" + String(repeating: "x", count: 600_000) + "\"")
    }

    private func ignores(_ json: String) throws {
        publish("aa.1", Self.integer)
        #expect(etcd.put([(Array((Self.root + "bb.2").utf8), Array(json.utf8))]))
        let result = try host.fleet("set", tweak, "5")
        #expect(result.succeeded)
        #expect(result.error.contains("schema/bb.2: "), "\(result.error.prefix(300))")
        try refuses([tweak, "1.5"], "is not an int32")
    }

    @Test func `are not set unchecked if the declarations are too large to read`() throws {
        let large = Array(String(repeating: " ", count: 1_000_000).utf8)
        for number in 10..<26 { #expect(etcd.put([(Array((Self.root + "aa.\(number)").utf8), large)])) }
        let result = try host.fleet("set", tweak, "5")
        #expect(result.status == EX_UNAVAILABLE)
        #expect(result.error.contains("the answer has more than"), "\(result.error)")
        #expect(try host.fleet("set", tweak, "5", "--force").succeeded)
    }
}
#endif
