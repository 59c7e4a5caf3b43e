// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing

@Suite struct `Failure reports of an agent` {
    let host: AgentHost

    init() throws { host = try AgentHost() }

    /// Expects that a check fails, and returns what is said of the reason.
    private func said(_ location: SourceLocation = #_sourceLocation) throws -> [Substring] {
        let result = try host.once()
        #expect(result.status == EX_TEMPFAIL, sourceLocation: location)
        return result.error.split(separator: "\n").filter { !$0.hasSuffix("it could not be loaded") }
    }

    @Test func `reports each reason once`() throws {
        let server = try HostileServer { $0.answer("<html>", headers: ["Content-Type: text/html"]) }
        try host.configure(server.url)
        func expect(_ reason: String, _ location: SourceLocation = #_sourceLocation) throws {
            #expect(
                try said(location) == ["tweak-agent: search: \(reason); nothing was loaded before"],
                sourceLocation: location)
            #expect(try said(location) == [], sourceLocation: location)
            #expect(try host.problem()?.hasPrefix(reason) == true, sourceLocation: location)
        }
        try expect("the answer is text/html; application/json is expected")
        let since = try #require(try host.problem()?.split(separator: " since ").last)
        server.answer { $0.answer("", status: "302 Found", headers: ["Location: /login"]) }
        try expect("the server redirects to \"/login\", but redirects are not followed")
        server.answer { $0.answer("", status: "503 Service Unavailable") }
        try expect("HTTP status 503")
        #expect(try host.problem() == "HTTP status 503, after other failures since \(since)")
        let authority = try CertificateAuthority(host.home)
        try authority.make("expired", isExpired: true)
        let expired = try WebServer(host.home, certificate: "expired")
        try host.configure(expired.url, "\"certificates\": \"ca.crt\"")
        try expect("the certificate of the server is not trusted, or has expired")
        try host.configure("https://nowhere.invalid/")
        try expect("no host nowhere.invalid")
        try host.configure(server.url)
        try expect("HTTP status 503")
        server.answer { $0.answer(features(["search": true])) }
        let result = try host.once()
        #expect(result.error == "tweak-agent: search: loaded again, after failures since \(since)\n")
    }

    @Test func `goes on with a failure that an agent of 1.0.0-beta.1 has noted in words`() throws {
        let server = try HostileServer { $0.answer("", status: "503 Service Unavailable") }
        try host.configure(server.url)
        let problem = "HTTP status 503, after other failures since 2026-11-01T00:00:00Z"
        try FileManager.default.createDirectory(
            atPath: host.home("provided/search"), withIntermediateDirectories: true)
        try Data(#"{ "values": {}, "problem": "\#(problem)" }"#.utf8).write(to: URL(filePath: host.path))
        let result = try host.once()
        #expect(!result.error.contains("503"), "\(result.error)")
        #expect(try host.problem() == problem)
        let failure = try host.file()?["failure"] as? [String: Any]
        #expect(failure?["reason"] as? String == "HTTP status 503")
        #expect(failure?["since"] as? String == "2026-11-01T00:00:00Z")
        #expect(failure?["isAfterOthers"] as? Bool == true)
    }

    @Test func `reports a new reason while it keeps checking`() throws {
        let server = try HostileServer { $0.answer("", status: "503 Service Unavailable") }
        try host.configure(server.url, "\"interval\": 1")
        let result = try host.following { (agent) throws in
            #expect(waitUntil { agent.written.error.contains("HTTP status 503;") })
            server.answer { $0.answer("<html>", headers: ["Content-Type: text/html"]) }
            #expect(waitUntil { agent.written.error.contains("the answer is text/html;") })
        }
        #expect(result.error.split(separator: "\n").count == 2, "\(result.error)")
    }
}

@Suite struct `An agent and a hostile web server` {
    let host: AgentHost
    let server: HostileServer

    init() throws {
        host = try AgentHost()
        server = try HostileServer { $0.answer(features(["search": true])) }
        try host.configure(server.url, "\"timeout\": 5")
        #expect(try host.once().succeeded)
        #expect(try host.isOn("search") == true)
    }

    /// Expects that a check fails for this reason, and that what was known is still there.
    private func refuses(
        _ problem: String, _ location: SourceLocation = #_sourceLocation,
        answer: @escaping @Sendable (HostileServer.Request) -> Void
    ) throws {
        server.answer(answer)
        #expect(try host.once().status == EX_TEMPFAIL, sourceLocation: location)
        let said = try #require(try host.problem())
        #expect(said.hasPrefix(problem), sourceLocation: location)
        #expect(try host.isOn("search") == true, sourceLocation: location)
    }

    private static let new = features(["search": false])

