// SPDX-License-Identifier: BSD-3-Clause

/// The schedule by which a host's agent writes reports to etcd and renews its leases.
///
/// All hosts together write at most 200 times a second, however often values change: each waits for a random part of a
/// period that grows with the number of hosts, and at least as long before its next write. Without changes there are
/// no writes. Renewing a lease is not a write, because etcd keeps its time in memory.
package struct ReportSchedule: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The number of hosts that share etcd. Their estimates may differ.
    package var hosts = 1 { didSet { hosts = max(1, hosts) } }
    /// The time of the next write; `nil` if nothing has changed.
    package private(set) var due: Instant?
    /// Whether further changes leave the time of that write as it is.
    private var isDueFixed = false
    private var last: Instant?
    /// The number of further writes allowed without a pause, as of the last one.
    private var credit = ReportSchedule.burst
    private var failures = 0

    /// The average writes per second of all hosts. Random times cluster, so this leaves room.
    private static let rate = 125.0
    /// The renewals of leases per second.
    private static let renewalRate = 200.0
    private static let shortestRenewal: Duration = .milliseconds(1300)
    /// The renewals during a lease, of which all but one may fail.
    private static let renewals = 3
    /// The minimum time between writes of a host in a small fleet.
    private static let shortestPause: Duration = .seconds(1)
    /// The interval between writes of a host whose values change continuously.
    private static let period: Duration = .seconds(60)
    /// The burst of writes beyond that, so that a few changes in a row are reported at once.
    private static let burst = 12.0
    /// The minimum time between the parts of a large report.
    private static let pauseOfParts: Duration = .milliseconds(20)
    private static let longestPauseAfterFailure: Duration = .seconds(300)

    package init() {}

    /// The time in which each host makes this number of writes.
    private func spread(writes: Int = 1) -> Duration {
        .seconds(Double(hosts) / Self.rate) * Double(writes)
    }

    /// The time between renewals of the leases.
    package var renewal: Duration {
        max(Self.shortestRenewal, .seconds(Double(hosts) / Self.renewalRate))
    }

    /// The duration of the lease of `hosts.alive`: 4 seconds, or more than 200 in a fleet of 13,334.
    package var lifetime: Duration {
        .seconds((renewal * Self.renewals / .seconds(1)).rounded(.up))
    }

    /// Plans a write, unless an urgent one is planned: drawing a new random time at each change would favour early ones.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether values have changed. Other changes are written at most once a minute.
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
        // After the pause, in which other hosts had their turns, so that no time is likelier than others.
        time += spread(writes: writes) * chance
        if let due, !isUrgent || due < time { time = due }
        (due, isDueFixed) = (time, isUrgent)
    }

    /// Records a write.
    ///
    /// - Parameter isPart: Whether more must be written, because a request has room for few applications.
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

    /// Plans another attempt after a failed write.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    package mutating func failed(now: Instant = .now, chance: Double = .random(in: 0..<1)) {
        let pause = min(
            Self.longestPauseAfterFailure, max(Self.shortestPause, spread()) * (1 << min(failures, 10)))
        failures += 1
        (due, isDueFixed) = (now + pause * (0.5 + chance), true)
    }
}
