// SPDX-License-Identifier: BSD-3-Clause

/// The clock of `_Concurrency`, which Embedded Swift lacks: the time since the start of the machine, asleep or not.
package struct ContinuousClock {
    package struct Instant: Hashable, Comparable, Sendable {
        private let sinceStart: Duration

        private init(_ sinceStart: Duration) { self.sinceStart = sinceStart }

        package static var now: Instant {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Instant(.seconds(time.tv_sec) + .nanoseconds(time.tv_nsec))
        }

        package static func + (instant: Instant, duration: Duration) -> Instant {
            Instant(instant.sinceStart + duration)
        }

        package static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }

        package static func - (instant: Instant, earlier: Instant) -> Duration {
            instant.sinceStart - earlier.sinceStart
        }

        package static func < (one: Instant, other: Instant) -> Bool { one.sinceStart < other.sinceStart }
    }

    package static var now: Instant { .now }
}
