// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import RemoteValues
import TestSupport
import Testing

@Suite struct `A timetable` {
    private let timetable = Timetable()
    private let called = Locked<[Int]>([])

    private func call(
        _ number: Int, after milliseconds: Int, _ start: ContinuousClock.Instant = .now
    ) -> Int {
        timetable.call(at: start + .milliseconds(milliseconds)) { [called] in
            called.withLock { $0.append(number) }
        }
    }

    /// Lets other tests run meanwhile, which may hold all threads of Swift's pool for a while.
    private func wait(until isDone: ([Int]) -> Bool) async throws {
        while !isDone(called.withLock { $0 }) { try await Task.sleep(for: .milliseconds(3)) }
    }

    @Test func `calls in the order of time, whatever the order of the entries`() async throws {
        // None is due before all are there.
        let start = ContinuousClock.now + .seconds(2)
        for number in (0..<50).shuffled() { _ = call(number, after: 3 * number, start) }
        try await wait { $0.count == 50 }
        #expect(called.withLock { $0 } == Array(0..<50))
    }

    @Test func `calls an entry that is due before all earlier ones`() async throws {
        _ = call(1, after: 3_600_000)
        _ = call(0, after: 5)
        try await wait { $0 == [0] }
    }

    /// Notes its end.
    private final class Token: Sendable {
        let hasEnded: Locked<Bool>

        init(_ hasEnded: Locked<Bool>) { self.hasEnded = hasEnded }
        deinit { hasEnded.withLock { $0 = true } }
    }

    private func add(_ token: Token) -> Int {
        timetable.call(at: .now + .seconds(3600)) { withExtendedLifetime(token) {} }
    }

    @Test func `forgets a call that is cancelled`() {
        let hasEnded = Locked(false)
        let number = add(Token(hasEnded))
        #expect(!hasEnded.withLock { $0 })
        timetable.cancel(number)
        #expect(hasEnded.withLock { $0 })
    }
}
#endif
