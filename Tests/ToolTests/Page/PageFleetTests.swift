// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

/// The page of a fleet whose cluster does not answer. `Page/browser/test_fleet.py` has one that does.
@Suite struct `The page of a fleet` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func serve(_ more: String...) throws -> ServedPage {
        try home.write(
            "some agent.json", #"{ "etcd": { "endpoints": ["http://127.0.0.1:1"], "plainHTTP": true } }"#)
        return try ServedPage(
            ["--fleet", "--configuration", home("some agent.json")] + more, home: home)
    }

    @Test func `is served only with --fleet`() throws {
        let page = try ServedPage(home: home)
        #expect(try page.api("fleet/applications").status == 404)
        for path in ["/fleet.html", "/fleet/fleet.js", "/fleet/fleet.css"] {
            #expect(try page.ask("GET", path, [], "").status == 404, "\(path)")
        }
        #expect(try page.events().first("hello")["hasFleet"] as? Bool == false)
        let other = try serve()
        #expect(try other.api("fleet/applications").status == 502)
        #expect(try other.ask("GET", "/fleet.html", [], "").status == 200)
        #expect(try other.events().first("hello")["hasFleet"] as? Bool == true)
    }

    @Test func `refuses requests without a session, and of other sites`() throws {
        let page = try serve()
        let json = "Content-Type: application/json"
        let session = "Authorization: Bearer \(page.session)"
        #expect(try page.ask("POST", "/api/fleet/list", [json], "{}").status == 401)
        for header in ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Host: evil.example"] {
            #expect(
                try page.ask("POST", "/api/fleet/list", [json, session, header], "{}").status == 403,
                "\(header)")
        }
        #expect(try page.api("fleet/list", ["application": "a"]).status == 502)
    }

    @Test func `takes no text for an option`() throws {
        let page = try serve()
        // A wrong option would be a wrong request.
        for text in ["--force", "--no-such-option", "-5; ls", "--"] {
            let all = [
                "application": text, "environment": text, "tweak": text, "value": text, "why": text,
            ]
            let person = ["Tweaks-Person: \(text.percentEncoded)"]
            for name in ["list", "set", "kill", "history"] {
                #expect(try page.api("fleet/" + name, all, person).status == 502, "\(name) \(text)")
            }
        }
        // As `tweak fleet` says it.
        let rollout = ["application": "a", "tweak": "A/B/C", "value": "1", "why": "x", "every": "10m"]
        let answer = try page.api("fleet/rollout", rollout.merging(["steps": "50,10"]) { $1 })
        #expect(answer.status == 400)
        #expect(answer.body.contains("'50,10' is invalid for '--steps"), "\(answer.body)")
    }

    @Test func `refuses what is incomplete or unknown`() throws {
        let page = try serve()
        #expect(try page.api("fleet/list").status == 400)
        #expect(try page.api("fleet/wait").status == 400)
        #expect(try page.api("fleet/declare", ["application": "a"]).status == 404)
        let reset: [String: Any] = ["application": "a", "tweak": "A/B/C"]
        for why in [nil, "", "  \n"] {
            let answer = try page.api("fleet/reset", reset.merging(why.map { ["why": $0] } ?? [:]) { $1 })
            #expect(answer.status == 400)
            #expect(answer.body.contains("a change needs a reason"))
        }
        #expect(try page.api("fleet/list", ["application": "a\0b"]).status == 400)
        let long = String(repeating: "x", count: 70_000)
        #expect(try page.api("fleet/reset", reset.merging(["why": long]) { $1 }).status == 400)
        let many = [String](repeating: "A/B/C", count: 127)
        #expect(
            try page.api(
                "fleet/promote", ["application": "a", "from": "b", "to": "c", "tweaks": many, "why": "x"]
            ).status == 400)
    }

    @Test func `shows what is wrong with the configuration, which is read for each request`() throws {
        let page = try serve()
        #expect(try page.api("fleet/list", ["application": "a"]).status == 502)
        try home.write("some agent.json", "{ }")
        let answer = try page.api("fleet/list", ["application": "a"])
        #expect(answer.status == 500)
        #expect(answer.body.contains("some agent.json: etcd: it is missing"), "\(answer.body)")
        #expect(try run(ServedPage.path, ["--configuration", "x"], home: home).status == 64)
    }

    @Test func `answers after a while that nothing has changed`() throws {
        let page = try serve()
        let start = ContinuousClock.now
        let answer = try page.api("fleet/wait", ["application": "a", "revision": 1])
        #expect(answer.status == 200 && answer.body.contains("\"isChanged\":false"), "\(answer.body)")
        #expect(start.duration(to: .now) > .seconds(3))
    }

    @Test func `loads its modules with its page only`() throws {
        let page = try serve()
        func module(_ path: String) throws -> String {
            let index = try page.ask("GET", path, [], "").body
            let name = try #require(try Regex("src=\"([^\"]+)\"").firstMatch(in: index)?.output[1].substring)
            let answer = try page.ask("GET", "/" + name, [], "")
            #expect(answer.headers["cache-control"] == "private, max-age=31536000, immutable")
            return answer.body
        }
        #expect(try !module("/").contains("fleet/"))
        let fleet = try module("/fleet.html")
        #expect(
            fleet.contains("fleet/${request}") && !fleet.contains("\nimport ") && !fleet.contains("\nexport ")
        )
    }
}
