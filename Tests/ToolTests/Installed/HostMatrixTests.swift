// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Programs of every kind with every malloc, wherever they run and however they end: `Tests/Programs/hosts`.
@Suite(.enabled(if: sanitizer == nil, "what is installed is not built with it"))
struct `The matrix of hosts` {
    @Test func `Every host runs, is tuned, saves overrides, and exits as without the library`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Locations.package + "/Tests/Programs/hosts/run")
        process.arguments =
            ["--prefix", try Installation.prefix.get(), "--products", Locations.products]
            + (isLong ? ["--long"] : [])
        let result = try RunningCommand(process).wait()
        print(result.output.split(separator: "\n").last ?? "")
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }
}
