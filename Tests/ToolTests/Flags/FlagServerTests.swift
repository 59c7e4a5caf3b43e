// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `OpenFeature's SDK` {
    private let program: SetterProgram
    private let running: RunningCommand
    private let flags: ServedFlags

    init() throws {
        program = try SetterProgram()
        let home = program.home
        running = try ServedFlags.program(home: home)
        flags = try ServedFlags([SetterProgram.path], home: home)
    }

    private func evaluate(_ flags: [String], token: String? = nil) throws -> [[String: Any]] {
        let result = try self.flags.sdk(flags, token: token).wait()
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == flags.count, "\(result.error)")
        return try lines.map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func `reads values of all types, and objects of them`() throws {
        defer { running.kill() }
        #expect(try program.tweak("set", "Setter/Values/Ratio", "1").succeeded)
        let results = try evaluate([
            "boolean:Setter/Values/Flag", "integer:Setter/Values/Count", "float:Setter/Values/Ratio=1.0",
            "string:Setter/Values/Text", "object:Setter/Values", "object:Setter",
        ])
        #expect(results.map { $0["type"] as? String } == ["bool", "int", "float", "str", "dict", "dict"])
        #expect(results[0]["value"] as? Bool == false)
        #expect(results[1]["value"] as? Int == 5)
        #expect(results[2]["value"] as? Double == 1)
        #expect(results[3]["value"] as? String == "hello")
        let values: NSDictionary = ["Flag": false, "Count": 5, "Ratio": 1.0, "Text": "hello"]
        #expect(results[4]["value"] as? NSDictionary == values)
        #expect((results[5]["value"] as? [String: Any])?["Values"] as? NSDictionary == values)
        #expect(
            results.map { $0["reason"] as? String } == [
                "DEFAULT", "DEFAULT", "STATIC", "DEFAULT", "STATIC", "STATIC",
            ])
        #expect(
            results.map { $0["variant"] as? String }.prefix(5) == [
                "default", "default", "override", "default", "mixed",
            ])
        #expect(results.allSatisfy { $0["error"] is NSNull })
        #expect((results[2]["metadata"] as? [String: String]) == ["provider": "override"])
    }

    @Test func `sees what a person sets`() throws {
        defer { running.kill() }
        let sdk = try flags.sdk(["string:Setter/Values/Text", "string:Setter/Values/Text=now"])
        #expect(waitUntil { sdk.written.output.hasSuffix("\n") })
        #expect(try program.tweak("set", "Setter/Values/Text", "now").succeeded)
        let lines = sdk.wait().output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.contains("\"value\": \"now\"") == true, "\(lines)")
    }

    @Test func `is told what is wrong`() throws {
        defer { running.kill() }
        let wrong = try evaluate(
            [
                "boolean:Setter/Values/Flags", "object:Nothing", "integer:Setter/Values/Flag=x",
                "string:Setter/Values/Count",
            ].map { $0.replacing("=x", with: "") })
        // In Python a Bool is an integer.
        #expect(
            wrong.map { $0["error"] as? String } == [
                "FLAG_NOT_FOUND", "FLAG_NOT_FOUND", nil, "TYPE_MISMATCH",
            ])
        #expect(wrong[0]["message"] as? String == "no such tweak: Setter/Values/Flags")
        #expect(wrong[1]["value"] as? NSDictionary == [:])
        #expect(wrong[3]["value"] as? String == "none")
        let refused = try evaluate(["string:Setter/Values/Text"], token: "wrong")
        #expect(refused[0]["error"] as? String == "GENERAL")
        #expect(refused[0]["message"] as? String == "unauthorized")
        running.kill()
        _ = running.wait()
        #expect(waitUntil { (try? flags.ask().status) == 503 })
        let ended = try evaluate(["string:Setter/Values/Text"])
        #expect(ended[0]["error"] as? String == "GENERAL")
        #expect((ended[0]["message"] as? String)?.contains("tweak-setter does not run") == true)
        flags.process.kill()
        _ = flags.process.wait()
        let gone = try evaluate(["string:Setter/Values/Text"])
        #expect(gone[0]["error"] as? String == "GENERAL")
        #expect(gone[0]["value"] as? String == "none")
    }
}

