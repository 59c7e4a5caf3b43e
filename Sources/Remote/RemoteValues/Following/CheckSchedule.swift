// SPDX-License-Identifier: BSD-3-Clause
/// The schedule of checks for one application.
///
/// Jitter spreads agents that started together, from the second check on, and those that return after a failure of
/// their server.
package struct CheckSchedule: Hashable, Sendable {
    private let interval: Duration
    /// The number of consecutive failures.
    private var failures = 0
    /// Whether a check has succeeded since the start of the agent.
    private var hasSucceeded = false

    /// The maximum pause after failures, so that a switch reaches the host soon after the server is back.
    private static let longestPause: Duration = .seconds(300)
    /// The maximum pause that a server can request: a wrong date must not delay a switch for days.
    static let longestRetryAfter: Duration = .seconds(3600)
    /// The maximum relative deviation of a pause.
    private static let jitter = 0.1

    package init(interval: Duration) { self.interval = interval }

    /// The pause after a successful check; after the first one, a random part of the interval.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    package mutating func succeeded(chance: Double = .random(in: 0...1)) -> Duration {
        failures = 0
        defer { hasSucceeded = true }
        if hasSucceeded { return Self.jittered(interval, chance) }
        let least = min(.seconds(1), interval)
        return least + (interval - least) * chance
    }

    /// The pause after a failed check, doubled each time. Before the first success, for example while a host boots
    /// without network, it starts at one second, otherwise at the interval.
    ///
    /// - Parameters:
    ///   - retryAfter: The server's request.
    ///   - chance: A random number from 0 to 1.
    package mutating func failed(retryAfter: Duration? = nil, chance: Double = .random(in: 0...1)) -> Duration
    {
        let first = hasSucceeded ? interval : min(.seconds(1), interval)
        let pause = min(first * (1 << min(failures, 20)), max(interval, Self.longestPause))
        failures = min(failures + 1, 1000)
        return max(Self.jittered(pause, chance), min(retryAfter ?? .zero, Self.longestRetryAfter))
    }

    private static func jittered(_ pause: Duration, _ chance: Double) -> Duration {
        pause * (1 - jitter + 2 * jitter * chance)
    }
}
