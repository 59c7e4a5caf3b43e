// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Earlier releases` {
    /// Every layout that their programs rely on is asserted too, and today's header works with their table of functions.
    @Test func `Their programs, overrides and requests work with today's library`() throws {
        let result = try run(
            Locations.program("python3"),
            [Locations.package + "/Tests/Programs/released/run", "--prefix", Installation.prefix.get()],
            home: TemporaryDirectory())
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }

    /// The macros are those of the example's build.
    @Test func `Code that uses their Swift API compiles today`() throws {
        let result = try run(
            Locations.package + "/tools/development/api",
            ["--built", Locations.products, "--example", Example.directory.get()], home: TemporaryDirectory())
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }
}
