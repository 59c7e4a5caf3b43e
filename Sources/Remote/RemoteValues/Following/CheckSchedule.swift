/// When an application's file is looked at next.
///
/// Agents that began together are apart from the second check on, and those whose server was away do not come back all at
/// once.
package struct CheckSchedule: Hashable, Sendable {
    private let interval: Duration
    /// How often in a row it has failed.
    private var failures = 0
    /// Whether it has ever succeeded since the agent began.
    private var hasSucceeded = false

    /// After failures it takes no longer than this, so that a switch reaches the host soon after the server is back.
    private static let longestPause: Duration = .seconds(300)
    /// What a server asks for is at most this: a wrong date must not hold off a switch for days.
    static let longestRetryAfter: Duration = .seconds(3600)
    /// By which part of it a pause is longer or shorter.
    private static let jitter = 0.1

    package init(interval: Duration) { self.interval = interval }

    /// The pause after a check that has succeeded; after the first one it is any part of the interval.
    ///
    /// - Parameter chance: From 0 to 1.
    package mutating func succeeded(chance: Double = .random(in: 0...1)) -> Duration {
        failures = 0
        defer { hasSucceeded = true }
        if hasSucceeded { return Self.jittered(interval, chance) }
        let least = min(.seconds(1), interval)
        return least + (interval - least) * chance
    }

    /// The pause after a check that has failed: twice as long each time. Before anything was loaded, as while a host
    /// starts and its network does not work yet, it begins with a second, otherwise with the interval.
    ///
    /// - Parameters:
    ///   - retryAfter: What the server has asked for.
    ///   - chance: From 0 to 1.
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
