// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import RemoteValues
import TestSupport
import Testing
import TweakFormats

@Suite struct `A file of headers` {
    private func read(_ text: String) throws -> RequestHeaders {
        try RequestHeaders(bytes: Array(text.utf8), path: "headers")
    }

    @Test func `has a name and a value in each line`() throws {
        let headers = try read("X-One: 1\r\n\nAuthorization:\tBearer a=b: c \nX-One:2").all
        #expect(headers.map(\.name) == ["X-One", "Authorization", "X-One"])
        #expect(headers.map(\.value) == ["1", "Bearer a=b: c", "2"])
    }

    @Test(arguments: [
        ("", "the file contains no headers"), ("\n\r\n", "the file contains no headers"),
        ("A: 1\nsecret", "line 2: Name: value is expected"), (": secret", "line 1: Name: value is expected"),
        ("A : secret", "line 1: Name: value is expected"), (" A: secret", "line 1: Name: value is expected"),
        ("A: 1\n secret", "line 2: Name: value is expected"),
        ("GET / HTTP/1.1: secret", "line 1: Name: value is expected"),
        ("É: secret", "line 1: Name: value is expected"), ("A:", "line 1: the value is not a text"),
        ("A: \t", "line 1: the value is not a text"),
        ("A: 1\rX-Injected: secret", "line 1: the value is not a text"),
        ("A: secret\r\r\n", "line 1: the value is not a text"),
        ("A: secret\u{0}", "line 1: the value is not a text"),
        ("A: sécret", "line 1: the value is not a text"),
        ("A: \u{2028}secret", "line 1: the value is not a text"),
        ("host: secret", "line 1: host cannot be set"),
        ("A: 1\nContent-Length: 0", "line 2: Content-Length cannot be set"),
        ("Transfer-Encoding: chunked", "line 1: Transfer-Encoding cannot be set"),
        ("CONNECTION: close", "line 1: CONNECTION cannot be set"),
        ("If-None-Match: *", "line 1: If-None-Match cannot be set"),
        ("A: " + String(repeating: "x", count: 1 << 16), "the file has more than 65536 bytes"),
    ])
    func `is refused without quoting it`(text: String, reason: String) {
        let error = #expect(throws: FormatError.self) { try read(text) }
        let message = error.map { "\($0)" } ?? ""
        #expect(message.hasPrefix("headers: \(reason)"), "\(message)")
        #expect(!message.contains("secret"))
    }
}

@Suite struct `An agent with headers from a file` {
    private let host: AgentHost
    private let server: HostileServer

    init() throws {
        host = try AgentHost()
        server = try HostileServer { $0.answer(features(["search": true])) }
    }

    private func write(_ text: String, mode: mode_t = 0o640) throws {
        try host.home.write("headers", text)
        chmod(host.home("headers"), mode)
    }

    @Test func `sends them with each request, and reads them again`() throws {
        try write("X-Key: first secret\nUser-Agent: company\nCookie: a=1\nCookie: b=2\n")
        try host.configure(server.url, "\"headersFile\": \"headers\", \"interval\": 1")
        let result = try host.following { (_) throws in
            #expect(waitUntil { server.requests.contains { $0.contains("\r\nX-Key: first secret\r\n") } })
            try write("X-Key: next secret\n")
            #expect(waitUntil { server.requests.contains { $0.contains("\r\nX-Key: next secret\r\n") } })
            #expect(try host.isOn("search") == true)
            try write("X-Key: last secret\n", mode: 0o644)
            #expect(try waitUntil { try host.problem()?.contains("the file is world-readable") == true })
            #expect(try host.isOn("search") == true)
        }
        let first = try #require(server.requests.first)
        #expect(first.contains("\r\nUser-Agent: company\r\n") && !first.contains("tweak-agent"))
        #expect(first.contains("\r\nCookie: a=1\r\n") && first.contains("\r\nCookie: b=2\r\n"))
        #expect(!server.requests.contains { $0.contains("last secret") })
        let kept = try String(contentsOfFile: host.path, encoding: .utf8)
        #expect(!(result.error + result.output + kept).contains("secret"))
    }

