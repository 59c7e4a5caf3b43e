// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `list instead of JustTweak's screen` {
    private let program: OlderProgram

    init() throws {
        program = try OlderProgram(
            .running,
            variables: """
                {
                  "general": {
                    "greet": { "Title": "Say hello", "Description": "At the start", "Group": "General", "Value": true },
                    "count": { "Title": "Answer to all", "Group": "General", "Value": 42 }
                  },
                  "search": {
                    "limit": { "Title": "Limit", "Description": "How many RESULTS", "Group": "Finding", "Value": 20 },
                    "depth": { "Value": 3 }
                  }
                }
                """)
    }

    /// The table's lines, each as its words.
    private func lines(_ arguments: String...) throws -> [[Substring]] {
        let result = try program.tweak("list", arguments)
        #expect(result.succeeded && result.error.isEmpty, "\(result.error)")
        return result.output.split(separator: "\n").map { $0.split(separator: " ") }
    }

    @Test func `Screen: sections by Group, and Other for what has none, with sorted titles`() throws {
        let lines = try lines("--by", "group")
        let sections = lines.filter { ["Finding", "General", "Other"].contains($0.first) }
        #expect(sections == [["Finding"], ["General"], ["Other"]])
        let general = try #require(lines.firstIndex(of: ["General"]))
        #expect(
            lines[general + 1].starts(with: ["Answer", "to", "all", "Features/general/count", "42"]))
        #expect(lines[general + 2].starts(with: ["Say", "hello", "Features/general/greet", "true"]))
        #expect(lines[general + 2].suffix(3) == ["At", "the", "start"])
        let other = try #require(lines.firstIndex(of: ["Other"]))
        #expect(lines[(other + 1)...].contains { $0.starts(with: ["depth", "Features/search/depth", "3"]) })
        #expect(lines[(other + 1)...].contains { $0.starts(with: ["Mass", "Spring-2/Physics/Mass", "1.0"]) })
    }

    @Test func `Titles stand beside names, and JSON has titles and groups`() throws {
        #expect(try lines().contains { $0.starts(with: ["Say", "hello", "greet", "true"]) })
        let tweaks = try program.tweak("list", "--format", "json").json["tweaks"] as? [[String: Any]] ?? []
        let greet = try #require(tweaks.first { $0["tweak"] as? String == "Features/general/greet" })
        #expect(greet["title"] as? String == "Say hello")
        #expect(greet["group"] as? String == "General")
        #expect(greet["description"] as? String == "At the start")
    }

    @Test(arguments: [
        ("say", ["greet"]), ("results MANY", ["limit"]), ("finding", ["limit"]),
        ("search/", ["depth", "limit"]), ("hello results", []),
    ])
    func `Screen: search finds titles, and names, descriptions and groups too`(
        words: String, names: [String]
    ) throws {
        let result = try program.tweak("list", "--search", words, "--format", "json")
        let tweaks = try result.json["tweaks"] as? [[String: Any]] ?? []
        #expect(tweaks.compactMap { $0["name"] as? String }.sorted() == names)
    }
}
