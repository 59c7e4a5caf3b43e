// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc
internal import TweakSystem

/// A value and the lock that guards it.
///
/// `Mutex` of the standard library would do, but ThreadSanitizer does not see it on Linux, and a child forked while
/// another thread holds one can neither lock nor unlock it: its futex belongs to that thread.
///
/// `@unchecked Sendable`: the members are accessed only with the lock held, results of `withLock` are Sendable, and the
/// addresses of lock and condition never change.
final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    // The lock guarantees exclusivity.
    @exclusivity(unchecked) private var value: Value
    @exclusivity(unchecked) private var waiters = 0

    init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        changed = .allocate(capacity: 1)
        changed.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        changed.deinitialize(count: 1)
        changed.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` with the lock held. It must not take the same lock again.
    func withLock<Result, Failure>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result
    {
        lock()
        defer {
            if waiters > 0 { pthread_cond_broadcast(changed) }
            unlock()
        }
        return try body(&value)
    }

    /// As ``withLock(_:)``, for a lock that others hold during disk access. Its holder may allow forks and disallow
    /// them again, so a thread that waits for it must not disallow them: fork, holder and waiter would deadlock.
    func withSlowLock<Result, Failure>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        allowingForks { lock() }
        defer { unlock() }
        return try body(&value)
    }

    /// Runs `body` if nobody holds the lock.
    func withLockIfFree(_ body: (inout Value) -> Void) {
        guard pthread_mutex_trylock(mutex) == 0 else { return }
        body(&value)
        unlock()
    }

    /// Whether the calling thread holds the lock. Asked at exit, that means that a signal has interrupted it there, and
    /// that the handler has called exit(3).
    var isHeldHere: Bool { fbtweak__holds(mutex) }

    /// Waits for the lock and takes it. For fork handlers only.
    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }

    /// Waits until another thread leaves the value in a state that satisfies the condition.
    ///
    /// - Parameter seconds: The timeout; `nil` for none.
    func wait(atMost seconds: Int? = nil, until isFulfilled: (Value) -> Bool) {
        lock()
        waiters += 1
        while !isFulfilled(value) {
            guard let seconds else {
                pthread_cond_wait(changed, mutex)
                continue
            }
            if !fbtweak__wait(changed, mutex, seconds) { break }
        }
        waiters -= 1
        unlock()
    }
}