    @Test func `sends them to no server to which it is redirected`() throws {
        let other = try HostileServer { $0.answer(features(["search": false])) }
        try write("Authorization: Basic secret\n")
        server.answer {
            $0.answer("", status: "307 Temporary Redirect", headers: ["Location: \(other.url)x?sig=secret2"])
        }
        try host.configure(server.url, "\"headersFile\": \"headers\"")
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(
            try host.problem()?.hasPrefix(
                "the server redirects to \"\(other.url)x\", but redirects are not followed") == true)
        try host.configure(server.url, "\"headersFile\": \"headers\", \"redirects\": 1")
        #expect(try host.once().succeeded)
        #expect(server.requests.last?.contains("Basic secret") == true)
        #expect(other.requests.count == 1 && other.requests.first?.contains("Basic") == false)
        #expect(other.requests.first?.hasPrefix("GET /x?sig=secret2 ") == true)
    }

    @Test(arguments: [
        ("A: 1\rB: secret", 0o600 as mode_t, "line 1: the value is not a text"),
        ("A: secret", 0o604, "the file is world-readable; run chmod o= on it"),
        ("A: secret", 0o602, "the file is world-readable"), ("", 0o600, "the file contains no headers"),
    ])
    func `refuses a configuration with a bad one`(text: String, mode: mode_t, reason: String) throws {
        try write(text, mode: mode)
        try host.configure(server.url, "\"headersFile\": \"headers\"")
        let result = try host.once()
        #expect(result.status == EX_CONFIG)
        #expect(result.error.hasPrefix("tweak-agent: \(host.home("headers")): \(reason)"), "\(result.error)")
        #expect(!result.error.contains("secret") && server.requests.isEmpty)
    }
}

@Suite struct `An agent with a query in its address` {
    private let host: AgentHost
    private let server: HostileServer
    private static let query = "?X-Amz-Signature=se%2Fcret%3D&b=+&c=%20'(,;:@$!*~?/&%ff"

    init() throws {
        host = try AgentHost()
        server = try HostileServer { $0.answer(features(["search": true])) }
        try host.configure(server.url + "values\(Self.query)")
    }

    @Test func `sends it as it stands, and shows it nowhere`() throws {
        let result = try host.once()
        #expect(result.succeeded, "\(result.error)")
        let target = server.requests.first?.split(separator: " ").dropFirst().first ?? ""
        #expect(target == "/values" + Self.query)
        #expect(try host.file()?["from"] as? String == server.url + "values")
        server.answer { $0.answer("", status: "403 Forbidden") }
        let failed = try host.once()
        #expect(failed.error.contains("HTTP status 403"))
        let kept = try String(contentsOfFile: host.path, encoding: .utf8)
        #expect(!(result.error + failed.error + failed.output + kept).contains("cret"))
    }

    @Test func `keeps the version when the signature in it is replaced`() throws {
        server.answer { $0.answer(features(["search": true], version: 7)) }
        #expect(try host.once().succeeded)
        try host.configure(server.url + "values?X-Amz-Signature=other")
        server.answer { $0.answer(features(["search": false], version: 6)) }
        #expect(try host.once().status == EX_TEMPFAIL)
        #expect(try host.problem()?.hasPrefix("its version is 6, and 7 or more is expected") == true)
    }

    @Test func `asks for the signature with it`() throws {
        try host.configure(
            server.url + "values\(Self.query)",
            "\"publicKey\": \"fMVvFKb4IbLUyGwBKeR9Yl6nBtT7wpgwOmLBoXzS0zQ=\"")
        let result = try host.once()
        #expect(result.status == EX_TEMPFAIL)
        #expect(server.requests.contains { $0.hasPrefix("GET /values.sig?X-Amz-Signature=se%2Fcret%3D&") })
        #expect(result.error.contains("\(server.url)values.sig is not a signature"), "\(result.error)")
        #expect(!result.error.contains("cret"))
    }

    @Test(arguments: ["https://user:secret@e/?secret", "https://e/a?secret#", "ftp://secret@e/?secret"])
    func `quotes no part of a malformed one that may be a secret`(url: String) throws {
        try host.configure(url)
        let result = try host.once()
        #expect(result.status == EX_CONFIG)
        #expect(result.error.contains("\"https://\", a host and a path are expected"))
        #expect(!result.error.contains("secret"), "\(result.error)")
    }
}
#endif
