// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

/// A service with flagd's evaluator of flags, on this machine only.
private final class FlagService: Sendable {
    let home: TemporaryDirectory
    let url: String
    private let process: RunningCommand

    init(_ home: TemporaryDirectory, _ flags: String) throws {
        self.home = home
        try home.write("flags.json", flags)
        let (python, arguments) = try OpenFeature.command(
            "evaluator.py", [home("flags.json"), home("requests")])
        let process = try start(python, arguments, home: home)
        self.process = process
        guard waitUntil({ process.written.output.hasSuffix("\n") || !process.isRunning }), process.isRunning
        else { throw CompilationError(description: process.wait().error) }
        url = "http://127.0.0.1:\(process.written.output.dropLast())"
    }

    deinit { stop() }

    func stop() {
        guard process.isRunning else { return }
        process.kill()
        _ = process.wait()
    }

    /// Puts other flags there.
    func put(_ flags: String) throws {
        try home.write("flags.new", flags)
        rename(home("flags.new"), home("flags.json"))
    }

    struct Request: @unchecked Sendable {
        // JSON that nobody changes.
        let members: [String: Any]
        var path: String { members["path"] as? String ?? "" }
        var status: Int? { members["status"] as? Int }
        var headers: [String: String] { members["headers"] as? [String: String] ?? [:] }
        var context: [String: String] {
            (members["body"] as? [String: Any])?["context"] as? [String: String] ?? [:]
        }
    }

    var requests: [Request] {
        let text = (try? String(contentsOfFile: home("requests"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]).map(Request.init)
        }
    }
}

extension AgentHost {
    /// Says which service evaluates the flags.
    ///
    /// - Parameters:
    ///   - service: Members of the service, as JSON behind a comma.
    ///   - members: More of the application.
    fileprivate func configure(service url: String, _ service: String = "", _ members: String = "") throws {
        try home.write(
            "agent.json",
            """
            { "applications": [ { "name": "search", "version": "2.4", "plainHTTP": true, "ofrep": { "url": "\(url)"\
            \(service.isEmpty ? "" : ", " + service) }\(members.isEmpty ? "" : ", " + members) } ] }
            """)
    }

    fileprivate func value(_ collection: String, _ name: String) throws -> Any? {
        (try file()?["values"] as? [String: [String: [String: Any]]])?["Search"]?[collection]?[name]
    }
}

@Suite struct `An agent with a flag service` {
    private let host: AgentHost
    private let service: FlagService

    /// The kernel is told of by every host.
    private static func flags(_ text: String = "first") -> String {
        """
        { "flags": {
          "Search/Index/New": { "state": "ENABLED", "variants": { "on": true, "off": false }, "defaultVariant": "off",
            "targeting": { "if": [ { "in": [ "kernel-of-the-host", { "var": "tags" } ] }, "on", "off" ] } },
          "Search.Index.Limit": { "state": "ENABLED", "variants": { "some": 7 }, "defaultVariant": "some" },
          "Search/Index/Ratio": { "state": "ENABLED", "variants": { "some": 0.5 }, "defaultVariant": "some" },
          "greeting": { "state": "ENABLED", "variants": { "some": "\(text)", "other": "other" }, "defaultVariant": "some",
            "targeting": { "if": [ { "sem_ver": [ { "cat": [ { "var": "applicationVersion" }, ".0" ] }, ">=", "3.0.0" ] },
              "other", "some" ] } },
          "Search/Cache": { "state": "ENABLED", "variants": { "some": { "Size": 64, "Name": "x" } }, "defaultVariant": "some" },
          "Search/Index/None": { "state": "ENABLED", "variants": { "on": true }, "defaultVariant": null },
          "Search/Index/Off": { "state": "DISABLED", "variants": { "on": true }, "defaultVariant": "on" },
          "Search/Index/Wrong": { "state": "ENABLED", "variants": { "on": true }, "defaultVariant": "on",
            "targeting": { "if": [ true, "missing" ] } }
        } }
        """
    }

