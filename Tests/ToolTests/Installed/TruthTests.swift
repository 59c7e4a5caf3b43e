// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What commands that set values say, compared with programs and files: `Tests/Programs/truth`.
@Suite(.enabled(if: sanitizer == nil, "what is installed is not built with it"))
struct `The truth of commands` {
    @Test func `Whatever sets values says what the program and the overrides file have afterwards`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Locations.package + "/Tests/Programs/truth/run")
        process.arguments = ["--prefix", try Installation.prefix.get()] + (isLong ? ["--long"] : [])
        let result = try RunningCommand(process).wait()
        print(result.output.split(separator: "\n").last.map(String.init) ?? "")
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }
}
