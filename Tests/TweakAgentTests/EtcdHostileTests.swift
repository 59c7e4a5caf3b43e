// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

/// What a gateway of etcd says, in parts that can be wrong.
private enum Gateway {
    static let tweak = "Features/search/enabled"
    static let root = "/tweaks/production/search/values/"

    static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    static func header(_ revision: Int, cluster: String = "77") -> String {
        #""header":{"cluster_id":"\#(cluster)","member_id":"1","revision":"\#(revision)","raft_term":"2"}"#
    }

    static func entry(_ isOn: Bool, _ modified: Int) -> String {
        entry(tweak, "{ \"value\": \(isOn) }", modified)
    }

    static func entry(_ tweak: String, _ value: String, _ modified: Int) -> String {
        let (key, value) = (base64(root + tweak), base64(value))
        return
            #"{"key":"\#(key)","create_revision":"1","mod_revision":"\#(modified)","version":"1","value":"\#(value)"}"#
    }

    static func range(_ isOn: Bool, _ revision: Int, modified: Int? = nil, cluster: String = "77") -> String {
        "{\(header(revision, cluster: cluster)),\"kvs\":[\(entry(isOn, modified ?? revision))],\"count\":\"1\"}"
    }

    static func created(_ revision: Int, cluster: String = "77") -> String {
        "{\"result\":{\(header(revision, cluster: cluster)),\"created\":true}}\n"
    }

    static func event(_ isOn: Bool, _ revision: Int, cluster: String = "77") -> String {
        "{\"result\":{\(header(revision, cluster: cluster)),\"events\":[{\"kv\":\(entry(isOn, revision))}]}}\n"
    }

    static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
}

@Suite struct `An agent and a hostile etcd` {
    let host: AgentHost
    let server: HostileServer

    init() throws {
        host = try AgentHost(source: "fleet")
        server = try HostileServer { $0.answer(Gateway.range(true, 5)) }
        try host.follow([server.url], "\"interval\": 1, \"timeout\": 2")
        let result = try host.once()
        #expect(result.succeeded, "\(result.error)")
        #expect(try isOn() == true)
    }

    private func isOn() throws -> Bool? { try host.flag(Gateway.tweak) }

    /// Expects that a reading fails for this reason, and that what was known is still there.
    private func refuses(
        _ problem: String, _ location: SourceLocation = #_sourceLocation,
        answer: @escaping @Sendable (HostileServer.Request) -> Void
    ) throws {
        server.answer(answer)
        #expect(try host.once().status == EX_TEMPFAIL, sourceLocation: location)
        let said = try #require(try host.problem())
        #expect(said.contains(problem), sourceLocation: location)
        #expect(try isOn() == true, sourceLocation: location)
    }

    private static let new = Gateway.range(false, 6)

