// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The panels that the page keeps for a program.
@Suite struct `Panels of the page` {
    private let setter: RunningSetter
    private let sources: String

    init() throws {
        setter = try RunningSetter()
        sources = setter.home("sources")
        try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
    }

    private func serve(_ options: [String]) throws -> (String, [String: Any]) throws -> HTTPAnswer {
        let page = try ServedPage(options, home: setter.home)
        let id = try page.id(ofProcess: setter.pid)
        return { name, body in try page.api(name, body.merging(["program": id]) { $1 }) }
    }

    private func names(_ answer: HTTPAnswer) throws -> [String] {
        let panels = try #require(try answer.json["panels"] as? [[String: Any]], "\(answer.body)")
        return panels.map { "\($0["place"] ?? ""): \($0["name"] ?? "")" + ($0["problem"] == nil ? "" : " ✗") }
    }

    @Test func `are saved, replaced on request and removed, for the user or beside the sources`() throws {
        let ask = try serve(["--sources", sources])
        let content: [String: Any] = ["columns": [[["tweak": "Setter/Values/Count"]]]]
        #expect(try names(ask("panels", [:])) == [])
        var body: [String: Any] = ["name": "a/b ü", "content": content]
        #expect(try names(ask("panel/save", body)) == ["user: a/b ü"])
        let again = try ask("panel/save", body)
        #expect(
            again.status == 409 && again.body.contains("there is a panel with this name"), "\(again.body)")
        body["replace"] = true
        body["content"] = ["columns": []]
        #expect(try ask("panel/save", body).status == 200)
        body["place"] = "sources"
        #expect(try names(ask("panel/save", body)) == ["user: a/b ü", "sources: a/b ü"])
        let file = sources + "/a%2Fb ü.panel.json"
        let written = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file)))
        #expect(written as? NSDictionary == ["application": "tweak-setter", "columns": [Any]()])
        #expect(try FileManager.default.contentsOfDirectory(atPath: sources) == ["a%2Fb ü.panel.json"])
        let content2 = try ask("panels", [:]).json["panels"] as? [[String: Any]]
        #expect((content2?[0]["content"] as? [String: Any])?["application"] as? String == "tweak-setter")
        #expect(
            try names(ask("panel/delete", ["name": "a/b ü"])) == ["sources: a/b ü"])
        #expect(try ask("panel/delete", ["name": "a/b ü"]).status == 404)
        #expect(
            try names(ask("panel/delete", ["name": "a/b ü", "place": "sources"])) == [])
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func `of other programs are left out, and damaged ones say what is wrong`() throws {
        let ask = try serve(["--sources", sources])
        let files = [
            "ours": #"{"columns":[]}"#, "other": #"{"application":"other"}"#, "list": "[]", "broken": "{",
            "large": #"{"a":""# + String(repeating: "x", count: 1 << 18) + #""}"#,
        ]
        for (name, text) in files {
            try text.write(toFile: "\(sources)/\(name).panel.json", atomically: true, encoding: .utf8)
        }
        try FileManager.default.createDirectory(
            atPath: sources + "/folder.panel.json", withIntermediateDirectories: false)
        #expect(mkfifo(sources + "/pipe.panel.json", 0o600) == 0)
        #expect(
            try names(ask("panels", [:]))
                == ["broken ✗", "folder ✗", "large ✗", "list ✗", "ours", "pipe ✗"].map { "sources: " + $0 })
        let large = ["columns": String(repeating: "x", count: 1 << 18)]
        #expect(try ask("panel/save", ["name": "a", "content": large]).status == 409)
        for name in ["", String(repeating: "n", count: 250)] {
            #expect(try ask("panel/save", ["name": name, "content": [String: Any]()]).status == 400)
        }
        #expect(try ask("panel/save", ["name": "a"]).status == 400)
    }

    @Test func `are written beside sources only with the option, and never through a link`() throws {
        let without = try serve([])
        let body: [String: Any] = ["name": "a", "place": "sources", "content": [String: Any]()]
        let refused = try without("panel/save", body)
        #expect(refused.status == 409 && refused.body.contains("without --sources"), "\(refused.body)")
        let ask = try serve(["--sources", sources])
        let secret = setter.home("secret")
        try "mine".write(toFile: secret, atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(
            atPath: sources + "/a.panel.json", withDestinationPath: secret)
        #expect(try ask("panel/save", body).status == 409)
        #expect(try ask("panel/save", body.merging(["replace": true]) { $1 }).status == 200)
        #expect(try String(contentsOfFile: secret, encoding: .utf8) == "mine")
    }
}
