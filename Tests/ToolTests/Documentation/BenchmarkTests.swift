// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// `tools/bench`, without measuring.
@Suite struct `Benchmarks` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func bench(_ arguments: String...) throws -> String {
        let result = try run(Locations.package + "/tools/bench", arguments, home: home)
        try #require(result.succeeded, "\(result.error)")
        return result.output
    }

    /// The lines of the table in the README.
    private var table: [Substring] {
        get throws {
            let readme = try String(contentsOfFile: Locations.package + "/README.md", encoding: .utf8)
            let section = try #require(readme.components(separatedBy: "\n## What it costs\n").last)
            return section.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        }
    }

    @Test func `The rows of the README are those that are measured for it`() throws {
        let titles = try table.dropFirst(2).map { try #require($0.firstMatch(of: /^\| (.+?) \|/)).1 }
        let listed = try bench("--list", "--format", "markdown").split(separator: "\n")
        #expect(titles.count > 5 && titles == listed)
    }

    @Test func `The README's table is made of results`() throws {
        let results = """
            {"read": [
              {"what": "C int", "way": "global", "median": 0.2}, {"what": "C int", "way": "tweak", "median": 0.21},
              {"what": "Swift Int", "way": "tweak", "median": 0.19}],
            "loop": [
              {"compiler": "gcc -O3", "way": "constant", "median": 0.1},
              {"compiler": "gcc -O3", "way": "tweak in the loop", "median": 0.4},
              {"compiler": "gcc -O3", "way": "tweak read before the loop", "median": 0.11}],
            "start": [
              {"name": "without the library", "median": 1.61, "privateKilobytes": 408},
              {"name": "0 tweaks", "median": 2.82, "privateKilobytes": 808},
              {"name": "100,000 tweaks", "median": 3.41, "privateKilobytes": 848},
              {"name": "100,000 tweaks, 100 overrides", "median": 8.52, "privateKilobytes": 1396}],
            "follow": {"edit": {"median": 0.24}, "setBeyondHelp": {"median": 0.31}},
            "remote": {"one": {"median": 2.12}}}
            """
        let file = try home.write("results.json", results)
        let lines = try bench("--results", file, "--format", "markdown").split(separator: "\n")
        #expect(try lines.prefix(2) == table.prefix(2))
        #expect(
            lines.dropFirst(2).map(String.init) == [
                "| reading an `int` or `double`, in C and Swift | 0.20 ns (a plain global) | 0.21 ns |",
                "| an element of a float loop, GCC 12 `-O3` | 0.10 ns | 0.40 ns; 0.11 ns if read before the loop |",
                "| starting and ending a process: no tweaks | 1.6 ms, 408 KB | 2.8 ms, 808 KB |",
                "| … 100,000 tweaks | | 3.4 ms, 848 KB |",
                "| … 100,000 tweaks, 100 overridden | | 8.5 ms, 1,396 KB |",
                "| from an edit or `tweak set` to the program | | 0.3 ms |",
                "| from etcd to the program, through the agent | | 2.1 ms |",
            ])
    }

    @Test func `Every benchmark is listed with what it measures`() throws {
        struct Row: Decodable { let name, benchmark, against: String }
        let rows = try JSONDecoder().decode([Row].self, from: Data(bench("--list", "--format", "json").utf8))
        let usage = try #require(bench("--help").firstMatch(of: /\{(read,[^}]+)\}/))
        #expect(Set(rows.map(\.benchmark)) == Set(usage.1.split(separator: ",").map(String.init)))
    }
}
