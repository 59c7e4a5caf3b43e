// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import RemoteValues
import TestSupport
import Testing

/// Agents that a simulation has in place of hosts, each with a schedule and the clock of all.
@Suite struct `10,000 hosts` {
    private static let hosts = 10_000
    /// By host that is, on average, in each second.
    private static let mean = 10_000 / 60.0

    /// How many ask in each second.
    ///
    /// - Parameter outage: When the server does not answer.
    private func requests(seconds: Int, outage: Range<Double> = 0..<0) -> [Int] {
        var random = SeededGenerator(seed: 10_000)
        var counts = Array(repeating: 0, count: seconds)
        for _ in 0..<Self.hosts {
            var schedule = CheckSchedule(interval: .seconds(60))
            // All begin in the first second.
            var time = Double.random(in: 0..<1, using: &random)
            while time < Double(seconds) {
                counts[Int(time)] += 1
                let chance = Double.random(in: 0...1, using: &random)
                let pause =
                    outage.contains(time)
                    ? schedule.failed(chance: chance) : schedule.succeeded(chance: chance)
                time += pause / .seconds(1)
            }
        }
        return counts
    }

    @Test func `poll evenly from the second check on, at the calculated rate`() {
        let counts = requests(seconds: 1800)
        #expect(counts[0] == Self.hosts)
        let later = counts[120...]
        #expect(abs(Double(later.reduce(0, +)) / Double(later.count) / Self.mean - 1) < 0.02)
        // A minute after the beginning the last of the second checks are among the first of the third ones.
        #expect(counts[1...].max() ?? 0 < Int(1.7 * Self.mean))
    }

    @Test(arguments: [90.0, 900.0])
    func `recover after an outage without a rush, within five and a half minutes`(
        seconds: Double
    ) {
        let counts = requests(seconds: 3000, outage: 600..<600 + seconds)
        let back = counts[Int(600 + seconds)...]
        #expect(back.max() ?? 0 < Int(2 * Self.mean))
        let settled = counts[Int(600 + seconds + 330)...]
        #expect(abs(Double(settled.reduce(0, +)) / Double(settled.count) / Self.mean - 1) < 0.03)
    }
}
#endif
