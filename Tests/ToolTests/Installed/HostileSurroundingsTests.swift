// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Hosts, commands, the page and the agent among those who mean them no good: `Tests/Programs/hostile`.
@Suite(.enabled(if: sanitizer == nil, "what is installed is not built with it"))
struct `Hostile surroundings` {
    @Test func `All programs survive, answer and exit with their own status`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Locations.package + "/Tests/Programs/hostile/run")
        process.arguments = [
            "--prefix", try Installation.prefix.get(), "--products", Locations.products,
            "--seconds", isLong ? "7200" : "10",
        ]
        let result = try RunningCommand(process).wait()
        print(result.output)
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }
}