    private static let names = "\"names\": { \"greeting\": \"Search/Texts/Greeting\" }"

    init() throws {
        host = try AgentHost()
        service = try FlagService(host.home, Self.flags())
        try host.configure(service: service.url, Self.names)
    }

    @Test func `reads values of all types by name`() throws {
        let result = try host.once()
        #expect(result.succeeded, "\(result.error)")
        #expect(try host.value("Index", "New") as? Bool == false)
        #expect(try host.value("Index", "Limit") as? Int == 7)
        #expect(try host.value("Index", "Ratio") as? Double == 0.5)
        #expect(try host.value("Texts", "Greeting") as? String == "first")
        #expect(try host.value("Cache", "Size") as? Int == 64)
        #expect(try host.value("Cache", "Name") as? String == "x")
        #expect(try host.file()?["from"] as? String == service.url + "/ofrep/v1/evaluate/flags")
        let reasons = try host.file()?["reasons"] as? [String: String]
        #expect(reasons?["Search/Index/Limit"] == "STATIC, variant some")
    }

    @Test func `ignores flags without a value, and reports errors once`() throws {
        try host.configure(service: service.url, Self.names, "\"interval\": 1")
        let agent = try host.following { _ in
            #expect(waitUntil { service.requests.count { $0.status != nil } >= 4 })
        }
        for name in ["None", "Off", "Wrong"] { #expect(try host.value("Index", name) == nil) }
        let lines = agent.error.split(separator: "\n")
        #expect(lines.count { $0.contains("flag Search/Index/Wrong: GENERAL: ") } == 1, "\(lines)")
        #expect(lines.count == 1)
    }

    @Test func `sends facts about its host, and the configured ones`() throws {
        #expect(try host.once().succeeded)
        let context = try #require(service.requests.first).context
        #expect(context["application"] == "search")
        #expect(context["applicationVersion"] == "2.4")
        #expect(context["kernel"]?.isEmpty == false)
        #expect(context["architecture"]?.isEmpty == false)
        let key = try #require(context["targetingKey"])
        let machine = (try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)) ?? "none"
        #expect(!machine.contains(key))
        // The same one each time.
        #expect(try host.once().succeeded)
        #expect(service.requests.last?.context["targetingKey"] == key)
        try host.configure(
            service: service.url,
            "\"context\": { \"targetingKey\": \"host-7\", \"tags\": \"kernel-of-the-host\", \"kernel\": null }"
        )
        #expect(try host.once().succeeded)
        let other = try #require(service.requests.last).context
        #expect((other["targetingKey"], other["kernel"]) == ("host-7", nil))
        #expect(try host.value("Index", "New") as? Bool == true)
        let reasons = try host.file()?["reasons"] as? [String: String]
        #expect(reasons?["Search/Index/New"] == "TARGETING_MATCH, variant on")
    }

