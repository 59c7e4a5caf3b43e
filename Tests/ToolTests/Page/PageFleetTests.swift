// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The page of a fleet, with a command instead of `tweak fleet` that tells what it is asked.
@Suite struct `The page of a fleet` {
    private let scripted: ScriptedPage
    private var home: TemporaryDirectory { scripted.home }
    private var ui: String { scripted.ui }

    init() throws { scripted = try ScriptedPage("tweak-fleet") }

    private func answer(_ script: String) throws { try scripted.answer(script) }

    /// A command that answers its arguments, as JSON.
    private static let echo = """
        python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' "$@"
        """

    private func serve(_ more: String...) throws -> ServedPage {
        try ServedPage(["--fleet"] + more, home: home, command: [ui])
    }

    private func arguments(_ page: ServedPage, _ name: String, _ body: [String: Any]) throws -> [String] {
        let answer = try page.api("fleet/" + name, body)
        return try #require(try answer.json["answer"] as? [String], "\(answer.body)")
    }

    @Test func `is served only with --fleet`() throws {
        try answer(Self.echo)
        let page = try ServedPage(home: home, command: [ui])
        #expect(try page.api("fleet/applications").status == 404)
        for path in ["/fleet.html", "/fleet/fleet.js", "/fleet/fleet.css"] {
            #expect(try page.ask("GET", path, [], "").status == 404, "\(path)")
        }
        #expect(try page.events().first("hello")["hasFleet"] as? Bool == false)
        let other = try serve()
        #expect(try other.api("fleet/applications").status == 200)
        #expect(try other.ask("GET", "/fleet.html", [], "").status == 200)
        #expect(try other.events().first("hello")["hasFleet"] as? Bool == true)
    }

    @Test func `needs the command, which is named`() throws {
        let result = try run(ui, ["--fleet"], home: home)
        #expect(result.status == 69)
        #expect(
            result.error.hasPrefix("tweak-ui: tweak-agent is not installed; it would be "), "\(result.error)")
        #expect(try run(ui, ["--configuration", "x"], home: home).status == 64)
    }

    @Test func `refuses requests without a session, and of other sites`() throws {
        try answer("touch \(home("asked")); echo '{}'")
        let page = try serve()
        let json = "Content-Type: application/json"
        let session = "Authorization: Bearer \(page.session)"
        #expect(try page.ask("POST", "/api/fleet/list", [json], "{}").status == 401)
        #expect(
            try page.ask("POST", "/api/fleet/list", [json, session, "Origin: https://evil.example"], "{}")
                .status
                == 403)
        #expect(
            try page.ask("POST", "/api/fleet/list", [json, session, "Sec-Fetch-Site: cross-site"], "{}")
                .status
                == 403)
        #expect(
            try page.ask("POST", "/api/fleet/list", [json, session, "Host: evil.example"], "{}").status == 403
        )
        #expect(!FileManager.default.fileExists(atPath: home("asked")))
        #expect(try page.api("fleet/list", ["application": "a"]).status == 200)
        #expect(FileManager.default.fileExists(atPath: home("asked")))
    }

    @Test func `passes each text as one argument that is no option`() throws {
        try answer(Self.echo)
        let page = try serve("--configuration", "/etc/some agent.json")
        #expect(
            try arguments(
                page, "set",
                [
                    "application": "--force", "environment": "a b", "tweak": "$(touch x)", "value": "-5; ls",
                    "why": "--dry-run", "by": "ann", "filters": "{}", "ifRevision": 3,
                ])
                == [
                    "set", "--format=json", "--configuration=/etc/some agent.json", "--environment=a b",
                    "--why=--dry-run", "--by=ann", "--for={}", "--if-revision=3", "--", "--force",
                    "$(touch x)",
                    "-5; ls",
                ])
        #expect(
            try arguments(
                page, "promote",
                ["application": "a", "from": "b", "to": "c", "tweaks": ["A/B/C"], "isDryRun": true])
                == [
                    "promote", "--format=json", "--configuration=/etc/some agent.json", "--dry-run", "--",
                    "a",
                    "b", "c", "A/B/C",
                ])
    }

    @Test func `goes back by force if somebody says so`() throws {
        try answer(Self.echo)
        let page = try serve()
        let body: [String: Any] = ["application": "a", "revision": 3, "why": "x", "isForced": true]
        #expect(
            try arguments(page, "rollback", body)
                == ["rollback", "--format=json", "--why=x", "--force", "--", "a", "3"])
    }

    @Test func `refuses what is incomplete or unknown`() throws {
        try answer(Self.echo)
        let page = try serve()
        #expect(try page.api("fleet/list").status == 400)
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

    @Test func `shows messages and exit statuses as they are`() throws {
        try answer(
            """
            case $1 in
            list) echo '{"kind": "other", "message": "a key is ignored"}' >&2; echo '{"number": 18446744073709551615}' ;;
            diff) echo 'no JSON' ;;
            history) exit 1 ;;
            kill) kill -9 $$ ;;
            *) echo "tweak-agent: A/B/C: 5 is outside <b>" >&2; exit 65 ;;
            esac
            """)
        let page = try serve()
        let list = try page.api("fleet/list", ["application": "a"]).json
        #expect(list["messages"] as? String == "a key is ignored\n")
        #expect((list["answer"] as? [String: Any])?["number"] as? String == "18446744073709551615")
        func message(_ name: String, _ status: Int) throws -> String? {
            let body = ["application": "a", "tweak": "A/B/C", "why": "x", "from": "b", "to": "c"]
            let answer = try page.api("fleet/" + name, body)
            #expect(answer.status == status)
            return (try answer.json["error"] as? [String: Any])?["message"] as? String
        }
        #expect(
            try message("reset", 409) == "tweak-agent: A/B/C: 5 is outside <b>\n(exit status 65)")
        #expect(try message("history", 500) == "tweak fleet failed\n(exit status 1)")
        #expect(try message("kill", 500) == "tweak fleet failed\n(exit status 137)")
        #expect(try message("diff", 500)?.hasPrefix("tweak fleet printed no JSON: ") == true)
    }

    @Test func `reads a bounded output, and ends what is still running`() throws {
        try answer("echo $$ >\(home("pid")); exec yes")
        let page = try serve()
        let answer = try page.api("fleet/list", ["application": "a"])
        #expect(answer.body.contains("tweak fleet printed more than 16777216 bytes"), "\(answer.body)")
        let pid = try #require(
            pid_t(try String(contentsOfFile: home("pid"), encoding: .utf8).dropLast()))
        #expect(waitUntil { kill(pid, 0) != 0 })
    }

    @Test func `runs some commands at once, and others when these have ended`() throws {
        try answer(
            """
            echo . >>\(home("begun")); while [ ! -e \(home("go")) ]; do sleep 0.01; done; echo '{}'
            """)
        let page = try serve()
        let clients = try (0..<9).map { _ in try page.request("fleet/list", ["application": "a"]) }
        func begun() -> Int {
            let text = try? String(contentsOfFile: home("begun"), encoding: .utf8)
            return text?.split(separator: "\n").count ?? 0
        }
        #expect(waitUntil { begun() == 8 })
        // Other requests do not wait.
        #expect(try page.api("programs").status == 200)
        #expect(begun() == 8)
        try home.write("go", "")
        for client in clients { #expect(try HTTPAnswer(client.readToEnd()).status == 200) }
        #expect(begun() == 9)
    }

    @Test func `loads its modules with its page only`() throws {
        try answer(Self.echo)
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
