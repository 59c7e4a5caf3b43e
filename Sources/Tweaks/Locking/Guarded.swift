internal import Glibc

/// A value and the lock that guards it.
///
/// `Mutex` of the standard library would do the same, but ThreadSanitizer does not see it on Linux, and a child that
/// was forked while another thread held one can neither lock nor unlock it: its futex belongs to that thread.
///
/// `@unchecked Sendable`: the value is only reached with the lock held, and what `withLock` lets out of it is Sendable
/// itself; the address of the lock never changes.
final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    /// Runs `body` with the lock held. It must not come back to the same lock.
    func withLock<Result, Failure>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result
    {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