    @Test func `does not reload what has not changed`() throws {
        try host.configure(service: service.url, Self.names, "\"interval\": 1")
        try host.following { _ in #expect(waitUntil { service.requests.contains { $0.status == 304 } }) }
        let asked = service.requests.filter { $0.status != nil }
        #expect(asked.first?.status == 200)
        #expect(asked.first?.headers["if-none-match"] == nil)
        #expect(asked.dropFirst().allSatisfy { $0.headers["if-none-match"] != nil && $0.status == 304 })
        #expect(try host.value("Texts", "Greeting") as? String == "first")
    }

    @Test func `omits the tag when its facts change`() throws {
        try host.configure(service: service.url, Self.names, "\"interval\": 3600")
        try host.following { agent in
            #expect(try waitUntil { try host.value("Texts", "Greeting") as? String == "first" })
            #expect(waitUntil { service.requests.contains { $0.status == 304 } })
            let before = service.requests.count
            let text = try String(contentsOfFile: host.home("agent.json"), encoding: .utf8)
            try host.home.write("agent.json", text.replacing("2.4", with: "3.0"))
            kill(agent.processID, SIGHUP)
            #expect(try waitUntil { try host.value("Texts", "Greeting") as? String == "other" })
            let next = service.requests.dropFirst(before).first { $0.status != nil }
            #expect(next?.headers["if-none-match"] == nil)
            #expect(next?.status == 200)
        }
    }

    @Test func `polls at once when the event stream says so`() throws {
        try host.configure(service: service.url, Self.names, "\"interval\": 3600")
        try host.following { _ in
            #expect(waitUntil { service.requests.contains { $0.path == "/events?key=secret" } })
            // That of the beginning of the stream, before which something could have changed.
            #expect(waitUntil { service.requests.count { $0.status != nil } == 2 })
            try service.put(Self.flags("second"))
            #expect(try waitUntil { try host.value("Texts", "Greeting") as? String == "second" })
            let last = service.requests.last { $0.status != nil }
            #expect(last?.path.hasSuffix("?flagConfigEtag=%22new%22&flagConfigLastModified=7") == true)
        }
    }

    @Test func `keeps its values when the service is down, and reports it once`() throws {
        try host.configure(service: service.url, Self.names, "\"interval\": 1")
        #expect(try host.once().succeeded)
        service.stop()
        let failed = try host.once()
        #expect(failed.status == EX_TEMPFAIL)
        #expect(failed.error.split(separator: "\n").count == 2, "\(failed.error)")
        #expect(try host.value("Index", "Limit") as? Int == 7)
        #expect(try host.problem()?.hasPrefix("no connection: Connection refused since ") == true)
    }

    @Test func `reads the token from a file for each request`() throws {
        try host.home.write("token", "one\n")
        try host.configure(service: service.url, "\"tokenFile\": \"token\"", "\"interval\": 1")
        try host.following { _ in
            #expect(waitUntil { service.requests.contains { $0.headers["authorization"] == "Bearer one" } })
            // Whoever is at the service's own server gets it too where the stream is.
            #expect(
                waitUntil {
                    service.requests.contains {
                        $0.path.hasPrefix("/events") && $0.headers["authorization"] == "Bearer one"
                    }
                })
            try host.home.write("token", "two\n")
            #expect(waitUntil { service.requests.contains { $0.headers["authorization"] == "Bearer two" } })
            try host.home.write("token", "")
            #expect(try waitUntil { try host.problem()?.contains("contains no token") == true })
        }
    }
}

@Suite struct `An agent and a hostile flag service` {
    private let host: AgentHost
    private let server: HostileServer

    private static let good = #"{"flags":[{"key":"Search/Index/New","value":true}]}"#
    private static let new = #"{"flags":[{"key":"Search/Index/New","value":false}]}"#

    init() throws {
        host = try AgentHost()
        server = try HostileServer { $0.answer(Self.good) }
        try host.configure(service: server.url, "", "\"timeout\": 5")
        #expect(try host.once().succeeded)
        #expect(try host.value("Index", "New") as? Bool == true)
    }

    private func refuses(
        _ problem: String, _ location: SourceLocation = #_sourceLocation,
        answer: @escaping @Sendable (HostileServer.Request) -> Void
    ) throws {
        server.answer(answer)
        #expect(try host.once().status == EX_TEMPFAIL, sourceLocation: location)
        let said = try #require(try host.problem())
        #expect(said.hasPrefix(problem), sourceLocation: location)
        #expect(try host.value("Index", "New") as? Bool == true, sourceLocation: location)
    }

    @Test func `evaluated by POST`() throws {
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("POST /ofrep/v1/evaluate/flags HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("content-type: application/json"))
    }

    @Test func `whose answer is truncated, huge or a web page`() throws {
        try refuses("the connection was closed before the end") {
            $0.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n" + Self.new
            )
        }
        try refuses("the answer has more than 1048576 bytes") {
            $0.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1048577\r\n\r\n")
            $0.waitForEnd()
        }
        try refuses("the answer is text/html; application/json is expected") {
            $0.answer("<html>Sign in</html>", headers: ["Content-Type: text/html"])
        }
    }

