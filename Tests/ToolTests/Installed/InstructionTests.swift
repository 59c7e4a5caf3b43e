// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// `tools/development/instructions`, which counts with callgrind.
@Suite struct `Instructions of hot paths` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func count(_ arguments: String...) throws -> CommandResult {
        try run(
            Locations.package + "/tools/development/instructions",
            ["--prefix", Installation.prefix.get()] + arguments, home: home)
    }

    @Test func `None has changed by more than three hundredths`() throws {
        let result = try count()
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }

    @Test(.enabled(if: isLong)) func `Nothing grows faster than n log n`() throws {
        let result = try count("--growth")
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }

    @Test func `A path that has changed is named`() throws {
        let (file, path) = (home("counts.json"), "start with 1 tweak")
        let renewed = try count("--only", "^\(path)$", "--counts", file, "--renew")
        try #require(renewed.succeeded, "\(renewed.error)")
        #expect(try count("--only", "^\(path)$", "--counts", file).succeeded)

        struct Counts: Codable {
            let swift: String
            let machine: String
            var instructions: [String: Int]
        }
        var counts = try JSONDecoder().decode(Counts.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
        let before = try #require(counts.instructions[path])
        for (factor, way) in [(0.95, "more"), (1.05, "fewer")] {
            counts.instructions[path] = Int(Double(before) * factor)
            try JSONEncoder().encode(counts).write(to: URL(fileURLWithPath: file))
            let result = try count("--only", "^\(path)$", "--counts", file)
            #expect(
                result.status == 1 && result.output.contains("instructions, \(way) than"), "\(result.output)")
        }
    }
}
