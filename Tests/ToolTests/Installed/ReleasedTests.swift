import Foundation
import TestSupport
import Testing

@Suite struct `Earlier releases` {
    /// Every layout that their programs rely on is asserted too.
    @Test func `Their programs, overrides and requests work with today's library`() throws {
        let result = try run(
            Locations.program("python3"),
            [Locations.package + "/Tests/Programs/released/run", "--prefix", Installation.prefix.get()],
            home: TemporaryDirectory())
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }
}
