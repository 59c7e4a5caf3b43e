// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import RemoteValues
import TestSupport
import Testing
import TweakRecords

@Suite struct `The values of a fleet` {
    let host: AgentHost
    let etcd: EtcdMembers
    private let tweak = "Features/search/enabled"

    init() throws {
        (host, etcd) = (try AgentHost(source: "fleet"), try EtcdMembers())
        try host.follow(etcd.endpoints)
    }

    private func succeed(_ arguments: String...) throws -> String {
        let result = try run(
            AgentHost.program,
            ["fleet", arguments[0], "--configuration", host.home("agent.json"), "search"]
                + arguments.dropFirst(), home: host.home)
        #expect(result.succeeded, "\(result.error)")
        return result.output
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `are set, shown and reset, with author and reason`() throws {
        #expect(try succeed("list") == "search: no values\n")
        #expect(
            try succeed("set", tweak, "true", "--by", "ann@ops", "--why", "go live")
                == "\(tweak): none → true (revision 2)\n")
        #expect(try succeed("get", "enabled") == "true\n")
        let list = try succeed("list").split(separator: "\n")
        #expect(
            list.first?.hasPrefix("TWEAK                    VALUE  REVISION  AT                    BY  ")
                == true)
        #expect(list.first?.hasSuffix("  WHY") == true)
        #expect(list.last?.hasPrefix("\(tweak)  true   2         2") == true)
        #expect(list.last?.hasSuffix("Z  \(AgentHost.author) (ann@ops)  go live") == true)
        let listed = try json(try succeed("list", "--format", "json"))
        #expect(listed["revision"] as? Int == 2)
        let values = try #require(listed["tweaks"] as? [[String: Any]])
        #expect(values.count == 1)
        #expect(values[0]["value"] as? Bool == true)
        #expect(values[0]["by"] as? String == "\(AgentHost.author) (ann@ops)")
        #expect(try succeed("reset", tweak) == "\(tweak): true → none (revision 3)\n")
        #expect(try succeed("reset", tweak) == "search: nothing had to be changed\n")
        #expect(try host.fleet("get", tweak).status == EX_DATAERR)
    }

    @Test func `are named one for one, on lines of their own`() throws {
        for name in ["C", "D"] { _ = try succeed("set", "A/B/\(name)", "1") }
        for arguments in [["set", "B", "2"], ["rollback", "2", "B"]] {
            let result = try run(
                AgentHost.program,
                ["fleet", arguments[0], "--configuration", host.home("agent.json"), "search"]
                    + arguments.dropFirst(), home: host.home)
            #expect(result.status == EX_DATAERR)
            #expect(
                result.error.hasSuffix("B: it is 2 tweaks; name one\n  A/B/C\n  A/B/D\n"), "\(result.error)")
        }
    }

    @Test func `are set over one connection, with a request to read and one to write`() throws {
        _ = try succeed("set", tweak, "true")
        let port = try #require(URL(string: etcd.endpoints[0])?.port.flatMap { UInt16(exactly: $0) })
        let proxy = try CountingProxy(to: port)
        try host.follow([proxy.url])
        #expect(try succeed("set", tweak, "false") == "\(tweak): true → false (revision 3)\n")
        #expect(proxy.requests == ["/v3/kv/txn", "/v3/kv/txn"])
        #expect(proxy.connections == 1)
        #expect(try succeed("reset", tweak) == "\(tweak): false → none (revision 4)\n")
        #expect(proxy.requests.count == 4)
        #expect(proxy.connections == 2)
    }

    @Test func `are set with warnings as objects, for scripts`() throws {
        _ = try succeed("kill", tweak, "--why", "broken")
        let result = try host.fleet("set", tweak, "true", "--format", "json")
        #expect(result.succeeded, "\(result.error)")
        let lines = try result.error.split(separator: "\n").map { try json(String($0)) }
        let warning = try #require(lines.first { $0["kind"] as? String == "hidden" }, "\(result.error)")
        #expect(warning["tweak"] as? String == tweak)
        #expect((warning["message"] as? String)?.hasPrefix("\(tweak): it is killed by ") == true)
    }

    private func author() throws -> String? {
        try json(try succeed("get", tweak, "--format", "json"))["by"] as? String
    }

    @Test func `are recorded with user and host, whatever somebody types`() throws {
        _ = try succeed("set", tweak, "true")
        #expect(try author() == AgentHost.author)
        _ = try succeed("set", tweak, "false", "--by", "ann@ops")
        #expect(try author() == "\(AgentHost.author) (ann@ops)")
    }

    @Test func `are recorded with the user of etcd, whatever somebody types`() throws {
        for command in [
            ["user", "add", "root:secret"], ["role", "add", "root"], ["user", "grant-role", "root", "root"],
            ["auth", "enable"],
        ] {
            #expect(try etcd.ctl(command).succeeded, "\(command)")
        }
        let password = try host.home.write("password", "secret\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: password)
        try host.follow(etcd.endpoints, #""user": "root", "passwordFile": "password""#)
        _ = try succeed("set", tweak, "true")
        #expect(try author() == "root")
        _ = try succeed("set", tweak, "false", "--by", "ann@ops")
        #expect(try author() == "root (ann@ops)")
    }

    @Test func `have the type of the JSON value`() throws {
        let values = ["true", "-5", "2.5", "\"on\"", "\"\"", "18446744073709551615"]
        for (number, value) in values.enumerated() {
            #expect(
                try succeed("set", "A/B/\(number)", "--", value)
                    == "A/B/\(number): none → \(value) (revision \(number + 2))\n")
        }
    }

    @Test func `are not guessed`() throws {
        for value in ["on", "", "[]", "null", "18446744073709551616x"] {
            let result = try host.fleet("set", "A/B/C", value)
            #expect(result.status == EX_DATAERR)
            #expect(result.error.contains("--program supplies the type"), "\(result.error)")
        }
    }

    @Test func `of features can be written as on and off`() throws {
        let switched = "Features/instant-search/enabled"
        #expect(
            try succeed("set", "instant-search/enabled", "on") == "\(switched): none → true (revision 2)\n")
        #expect(try succeed("set", "instant-search", "off") == "\(switched): true → false (revision 3)\n")
        #expect(
            try succeed("set", "Features/instant-search", "toggle")
                == "\(switched): false → true (revision 4)\n")
        let result = try host.fleet("set", switched, "maybe")
        #expect(result.status == EX_DATAERR)
        #expect(result.error.contains("\"maybe\" is not a bool; allowed: true or false"), "\(result.error)")
    }

    @Test func `of numbers can be arithmetic`() throws {
        _ = try succeed("set", "A/B/C", "200")
        #expect(try succeed("set", "A/B/C", "+=10%") == "A/B/C: 200 → 220 (revision 3)\n")
    }

    @Test func `keep their type`() throws {
        _ = try succeed("set", tweak, "true")
        #expect(try succeed("set", tweak, "off") == "\(tweak): true → false (revision 3)\n")
        #expect(try host.fleet("set", tweak, "5").status == EX_DATAERR)
        _ = try succeed("set", "A/B/C", "\"red\"")
        #expect(try succeed("set", "A/B/C", "5 blue") == "A/B/C: \"red\" → \"5 blue\" (revision 5)\n")
        _ = try succeed("set", "A/B/D", "5")
        #expect(try succeed("set", "A/B/D", "2.5").contains("5 → 2.5"))
        #expect(try host.fleet("set", "A/B/D", "red").status == EX_DATAERR)
    }

    @Test func `are checked against a program, which also completes names`() throws {
        let program = Locations.product("live-program")
        #expect(
            try succeed("set", "Step", "3", "--program", program)
                == "Live/Values/Step: none → 3 (revision 2)\n")
        let wrong = try host.fleet("set", "Step", "red", "--program", program)
        #expect(wrong.status == EX_DATAERR)
        #expect(wrong.error.contains("Live/Values/Step"), "\(wrong.error)")
        #expect(try host.fleet("set", "Nothing", "3", "--program", program).status == EX_DATAERR)
        #expect(try host.fleet("set", "Step", "3", "--program", host.home("none")).status == EX_NOINPUT)
    }

    @Test func `can apply to chosen hosts`() throws {
        let filters = "{ \"percentage\": 10 }"
        #expect(
            try succeed("set", tweak, "true", "--for", filters)
                == "\(tweak): none → true for {\"percentage\":10} (revision 2)\n")
        for wrong in ["{ \"percentage\": 101 }", "{ \"key\": \"a\" }"] {
            #expect(try host.fleet("set", tweak, "true", "--for", wrong).status == EX_DATAERR)
        }
        #expect(try host.fleet("set", tweak, "true", "--for", "[]").status == EX_USAGE)
    }

    @Test func `apply to no host if a filter is unknown`() throws {
        let result = try host.fleet("set", tweak, "true", "--for", "{ \"percentag\": 10 }")
        #expect(result.status == EX_DATAERR)
        #expect(
            result.error.hasPrefix(
                "tweak-agent: \(tweak): for.percentag: no such filter; allowed: only-os-versions, "),
            "\(result.error)")
        #expect(result.error.hasSuffix(", percentage; did you mean percentage?\n"))
        #expect(try succeed("list") == "search: no values\n")
    }

    @Test func `have lower precedence than a web server, which is reported`() throws {
        try host.home.write(
            "state/tweaks/search/remote.json",
            """
            { "from": "https://a.example/features.json", "values": { "Features": { "search": { "enabled": false } } } }
            """)
        let result = try host.fleet("set", tweak, "true")
        #expect(result.succeeded)
        #expect(result.output == "\(tweak): none → true (revision 2)\n")
        #expect(
            result.error
                == "tweak fleet: warning: \(tweak): on this host remote takes precedence over fleet: false, from "
                + "https://a.example/features.json\n")
        #expect(try host.fleet("set", "A/B/C", "1").error.isEmpty)
        #expect(try host.fleet("reset", tweak).error.isEmpty)
    }

    @Test func `can be changed only if unchanged since`() throws {
        _ = try succeed("set", tweak, "true", "--by", "ann", "--if-revision", "0")
        let loser = try host.fleet("set", tweak, "false", "--if-revision", "0")
        #expect(loser.status == EX_TEMPFAIL)
        #expect(
            loser.error
                == "tweak-agent: \(tweak): it was changed by \(AgentHost.author) (ann) at revision 2, and not at 0; "
                + "nothing was changed\n")
        #expect(try host.fleet("reset", tweak, "--if-revision", "1").status == EX_TEMPFAIL)
        _ = try succeed("reset", tweak, "--if-revision", "2")
    }

    @Test func `can be rolled back to a revision, all or one`() throws {
        _ = try succeed("set", "A/B/C", "1")
        _ = try succeed("set", "A/B/D", "2", "--for", "{ \"percentage\": 50 }")
        // Revision 3.
        _ = try succeed("set", "A/B/C", "10")
        _ = try succeed("reset", "A/B/D")
        _ = try succeed("set", "A/B/E", "30")
        #expect(
            try succeed("rollback", "3")
                == """
                A/B/C: 10 → 1 (revision 7)
                A/B/D: none → 2 for {"percentage":50} (revision 7)
                A/B/E: 30 → none (revision 7)

                """)
        #expect(try succeed("rollback", "3") == "search: nothing had to be changed\n")
        #expect(try succeed("rollback", "4", "A/B/C") == "A/B/C: 1 → 10 (revision 8)\n")
        #expect(try succeed("rollback", "7").contains("10 → 1"))
        let history = try succeed("history").split(separator: "\n")
        #expect(history.count == 1 + 5 + 3 + 2)
        #expect(history.last?.hasSuffix("back to revision 7") == true)
        #expect(try succeed("history", "A/B/E").split(separator: "\n").count == 1 + 1 + 3)
        #expect(try succeed("history", "--last", "1").split(separator: "\n").count == 2)
        let unknown = try host.fleet("rollback", "99")
        #expect(unknown.status == EX_DATAERR)
        #expect(unknown.error.contains("no revision 99 yet; the newest is 9"), "\(unknown.error)")
    }

    @Test func `have a history that compaction leaves alone`() throws {
        for value in ["1", "2", "3"] { _ = try succeed("set", "A/B/C", value) }
        #expect(try etcd.ctl(["compact", "--physical", "4"]).succeeded)
        #expect(try succeed("rollback", "2") == "A/B/C: 3 → 1 (revision 5)\n")
        let history = try json(try succeed("history", "--format", "json"))
        let changes = try #require(history["changes"] as? [[String: Any]])
        #expect(changes.map { $0["revision"] as? Int } == [2, 3, 4, 5])
    }

    private func key(_ number: Int) -> String {
        let digits = "\(number)"
        return "/tweaks/production/search/history/" + String(repeating: "0", count: 20 - digits.count)
            + digits
    }

    /// Puts a record there as a change makes one.
    private func record(_ number: Int, _ value: Int) -> (key: [UInt8], value: [UInt8]) {
        let change = #"{ "tweak": "A/B/D", "new": { "value": \#(value) } }"#
        let json = #"{ "id": "a", "by": "ann", "at": "", "changes": [ \#(change) ] }"#
        return (Array(key(number).utf8), Array(json.utf8))
    }

    @Test func `have a history of a thousand changes`() throws {
        // No change has a higher number than its revision.
        DispatchQueue.concurrentPerform(iterations: 1001) { number in
            #expect(etcd.put([(Array("other".utf8), Array("\(number)".utf8))]))
        }
        for number in [1, 2, 3, 1000, 1001] { #expect(etcd.put([record(number, number)])) }
        _ = try succeed("set", "A/B/C", "5")
        let kept = try etcd.ctl(["get", "--prefix", "--keys-only", "/tweaks/production/search/history/"])
        #expect(kept.output.split(separator: "\n").map(String.init) == [1, 3, 1000, 1001, 1002].map(key))
        // What is not known cannot be undone, once etcd does not know it either.
        #expect(try etcd.ctl(["compact", "1008"]).succeeded)
        let result = try host.fleet("rollback", "1005")
        #expect(result.status == EX_DATAERR)
        #expect(result.error.contains("not all changes since revision 1005 are known"), "\(result.error)")
        #expect(try succeed("rollback", "1007", "A/B/C").contains("5 → none"))
    }

    @Test func `can be changed in spite of unexpected keys in the history`() throws {
        _ = try succeed("set", tweak, "true")
        let root = "/tweaks/production/search/history/"
        let strange = [
            "zzz", "", "0000000000000000000x", "99999999999999999999", "09223372036854775807",
            "00000000000000000002", "00000000000000009999", "0", "-0000000000000000001", "5",
        ]
        for key in strange {
            #expect(etcd.put([(Array((root + key).utf8), Array("{}".utf8))]))
        }
        let result = try host.fleet("set", tweak, "false")
        #expect(result.succeeded, "\(result.error)")
        #expect(result.output.hasPrefix("\(tweak): true → false"))
        for key in ["09223372036854775807", "00000000000000009999"] {
            let warning = "\(root)\(key): this is not the number of a change"
            #expect(result.error.contains(warning), "\(result.error)")
        }
        #expect(try host.fleet("reset", tweak).output.hasPrefix("\(tweak): false → none"))
        #expect(try host.fleet("rollback", "2").output.hasPrefix("\(tweak): none → true"))
        let history = try host.fleet("history")
        #expect(history.output.split(separator: "\n").count == 5, "\(history.output)")
        #expect(history.error.contains("\(root)zzz: this is not the number"), "\(history.error)")
    }

    @Test func `can be changed whatever the history and the values contain`() async throws {
        let editor = try FleetEditor(try application())
        defer { Task { await editor.end() } }
        let tweak = TweakKey("A", "B", "C")
        var generator = SeededGenerator(seed: 16)
        let root = "/tweaks/production/search/"
        for round in 1...40 {
            // Keys like those that are there, and values like those.
            let number = Int.random(in: 0...3 * round, using: &generator)
            let keys = [
                key(number), key(Int.random(in: 0...Int.max, using: &generator)), root + "values/A/B/D",
            ]
            let record = record(number, round).value
            var entries: [[UInt8]: [UInt8]] = [:]
            for key in keys.flatMap({ damaged(Array($0.utf8), count: 2, seed: generator.next()) })
            where key.starts(with: root.utf8) && key != Array((root + "values/A/B/C").utf8) {
                entries[key] = damaged(record, count: 1, seed: generator.next())[1]
            }
            #expect(entries.isEmpty || etcd.put(entries.map { (key: $0.key, value: $0.value) }))
            let change = try await editor.change(by: "ann", why: nil) { _ in
                [tweak: FleetValue(.integer(Int128(round)))]
            }
            let made = try #require(change)
            let reset = try await editor.change(by: "ann", why: nil) { _ in [tweak: nil] }
            #expect(reset?.parts.first?.old?.value == .integer(Int128(round)))
            let then = try await editor.contents(at: made.revision)
            _ = try await editor.change(by: "ann", why: nil, isWithHistory: true) {
                (contents) throws(FleetProblem) in
                try FleetEditor.rollback(to: made.revision, of: tweak, contents, then)
            }
            let value = try await editor.contents()[tweak]?.value.get().value
            #expect(value == .integer(Int128(round)))
        }
        #expect(try await editor.contents(isWithHistory: true).changes.count >= 40)
        #expect(try host.fleet("history").succeeded)
    }

    private func application() throws -> EtcdSettings {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: host.home("agent.json"))))
        var cluster = try #require(try EtcdCluster(ofConfiguration: bytes, path: ""))
        // A busy machine may take longer than users want to wait.
        cluster.timeout = .seconds(60)
        return EtcdSettings(name: "search", cluster: cluster)
    }

    @Test func `can be rolled back even after changes without tweak fleet`() throws {
        _ = try succeed("set", "A/B/C", "1")
        try etcd.put("A/B/C", "{ \"value\": 5 }")
        try etcd.put("A/B/D", "{ \"value\": 6 }")
        // Revision 5.
        _ = try succeed("set", "A/B/C", "7")
        try etcd.put("A/B/C", "{ \"value\": 8 }")
        #expect(try succeed("rollback", "2") == "A/B/C: 8 → 1 (revision 7)\nA/B/D: 6 → none (revision 7)\n")
        #expect(try succeed("rollback", "4") == "A/B/C: 1 → 5 (revision 8)\nA/B/D: none → 6 (revision 8)\n")
        #expect(try succeed("rollback", "5", "A/B/C") == "A/B/C: 5 → 7 (revision 9)\n")
    }

    @Test func `cannot be rolled back beyond the history`() throws {
        _ = try succeed("set", "A/B/C", "1")
        _ = try succeed("set", "A/B/E", "1")
        // Revision 4.
        try etcd.put("A/B/C", "{ \"value\": 5 }")
        _ = try succeed("set", "A/B/C", "7")
        _ = try succeed("set", "A/B/E", "2")
        etcd.remove("A/B/E")
        #expect(try etcd.ctl(["compact", "--physical", "7"]).succeeded)
        let result = try host.fleet("rollback", "3")
        #expect(result.status == EX_DATAERR)
        #expect(
            result.error.contains("A/B/C: it was changed without tweak fleet at revision 4"),
            "\(result.error)")
        #expect(try succeed("rollback", "3", "A/B/E") == "A/B/E: none → 1 (revision 8)\n")
        // It was removed without a record, so that it is not known since when.
        etcd.remove("A/B/E")
        #expect(try etcd.ctl(["compact", "9"]).succeeded)
        let removed = try host.fleet("rollback", "8", "A/B/E")
        #expect(removed.error.contains("it was removed without tweak fleet"), "\(removed.error)")
        #expect(try succeed("list").contains("A/B/C  7"))
    }

    @Test func `survive concurrent changes`() async throws {
        let application = try application()
        let tweak = TweakKey("A", "B", "C")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    let editor = try FleetEditor(application)
                    for _ in 0..<5 {
                        _ = try await editor.change(by: "writer \(writer)", why: nil) { contents in
                            guard case .success(let value)? = contents[tweak]?.value,
                                case .integer(let number) = value.value
                            else { return [tweak: FleetValue(1)] }
                            return [tweak: FleetValue(.integer(number + 1))]
                        }
                    }
                    await editor.end()
                }
            }
            try await group.waitForAll()
        }
        #expect(try succeed("get", "A/B/C") == "40\n")
        let changes = try json(try succeed("history", "--format", "json"))["changes"] as? [[String: Any]]
        #expect(changes?.count == 40)
    }

    /// Sets the tweak through a proxy in front of etcd, which has the change once then.
    private func expectOneChange(through proxy: HostileServer) throws {
        try host.follow([proxy.url])
        let result = try host.fleet("set", tweak, "true")
        #expect(result.succeeded, "\(result.error)")
        #expect(result.output == "\(tweak): none → true (revision 2)\n")
        try host.follow(etcd.endpoints)
        #expect(try succeed("history").split(separator: "\n").count == 2)
    }

    @Test func `are changed once even if the answer is lost`() throws {
        // What a transaction brings, and nothing of what it says.
        let proxy = try HostileServer { [port = etcd.endpoints[0].split(separator: ":")[2]] request in
            guard let answer = forward(request, to: UInt16(port) ?? 0) else { return }
            if !request.text.contains("request_put") { request.send(answer) }
        }
        try expectOneChange(through: proxy)
    }

    @Test func `are changed once even if an attempt whose answer is lost arrives after the next one begins`()
        throws
    {
        let port = UInt16(etcd.endpoints[0].split(separator: ":")[2]) ?? 0
        let first = Locked<HostileServer.Request?>(nil)
        let proxy = try HostileServer { request in
            if request.text.contains("request_put") {
                let isFirst = first.withLock { first in
                    defer { first = first ?? request }
                    return first == nil
                }
                if isFirst { return }
                if let late = first.withLock({ $0 }) { _ = forward(late, to: port) }
            }
            if let answer = forward(request, to: port) { request.send(answer) }
        }
        try expectOneChange(through: proxy)
    }

    @Test func `are not changed without a reachable member`() throws {
        try host.follow(etcd.endpoints, "\"timeout\": 0.5")
        etcd.kill()
        let result = try host.fleet("set", tweak, "true")
        #expect(result.status == EX_UNAVAILABLE)
        #expect(
            result.error.hasSuffix("no connection: Connection refused; tried for 0.5 seconds\n"),
            "\(result.error)")
        try host.home.write("agent.json", "{ \"applications\": [] }")
        #expect(try host.fleet("list").status == EX_CONFIG)
        try FileManager.default.removeItem(atPath: host.home("agent.json"))
        #expect(try host.fleet("list").status == EX_NOINPUT)
    }

    @Test func `are those of one environment`() throws {
        _ = try succeed("set", tweak, "true")
        _ = try succeed("set", tweak, "false", "--environment", "staging", "--create")
        #expect(try succeed("get", tweak) == "true\n")
        #expect(try succeed("get", tweak, "--environment", "staging") == "false\n")
        #expect(try host.fleet("list", "--environment", "a/b").status == EX_USAGE)
    }

    @Test func `are watched`() throws {
        _ = try succeed("set", tweak, "true")
        let watch = try start(
            Locations.product("tweak"),
            ["fleet", "watch", "search", "--configuration", host.home("agent.json")], home: host.home)
        defer { watch.kill() }
        // It begins with what comes next.
        var last = 0
        #expect(
            try waitUntil {
                last += 1
                _ = try succeed("set", "A/B/C", "\(last)", "--by", "ann", "--why", "number \(last)")
                return !watch.written.output.isEmpty
            })
        etcd.kill()
        try etcd.restart()
        _ = try succeed("set", "A/B/C", "0", "--by", "ann")
        #expect(waitUntil { watch.written.output.contains(" (ann)  A/B/C: \(last) → 0\n") })
        let line = try #require(watch.written.output.split(separator: "\n").first)
        #expect(line.contains(" (ann)  A/B/C: ") && line.contains("  number "))
    }

    @Test func `are shown as invalid, and fixed by the next change`() throws {
        try etcd.put(tweak, "{")
        #expect(try succeed("list").contains("it is not JSON"))
        #expect(try host.fleet("get", tweak).status == EX_DATAERR)
        #expect(try succeed("set", tweak, "true") == "\(tweak): unusable → true (revision 3)\n")
        let history = try json(try succeed("history", "--format", "json"))["changes"] as? [[String: Any]]
        let part = (history?.first?["changes"] as? [[String: Any]])?.first
        #expect((part?["oldProblem"] as? String)?.contains("it is not JSON") == true)
        let back = try host.fleet("rollback", "2")
        #expect(back.status == EX_DATAERR)
        #expect(back.error.contains("\(tweak): it had no value: "), "\(back.error)")
    }
}

