// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import RemoteValues
import TestSupport
import Testing

@Suite struct `The proxy for a request` {
    private func route(_ url: String, _ variables: [String: String]) throws -> Proxies.Route {
        try Proxies { variables[$0] }.route(to: url)
    }

    /// Whether a request goes to a proxy in spite of these exceptions.
    private func usesProxy(_ url: String, _ exceptions: String) throws -> Bool {
        let variables = ["http_proxy": "http://p", "https_proxy": "http://p", "no_proxy": exceptions]
        return try route(url, variables) != .direct
    }

    @Test func `forwards plain requests, and tunnels encrypted ones`() throws {
        let variables = ["http_proxy": "http://one:3128/", "https_proxy": "two:81"]
        let (plain, secure) = (try route("http://e/a", variables), try route("HTTPS://e/a", variables))
        guard case .forwarded(let one) = plain, case .tunnelled(let two) = secure else {
            Issue.record("\(plain), \(secure)")
            return
        }
        #expect((one.host, one.port, one.credentials) == ("one", 3128, nil))
        #expect((two.host, two.port, two.credentials) == ("two", 81, nil))
        #expect(try route("https://e/", ["http_proxy": "http://one"]) == .direct)
    }

    @Test func `is that of the lower-case variable, and for https of the upper-case one`() throws {
        func port(_ url: String, _ variables: [String: String]) throws -> Int? {
            try route(url, variables).proxy?.port
        }
        #expect(try port("http://e/", ["HTTP_PROXY": "http://p:1"]) == nil)
        #expect(try port("https://e/", ["HTTPS_PROXY": "http://p:1"]) == 1)
        #expect(try port("https://e/", ["HTTPS_PROXY": "http://p:1", "https_proxy": "http://p:2"]) == 2)
        #expect(try port("https://e/", ["HTTPS_PROXY": "http://p:1", "https_proxy": ""]) == 1)
        #expect(try port("https://e/", ["HTTPS_PROXY": "http://p:1", "NO_PROXY": "e"]) == nil)
        #expect(try port("https://e/", ["https_proxy": ""]) == nil)
    }

    @Test(arguments: [
        ("http://u:p@h:1", "h:1", "u:p"), ("http://u@h", "h:80", "u:"),
        ("u:p%40%3A%25@h:1/", "h:1", "u:p@:%"),
        ("HTTP://a@b:c@h:1", "h:1", "a@b:c"), ("http://[::1]:3128", "[::1]:3128", nil),
        ("http://:p@h_1.example:65535", "h_1.example:65535", ":p"),
    ])
    func `has a host, a port and credentials`(text: String, authority: String, credentials: String?) throws {
        let proxy = try #require(try route("https://e/", ["https_proxy": text]).proxy)
        #expect(proxy.authority == authority)
        #expect(proxy.credentials == credentials.map { Data($0.utf8).base64EncodedString() })
    }

