// SPDX-License-Identifier: BSD-3-Clause

/// When the agent of one host writes what it has to etcd, and renews its leases.
///
/// All hosts together write at most 200 times a second, in whatever way their values change: each waits for a random
/// part of a time that grows with their number, and then at least as long for its next write. If nothing changes,
/// nothing is written. Renewing a lease is no write: etcd keeps its time in memory.
package struct ReportSchedule: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The number of hosts that share etcd; they need not agree.
    package var hosts = 1 { didSet { hosts = max(1, hosts) } }
    /// The time of the next write; `nil` if nothing has changed.
    package private(set) var due: Instant?
    /// Whether only that write itself changes its time.
    private var isDueFixed = false
    private var last: Instant?
    /// The number of writes that may follow each other at once, at the time of the last one.
    private var credit = ReportSchedule.burst
    private var failures = 0

    /// The average number of writes a second of all hosts. Random times gather, which needs room.
    private static let rate = 125.0
    /// The number of hosts that renew their leases in a second.
    private static let renewalRate = 200.0
    private static let shortestRenewal: Duration = .milliseconds(1300)
    /// A lease outlives this many renewals, so that two may fail.
    private static let renewals = 3
    /// The minimum time between writes of a host in a small fleet.
    private static let shortestPause: Duration = .seconds(1)
    /// The time in which a host may write once, if its values change all the time.
    private static let period: Duration = .seconds(60)
    /// The number of writes beyond that, so that a few changes in a row are reported at once.
    private static let burst = 12.0
    /// The minimum time between the parts of a large report.
    private static let pauseOfParts: Duration = .milliseconds(20)
    private static let longestPauseAfterFailure: Duration = .seconds(300)

    package init() {}

    /// The time in which all hosts together make this number of writes each.
    private func spread(writes: Int = 1) -> Duration {
        .seconds(Double(hosts) / Self.rate) * Double(writes)
    }

    /// The time between renewals of the leases.
    package var renewal: Duration {
        max(Self.shortestRenewal, .seconds(Double(hosts) / Self.renewalRate))
    }

    /// The lease of the key that tells that the host is alive: 4 seconds, or more than 200 in a fleet of 13,334.
    package var lifetime: Duration {
        .seconds((renewal * Self.renewals / .seconds(1)).rounded(.up))
    }

    /// Plans a write, unless an urgent one is planned: a new random time for each change would make it early.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether it is about values; anything else is written once a minute at most.
    ///   - writes: The number of writes that it takes.
    ///   - chance: A random number from 0 to 1.
    package mutating func plan(
        isUrgent: Bool, writes: Int = 1, now: Instant = .now, chance: Double = .random(in: 0..<1)
    ) {
        guard !isDueFixed else { return }
        var time = now
        if let last {
            let pause = isUrgent ? max(Self.shortestPause, spread()) : max(Self.period, spread())
            time = max(time, last + pause)
            // One more each period.
            let missing = 1 - credit
            if missing > 0 { time = max(time, last + Self.period * missing) }
        }
        // After the pause, in which others had their turns: so there is never a time that is likelier than others.
        time += spread(writes: writes) * chance
        if let due, !isUrgent || due < time { time = due }
        (due, isDueFixed) = (time, isUrgent)
    }

    /// Records a write.
    ///
    /// - Parameter isPart: Whether more has to be written, since one request has room for few applications.
    package mutating func succeeded(isPart: Bool = false, now: Instant = .now) {
        failures = 0
        if isPart {
            (last, due, isDueFixed) = (now, now + max(Self.pauseOfParts, spread()), true)
        } else {
            let earned = last.map { $0.duration(to: now) / Self.period } ?? 0
            credit = min(Self.burst, credit + earned) - 1
            (last, due, isDueFixed) = (now, nil, false)
        }
    }

    /// Records that there was nothing to write after all.
    package mutating func hadNothing() { (due, isDueFixed, failures) = (nil, false, 0) }

    /// Plans a write again that failed.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    package mutating func failed(now: Instant = .now, chance: Double = .random(in: 0..<1)) {
        let pause = min(
            Self.longestPauseAfterFailure, max(Self.shortestPause, spread()) * (1 << min(failures, 10)))
        failures += 1
        (due, isDueFixed) = (now + pause * (0.5 + chance), true)
    }
}
