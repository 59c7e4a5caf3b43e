// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The page at another address` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func page(_ arguments: String...) throws -> ServedPage { try ServedPage(arguments, home: home) }

    // MARK: - Names

    @Test(arguments: [
        "tools.example.org", "TOOLS.example.org:9000", "other.example.org:8443", "10.0.0.1",
        "[2001:db8::1]:80",
    ])
    func `answers under the names that it is given, at any port`(host: String) throws {
        let page = try page(
            "--name", "Tools.example.ORG", "--name", "other.example.org:8443", "--name", "10.0.0.1", "--name",
            "[2001:db8::1]")
        #expect(try page.ask("GET", "/", ["Host: \(host)"], "").status == 200)
        for origin in ["http://\(host)", "https://\(host)"] {
            #expect(
                try page.api("programs", [:], ["Host: \(host)", "Origin: \(origin)"]).status == 200,
                "\(origin)")
        }
    }

    @Test(arguments: [
        "https://tools.example.org", "http://tools.example.org", "https://Other.example.org:8443",
    ])
    func `answers its proxy, whatever that sends as Host`(origin: String) throws {
        let page = try page("--name", "tools.example.org", "--name", "other.example.org:8443")
        #expect(try page.api("programs", [:], ["Origin: \(origin)"]).status == 200)
        #expect(
            try page.api("programs", [:], ["Host: tools.example.org:443", "Origin: \(origin)"]).status == 200)
    }

    @Test(arguments: [
        ("evil.example", "http://evil.example"), ("tools.example.org.evil.example", nil),
        ("eviltools.example.org", nil),
        ("a.tools.example.org", nil), ("tools.example.org:99999", nil), ("tools.example.org.", nil),
        ("example.org", nil),
        ("tools.example.org", "https://evil.example"),
        ("tools.example.org", "https://tools.example.org.evil.example"),
        ("tools.example.org", "https://tools.example.org:9000"), ("tools.example.org", "https://localhost"),
        ("tools.example.org", "null"), ("tools.example.org", "ftp://tools.example.org"),
        ("127.0.0.1:PORT", "https://127.0.0.1:PORT"), ("127.0.0.1:PORT", "https://tools.example.org:9000"),
        ("localhost:9000", "http://localhost:9001"), ("localhost:9000", "http://127.0.0.1:9000"),
    ])
    func `refuses other names and sites`(host: String, origin: String?) throws {
        let page = try page("--name", "tools.example.org")
        let (host, origin) = (
            host.replacing("PORT", with: "\(page.port)"), origin?.replacing("PORT", with: "\(page.port)")
        )
        let headers = ["Host: \(host)"] + (origin.map { ["Origin: \($0)"] } ?? [])
        #expect(try page.api("programs", [:], headers).status == 403)
        let exchange = try page.ask(
            "POST", "/api/session", ["Content-Type: application/json"] + headers,
            #"{"token":"\#(page.token)"}"#)
        #expect(exchange.status == 403)
    }

    @Test func `answers at the loopback address that it prints`() throws {
        let process = try start(ServedPage.path, ["--listen", "127.0.0.2"], home: home)
        defer { process.kill() }
        #expect(waitUntil { process.written.output.hasSuffix("\n") })
        let address = try #require(URLComponents(string: String(process.written.output.dropLast())))
        #expect(address.host == "127.0.0.2")
        let port = try #require(address.port)
        let client = try HTTPClient(port, at: 2)
        client.send("GET / HTTP/1.1\r\nHost: 127.0.0.2:\(port)\r\nConnection: close\r\n\r\n")
        #expect(try HTTPAnswer(client.readToEnd()).status == 200)
    }

    // MARK: - A path

    @Test(arguments: ["/tweaks/", "/tweaks", "/a/b-c_d.e~f/"])
    func `has everything below a path`(path: String) throws {
        let page = try page("--path", path, "--fleet")
        let base = path.hasSuffix("/") ? path : path + "/"
        #expect(page.address.hasPrefix("http://127.0.0.1:\(page.port)\(base)#token="))
        #expect(try page.api("programs").status == 200)
        #expect(try page.events().status == 200)
        for file in ["", "index.html", "fleet.html"] {
            let answer = try page.ask("GET", base + file, [], "")
            #expect(answer.status == 200)
            let links = answer.body.matches(of: #/(?:href|src)="([^"#]+)"/#).map { String($0.1) }
            #expect(links.count >= 3)
            for link in links {
                #expect(!link.hasPrefix("/") && !link.contains(":"))
                #expect(try page.ask("GET", base + link, [], "").status == 200, "\(link)")
            }
        }
        let redirect = try page.ask("GET", String(base.dropLast()), [], "")
        #expect(redirect.status == 307)
        #expect(redirect.headers["location"] == base.split(separator: "/").last.map { "\($0)/" })
    }

    @Test(arguments: [
        "/", "/index.html", "/api/programs", "/api/session", "/tweak/", "/tweaksx/", "/TWEAKS/", "//tweaks/",
        "/./tweaks/",
        "/tweaks/..", "/tweaks/../", "/tweaks/../api/programs", "/tweaks//", "/tweaks//api/programs",
        "/tweaks/./",
        "/tweaks/tweaks/", "/tweaks/%2e%2e/", "/tweaks/..%2f", "/tweaks%2f", "/%74weaks/", "/tweaks/;/",
        "/tweaks;/",
        "/x/../tweaks/", "/tweaks\\", "/tweaks/..\\index.html", "http://127.0.0.1/",
        "http://evil.example/api/programs",
        "*",
    ])
    func `has nothing outside the path`(path: String) throws {
        let page = try page("--path", "/tweaks/")
        #expect(try page.ask("GET", path, [], "").status == 404, "\(path)")
        let post = try page.ask(
            "POST", path, ["Content-Type: application/json", "Authorization: Bearer \(page.session)"])
        #expect([404, 405].contains(post.status), "\(path) \(post.status)")
    }

    @Test func `answers a request for a whole address under the names of its Host only`() throws {
        let page = try page("--path", "/tweaks/")
        let target = "http://\(page.host)/tweaks/"
        #expect(try page.ask("GET", target, [], "").status == 200)
        #expect(try page.ask("GET", target, ["Host: evil.example"], "").status == 403)
    }

    @Test(arguments: [
        ["--name", ""], ["--name", "http://e"], ["--name", "e/"], ["--name", "e:x"], ["--name", "e:0"],
        ["--name", "*"],
        ["--name", "*.e"], ["--name", "e f"], ["--name", "user@e"], ["--name", "[::1"], ["--path", ""],
        ["--path", "tweaks/"],
        ["--path", "//"], ["--path", "/a//b/"], ["--path", "/../"], ["--path", "/a/./"], ["--path", "/a?b/"],
        ["--path", "/a#b"],
        ["--path", "/a b/"], ["--path", "/%41/"], ["--path", "/<b>/"], ["--path", "/é/"],
    ])
    func `refuses names and paths that can be none`(arguments: [String]) throws {
        let result = try run(ServedPage.path, arguments, home: home)
        #expect(result.status == 64)
        #expect(
            result.error.contains(
                arguments[0] == "--name" ? "--name must be a host" : "--path must begin with a slash"))
    }

    // MARK: - Refusals

    @Test func `tells a person why a request is refused, and what to do`() throws {
        let page = try page("--path", "/tweaks/")
        func refusal(
            _ method: String, _ path: String, _ headers: [String], _ status: Int, _ words: String...,
            location: SourceLocation = #_sourceLocation
        ) throws {
            let browser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
            let answer = try page.ask(method, path, headers + [browser])
            #expect(answer.status == status, sourceLocation: location)
            #expect(answer.headers["content-type"] == "text/html; charset=utf-8", sourceLocation: location)
            #expect(answer.headers["content-security-policy"]?.contains("default-src 'none'") == true)
            for word in words {
                #expect(answer.body.contains(word), "\(answer.body)", sourceLocation: location)
            }
            #expect(
                !answer.body.contains(page.token) && !answer.body.contains("<b>"), sourceLocation: location)
            let script = try page.ask(method, path, headers + ["Accept: */*"])
            #expect(script.status == status, sourceLocation: location)
            #expect(try script.json["error"] is [String: Any], sourceLocation: location)
        }
        try refusal(
            "GET", "/tweaks/", ["Host: evil.example:80"], 403,
            "<p>&quot;evil.example:80&quot; is not a name of this server.</p>",
            "restart tweak ui with --name evil.example.")
        try refusal(
            "GET", "/tweaks/", ["Host: <b>'&"], 403, "<p>&quot;&lt;b&gt;&#39;&amp;&quot; is not a name")
        try refusal("GET", "/tweaks/", ["Host:"], 403, "is not a name of this server")
        try refusal(
            "POST", "/tweaks/api/set", ["Origin: https://tools.example.org"], 403,
            "<p>Requests of other sites are refused: this one is from https://tools.example.org to 127.0.0.1:",
            "restart tweak ui with --name tools.example.org.")
        try refusal("POST", "/tweaks/api/set", ["Origin: null"], 403, "Requests of other sites are refused")
        try refusal(
            "GET", "/tweaks/api/events", ["Sec-Fetch-Site: cross-site"], 403,
            "Open the address that tweak ui printed.")
        try refusal("GET", "/", [], 404, "<p>The page is at /tweaks/.</p>")
        try refusal("GET", "/tweaks/<b>", [], 404, "<p>The page is at /tweaks/.</p>")
        try refusal("GET", "/tweaks/fleet.html", [], 404, "<p>Restart tweak ui with --fleet to see it.</p>")
        try refusal("GET", "/tweaks/api/set", [], 405, "Use POST for requests.")
        try refusal("POST", "/tweaks/", [], 405, "Use GET for files.")
        try refusal("GET", "/tweaks/api/events", [], 401, "open the address that tweak ui printed")
        try refusal("POST", "/tweaks/api/set", ["Content-Type: text/plain"], 415, "A request must be JSON.")
        #expect(try page.ask("HEAD", "/", ["Accept: text/html"], "").body.isEmpty)
    }

    // MARK: - A reverse proxy

    @Test(arguments: [
        // With and without the path, the header Host and HTTP 1.1.
        ("/tweaks/", "proxy_set_header Host $http_host; proxy_http_version 1.1;"), ("/tweaks/", ""),
        ("/", "proxy_set_header Host $host;"),
    ])
    func `works behind nginx`(path: String, more: String) throws {
        let page = try page("--path", path, "--name", "tools.example.org")
        let port = try Self.freePort()
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(home($0));"
        }
        try home.write(
            "nginx.conf",
            """
            daemon off; master_process off; pid \(home("nginx.pid")); error_log \(home("error.log")); events {}
            http {
              access_log off; \(temporary.joined(separator: " "))
              server {
                listen 127.0.0.1:\(port);
                location /tweaks/ { proxy_pass http://127.0.0.1:\(page.port)\(path == "/" ? "/" : ""); \(more) }
              }
            }
            """)
        let nginx = try start(
            Locations.program("nginx"), ["-c", home("nginx.conf"), "-p", home.path, "-e", home("error.log")],
            home: home)
        defer {
            nginx.kill()
            _ = nginx.wait()
        }
        // It writes this once it listens.
        #expect(waitUntil { FileManager.default.fileExists(atPath: home("nginx.pid")) || !nginx.isRunning })
        let site = ["Host: tools.example.org", "Origin: https://tools.example.org"]
        #expect(try HTTPAnswer(port, "GET", "/tweaks/", [site[0]], "").status == 200)
        let exchange = try HTTPAnswer(
            port, "POST", "/tweaks/api/session", site + ["Content-Type: application/json"],
            #"{"token":"\#(page.token)"}"#)
        let session = try #require(try exchange.json["session"] as? String)
        // Events arrive at once.
        let events = try PageEvents(port, session, "/tweaks/")
        #expect(events.status == 200)
        _ = try events.first("hello")
        let other = try HTTPAnswer(
            port, "POST", "/tweaks/api/programs",
            ["Host: evil.example", "Origin: https://evil.example", "Content-Type: application/json"], "{}")
        #expect(other.status == 403)
    }

    /// A port at which nobody listens.
    private static func freePort() throws -> Int {
        let script = "import sys; sys.path.insert(0, sys.argv[1]); import ports; print(ports.free_port())"
        let result = try run(
            Locations.program("python3"), ["-c", script, Locations.package + "/tools/development"],
            home: TemporaryDirectory())
        return try #require(Int(result.output.dropLast()))
    }
}