    @Test func `truncated before its length`() throws {
        try refuses("the connection was closed before the end") {
            $0.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n" + Self.new
            )
        }
    }

    @Test func `truncated between two chunks`() throws {
        try refuses("the connection was closed before the end") {
            let size = String(Self.new.utf8.count, radix: 16)
            $0.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            $0.send("\(size)\r\n\(Self.new)\r\n")
        }
    }

    @Test func `truncated in its head`() throws {
        try refuses("the connection was closed before the end") { $0.send("HTTP/1.1 200 OK\r\nContent-Ty") }
    }

    @Test func `whose length is too large`() throws {
        try refuses("the answer has more than 1048576 bytes") {
            $0.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1048577\r\n\r\n")
            $0.waitForEnd()
        }
    }

    @Test func `that is endless, of which it reads only a limited part`() throws {
        let sent = Locked(0)
        try refuses("the answer has more than 1048576 bytes") { request in
            request.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
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

    @Test func `that takes too long, byte by byte`() throws {
        try host.configure(server.url, "\"timeout\": 0.5")
        try refuses("no complete answer within 0.5 seconds") { request in
            request.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n")
            while request.send(" ") { usleep(20_000) }
        }
    }

    @Test func `that never arrives`() throws {
        try host.configure(server.url, "\"timeout\": 0.5")
        try refuses("no complete answer within 0.5 seconds") { $0.waitForEnd() }
    }

    @Test func `that is a web page`() throws {
        try refuses("the answer is text/html; charset=utf-8; application/json is expected") {
            $0.answer("<html>Sign in</html>", headers: ["Content-Type: text/html; charset=utf-8"])
        }
    }

    @Test func `without a content type`() throws {
        try refuses("the answer has no content type; application/json is expected") {
            $0.answer(Self.new, headers: [])
        }
    }

    @Test func `that is not JSON`() throws {
        try refuses("features.json: it is not JSON: line 1, column 1") { $0.answer("<html>") }
    }

    @Test func `that is JSON of another form`() throws {
        try refuses("features.json: features.0: \"key\" is missing: text") {
            $0.answer("{ \"features\": [ { \"enabled\": false } ] }")
        }
        try refuses("features.json: ") { $0.answer("[]") }
    }

    @Test(arguments: ["br", "zstd", "deflate", "gzip, gzip"])
    func `with unrequested compression`(encoding: String) throws {
        try refuses("the answer is encoded as \(encoding), which was not requested") {
            $0.answer("\u{1f}", headers: ["Content-Type: application/json", "Content-Encoding: \(encoding)"])
        }
    }

    private static let gzip = ["Content-Type: application/json", "Content-Encoding: gzip"]

    @Test func `that is not compressed as it says`() throws {
        try refuses("the answer is malformed or truncated gzip") {
            $0.answer(Self.new, headers: Self.gzip)
        }
    }

    /// The compressed output of a command.
    private func gzipped(_ command: String) throws -> [UInt8] {
        let file = host.home("compressed")
        let result = try run(
            Locations.program("bash"), ["-c", "\(command) | gzip -9 > \(file)"], home: host.home)
        #expect(result.succeeded, "\(result.error)")
        return Array(try Data(contentsOf: URL(filePath: file)))
    }

    private static func answer(_ request: HostileServer.Request, _ body: [UInt8]) {
        request.send(
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\(gzip.joined(separator: "\r\n"))\r\n\r\n")
        request.send(body)
    }

    @Test func `whose compressed bytes are truncated, or followed by others`() throws {
        let whole = try gzipped("printf '%s' '\(Self.new)'")
        for count in [0, 5, whole.count / 2, whole.count - 1] {
            try refuses("the answer is malformed or truncated gzip") {
                Self.answer($0, Array(whole.prefix(count)))
            }
        }
        try refuses("the answer is malformed or truncated gzip") { Self.answer($0, whole + whole) }
        server.answer { Self.answer($0, whole) }
        #expect(try host.once().succeeded)
        #expect(try host.isOn("search") == false)
    }

    @Test func `that is small until it is decompressed`() throws {
        let bomb = try gzipped("head -c 1G /dev/zero | tr '\\0' ' '")
        #expect(bomb.count < 1 << 21)
        try refuses("the answer has more than 1048576 bytes") { Self.answer($0, Array(bomb.prefix(1 << 19))) }
        // A small one, below the limit of compressed bytes.
        let small = try gzipped("head -c 1048577 /dev/zero | tr '\\0' ' '")
        try refuses("the answer has more than 1048576 bytes") { Self.answer($0, small) }
        let allowed = try gzipped("(printf '%s' '\(Self.new)'; head -c 1000000 /dev/zero | tr '\\0' ' ')")
        server.answer { Self.answer($0, allowed) }
        #expect(try host.once().succeeded)
        #expect(try host.isOn("search") == false)
    }

    @Test func `that is not HTTP`() throws {
        try refuses("the answer is not HTTP") { $0.send("SSH-2.0-OpenSSH_9.2\r\n") }
    }

    @Test(arguments: [
        "500 Internal Server Error", "503 Service Unavailable", "403 Forbidden", "204 No Content",
    ])
    func `with another status`(status: String) throws {
        try refuses("HTTP status \(status.prefix(3)) since ") { $0.answer(Self.new, status: status) }
    }

    @Test func `with an unrequested 304`() throws {
        try refuses("HTTP status 304 since ") { $0.answer("", status: "304 Not Modified") }
    }

    @Test func `after a redirect, unless allowed`() throws {
        let redirecting: @Sendable (HostileServer.Request) -> Void = { request in
            if request.path == "/other.json" { return request.answer(Self.new) }
            request.answer("", status: "302 Found", headers: ["Location: /other.json"])
        }
        try refuses(
            "the server redirects to \"/other.json\", but redirects are not followed", answer: redirecting)
        try host.configure(server.url, "\"redirects\": 1")
        #expect(try host.once().succeeded)
        #expect(try host.isOn("search") == false)
    }

    @Test func `in a redirect loop`() throws {
        try host.configure(server.url, "\"redirects\": 3")
        let before = server.requests.count
        try refuses("the server redirects to \"/features.json\", but only 3 redirects are followed") {
            $0.answer("", status: "301 Moved Permanently", headers: ["Location: /features.json"])
        }
        #expect(server.requests.count == before + 4)
    }

    @Test(arguments: ["file:///etc/passwd", "gopher://127.0.0.1/", ""])
    func `after a redirect to anything but a web address`(location: String) throws {
        try host.configure(server.url, "\"redirects\": 3")
        try refuses("the server redirects to \"") {
            $0.answer("", status: "302 Found", headers: ["Location: \(location)"])
        }
    }

    @Test func `older than the last one loaded, even by an earlier agent`() throws {
        server.answer { $0.answer(features(["search": true], version: 7)) }
        #expect(try host.once().succeeded)
        try refuses("its version is 6, and 7 or more is expected") {
            $0.answer(features(["search": false], version: 6))
        }
        try refuses("it has no version, and 7 or more is expected") { $0.answer(Self.new) }
        server.answer { $0.answer(features(["search": false], version: 8)) }
        #expect(try host.once().succeeded)
        #expect(try host.isOn("search") == false)
    }

    @Test func `older than the configuration allows`() throws {
        try host.configure(server.url, "\"lowestVersion\": 5")
        try refuses("its version is 4, and 5 or more is expected") {
            $0.answer(features(["search": false], version: 4))
        }
    }
}

@Suite struct `An agent asks a server` {
    let host: AgentHost
    let server: HostileServer

    init() throws {
        host = try AgentHost()
        server = try HostileServer { $0.answer(features(["search": true])) }
        try host.configure(server.url, "\"interval\": 1")
    }

    /// The second request that a server gets.
    private func secondRequest(_ headers: [String]) throws -> String {
        server.answer {
            $0.answer(features(["search": true]), headers: ["Content-Type: application/json"] + headers)
        }
        try host.following { _ in #expect(waitUntil { server.requests.count >= 2 }) }
        return server.requests[1].lowercased()
    }

    @Test func `conditionally by its tag`() throws {
        let request = try secondRequest(["ETag: \"one\"", "Last-Modified: Sun, 22 Nov 2020 17:00:00 GMT"])
        #expect(request.contains("\r\nif-none-match: \"one\"\r\n"))
        #expect(!request.contains("if-modified-since"))
    }

    @Test func `conditionally by its date`() throws {
        let request = try secondRequest(["Last-Modified: Sun, 22 Nov 2020 17:00:00 GMT"])
        #expect(request.contains("\r\nif-modified-since: sun, 22 nov 2020 17:00:00 gmt\r\n"))
    }

    @Test func `and takes an unchanged file without a body for what it is, although the answer says gzip`()
        throws
    {
        server.answer { request in
            guard request.text.lowercased().contains("\r\nif-none-match: \"one\"\r\n") else {
                return request.answer(
                    features(["search": true]), headers: ["Content-Type: application/json", "ETag: \"one\""])
            }
            request.send("HTTP/1.1 304 Not Modified\r\nETag: \"one\"\r\nContent-Encoding: gzip\r\n\r\n")
        }
        let result = try host.following { _ in #expect(waitUntil { server.requests.count >= 4 }) }
        #expect(result.error.isEmpty, "\(result.error)")
        #expect(try host.isOn("search") == true)
    }

    @Test func `unconditionally if the date is in the future`() throws {
        let request = try secondRequest(["Last-Modified: Fri, 22 Nov 2199 17:00:00 GMT"])
        #expect(!request.contains("if-modified-since"))
    }

    @Test func `less often on request`() throws {
        server.answer { $0.answer("", status: "503 Service Unavailable", headers: ["Retry-After: 3600"]) }
        try host.following { (_) throws in
            #expect(try waitUntil { try host.problem() != nil })
            usleep(2_500_000)
            #expect(server.requests.count == 1)
        }
    }
}
#endif