@Suite struct `tweak serve` {
    private let program: SetterProgram
    private let running: Locked<RunningCommand>
    private let flags: ServedFlags

    init() throws {
        program = try SetterProgram()
        running = Locked(try ServedFlags.program(home: program.home))
        flags = try ServedFlags([SetterProgram.path], home: program.home)
    }

    private func end() {
        let process = running.withLock { $0 }
        process.kill()
        _ = process.wait()
    }

    @Test func `prints its address and the header that clients send`() throws {
        defer { end() }
        #expect(
            flags.process.written.output
                == "http://127.0.0.1:\(flags.port)\nAuthorization: Bearer \(flags.token)\n")
        #expect(flags.process.written.error.isEmpty)
        // Six bits a character.
        #expect(flags.token.count == 32)
    }

    @Test func `has all tweaks in one answer, with a tag that changes when one does`() throws {
        defer { end() }
        let first = try flags.ask()
        let all = try #require(try first.json["flags"] as? [[String: Any]])
        #expect(all.count == 12)
        #expect(all.allSatisfy { $0["reason"] as? String == "DEFAULT" && $0["value"] != nil })
        let tag = try #require(first.headers["etag"])
        #expect(try flags.ask().headers["etag"] == tag)
        for known in [tag, "\"x\", \(tag)", "W/\(tag)"] {
            let answer = try flags.ask(ServedFlags.path, ["If-None-Match: \(known)"])
            #expect(answer.status == 304)
            #expect(answer.body.isEmpty)
        }
        #expect(try program.tweak("set", "Setter/Values/Count", "6").succeeded)
        #expect(
            try waitUntil { try flags.ask(ServedFlags.path, ["If-None-Match: \(tag)"]).status == 200 })
        #expect(try flags.flag("Setter/Values/Count")["value"] as? Int == 6)
        #expect(try program.tweak("reset", "Setter/Values/Count").succeeded)
        // What is as it was has the tag that it had.
        #expect(
            try waitUntil { try flags.ask(ServedFlags.path, ["If-None-Match: \(tag)"]).status == 304 })
    }

    @Test func `takes a name with and without escapes`() throws {
        defer { end() }
        for key in ["Setter/Slots/Slot%200", "Setter%2FSlots%2FSlot%200", "Setter%2fSlots/Slot%200"] {
            #expect(try flags.flag(key)["key"] as? String == "Setter/Slots/Slot 0")
        }
    }

    @Test func `tells a client of its stream when to ask again`() throws {
        defer { end() }
        let events = try flags.events()
        #expect(events.status == 200)
        #expect(events.all.lowercased().contains("content-type: text/event-stream"))
        // What there is when it begins.
        #expect(waitUntil { events.tags.count == 1 })
        #expect(try program.tweak("set", "Setter/Values/Count", "7").succeeded)
        #expect(waitUntil { events.tags.count == 2 })
        let tag = try #require(events.tags.last)
        #expect(try flags.ask().headers["etag"] == tag)
        let data = try #require(events.all.split(whereSeparator: \.isNewline).last { $0.hasPrefix("data: ") })
        let event = try JSONSerialization.jsonObject(with: Data(data.dropFirst(6).utf8)) as? [String: String]
        #expect(event == ["type": "refetchEvaluation", "etag": tag])
        // A program that comes back can have other tweaks.
        end()
        running.withLock { $0 = (try? ServedFlags.program("serve", home: program.home)) ?? $0 }
        #expect(waitUntil { events.tags.count == 3 })
    }

    @Test func `has a key for the stream that is good for nothing else`() throws {
        defer { end() }
        let streams = try #require(try flags.ask().json["eventStreams"] as? [[String: String]])
        let key = try #require(streams[0]["url"]?.split(separator: "=").last.map(String.init))
        #expect(key != flags.token)
        for wrong in ["", "?key=", "?key=x", "?key=\(flags.token)"] {
            #expect(try FlagEvents(flags.port, "/ofrep/v1/events" + wrong).status == 401)
        }
        let answer = try HTTPAnswer(
            flags.port, "POST", ServedFlags.path, ["Authorization: Bearer \(key)"], "{}")
        #expect(answer.status == 401)
    }

    @Test func `is there again when the program is`() throws {
        defer { end() }
        #expect(try flags.flag("Setter/Values/Count")["value"] as? Int == 5)
        end()
        #expect(try waitUntil { try flags.ask().status == 503 })
        let answer = try flags.ask(ServedFlags.path + "/Setter/Values/Count")
        #expect(answer.status == 503)
        #expect(
            try answer.json as? [String: String] == [
                "key": "Setter/Values/Count", "errorCode": "GENERAL",
                "errorDetails": "tweak-setter does not run",
            ])
        #expect(try program.tweak("set", "Setter/Values/Count", "8").succeeded)
        let again = try ServedFlags.program(home: program.home)
        running.withLock { $0 = again }
        #expect(try waitUntil { try flags.ask().status == 200 })
        #expect(try flags.flag("Setter/Values/Count")["value"] as? Int == 8)
    }

    @Test func `answers nobody without the token`() throws {
        defer { end() }
        for header in [
            "X-Nothing: 1", "Authorization: Bearer", "Authorization: Bearer \(flags.token)x",
            "Authorization: Basic \(flags.token)", "X-API-Key: x",
        ] {
            let answer = try HTTPAnswer(flags.port, "POST", ServedFlags.path, [header], "{}")
            #expect(answer.status == 401, "\(header)")
            #expect(answer.headers["www-authenticate"] == "Bearer")
            #expect(!answer.body.contains(flags.token))
        }
        let key = try HTTPAnswer(
            flags.port, "POST", ServedFlags.path, ["X-API-Key: \(flags.token)"], "{}")
        #expect(key.status == 200)
        let arguments = try String(
            contentsOfFile: "/proc/\(flags.process.processID)/cmdline", encoding: .utf8)
        #expect(!arguments.contains(flags.token))
    }

    @Test func `answers no page of another site`() throws {
        defer { end() }
        for header in [
            "Host: evil.example", "Host: evil.example:\(flags.port)", "Host: 127.0.0.1.evil.example",
            "Origin: http://evil.example", "Origin: null",
        ] {
            #expect(try flags.ask(ServedFlags.path, [header]).status == 403)
        }
    }

    @Test func `says what is wrong with a request`() throws {
        defer { end() }
        for (body, code) in [
            ("", "PARSE_ERROR"), ("{", "PARSE_ERROR"), ("[]", "PARSE_ERROR"), ("\u{0}", "PARSE_ERROR"),
            (#"{"context":[]}"#, "INVALID_CONTEXT"), (#"{"context":{"targetingKey":1}}"#, "INVALID_CONTEXT"),
        ] {
            for path in ["", "/Setter/Values/Count"] {
                let answer = try flags.ask(ServedFlags.path + path, body: body)
                #expect(answer.status == 400)
                #expect(try answer.json["errorCode"] as? String == code)
                #expect(try answer.json["key"] as? String == (path.isEmpty ? nil : "Setter/Values/Count"))
            }
        }
    }

    @Test func `takes what it does not know`() throws {
        defer { end() }
        for body in [#"{"a":1}"#, #"{"context":null}"#, #"{"context":{"targetingKey":"x","a":{"b":[1]}}}"#] {
            #expect(try flags.ask(body: body).status == 200)
        }
    }

    @Test func `has no other flags`() throws {
        defer { end() }
        for key in [
            "%", "%zz", "%ff", "%00", "a/b/c/d", "%2F%2F", "..%2F..%2Fetc%2Fpasswd", "<script>",
            "Setter/Values/",
            "Setter//Count",
        ] {
            let answer = try flags.ask(ServedFlags.path + "/" + key)
            #expect(answer.status == 404)
            #expect(try answer.json["errorCode"] as? String == "FLAG_NOT_FOUND")
        }
    }

    @Test func `has no other methods and paths`() throws {
        defer { end() }
        for method in ["GET", "PUT", "DELETE", "OPTIONS"] {
            #expect(try flags.ask(method: method).status == 405)
        }
        for path in ["/", "/ofrep/v1/configuration", "/ofrep/v1/evaluate/flagsx", "/api/programs"] {
            #expect(try flags.ask(path).status == 404)
        }
    }

    @Test func `refuses a body that is too large`() throws {
        defer { end() }
        let client = try HTTPClient(flags.port)
        client.send(
            """
            POST \(ServedFlags.path) HTTP/1.1\r\nHost: \(flags.host)\r\nAuthorization: Bearer \(flags.token)\r
            Content-Length: 100000000000\r\n\r\n{"context":"
            """)
        #expect(try HTTPAnswer(client.readToEnd()).status == 413)
        let chunked = try HTTPClient(flags.port)
        chunked.send(
            """
            POST \(ServedFlags.path) HTTP/1.1\r\nHost: \(flags.host)\r\nAuthorization: Bearer \(flags.token)\r
            Transfer-Encoding: chunked\r\n\r\n
            """)
        let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        for _ in 0..<40 where chunked.send(chunk) {}
        #expect(try HTTPAnswer(chunked.readToEnd()).status == 413)
        #expect(try flags.ask().status == 200)
    }

    @Test func `serves as many streams as it can, and the others later`() throws {
        defer { end() }
        let url = try #require(
            (try flags.ask().json["eventStreams"] as? [[String: String]])?.first?["url"].flatMap {
                URLComponents(string: $0)
            })
        var streams = try (0..<200).map { _ in
            try FlagEvents(flags.port, "\(url.path)?\(url.query ?? "")")
        }
        let statuses = streams.map(\.status)
        #expect(statuses.count { $0 == 200 } == 63)
        #expect(statuses.count { $0 == 429 } == 137)
        #expect(streams.first { $0.status == 429 }?.all.lowercased().contains("retry-after: 60") == true)
        // Questions are answered, and all streams told.
        #expect(try program.tweak("set", "Setter/Values/Count", "9").succeeded)
        #expect(waitUntil { streams.count { $0.tags.count == 2 } == 63 })
        #expect(try flags.ask().status == 200)
        streams.removeAll()
        // Who has hung up is noticed when there is something to tell.
        #expect(try program.tweak("set", "Setter/Values/Count", "10").succeeded)
        #expect(try waitUntil { try flags.events().status == 200 })
    }

    @Test func `closes connections that say too slowly what they want`() throws {
        defer { end() }
        let slow = try (0..<100).map { _ in try HTTPClient(flags.port) }
        for client in slow { client.send("POST \(ServedFlags.path) HTTP/1.1\r\nHo") }
        #expect(try flags.ask().status == 200)
        var isOpen = slow
        #expect(
            waitUntil {
                isOpen.removeAll { client in
                    client.send("s")
                    var byte: UInt8 = 0
                    return recv(client.socket, &byte, 1, Int32(MSG_DONTWAIT)) == 0 || errno == ECONNRESET
                }
                usleep(100_000)
                return isOpen.isEmpty
            })
    }

    @Test func `ends when it is asked to`() throws {
        defer { end() }
        let events = try flags.events()
        #expect(events.status == 200)
        kill(flags.process.processID, SIGTERM)
        #expect(flags.process.wait().status == 128 + SIGTERM)
        #expect(waitUntil { events.isAtEnd })
    }
}

