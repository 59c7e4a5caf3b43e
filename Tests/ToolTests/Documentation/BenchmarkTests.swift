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
            "rivals": {"starts": {"1 tweak, 0 libraries": [
              {"name": "tweaks", "median": 0.94, "faults": 99}, {"name": "the program alone", "median": 0.5, "faults": 53}]}},
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
                "| starting and ending a C program with one tweak | 0.50 ms, 53 page faults | 0.94 ms, 99 page faults |",
                "| starting and ending a Swift program: no tweaks | 1.6 ms, 408 KB | 2.8 ms, 808 KB |",
                "| … 100,000 tweaks | | 3.4 ms, 848 KB |",
                "| … 100,000 tweaks, 100 overridden | | 8.5 ms, 1,396 KB |",
                "| from an edit or `tweak set` to the program | | 0.3 ms |",
                "| from etcd to the program, through the agent | | 2.1 ms |",
            ])
    }

    /// The rows of the table of bounds in the article, without what was measured.
    private func bounds(in page: String) -> [[String]] {
        page.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            Array(line.dropFirst(2).dropLast(2).components(separatedBy: " | ").dropLast())
        }
    }

    @Test func `The article about bounds names those that are measured`() throws {
        let article = try String(contentsOfFile: Article.catalogue + "/Bounds.md", encoding: .utf8)
        let listed = try bounds(in: bench("--list", "--format", "bounds"))
        #expect(listed.count > 60 && bounds(in: article) == listed)
    }

    @Test func `The article about bounds is made of results, and explains what is missed`() throws {
        let gate = """
            {"gate": [
              {"compiler": "gcc", "way": "an idle gate", "times": 1.25},
              {"compiler": "clang", "way": "an idle gate", "times": 1.5},
              {"compiler": "gcc", "way": "a take of three with what it has seen", "times": 1.31}]}
            """
        let change = """
            {"machine": {"processor": "Z80", "cores": 1, "swift": "Swift 6.3"},
            "change": [
              {"store": "private", "what": "store.set, observers: 1", "median": 612.4},
              {"store": "private", "what": "store.tweak(…)", "median": 60}]}
            """
        let files = try (home.write("gate.json", gate), home.write("change.json", change))
        let page = try bench("--results", files.0, "--results", files.1, "--format", "bounds")
        #expect(page.contains("\nMeasured on Z80, 1 cores, with Swift 6.3.\n"))
        #expect(page.contains("| an idle gate | gate | at most 1.5 × a tweak | 1.5 |\n"))
        #expect(page.contains("| gate | at most 1.3 × three globals | **1.31** |\n"))
        #expect(page.contains("| setting a tweak with one observer | change | at most 500 ns | **612** |\n"))
        #expect(page.contains("| finding a tweak by name in Swift | change | at most 60 ns | 60 |\n"))
        #expect(page.contains("| storing a monitor | read | at most 1.05 × a volatile global | – |\n"))
        let reasons = try #require(page.components(separatedBy: "\n### Missed bounds\n\n").last)
        #expect(
            reasons.split(separator: "\n").map { $0.prefix { $0 != ":" } } == [
                "- a take of three with what it has seen, at most 1.3 × three globals",
                "- setting a tweak with one observer, at most 500 ns",
            ])
    }

    @Test func `A benchmark shows its bounds beside its results`() throws {
        func summary(_ percentile: Double) -> String {
            """
            {"median": 0.4, "middleHalf": [0.3, 0.5], "percentile95": \(percentile), "minimum": 0, "maximum": 2, "samples": 9}
            """
        }
        let machine = #"{"processor": "", "cores": 1, "kernel": "", "load": 0, "swift": "", "c": ""}"#
        let results = """
            {"machine": \(machine), "live": {"gate": \(summary(1.6)), "lease": \(summary(0.6)), "replay": \(summary(0.6))}}
            """
        let output = try bench("--results", home.write("results.json", results))
        let verdicts = output.split(separator: "\n").filter { $0.contains("at most") }.map { line in
            line.components(separatedBy: "   ").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty }
        }
        #expect(
            verdicts.map { Array($0.dropFirst()) } == [
                ["1.6", "at most 1.5 ms", "missed"], ["0.6", "at most 10 ms", "met"],
                ["0.4", "at most 1 ms off", "met"],
            ])
    }

    @Test func `Every benchmark is listed with what it measures`() throws {
        struct Row: Decodable { let name, benchmark, against: String }
        let rows = try JSONDecoder().decode([Row].self, from: Data(bench("--list", "--format", "json").utf8))
        let usage = try #require(bench("--help").firstMatch(of: /\{(read,[^}]+)\}/))
        #expect(Set(rows.map(\.benchmark)) == Set(usage.1.split(separator: ",").map(String.init)))
    }
}
