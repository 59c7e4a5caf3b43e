internal import Glibc

/// A value and the lock that guards it.
///
/// `Mutex` of the standard library would do the same, but ThreadSanitizer does not see it on Linux, and a child that
/// was forked while another thread held one can neither lock nor unlock it: its futex belongs to that thread.
///
/// `@unchecked Sendable`: the members are only reached with the lock held, and what `withLock` lets out of it is
/// Sendable itself; the addresses of lock and condition never change.
final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value
    private var waiters = 0

    init(_ value: Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        changed = .allocate(capacity: 1)
        changed.initialize(to: pthread_cond_t())
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        changed.deinitialize(count: 1)
        changed.deallocate()
        pthread_mutex_destroy(lock)
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    /// Runs `body` with the lock held. It must not come back to the same lock.
    func withLock<Result, Failure>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result
    {
        pthread_mutex_lock(lock)
        defer {
            if waiters > 0 { pthread_cond_broadcast(changed) }
            pthread_mutex_unlock(lock)
        }
        return try body(&value)
    }

    /// Returns when another thread has left the value so that it fulfils a condition.
    func wait(until isFulfilled: (Value) -> Bool) {
        pthread_mutex_lock(lock)
        waiters += 1
        while !isFulfilled(value) { pthread_cond_wait(changed, lock) }
        waiters -= 1
        pthread_mutex_unlock(lock)
    }
}