@Suite struct `The command line of tweak serve` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    private func refused(_ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), ["serve"] + arguments, home: program.home)
    }

    @Test func `takes a token from a file that others cannot read`() throws {
        let token = "a-token-of-the-site"
        let file = try program.home.write("token", token + "\n")
        chmod(file, 0o644)
        let readable = try refused(SetterProgram.path, "--token-file", file)
        #expect(readable.status == EX_NOPERM)
        #expect(readable.error.contains("others can read or change it"))
        chmod(file, 0o600)
        let flags = try ServedFlags([SetterProgram.path, "--token-file", file], home: program.home, lines: 1)
        #expect(flags.process.written.output == "http://127.0.0.1:\(flags.port)\n")
        #expect(
            flags.process.written.error
                == "tweak-ui: tweak-setter is not running; its flags appear when it starts\n")
        let answer = try HTTPAnswer(
            flags.port, "POST", ServedFlags.path, ["Authorization: Bearer \(token)"], "{}")
        #expect(answer.status == 503)
        for wrong in ["", "short", "two tokens in one line", "nön-ascii-characters-here"] {
            try program.home.write("token", wrong)
            chmod(file, 0o600)
            #expect(try refused(SetterProgram.path, "--token-file", file).status == EX_DATAERR)
        }
    }

    @Test func `answers everybody on this machine only if that is asked for`() throws {
        let running = try ServedFlags.program(home: program.home)
        defer { running.kill() }
        let flags = try ServedFlags([SetterProgram.path, "--no-token"], home: program.home, lines: 1)
        #expect(try HTTPAnswer(flags.port, "POST", ServedFlags.path, [], "{}").status == 200)
        #expect(
            try HTTPAnswer(flags.port, "POST", ServedFlags.path, ["Origin: http://evil.example"], "{}").status
                == 403)
    }

    @Test func `takes every name of the server beyond this machine, where there is always a token`() throws {
        let running = try ServedFlags.program(home: program.home)
        defer { running.kill() }
        let flags = try ServedFlags(
            [SetterProgram.path, "--listen", "0.0.0.0", "--plain-http"], home: program.home)
        #expect(
            flags.process.written.error.hasPrefix("tweak-ui: warning: anyone on the network path to 0.0.0.0"))
        let answer = try flags.ask(ServedFlags.path, ["Host: flags.cluster.example"])
        #expect(answer.status == 200)
        let streams = try #require(try answer.json["eventStreams"] as? [[String: String]])
        #expect(streams[0]["url"]?.hasPrefix("http://flags.cluster.example/ofrep/v1/events?key=") == true)
        #expect(try flags.ask(ServedFlags.path, ["Origin: http://evil.example"]).status == 403)
        #expect(try HTTPAnswer(flags.port, "POST", ServedFlags.path, [], "{}").status == 401)
    }

    @Test func `refuses what is not safe, or makes no sense`() throws {
        #expect(try refused().status == EX_USAGE)
        #expect(try refused("nowhere").status == EX_NOINPUT)
        #expect(try refused(SetterProgram.path, "--no-token", "--token-file", "x").status == EX_USAGE)
        #expect(try refused(SetterProgram.path, "--token-file", "/nowhere").status == EX_NOINPUT)
        #expect(try refused(SetterProgram.path, "--listen", "0.0.0.0").status == EX_USAGE)
        #expect(
            try refused(SetterProgram.path, "--listen", "0.0.0.0", "--plain-http", "--no-token").status
                == EX_USAGE)
        #expect(try refused(SetterProgram.path, "--key", "x").status == EX_USAGE)
        #expect(
            try refused(SetterProgram.path, "--key", "/nowhere", "--certificate", "/nowhere").status
                == EX_NOINPUT)
    }
}