    @Test(arguments: [
        "https://h:1", "socks5://h:1", "http://", "http://:80", "h:0", "h:65536", "h:x", "h:-1", "h:1:2",
        "h/path", "h?a",
        "h#a", "http://u:secret%zz@h:1", "http://u:secret@", "h h", "h\r\nX: y", "[::1", "[::1]x", "ho$t",
        "http://http://h",
        "h:99999999999999999999",
    ])
    func `is a problem without a secret if its address is malformed`(text: String) {
        let problem = #expect(throws: FetchProblem.self) { try route("https://e/", ["https_proxy": text]) }
        #expect(
            problem?.message == "the value of https_proxy is not the address of an HTTP proxy; expected: "
                + "http://HOST:PORT or http://USER:PASSWORD@HOST:PORT")
        // Other requests need it not.
        #expect(throws: Never.self) { try route("http://e/", ["https_proxy": text]) }
    }

    @Test(arguments: [
        "http://localhost/", "https://LOCALHOST:8443/", "http://127.0.0.1:80/", "http://127.3.2.1/",
        "http://[::1]:1/",
        "http://localhost./",
    ])
    func `is none for this machine`(url: String) throws {
        #expect(try !usesProxy(url, ""))
    }

    @Test(arguments: [
        ("example.org", "https://example.org/"), ("example.org", "https://a.b.EXAMPLE.org:8443/"),
        ("EXAMPLE.org.", "https://example.org./a"), (".example.org", "https://a.example.org/"),
        ("*.example.org", "https://a.example.org/"), ("*", "http://anything/"), ("a, b c\td", "http://c/"),
        ("x,,b ,", "http://b/"), ("example.org:8443", "https://example.org:8443/"),
        ("example.org:443", "https://example.org/?a"), ("10.0.0.1", "http://10.0.0.1:99/"),
        ("10.0.0.0/8", "http://10.255.3.4/"), ("10.0.0.1/31", "http://10.0.0.0/"),
        ("0.0.0.0/0", "http://1.2.3.4/"),
        ("2001:db8::/33", "http://[2001:db8:7fff::1]:80/"),
        ("[2001:db8::1]:81", "http://[2001:db8:0:0::1]:81/"),
        ("2001:db8::1", "http://[2001:db8::1]/"), ("10.0.0.1:80", "http://10.0.0.1/"),
    ])
    func `is none for exceptions`(exceptions: String, url: String) throws {
        #expect(try !usesProxy(url, exceptions))
    }

    @Test(arguments: [
        ("", "http://e/"), (".example.org", "https://example.org/"),
        ("*.example.org", "https://example.org/"),
        ("example.org", "https://badexample.org/"), ("example.org", "https://example.org.evil.example/"),
        ("example.org:80", "https://example.org/"), ("10.0.0.0/8", "http://11.0.0.1/"),
        ("10.0.0.1/31", "http://10.0.0.2/"),
        ("10.0.0.1", "http://10.0.0.10/"), ("10.0.0.0/33", "http://10.0.0.1/"),
        ("10.0.0.0/-1", "http://10.0.0.1/"),
        ("10.0.0.0/", "http://10.0.0.0/"), ("0.0.0.1", "http://10.0.0.0.1/"),
        ("2001:db8::/33", "http://[2001:db8:8000::]/"),
        (".", "http://e/"), ("*.", "http://e/"), ("**", "http://e/"),
        ("*example.org", "http://a.example.org/"),
        ("e:0", "http://e/"), ("e:x", "http://e/"), ("[::", "http://e/"), ("/8", "http://e/"),
        ("1.", "http://10.0.0.1/"),
        ("localhost.evil.example", "http://localhost.evil/"), ("127.0.0.1", "http://127.0.0.1.evil.example/"),
    ])
    func `is used otherwise, even if an exception is malformed`(exceptions: String, url: String) throws {
        #expect(try usesProxy(url, exceptions))
    }
}

@Suite struct `An agent behind a proxy` {
    private let host: AgentHost
    /// The proxy, which also stands for the server behind it.
    private let proxy: HostileServer
    private var address: String { "127.0.0.1:\(proxy.port)" }

    init() throws {
        host = try AgentHost()
        proxy = try HostileServer { $0.answer(features(["search": true])) }
    }

    private func once(_ environment: [String: String]) throws -> CommandResult {
        try host.once(environment: environment)
    }

    @Test func `sends it the whole address, if that has no encryption`() throws {
        try host.configure("http://values.example.test:8080/a/b.json?x=%2F&y=+")
        #expect(try once(["http_proxy": "http://us%65r:p%20w@\(address)/"]).succeeded)
        #expect(try host.isOn("search") == true)
        let request = try #require(proxy.requests.first)
        #expect(request.hasPrefix("GET http://values.example.test:8080/a/b.json?x=%2F&y=+ HTTP/1.1\r\n"))
        let head = request.lowercased()
        #expect(head.contains("\r\nhost: values.example.test:8080\r\n"))
        #expect(request.contains("Basic \(Data("user:p w".utf8).base64EncodedString())\r\n"))
        #expect(head.components(separatedBy: "\r\nproxy-authorization: basic ").count == 2)
    }

    @Test func `reaches a server with TLS through a tunnel, in which the proxy sees only its name`() throws {
        let authority = try CertificateAuthority(host.home)
        try authority.make("values", host: "values.example.test")
        let server = try WebServer(host.home, certificate: "values")
        try server.put(features(["search": false]))
        let port = server.port
        proxy.answer { $0.tunnel(to: port) }
        try host.configure(
            "https://values.example.test:\(port)/?token=hidden", "\"certificates\": \"ca.crt\"")
        try server.put(features(["search": false]), as: "index.html")
        try host.configure(
            "https://values.example.test:\(port)/features.json?token=hidden", "\"certificates\": \"ca.crt\"")
        let result = try once(["https_proxy": "http://user:word@\(address)"])
        #expect(result.succeeded, "\(result.error)")
        #expect(try host.isOn("search") == false)
        let request = try #require(proxy.requests.first)
        #expect(request.hasPrefix("CONNECT values.example.test:\(port) HTTP/1.1\r\n"))
        #expect(request.contains("Basic \(Data("user:word".utf8).base64EncodedString())"))
        #expect(!request.contains("hidden") && !request.contains("features"))
        // The certificate is that of the server's name, whatever the proxy connects to.
        try host.configure("https://other.example.test:\(port)/", "\"certificates\": \"ca.crt\"")
        #expect(try once(["https_proxy": address]).status == EX_TEMPFAIL)
        #expect(try host.problem()?.hasPrefix("the certificate is for another host: ") == true)
        #expect(try host.isOn("search") == false)
    }