    @Test func `whose code decides, whatever it says`() throws {
        // The user may read values, and no kills.
        let asked = Locked(0)
        server.answer { request in
            guard
                asked.withLock({
                    $0 += 1; return $0 == 1
                })
            else {
                return request.answer(Gateway.range(false, 6))
            }
            request.answer(#"{"error":"no","message":"no","code":7}"#, status: "403 Forbidden")
        }
        let result = try host.once()
        #expect(result.succeeded && result.error.contains("kills are not followed: "), "\(result.error)")
        #expect(try isOn() == false)
    }

    @Test func `whose words do not decide`() throws {
        let error = #"{"error":"permission denied","message":"permission denied","code":3}"#
        try refuses("permission denied") { $0.answer(error, status: "400 Bad Request") }
    }

    @Test func `with a truncated answer`() throws {
        try refuses("the connection was closed before the end") {
            $0.send(Gateway.head + "Content-Length: 4000\r\n\r\n" + Self.new)
        }
        try refuses("the answer is not that of etcd: it is not JSON") {
            $0.answer(String(Self.new.dropLast(9)))
        }
    }

    @Test func `with an endless answer, of which it reads only a limited part`() throws {
        let sent = Locked(0)
        try refuses("the answer has more than 16777216 bytes") { request in
            request.send(Gateway.head + "\r\n")
            let part = [UInt8](repeating: 0x20, count: 1 << 16)
            while request.send(part),
                sent.withLock({
                    $0 += part.count; return $0 < 1 << 28
                })
            {}
        }
        // Some is on the way.
        #expect(sent.withLock { $0 } < 1 << 27)
    }

    @Test func `with no answer, or a late one`() throws {
        try host.follow([server.url], "\"timeout\": 0.5")
        try refuses("no complete answer within 0.5 seconds") { $0.waitForEnd() }
        try refuses("no complete answer within 0.5 seconds") { request in
            request.send(Gateway.head + "Content-Length: 4000\r\n\r\n")
            while request.send(" ") { usleep(20_000) }
        }
    }

    @Test func `that is a web page, or redirects`() throws {
        try refuses("the answer is \"text/html\"; application/json is expected") {
            $0.answer("<html>Sign in</html>", headers: ["Content-Type: text/html"])
        }
        try refuses("HTTP status 302") { [server] in
            $0.answer(
                Self.new, status: "302 Found",
                headers: ["Location: \(server.url)v3/kv/range", "Content-Type: text/html"])
        }
        try refuses("HTTP status 503: etcdserver: no leader") {
            $0.answer(#"{"error":"etcdserver: no leader","code":14}"#, status: "503 Service Unavailable")
        }
    }

    @Test(arguments: [
        ("[]", "got an array, expected an object"),
        ("{}", "header: got nothing, expected an object"),
        (#"{"header":{"cluster_id":"0","revision":"6"}}"#, "cluster_id: "),
        (#"{"header":{"cluster_id":"77","revision":6}}"#, "revision: got 6, expected text"),
        (#"{"header":{"cluster_id":"77","revision":"six"}}"#, "revision: got \"six\""),
        (#"{"header":{"cluster_id":"77","revision":"-1"}}"#, "revision: got \"-1\""),
        (
            #"{"header":{"cluster_id":"77","revision":"9223372036854775807"}}"#,
            "revision: got \"9223372036854775807\""
        ),
        (
            #"{"header":{"cluster_id":"77","revision":"99999999999999999999"}}"#,
            "revision: got \"99999999999999999999\""
        ),
        (#"{"header":{"cluster_id":"77","revision":"6"},"kvs":{}}"#, "kvs: got an object"),
        (#"{"header":{"cluster_id":"77","revision":"6"},"kvs":[1]}"#, "kvs.0: got 1"),
        (
            #"{"header":{"cluster_id":"77","revision":"6"},"kvs":[{"key":"*"}]}"#,
            "key: got \"*\", expected Base64"
        ),
        (#"{"header":{"cluster_id":"77","revision":"6"},"kvs":[{"key":"aa"}]}"#, "key: got \"aa\""),
        (
            #"{"header":{"cluster_id":"77","revision":"6"},"kvs":[{"key":"YQ=="}],"count":"1"}"#,
            "mod_revision: "
        ),
        (#"{"header":{"cluster_id":"77","revision":"6"},"kvs":[],"count":"1"}"#, "it has 1 keys, and sent 0"),
        (#"{"header":{"cluster_id":"77","revision":"6"},"count":"-1"}"#, "count: "),
    ])
    func `with an answer of another form`(json: String, problem: String) throws {
        try refuses(problem) { $0.answer(json) }
    }

    @Test func `that returns old values`() throws {
        try refuses("its revision is 4, and 5 is known; what is older is not believed") {
            $0.answer(Gateway.range(false, 4))
        }
    }

    @Test func `that returns old values, until it does so for a while`() throws {
        // A revision that no etcd comes to, from a proxy perhaps.
        server.answer { $0.answer(Gateway.range(false, 1 << 62)) }
        #expect(try host.once().succeeded)
        server.answer { $0.answer(Gateway.range(true, 6)) }
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.contains("its revision is 6, and \(1 << 62) is known") == true)
        #expect(try isOn() == false)
        #expect(try waitUntil { try host.once().succeeded })
        #expect(try isOn() == true)
        #expect(try host.file()?["version"] as? Int == 6)
        #expect(try host.once().succeeded)
    }

    @Test func `that goes back while the agent runs, until it does so for a while`() throws {
        let revision = Locked(1 << 62)
        server.answer { request in
            let revision = revision.withLock { $0 }
            guard request.path.hasSuffix("watch") else {
                return request.answer(Gateway.range(revision > 6, revision))
            }
            request.send(Gateway.head + "\r\n" + Gateway.created(revision))
            while request.send(" ") { usleep(10_000) }
        }
        let result = try host.following { (_) throws in
            #expect(waitUntil { server.requests.contains { $0.contains("/v3/watch") } })
            revision.withLock { $0 = 6 }
            #expect(try waitUntil { try host.problem()?.contains("what is older is not believed") == true })
            #expect(try isOn() == true)
            #expect(try waitUntil { try isOn() == false })
            #expect(try host.problem() == nil)
        }
        #expect(result.status == 0)
        #expect(result.error.contains("etcd went back from revision \(1 << 62) to 6"), "\(result.error)")
    }

    @Test func `of which one of two members returns old values`() throws {
        try host.follow([server.url, "http://127.0.0.1:1"], "\"interval\": 1, \"timeout\": 0.2")
        server.answer { $0.answer(Gateway.range(false, 4)) }
        try host.following { (_) throws in
            // The pauses are longer than the interval by then.
            let first = server.requests.count
            #expect(waitUntil { server.requests.count >= first + 5 })
            #expect(try isOn() == true)
            #expect(try host.problem()?.contains("none of 2 members can be read") == true)
        }
    }

    @Test func `with a key from a future revision`() throws {
        try refuses("it returned a key of revision 9, but is itself at 6") {
            $0.answer(Gateway.range(false, 6, modified: 9))
        }
    }

    @Test func `with endless changes, and stops on request`() throws {
        let count = 2000
        let all = (0..<count).map { Gateway.entry("A/B/\($0)", "{ \"value\": 5 }", 5) }.joined(separator: ",")
        server.answer { request in
            guard request.path.hasSuffix("watch") else {
                return request.answer(
                    "{\(Gateway.header(5)),\"kvs\":[\(all)],\"count\":\"\(count)\"}")
            }
            var (text, revision) = (Gateway.head + "\r\n" + Gateway.created(5), 5)
            while request.send(text) {
                text = ""
                for _ in 0..<50 {
                    revision += 1
                    let entry = Gateway.entry(
                        "A/B/\(revision % count)", "{ \"value\": \(revision) }", revision)
                    text += "{\"result\":{\(Gateway.header(revision)),\"events\":[{\"kv\":\(entry)}]}}\n"
                }
            }
        }
        try FileManager.default.removeItem(atPath: host.home("provided"))
        let result = try host.following { (_) throws in
            #expect(try waitUntil { try host.number("A/B/0") ?? 0 >= Double(2 * count) })
        }
        #expect(result.status == 0)
    }

    /// Expects that a watch ends, and that everything is read again instead.
    private func readsAgain(
        _ location: SourceLocation = #_sourceLocation, isSlow: Bool = false, interval: Int = 1,
        watch: @escaping @Sendable (HostileServer.Request) -> Void
    ) throws {
        // What is told by watches is a lie; the truth comes with the second reading.
        let readings = Locked(0)
        if !isSlow { try host.follow([server.url], "\"interval\": \(interval), \"timeout\": 0.3") }
        server.answer { request in
            guard !request.path.hasSuffix("watch") else { return watch(request) }
            let count = readings.withLock {
                $0 += 1
                return $0
            }
            request.answer(count < 2 ? Gateway.range(true, 5) : Gateway.range(false, 9))
        }
        let result = try host.following { (agent) throws in
            var seen: [Bool] = []
            #expect(
                try waitUntil {
                    if let isOn = try isOn(), isOn != seen.last { seen.append(isOn) }
                    return seen.last == false || !agent.isRunning
                }, sourceLocation: location)
            #expect(try host.file()?["version"] as? Int == 9, sourceLocation: location)
        }
        #expect(result.status == 0, sourceLocation: location)
    }

    /// Answers a watch: it begins, says this and stays open for a moment.
    private func telling(_ text: String) -> @Sendable (HostileServer.Request) -> Void {
        { request in
            request.send(Gateway.head + "\r\n" + Gateway.created(5) + text)
            for _ in 0..<500 where request.send(" ") { usleep(10_000) }
        }
    }

    @Test(arguments: [
        // Told already, of another cluster, from a revision that is still to come, and in the wrong order.
        Gateway.event(false, 5), Gateway.event(false, 3), Gateway.event(false, 6, cluster: "78"),
        "{\"result\":{\(Gateway.header(6)),\"events\":[{\"kv\":\(Gateway.entry(false, 7))}]}}\n",
        "{\"result\":{\(Gateway.header(8)),\"events\":[{\"kv\":\(Gateway.entry(true, 8))},{\"kv\":\(Gateway.entry(false, 7))}]}}\n",
        "{\"result\":{\(Gateway.header(6)),\"events\":[{\"kv\":{\"key\":\"*\"}}]}}\n",
        "{\"result\":{\(Gateway.header(6)),\"events\":[{\"type\":\"EAT\",\"kv\":\(Gateway.entry(false, 6))}]}}\n",
        "{\"result\":{\(Gateway.header(6)),\"events\":[{}]}}\n",
        "{\"result\":{\"header\":{\"cluster_id\":\"77\"},\"canceled\":true,\"compact_revision\":\"8\"}}\n",
        "{\"result\":{\(Gateway.header(6)),\"canceled\":true}}\n",
        "{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"etcdserver: no leader\"}}\n",
        "<html>\n", "{}\n", "[]\n", "{\"result\":5}\n",
    ])
    func `whose watch sends impossible events`(line: String) throws { try readsAgain(watch: telling(line)) }

    @Test func `whose watch is a web page, ends at once or never starts`() throws {
        try readsAgain { $0.answer("<html>", headers: ["Content-Type: text/html"]) }
        server.answer { $0.answer(Gateway.range(true, 5)) }
        try FileManager.default.removeItem(atPath: host.home("provided"))
        try readsAgain { $0.send(Gateway.head + "\r\n" + Gateway.created(5)) }
        try FileManager.default.removeItem(atPath: host.home("provided"))
        try readsAgain { _ in usleep(2_000_000) }
    }

    @Test func `whose watch sends an endless line`() throws {
        try readsAgain(isSlow: true) { request in
            request.send(Gateway.head + "\r\n" + Gateway.created(5) + "{\"result\":{")
            let part = [UInt8](repeating: 0x20, count: 1 << 20)
            for _ in 0..<64 where request.send(part) {}
        }
    }

    @Test func `whose watch omits what changed`() throws {
        try readsAgain(watch: telling(""))
    }

    /// A cluster restored from a backup while nobody watched: it is silent until it gets as far as the one before.
    @Test(arguments: [Gateway.created(9, cluster: "78"), Gateway.created(4)])
    func `whose watch starts in another state`(created: String) throws {
        try readsAgain(interval: 3600) { request in
            request.send(Gateway.head + "\r\n" + created)
            for _ in 0..<6000 where request.send(" ") { usleep(10_000) }
        }
    }

    @Test func `whose watches end at once, and polls it instead`() throws {
        let readings = Locked(0)
        server.answer { request in
            guard !request.path.hasSuffix("watch") else {
                return request.answer(Gateway.created(5).trimmingCharacters(in: .newlines))
            }
            readings.withLock { $0 += 1 }
            request.answer(Gateway.range(true, 5))
        }
        try host.follow([server.url], "\"interval\": 1, \"timeout\": 0.3")
        try host.following { (_) throws in #expect(waitUntil { readings.withLock { $0 } > 12 }) }
    }

    @Test func `without watches, and reports it once`() throws {
        server.answer { request in
            request.path.hasSuffix("watch")
                ? request.answer(#"{"error":"Not Found","code":5}"#, status: "404 Not Found")
                : request.answer(Gateway.range(true, 5))
        }
        try host.follow([server.url], "\"timeout\": 0.3")
        let result = try host.following { (agent) throws in
            #expect(waitUntil { agent.written.error.contains("watching fails, so the values are polled") })
        }
        #expect(result.error.contains("HTTP status 404: Not Found"), "\(result.error)")
        #expect(try host.problem() == nil)
    }

    @Test func `whose changes arrive in pieces, which is fine`() throws {
        server.answer { request in
            guard request.path.hasSuffix("watch") else { return request.answer(Gateway.range(true, 5)) }
            request.send(Gateway.head + "\r\n")
            for byte in (Gateway.created(5) + "\n\n" + Gateway.event(false, 6)).utf8 { request.send([byte]) }
            while request.send(" ") { usleep(10_000) }
        }
        try host.following { (_) throws in #expect(try waitUntil { try isOn() == false }) }
    }
}
#endif
