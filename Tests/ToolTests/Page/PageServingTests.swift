// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak ui` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func tweak(_ arguments: String..., executable: String = Locations.product("tweak")) throws
        -> CommandResult
    {
        try run(executable, ["ui"] + arguments, home: home)
    }

    @Test func `runs tweak-ui with its arguments`() throws {
        let page = try ServedPage(
            ["--port", "0", SetterProgram.path], home: home, command: [Locations.product("tweak"), "ui"])
        let arguments = try String(
            contentsOfFile: "/proc/\(page.process.processID)/cmdline", encoding: .utf8)
        #expect(arguments.prefix { $0 != "\0" }.hasSuffix("/tweak-ui"), "\(arguments)")
        #expect(page.address.hasSuffix("&program=tweak-setter"))
        #expect(try page.ask("GET", "/", [], "").status == 200)
    }

    @Test func `explains how to install a missing tweak-ui`() throws {
        try FileManager.default.copyItem(atPath: Locations.product("tweak"), toPath: home("tweak"))
        let result = try run(home("tweak"), ["ui"], home: home, environment: ["PATH": "/nowhere"])
        #expect(result.status == 69)
        #expect(
            result.error == """
                tweak: tweak-ui is not installed; searched \(home("tweak-ui")) and \
                \(home("../libexec/tweaks/tweak-ui").replacing("/../", with: "/../")); tools/install --with-ui installs it

                """)
    }

    @Test func `refuses invalid arguments`() throws {
        #expect(try tweak("--port", "70000").status == 64)
        #expect(try tweak("--key", "x").status == 64)
        #expect(try tweak("--key", "x", "--certificate", "y", "--plain-http").status == 64)
        #expect(try tweak("--key", "/nowhere", "--certificate", "/nowhere").status == 66)
        #expect(try tweak("nowhere").status == 66)
        let taken = try ServedPage(home: home)
        let result = try tweak("--port", "\(taken.port)")
        #expect(result.status == 71)
        #expect(result.error.hasPrefix("tweak-ui: cannot listen at 127.0.0.1:\(taken.port): "))
    }

    @Test func `accepts earlier sessions as long as the token file is unchanged`() throws {
        let file = try home.write("token", "a-token-of-the-site\n")
        chmod(file, 0o600)
        let page = try ServedPage(["--token-file", file], home: home)
        #expect(page.token == "a-token-of-the-site")
        page.process.kill()
        func status(_ session: String) throws -> Int {
            let again = try ServedPage(["--token-file", file], home: home)
            return try again.ask(
                "POST", "/api/programs",
                ["Content-Type: application/json", "Authorization: Bearer \(session)"]
            ).status
        }
        #expect(try status(page.session) == 200)
        let last = page.session.last == "0" ? "1" : "0"
        let wrong = [
            page.session.dropLast() + last, page.session + "0", String(page.session.dropFirst()), "0",
        ]
        for session in wrong { #expect(try status(session) == 401) }
        try home.write("token", "another-token-of-the-site")
        chmod(file, 0o600)
        #expect(try status(page.session) == 401)
        // The address contains it, whatever its characters.
        try home.write("token", "a-token&of+the%20site")
        chmod(file, 0o600)
        let odd = try start(ServedPage.path, ["--token-file", file], home: home)
        defer { odd.kill() }
        #expect(waitUntil { odd.written.output.hasSuffix("/#token=a-token%26of%2Bthe%2520site\n") })
        chmod(file, 0o644)
        #expect(try tweak("--token-file", file).status == 77)
        try home.write("token", "short")
        chmod(file, 0o600)
        #expect(try tweak("--token-file", file).status == 65)
        #expect(try tweak("--token-file", "/nowhere").status == 66)
    }

    @Test func `is encrypted beyond this machine, with a certificate whose fingerprint it prints`() throws {
        let page = try ServedPage(["--listen", "0.0.0.0"], home: home)
        #expect(page.address.hasPrefix("https://"))
        let lines = page.process.written.error.split(separator: "\n")
        #expect(lines.first?.contains("SHA-256") == true)
        let script = """
            import hashlib, socket, ssl, sys
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            client = context.wrap_socket(socket.create_connection(("127.0.0.1", \(page.port))))
            print(hashlib.sha256(client.getpeercert(True)).hexdigest().upper())
            client.send(b"GET / HTTP/1.1\\r\\nHost: 127.0.0.1:\(page.port)\\r\\nConnection: close\\r\\n\\r\\n")
            print(client.recv(12).decode())
            """
        let result = try run(try Locations.program("python3"), ["-c", script], home: home)
        #expect(result.lines.first?[...] == lines.last?.filter { $0.isHexDigit }[...])
        #expect(result.lines.last == "HTTP/1.1 200")
        // Requests without encryption are not answered.
        let client = try HTTPClient(page.port)
        client.send("GET / HTTP/1.1\r\nHost: \(page.host)\r\nConnection: close\r\n\r\n")
        #expect(!client.readToEnd().contains("HTTP"))
    }

    @Test func `is plain HTTP beyond this machine only on request, with a warning`() throws {
        let page = try ServedPage(["--listen", "0.0.0.0", "--plain-http"], home: home)
        #expect(page.address.hasPrefix("http://"))
        #expect(page.process.written.error.hasPrefix("tweak-ui: warning: anyone on the network path"))
        // Foreign host names are refused there too.
        #expect(try page.ask("GET", "/", ["Host: evil.example:\(page.port)"], "").status == 403)
    }

    @Test func `shows the address as a QR code on a terminal`() throws {
        // It goes to standard error, so the address is still the only line of standard output.
        let command = "\(ServedPage.path) --listen 0.0.0.0 --plain-http"
        let terminal = try start(
            try Locations.program("script"), ["-qfec", command, "/dev/null"], home: home)
        defer { terminal.kill() }
        func lines() -> [String] { terminal.written.output.components(separatedBy: "\r\n") }
        func characters() -> [Substring] {
            lines().filter { $0.hasPrefix("\u{1B}[38") && $0.hasSuffix("\u{1B}[m") }.map { line in
                line.drop { $0 != "m" }.dropFirst().prefix { $0 != "\u{1B}" }
            }
        }
        // A square, with two rows per line.
        #expect(waitUntil { characters().first.map { ($0.count + 1) / 2 == characters().count } ?? false })
        let address = try #require(lines().first { $0.hasPrefix("http://") })
        let rows = characters().flatMap { characters -> [[UInt8]] in
            [
                characters.map { "█▀".contains($0) ? 0 : 255 },
                characters.map { "█▄".contains($0) ? 0 : 255 },
            ]
        }
        // Each module is a block of pixels.
        let pixels = rows.flatMap { row in
            [[UInt8]](repeating: row.flatMap { [UInt8](repeating: $0, count: 4) }, count: 4).joined()
        }
        let width = try #require(rows.first).count * 4
        let picture = try home.write(
            "code.pgm", Data("P5 \(width) \(rows.count * 4) 255\n".utf8) + Data(pixels))
        let seen = try run(try Locations.program("zbarimg"), ["-q", "--raw", picture], home: home)
        #expect(seen.output == address + "\n")
    }

    @Test func `compresses answers for clients that accept it`() throws {
        let page = try ServedPage(home: home)
        let script = """
            import gzip, re, urllib.request
            def get(path, coding, data=None, **headers):
                headers = {"Accept-Encoding": coding, "Authorization": "Bearer \(page.session)", **headers}
                request = urllib.request.Request(f"http://\(page.host)/{path}", data, headers)
                with urllib.request.urlopen(request) as answer:
                    return answer.headers, answer.read()
            index = get("", "identity")[1].decode()
            for path in ["", *re.findall('(?:href|src)="([^"#]+[.](?:css|js))"', index)]:
                plain, small = get(path, "gzip;q=0"), get(path, "br, gzip;q=0.5")
                assert "Content-Encoding" not in plain[0], path
                assert small[0]["Content-Encoding"] == "gzip" and small[0]["Vary"] == "Accept-Encoding", path
                assert gzip.decompress(small[1]) == plain[1] and len(small[1]) * 2 < len(plain[1]), path
                assert small[0]["ETag"] == plain[0]["ETag"], path
            # What is short is not worth it.
            headers, body = get("api/unfollow", "gzip", b'{"program":"x"}', **{"Content-Type": "application/json"})
            assert "Content-Encoding" not in headers and body == b"{}"
            """
        let result = try run(try Locations.program("python3"), ["-c", script], home: home)
        #expect(result.succeeded, "\(result.error)")
        // Answers to malformed requests are not compressed either, and the server keeps running.
        for nothing in ["\u{0}\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
            let client = try HTTPClient(page.port)
            client.send(nothing)
            _ = client.readToEnd()
            #expect(try page.ask("GET", "/", ["Accept-Encoding: gzip"], "").status == 200)
        }
    }

    @Test func `serves edited files from a folder, without bundling the modules`() throws {
        let folder = home("page")
        try FileManager.default.copyItem(atPath: Locations.package + "/Sources/Page/Files", toPath: folder)
        let page = try ServedPage(home: home, environment: ["TWEAKS_UI_PAGE": folder])
        for name in ["page.js", "controls/number.js", "page.css"] {
            let file = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            #expect(try page.ask("GET", "/" + name, [], "").body == file)
            try (file + "/* edited */").write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            let edited = try page.ask("GET", "/" + name, [], "")
            #expect(edited.body.hasSuffix("/* edited */") && edited.headers["cache-control"] == "no-cache")
        }
        // The page does not refer to the embedded files.
        let index = try page.ask("GET", "/", [], "").body
        #expect(index.contains(#"src="page.js""#) && index.contains(#"href="page.css""#))
        try FileManager.default.removeItem(atPath: folder + "/names.js")
        #expect(try page.ask("GET", "/names.js", [], "").status == 404)
        #expect(try page.ask("GET", "/../runtime", [], "").status == 404)
    }

    @Test func `contains every file of the page`() throws {
        let page = try ServedPage(["--fleet"], home: home)
        let folder = Locations.package + "/Sources/Page/Files"
        let names = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
        let types = [
            "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
            "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml", "png": "image/png",
        ]
        for name in names {
            var isFolder: ObjCBool = false
            let path = "\(folder)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue
            else {
                continue
            }
            let answer = try page.ask("GET", "/" + name, [], "")
            #expect(answer.status == 200, "\(name)")
            if !name.hasSuffix(".html") {
                #expect(answer.body == (try String(contentsOfFile: path, encoding: .utf8)), "\(name)")
            }
            #expect(answer.headers["content-type"] == types[(name as NSString).pathExtension], "\(name)")
            let tag = try #require(answer.headers["etag"])
            #expect(try page.ask("GET", "/" + name, ["If-None-Match: \(tag)"], "").status == 304)
            #expect(try page.ask("HEAD", "/" + name, [], "").body.isEmpty)
        }
        // The page loads files by paths that browsers cache forever. The modules are one file.
        let index = try page.ask("GET", "/", [], "")
        #expect(index.headers["cache-control"] == "no-cache")
        let kept = try index.body.matches(of: Regex("(?:href|src)=\"([^\"#]+)\"")).compactMap {
            $0.output[1].substring.map(String.init)
        }
        #expect(
            kept.map { String($0.drop { $0 != "/" }.dropFirst()) } == ["icon.svg", "page.css", "page.js"])
        for path in kept {
            let answer = try page.ask("GET", "/" + path, [], "")
            #expect(answer.headers["cache-control"] == "private, max-age=31536000, immutable", "\(path)")
            let name = path.drop { $0 != "/" }.dropFirst()
            switch name {
            case "page.js":
                // Without what only people need, and with a pattern that has quotes.
                #expect(answer.body.contains(#"/"([^"]*)"?|(\S+)/g"#))
                for text in ["\n", "= ", "/** @type"] { #expect(!answer.body.contains(text), "\(text)") }
            case "page.css":
                let lines = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                    .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                #expect(
                    answer.body
                        == lines.filter { !$0.isEmpty && !$0.hasPrefix("/*") }.map { $0 + "\n" }.joined())
            default:
                #expect(answer.body == (try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)))
            }
        }
        let modules = try page.ask("GET", "/" + (kept.last ?? ""), [], "").body
        #expect(!modules.contains("\nimport ") && !modules.contains("\nexport "))
        for path in [
            "/..%2FServer", "/../Assets/assets.c", "//index.html", "/index.html/", "/%69ndex.html/x",
        ] {
            #expect(try page.ask("GET", path, [], "").status == 404, "\(path)")
        }
    }
}