    @Test func `asks this machine and exceptions directly`() throws {
        let server = try HostileServer { $0.answer(features(["search": false])) }
        try host.configure(server.url)
        #expect(try once(["http_proxy": address, "no_proxy": "", "HTTP_PROXY": address]).succeeded)
        #expect(proxy.requests.isEmpty)
        try host.configure("http://values.example.test/")
        #expect(try once(["http_proxy": address, "NO_PROXY": ".example.test"]).status == EX_TEMPFAIL)
        #expect(try host.problem()?.hasPrefix("no host values.example.test") == true)
        #expect(try once(["HTTP_PROXY": address]).status == EX_TEMPFAIL)
        #expect(proxy.requests.isEmpty)
    }

    @Test func `keeps the values, and reports what is wrong with the proxy`() throws {
        try host.configure("http://values.example.test/")
        #expect(try once(["http_proxy": address]).succeeded)
        func refuses(
            _ problem: String, _ variables: [String: String], _ location: SourceLocation = #_sourceLocation
        ) throws {
            let result = try once(variables)
            #expect(result.status == EX_TEMPFAIL, sourceLocation: location)
            #expect(
                try host.problem()?.hasPrefix(problem) == true, "\(result.error)", sourceLocation: location)
            #expect(!result.error.contains("secret"), sourceLocation: location)
            #expect(try host.isOn("search") == true, sourceLocation: location)
        }
        let secret = "http://user:secret@\(address)"
        try refuses(
            "the value of http_proxy is not the address", ["http_proxy": "ftp://user:secret@\(address)"])
        try refuses(
            "the proxy nowhere.invalid:3128: no host nowhere.invalid",
            ["http_proxy": "user:secret@nowhere.invalid:3128"])
        let closed = try freePort()
        try refuses(
            "the proxy 127.0.0.1:\(closed): no connection: Connection refused",
            ["http_proxy": "user:secret@127.0.0.1:\(closed)"])
        proxy.answer { $0.answer("", status: "407 Proxy Authentication Required") }
        try refuses(
            "the proxy \(address): it requires a user and a password, or refuses those given",
            ["http_proxy": secret])
        try host.configure("https://values.example.test/")
        try refuses(
            "the proxy \(address): it requires a user and a password, or refuses those given",
            ["https_proxy": secret])
        try refuses(
            "the proxy 127.0.0.1:\(closed): no connection: Connection refused",
            ["https_proxy": "user:secret@127.0.0.1:\(closed)"])
        proxy.answer { $0.answer("", status: "403 Forbidden") }
        try refuses("the proxy \(address): it does not connect to the server", ["https_proxy": secret])
    }

    @Test(arguments: [
        "", "SSH-2.0\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nnot TLS\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 407 No\r\n\r\n",
        "HTTP/1.1 407 No\r\nContent-Length: 3\r\n\r\nabcdefHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc",
        "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ])
    func `survives a hostile one`(answer: String) throws {
        try host.configure("http://values.example.test/", "\"connectTimeout\": 2, \"timeout\": 4")
        #expect(try once(["http_proxy": address]).succeeded)
        try host.configure("https://values.example.test/", "\"connectTimeout\": 2, \"timeout\": 4")
        proxy.answer { $0.send(answer) }
        let result = try once(["https_proxy": address])
        #expect(result.status == EX_TEMPFAIL, "\(result.error)")
        #expect(try host.isOn("search") == true)
        #expect(try host.problem() != nil)
    }

    @Test func `follows etcd through it, too`() throws {
        let etcd = try EtcdMembers()
        let port = try #require(URL(string: etcd.endpoints[0])?.port)
        let web = try WebServer(
            more:
                "location / { proxy_pass http://127.0.0.1:\(port); proxy_http_version 1.1; proxy_buffering off; }"
        )
        let fleet = try AgentHost(source: "fleet")
        try fleet.follow(["http://etcd.example.test:2379"], "\"reports\": false")
        try etcd.put("Search/Index/Limit", #"{"value":7}"#)
        try fleet.following(environment: ["http_proxy": web.url]) { _ in
            #expect(try waitUntil { try fleet.number("Search/Index/Limit") == 7 })
            try etcd.put("Search/Index/Limit", #"{"value":8}"#)
            #expect(try waitUntil { try fleet.number("Search/Index/Limit") == 8 })
        }
        #expect(
            web.log.contains { $0.contains("POST http://etcd.example.test:2379/v3/") || $0.contains("/v3/") })
    }
}
#endif