@Suite struct `A full etcd` {
    @Test func `refuses changes, and agents keep their values`() throws {
        let host = try AgentHost(source: "fleet")
        let etcd = try EtcdMembers(more: ["--quota-backend-bytes", "200000"])
        try host.follow(etcd.endpoints, "\"interval\": 1")
        let tweak = "Features/search/enabled"
        try etcd.put(tweak, "{ \"value\": true }")
        try host.following { (_) throws in
            #expect(try waitUntil { try host.flag(tweak) == true })
            let text = String(repeating: "x", count: 50_000)
            for number in 0..<20 where try etcd.ctl(["put", "/fill/\(number)", text]).succeeded {}
            let result = try host.fleet("set", tweak, "false")
            #expect(result.status == EX_NOPERM)
            #expect(result.error.contains("mvcc: database space exceeded"), "\(result.error)")
            #expect(try host.flag(tweak) == true)
            #expect(try host.problem() == nil)
            #expect(try etcd.ctl(["del", "--prefix", "/fill/"]).succeeded)
            let revision = try #require(
                try host.fleet("list", "--format", "json").output.firstMatch(of: /"revision" : (\d+),/)?.1)
            #expect(try etcd.ctl(["compact", "--physical", "\(revision)"]).succeeded)
            #expect(try etcd.ctl(["defrag"]).succeeded)
            #expect(try etcd.ctl(["alarm", "disarm"]).succeeded)
            #expect(try host.fleet("set", tweak, "false").succeeded)
            #expect(try waitUntil { try host.flag(tweak) == false })
        }
    }
}

/// Asks a server what another one was asked.
private func forward(_ request: HostileServer.Request, to port: UInt16) -> [UInt8]? {
    // So that it ends.
    let question = request.text.replacingOccurrences(of: "\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
    return answer(to: Array(question.utf8), at: port)
}
#endif
