internal import Glibc

extension Duration {
    /// The time since 1970, by the clock of the system.
    static var since1970: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