    @Test func `whose answer is late`() throws {
        try host.configure(service: server.url, "", "\"timeout\": 0.5")
        try refuses("no complete answer within 0.5 seconds") { $0.waitForEnd() }
    }

    @Test(arguments: [
        "400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "500 Internal Server Error",
    ])
    func `that refuses`(status: String) throws {
        try refuses("HTTP status \(status.prefix(3)): GENERAL: no since ") {
            $0.answer(#"{"errorCode":"GENERAL","errorDetails":"no"}"#, status: status)
        }
        try refuses("HTTP status \(status.prefix(3)), after other failures since ") {
            $0.answer("<html>", status: status)
        }
    }

    @Test(arguments: ["[]", "{}", #"{"flags":{}}"#, #"{"flags":1}"#, #"{"features":[]}"#])
    func `whose answer has another form`(body: String) throws {
        try refuses("flags: ") { $0.answer(body) }
    }

    @Test func `that redirects, unless allowed, and never with the token`() throws {
        try host.home.write("token", "secret")
        let other = try HostileServer { $0.answer(Self.new) }
        try refuses("the server redirects to \"\(other.url)\", but redirects are not followed") {
            $0.answer("", status: "307 Temporary Redirect", headers: ["Location: \(other.url)"])
        }
        try host.configure(service: server.url, "\"tokenFile\": \"token\"", "\"redirects\": 1")
        try refuses("it is redirected with HTTP status 302, which is not valid for a POST request") {
            $0.answer("", status: "302 Found", headers: ["Location: \(other.url)"])
        }
        #expect(other.requests.isEmpty)
        server.answer { $0.answer("", status: "307 Temporary Redirect", headers: ["Location: \(other.url)"]) }
        #expect(try host.once().succeeded)
        #expect(try host.value("Index", "New") as? Bool == false)
        #expect(server.requests.last?.contains("Bearer secret") == true)
        #expect(other.requests.count == 1)
        #expect(other.requests.first?.hasPrefix("POST ") == true)
        #expect(other.requests.first?.contains("secret") == false)
    }

    @Test func `that has an older version`() throws {
        server.answer {
            $0.answer(#"{"flags":[{"key":"Search/Index/New","value":true}],"metadata":{"version":7}}"#)
        }
        #expect(try host.once().succeeded)
        try refuses("it has no version, and 7 or more is expected") { $0.answer(Self.new) }
    }

    @Test func `that asks for a pause`() throws {
        try host.configure(service: server.url, "", "\"interval\": 1")
        server.answer { $0.answer("", status: "429 Too Many Requests", headers: ["Retry-After: 3600"]) }
        let before = server.requests.count
        try host.following { (_) throws in
            #expect(try waitUntil { try host.problem() != nil })
            usleep(2_500_000)
            #expect(server.requests.count == before + 1)
        }
    }

    @Test func `that reports no change although the facts changed`() throws {
        try refuses("HTTP status 304 since ") { $0.answer("", status: "304 Not Modified") }
    }

    @Test func `whose names and texts contain control characters`() throws {
        server.answer {
            $0.answer(
                #"{"flags":[{"key":"\u001b[2J<b>","errorCode":"X\u001b]0;x\u0007","errorDetails":"\r\nfake line"}]}"#
            )
        }
        let result = try host.once()
        #expect(result.succeeded)
        #expect(result.error.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" })
        #expect(result.error.split(separator: "\n").count == 1)
    }

    // MARK: - Streams of events

    /// Has the server name a stream of events, which it serves itself.
    private func following(
        _ stream: @escaping @Sendable (HostileServer.Request) -> Void, _ body: (RunningCommand) throws -> Void
    ) throws -> CommandResult {
        try host.configure(service: server.url, "", "\"interval\": 3600")
        server.answer { request in
            if request.path.hasPrefix("/stream") { return stream(request) }
            request.answer(
                #"{"flags":[{"key":"Search/Index/New","value":false}],"eventStreams":[{"type":"sse","url":"/stream?key=secret"}]}"#
            )
        }
        return try host.following { agent in
            #expect(waitUntil { server.requests.contains { $0.hasPrefix("GET /stream") } })
            try body(agent)
        }
    }

    private var evaluations: Int { server.requests.count { $0.hasPrefix("POST ") } }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

    @Test func `with an endless stream of events`() throws {
        let before = evaluations
        let start = Date()
        let agent = try following { request in
            request.send(Self.head)
            while request.send("data: {\"type\":\"refetchEvaluation\"}\n\n") {}
        } _: { _ in
            // Then it hangs up.
            #expect(
                waitUntil {
                    server.requests.count { $0.hasPrefix("GET /stream") } >= 2
                })
        }
        // Twice at the beginning, and otherwise once in a second.
        #expect(Double(evaluations - before) <= Date().timeIntervalSince(start) + 3)
        #expect(!agent.error.contains("secret"))
    }

    @Test func `whose stream is a web page, has unknown events, or an endless one`() throws {
        let answers = [
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n",
            Self.head + "data: {\"type\":\"other\"}\n\ndata: [\n\ndata: \u{1b}[2J\n\n"
                + "event: x\ndata: {\"type\":\"refetchEvaluation\"}\n\n",
            Self.head + "data: " + String(repeating: "x", count: 1 << 17),
        ]
        let number = Locked(0)
        let agent = try following { request in
            let next = number.withLock { number in
                defer { number += 1 }
                return number
            }
            request.send(answers[min(next, answers.count - 1)])
        } _: { (_) throws in
            #expect(waitUntil { number.withLock { $0 } >= answers.count })
            // What was loaded is there whatever the stream does.
            #expect(try host.value("Index", "New") as? Bool == false)
        }
        #expect(!agent.error.contains("secret"))
    }

    @Test func `whose stream restarts, which triggers a poll`() throws {
        let (streams, answers, mayEnd) = (Locked(0), Locked(0), Locked(false))
        try host.configure(service: server.url, "", "\"interval\": 3600")
        server.answer { request in
            let count = streams.withLock { $0 }
            guard request.path.hasPrefix("/stream") else {
                // Something changes while there is no stream that could tell.
                request.answer(
                    #"{"flags":[{"key":"Search/Index/New","value":\#(count > 0)}],"#
                        + #""eventStreams":[{"type":"sse","url":"/stream"}]}"#)
                return answers.withLock { $0 += 1 }
            }
            if count == 0 {
                // The first one ends when it has made the agent ask again.
                request.send(Self.head)
                while !mayEnd.withLock({ $0 }), request.send(":\n\n") { usleep(10_000) }
            }
            streams.withLock { $0 += 1 }
            guard count > 0 else { return }
            request.send(Self.head)
            while request.send(":\n\n") { usleep(100_000) }
        }
        try host.following { (_) throws in
            #expect(try waitUntil { try host.value("Index", "New") as? Bool == false })
            #expect(waitUntil { answers.withLock { $0 } >= 2 })
            mayEnd.withLock { $0 = true }
            #expect(try waitUntil { try host.value("Index", "New") as? Bool == true })
            #expect(streams.withLock { $0 } == 2)
        }
    }

    @Test func `whose stream is not at a web address`() throws {
        try host.configure(service: server.url, "", "\"interval\": 1")
        server.answer {
            $0.answer(#"{"flags":[],"eventStreams":[{"type":"sse","url":"file:///etc/passwd"}]}"#)
        }
        let agent = try host.following { agent in
            #expect(waitUntil { agent.written.error.contains("the event stream: ") })
        }
        #expect(agent.status == 0)
    }
}
#endif
