#if Remote
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakRemote

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

    @Test func `are set, shown and reset, with who and why`() throws {
        #expect(try succeed("list") == "search: no values\n")
        #expect(
            try succeed("set", tweak, "true", "--by", "ann@ops", "--why", "go live")
                == "\(tweak): none → true (revision 2)\n")
        #expect(try succeed("get", "enabled") == "true\n")
        let list = try succeed("list").split(separator: "\n")
        #expect(list.first == "TWEAK                    VALUE  REVISION  AT                    BY       WHY")
        #expect(list.last?.hasPrefix("\(tweak)  true   2         2") == true)
        #expect(list.last?.hasSuffix("Z  ann@ops  go live") == true)
        let listed = try json(try succeed("list", "--format", "json"))
        #expect(listed["revision"] as? Int == 2)
        let values = try #require(listed["tweaks"] as? [[String: Any]])
        #expect(values.count == 1)
        #expect(values[0]["value"] as? Bool == true)
        #expect(values[0]["by"] as? String == "ann@ops")
        #expect(try succeed("reset", tweak) == "\(tweak): true → none (revision 3)\n")
        #expect(try succeed("reset", tweak) == "search: nothing had to be changed\n")
        #expect(try host.fleet("get", tweak).status == EX_DATAERR)
    }

    @Test func `are recorded with the user and the host if nobody else is named`() throws {
        _ = try succeed("set", tweak, "true")
        let by = try json(try succeed("get", tweak, "--format", "json"))["by"] as? String
        let name = ProcessInfo.processInfo.hostName.split(separator: ".")[0]
        #expect(by?.contains("@\(name)") == true, "\(by ?? "")")
    }

    @Test func `are of the type that JSON has`() throws {
        let values = ["true", "-5", "2.5", "\"on\"", "\"\"", "18446744073709551615"]
        for (number, value) in values.enumerated() {
            #expect(
                try succeed("set", "A/B/\(number)", "--", value)
                    == "A/B/\(number): none → \(value) (revision \(number + 2))\n")
        }
    }

    @Test func `are not guessed`() throws {
        for value in ["on", "", "[]", "null", "18446744073709551616x"] {
            let result = try host.fleet("set", tweak, value)
            #expect(result.status == EX_DATAERR)
            #expect(result.error.contains("--program says which values it takes"), "\(result.error)")
        }
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

    @Test func `are checked with a program, which also knows the whole name`() throws {
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

    @Test func `are for chosen hosts`() throws {
        let filters = "{ \"percentage\": 10 }"
        #expect(
            try succeed("set", tweak, "true", "--for", filters)
                == "\(tweak): none → true for {\"percentage\":10} (revision 2)\n")
        for wrong in ["{ \"percentage\": 101 }", "{ \"key\": \"a\" }"] {
            #expect(try host.fleet("set", tweak, "true", "--for", wrong).status == EX_DATAERR)
        }
        #expect(try host.fleet("set", tweak, "true", "--for", "[]").status == EX_USAGE)
    }

    @Test func `are changed only if nobody was faster, if that is asked for`() throws {
        _ = try succeed("set", tweak, "true", "--by", "ann", "--if-revision", "0")
        let loser = try host.fleet("set", tweak, "false", "--if-revision", "0")
        #expect(loser.status == EX_TEMPFAIL)
        #expect(
            loser.error
                == "tweak-agent: \(tweak): it was changed by ann at revision 2, and not at 0; nothing was changed\n"
        )
        #expect(try host.fleet("reset", tweak, "--if-revision", "1").status == EX_TEMPFAIL)
        _ = try succeed("reset", tweak, "--if-revision", "2")
    }

    @Test func `go back to a revision, all or one, and that is a change like any other`() throws {
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
        #expect(unknown.error.contains("there is no revision 99 yet; this is 9"), "\(unknown.error)")
    }

    @Test func `have a history that compaction leaves alone`() throws {
        for value in ["1", "2", "3"] { _ = try succeed("set", "A/B/C", value) }
        #expect(try etcd.ctl(["compact", "--physical", "4"]).succeeded)
        #expect(try succeed("rollback", "2") == "A/B/C: 3 → 1 (revision 5)\n")
        let history = try json(try succeed("history", "--format", "json"))
        let changes = try #require(history["changes"] as? [[String: Any]])
        #expect(changes.map { $0["revision"] as? Int } == [2, 3, 4, 5])
    }

    @Test func `have a history of a thousand changes`() throws {
        let record =
            #"{ "id": "a", "by": "ann", "at": "", "changes": [ { "tweak": "A/B/C", "new": { "value": 1 } } ] }"#
        func key(_ number: Int) -> String {
            "/tweaks/production/search/history/" + String(repeating: "0", count: 20 - "\(number)".count)
                + "\(number)"
        }
        for number in [1, 2, 3, 1000, 1001] { #expect(try etcd.ctl(["put", key(number), record]).succeeded) }
        _ = try succeed("set", "A/B/C", "5")
        let kept = try etcd.ctl(["get", "--prefix", "--keys-only", "/tweaks/production/search/history/"])
        #expect(kept.output.split(separator: "\n").map(String.init) == [3, 1000, 1001, 1002].map(key))
        // What is not known cannot be undone.
        let result = try host.fleet("rollback", "4")
        #expect(result.status == EX_DATAERR)
        #expect(result.error.contains("not all changes since revision 4 are known"), "\(result.error)")
        #expect(try succeed("rollback", "6").contains("5 → none"))
    }

    @Test func `are changed by many at the same time, and no change is lost`() async throws {
        let cluster = try EtcdCluster(
            ofConfiguration: Array(try Data(contentsOf: URL(fileURLWithPath: host.home("agent.json")))),
            path: "")
        let application = FleetApplication(name: "search", cluster: try #require(cluster))
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

    @Test func `are changed once, though the answer to that was lost`() throws {
        // What a transaction brings, and nothing of what it says.
        let proxy = try HostileServer { [port = etcd.endpoints[0].split(separator: ":")[2]] request in
            guard let answer = forward(request, to: UInt16(port) ?? 0) else { return }
            if !request.text.contains("request_put") { request.send(answer) }
        }
        try host.follow([proxy.url])
        let result = try host.fleet("set", tweak, "true")
        #expect(result.succeeded, "\(result.error)")
        #expect(result.output == "\(tweak): none → true (revision 2)\n")
        try host.follow(etcd.endpoints)
        #expect(try succeed("history").split(separator: "\n").count == 2)
    }

    @Test func `are not changed if nobody answers, or nobody is known`() throws {
        etcd.kill()
        let result = try host.fleet("set", tweak, "true")
        #expect(result.status == EX_UNAVAILABLE)
        #expect(result.error.contains("no connection: Connection refused"), "\(result.error)")
        try host.home.write("agent.json", "{ \"applications\": [] }")
        #expect(try host.fleet("list").status == EX_CONFIG)
        try FileManager.default.removeItem(atPath: host.home("agent.json"))
        #expect(try host.fleet("list").status == EX_NOINPUT)
    }

    @Test func `are those of one environment`() throws {
        _ = try succeed("set", tweak, "true")
        _ = try succeed("set", tweak, "false", "--environment", "staging")
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
        #expect(waitUntil { watch.written.output.contains("  ann  A/B/C: \(last) → 0\n") })
        let line = try #require(watch.written.output.split(separator: "\n").first)
        #expect(line.contains("  ann  A/B/C: ") && line.contains("  number "))
    }

    @Test func `are shown as wrong if they are, and put right by the next one`() throws {
        try etcd.put(tweak, "{")
        #expect(try succeed("list").contains("it is not JSON"))
        #expect(try host.fleet("get", tweak).status == EX_DATAERR)
        #expect(try succeed("set", tweak, "true").contains("none → true"))
    }
}

@Suite struct `An etcd that is full` {
    @Test func `refuses a change, and agents go on with what there is`() throws {
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
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port)
    let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
    guard isConnected else { return nil }
    // So that it ends.
    let question = request.text.replacingOccurrences(of: "\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
    let bytes = Array(question.utf8)
    guard send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else { return nil }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
        answer += buffer.prefix(count)
    }
    return answer
}
#endif
