// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The server of the page` {
    private let page: ServedPage

    init() throws { page = try ServedPage(home: TemporaryDirectory()) }

    private static let routes = [
        "programs", "open", "tweaks", "unfollow", "forget", "set", "calculate", "reset", "run", "restart",
        "restart/plan", "bake", "bake/plan", "explain", "watch", "presence", "try/keep", "try/discard",
        "pong", "history", "undo",
        "revert", "mark",
        "presets", "preset/get", "preset/diff", "preset/save", "preset/delete", "import", "export",
    ]

    @Test func `prints one line: its address with a 192-bit token`() throws {
        #expect(page.process.written.output == "http://127.0.0.1:\(page.port)/#token=\(page.token)\n")
        #expect(page.process.written.error.isEmpty)
        // Six bits per character.
        #expect(page.token.count == 32)
        #expect(page.token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
    }

    @Test func `listens only on loopback`() throws {
        let port = String(page.port, radix: 16, uppercase: true)
        // The kernel returns one page of the table at a time, and Foundation reads only the first.
        let table = try run(
            Locations.program("cat"), ["/proc/\(page.process.processID)/net/tcp"], home: page.home)
        let listening = table.output.split(separator: "\n").filter {
            $0.contains(":\(port) 00000000:0000 0A")
        }
        #expect(listening.count == 1)
        #expect(listening.allSatisfy { $0.contains("0100007F:\(port)") })
    }

    @Test(arguments: routes + ["events", "nothing"])
    func `refuses requests without a session`(route: String) throws {
        let method = route == "events" ? "GET" : "POST"
        for header in [
            "X-Nothing: 1", "Authorization: Bearer", "Authorization: Bearer \(page.token)",
            "Authorization: Basic \(page.session)", "Cookie: session=\(page.session)",
            "Authorization: Bearer \(page.session)x",
        ] {
            let answer = try page.ask(method, "/api/" + route, ["Content-Type: application/json", header])
            #expect(answer.status == 401, "\(header)")
            #expect(!answer.body.contains(page.session))
        }
    }

    @Test func `rejects a wrong token, and that of an earlier run`() throws {
        let other = try ServedPage(home: TemporaryDirectory())
        #expect(other.token != page.token)
        let wrong = [
            "", "x", String(page.token.dropLast()), page.token + "x", other.token,
            String(page.token.reversed()),
        ]
        for token in wrong {
            let answer = try page.ask(
                "POST", "/api/session", ["Content-Type: application/json"], #"{"token":"\#(token)"}"#)
            #expect(answer.status == 401)
            #expect(try answer.json["session"] == nil)
        }
        for body in ["", "[]", "{}", #"{"token":1}"#, "\u{0}"] {
            #expect(
                try page.ask("POST", "/api/session", ["Content-Type: application/json"], body).status == 400)
        }
        // A session of another run is not valid.
        let answer = try page.ask(
            "POST", "/api/programs",
            ["Content-Type: application/json", "Authorization: Bearer \(other.session)"])
        #expect(answer.status == 401)
    }

    @Test func `gives each page its own session`() throws {
        let body = #"{"token":"\#(page.token)"}"#
        let other = try page.ask("POST", "/api/session", ["Content-Type: application/json"], body)
        #expect(other.status == 200)
        #expect(try other.json["session"] as? String != page.session)
        #expect(try page.api("programs").status == 200)
    }

    @Test(arguments: [
        "evil.example", "evil.example:PORT", "localhost.evil.example:PORT", "127.0.0.1.evil.example:PORT",
        "10.0.0.1:PORT", "0.0.0.0:PORT", "[::]:PORT", "[::ffff:127.0.0.1]:PORT", "127.1:PORT",
        "2130706433:PORT",
        "0x7f000001:PORT", "127.0.0.1.:PORT", "localhost.:PORT", "127.0.0.256:PORT", "", ":PORT",
        "localhost:", "localhost:0",
        "localhost:65536", "[::1]:99999", "[::1", "::1", "[127.0.0.1]:PORT", "[localhost]:PORT",
        "127.0.0.1:PORT:PORT",
        "localhost:+80", "localhost:evil.example", "localhost@evil.example", "evil.example@localhost:PORT",
        "localhost/evil.example", "evil.example/localhost", "localhost evil.example",
        "localhost,evil.example",
        "localhost%00.evil.example", "xn--lcalhost-r4a:PORT",
    ])
    func `refuses a foreign Host`(host: String) throws {
        let header = "Host: " + host.replacing("PORT", with: "\(page.port)")
        #expect(try page.ask("GET", "/", [header], "").status == 403)
        let answer = try page.ask(
            "POST", "/api/programs",
            ["Content-Type: application/json", "Authorization: Bearer \(page.session)", header])
        #expect(answer.status == 403)
    }

    @Test(arguments: [
        "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT", "127.0.0.1:PORT", "127.0.0.1", "127.0.0.1:1",
        "127.0.0.2:PORT",
        "127.255.255.254:9000", "localhost:9000", "[::1]:65535", "localhost",
    ])
    func `accepts the names of loopback, also at a forwarded port`(host: String) throws {
        let host = host.replacing("PORT", with: "\(page.port)")
        #expect(try page.ask("GET", "/", ["Host: \(host)"], "").status == 200)
        #expect(try page.api("programs", [:], ["Host: \(host)", "Origin: http://\(host)"]).status == 200)
    }

    @Test(arguments: [
        "Origin: http://evil.example", "Origin: null", "Origin: https://127.0.0.1:PORT",
        "Origin: http://127.0.0.1:1",
        "Origin: http://127.0.0.1", "Origin: http://localhost:PORT",
        "Origin: http://127.0.0.1:PORT.evil.example",
        "Origin: http://127.0.0.1:PORT@evil.example", "Origin: http://evil.example@127.0.0.1:PORT",
        "Origin: 127.0.0.1:PORT",
        "Origin: //127.0.0.1:PORT", "Origin: file://", "Origin:", "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ])
    func `refuses a foreign Origin`(header: String) throws {
        let header = header.replacing("PORT", with: "\(page.port)")
        #expect(try page.api("programs", [:], [header]).status == 403)
        let exchange = try page.ask(
            "POST", "/api/session", ["Content-Type: application/json", header], #"{"token":"\#(page.token)"}"#
        )
        #expect(exchange.status == 403)
    }

    @Test(arguments: [
        "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "",
        "application/jsonx",
    ])
    func `rejects forms of other sites`(type: String) throws {
        let answer = try page.ask(
            "POST", "/api/programs", ["Content-Type: \(type)", "Authorization: Bearer \(page.session)"])
        #expect(answer.status == 415)
        // The headers that a browser sends for a form.
        let form = try page.ask(
            "POST", "/api/set",
            ["Content-Type: \(type)", "Origin: http://evil.example", "Sec-Fetch-Site: cross-site"])
        #expect(form.status == 403)
    }

    @Test func `rejects unknown methods`() throws {
        for method in ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"] {
            let answer = try page.ask(method, "/api/programs", ["Authorization: Bearer \(page.session)"])
            #expect(answer.status == 405)
            #expect(answer.headers.keys.allSatisfy { !$0.hasPrefix("access-control") })
        }
        #expect(try page.ask("POST", "/").status == 405)
        #expect(try page.api("events").status == 405)
    }

    @Test(arguments: ["/", "/api/programs", "/nothing"])
    func `runs only its own scripts, and cannot be framed`(path: String) throws {
        let answer = try page.ask("GET", path, [], "")
        let policy = answer.headers["content-security-policy"] ?? ""
        #expect(policy.contains("default-src 'none'"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(policy.contains("form-action 'none'"))
        #expect(policy.contains("require-trusted-types-for 'script'"))
        #expect(!policy.contains("unsafe"))
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["x-frame-options"] == "DENY")
        #expect(answer.headers["referrer-policy"] == "no-referrer")
        #expect(answer.headers["cross-origin-opener-policy"] == "same-origin")
        #expect(answer.headers["cross-origin-resource-policy"] == "same-origin")
        #expect(answer.headers["set-cookie"] == nil)
        #expect(answer.headers.keys.allSatisfy { !$0.hasPrefix("access-control") })
    }

    @Test func `refuses an oversized body, whatever follows it`() throws {
        let client = try HTTPClient(page.port)
        client.send(
            """
            POST /api/set HTTP/1.1\r\nHost: \(page.host)\r\nContent-Type: application/json\r
            Authorization: Bearer \(page.session)\r\nContent-Length: 100000000000\r\n\r\n{"program":"
            """)
        #expect(try HTTPAnswer(client.readToEnd()).status == 413)
        // A body of undeclared length.
        let chunked = try HTTPClient(page.port)
        chunked.send(
            """
            POST /api/set HTTP/1.1\r\nHost: \(page.host)\r\nContent-Type: application/json\r
            Authorization: Bearer \(page.session)\r\nTransfer-Encoding: chunked\r\n\r\n
            """)
        let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        for _ in 0..<40 where chunked.send(chunk) {}
        #expect(try HTTPAnswer(chunked.readToEnd()).status == 413)
        // Without a session the body is not read.
        let large = #"{"token":"\#(String(repeating: "x", count: 10000))"}"#
        #expect(try page.ask("POST", "/api/session", ["Content-Type: application/json"], large).status == 413)
        #expect(try page.api("programs").status == 200)
    }

    @Test func `discards an oversized head`() throws {
        let client = try HTTPClient(page.port)
        client.send("GET / HTTP/1.1\r\nHost: \(page.host)\r\n")
        for number in 0..<1000
        where client.send("X-Header-\(number): \(String(repeating: "x", count: 1000))\r\n") {}
        #expect(!client.readToEnd().contains("200 OK"))
        #expect(try page.ask("GET", "/", [], "").status == 200)
    }

    @Test func `closes connections whose requests arrive too slowly`() throws {
        let slow = try (0..<100).map { _ in try HTTPClient(page.port) }
        for client in slow { client.send("GET / HTTP/1.1\r\nHo") }
        #expect(try page.ask("GET", "/", [], "").status == 200)
        let body = try HTTPClient(page.port)
        body.send(
            "POST /api/session HTTP/1.1\r\nHost: \(page.host)\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        )
        // Sending a byte now and then does not extend the deadline.
        var isOpen = slow
        let areClosed = waitUntil {
            isOpen.removeAll { client in
                client.send("s")
                var byte: UInt8 = 0
                return recv(client.socket, &byte, 1, Int32(MSG_DONTWAIT)) == 0 || errno == ECONNRESET
            }
            usleep(100_000)
            return isOpen.isEmpty
        }
        #expect(areClosed)
        if isLong { #expect(body.readToEnd().isEmpty) }
    }

    @Test func `serves clients with a session, however many idle connections there are`() throws {
        // In its own process, because of the limit on open files.
        let others = try page.home.write(
            "others.py",
            """
            import http.client, resource, socket, sys
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            port, session = int(sys.argv[1]), sys.argv[2]
            silent = []
            for method, path in [("GET", "/"), ("POST", "/api/programs")] * 10:
                for _ in range(150):
                    silent.append(socket.socket())
                    silent[-1].setblocking(False)
                    silent[-1].connect_ex(("127.0.0.1", port))
                connection = http.client.HTTPConnection("127.0.0.1", port)
                headers = {"Content-Type": "application/json", "Authorization": "Bearer " + session}
                connection.request(method, path, "{}" if method == "POST" else None, headers)
                print(connection.getresponse().status)
            """)
        // Otherwise they would wait a minute until others are closed.
        let result = try run(
            Locations.program("timeout"), ["40", "python3", others, "\(page.port)", page.session],
            home: page.home)
        #expect(result.output == String(repeating: "200\n", count: 20), "\(result.status) \(result.error)")
    }

    @Test func `frees everything of clients that disconnect early`() throws {
        func memory() throws -> Int {
            let status = try String(
                contentsOfFile: "/proc/\(page.process.processID)/status", encoding: .utf8)
            return try #require(status.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.1) })
        }
        func crowd(_ count: Int) throws {
            for _ in 0..<count {
                try HTTPClient(page.port).send("POST /api/set HTTP/1.1\r\nContent-Length: 9\r\n\r\n")
            }
            #expect(try page.ask("GET", "/", [], "").status == 200)
        }
        try crowd(500)
        let before = try memory()
        try crowd(3000)
        #expect(try memory() < before + 20_000)
    }

    @Test func `serves at most 64 streams, and new ones when some have ended`() throws {
        var streams = try (0..<200).map { _ in try page.events() }
        #expect(streams.count { $0.status == 200 } == 64)
        #expect(streams.count { $0.status == 429 } == 136)
        // Other requests are still answered.
        #expect(try page.api("programs").status == 200)
        streams.removeAll()
        #expect(try waitUntil { try page.events().status == 200 })
    }

    @Test func `sends its time every two seconds, and refuses requests that are older than five`() throws {
        let events = try page.events()
        let hello = try #require(try events.first("hello")["time"] as? Int)
        let beat = try #require(try events.first("beat") { $0["time"] as? Int != hello }["time"] as? Int)
        #expect(beat > hello)
        let answer = try page.api("programs")
        let now = try #require(answer.headers["tweaks-time"].flatMap { Int($0) })
        #expect(answer.status == 200 && now >= beat)
        #expect(try page.api("programs", [:], ["Tweaks-Time: \(now)"]).status == 200)
        for time in [now - 5001, now + 60_000] {
            let late = try page.api("programs", [:], ["Tweaks-Time: \(time)"])
            #expect(late.status == 412)
            #expect(late.body.contains("is ignored"), "\(late.body)")
        }
        #expect(try page.api("programs", [:], ["Tweaks-Time: soon"]).status == 400)
    }

    @Test func `refuses a request whose body arrives too late`() throws {
        let now = try #require(try page.api("programs").headers["tweaks-time"])
        let client = try HTTPClient(page.port)
        client.send(
            """
            POST /api/programs HTTP/1.1\r\nHost: \(page.host)\r\nConnection: close\r\nContent-Type: application/json\r\n\
            Authorization: Bearer \(page.session)\r\nTweaks-Time: \(now)\r\nContent-Length: 2\r\n\r\n{
            """)
        Thread.sleep(forTimeInterval: 5.5)
        client.send("}")
        #expect(try HTTPAnswer(client.readToEnd()).status == 412)
    }

    @Test func `sends hostile names of tweaks as text`() throws {
        let program = try SetterProgram()
        let name = "</script><img src=x onerror=alert(1)>\u{0}\u{1B}[31m\n\r\u{2028}\"'`${x}"
        let json = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
        let tweak = #"""
            {"tweak":"A/B/\#(json.dropFirst().dropLast().replacing("\\/", with: "%2F"))","category":"A","collection":"B",\#
            "name":\#(json),"type":"int32","default":1,"value":2,"source":"default","description":\#(json),"title":\#(json)}
            """#
        let endpoint = try FakeEndpoint(
            program,
            results: [
                "describe":
                    #"{"application":"x","executable":"/<b>","pid":1,"protocol":1,"version":"<i>","tweaks":1}"#,
                "list": #"{"tweaks":[\#(tweak)]}"#, "subscribe": #"{"subscription":1}"#,
            ])
        defer { endpoint.stop() }
        let page = try ServedPage(home: program.home)
        let events = try page.events()
        let id = try page.id(ofProcess: getpid())
        let answer = try page.api("tweaks", ["program": id, "stream": try events.stream()])
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/json")
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        let tweaks = try #require(try answer.json["tweaks"] as? [[String: Any]])
        #expect(tweaks.first?["name"] as? String == name)
        #expect(tweaks.first?["description"] as? String == name)
        // A stream of lines contains no control characters.
        #expect(answer.body.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `exits on a signal, and notifies its pages`(signal: Int32) throws {
        let events = try page.events()
        _ = try events.first("hello")
        kill(page.process.processID, signal)
        _ = try events.first("bye")
        #expect(waitUntil { events.hasEnded })
        #expect(page.process.wait().status == 128 + signal)
    }

    @Test func `exits in spite of idle connections and incomplete requests`() throws {
        let clients = try ["", "GET / HTTP/1.1\r\nHo", "GET / HTTP/1.1\r\nHost: \(page.host)\r\n\r\n"].map {
            text in
            let client = try HTTPClient(page.port)
            client.send(text)
            return client
        }
        #expect(!(clients.last?.read().isEmpty ?? true))
        kill(page.process.processID, SIGTERM)
        #expect(page.process.wait().status == 128 + SIGTERM)
    }

    @Test func `prints no secret except in its first line`() throws {
        _ = try page.api("programs")
        _ = try page.ask("GET", "/nothing?\(page.token)", [], "")
        let (output, error) = page.process.written
        #expect(output.split(separator: "\n").count == 1)
        #expect(error.isEmpty)
        let arguments = try String(contentsOfFile: "/proc/\(page.process.processID)/cmdline", encoding: .utf8)
        #expect(!arguments.contains(page.token))
    }
}
