internal import Glibc

/// Runs something while no other process or thread does with the lock of the same file. The kernel frees the lock of a
/// process that dies.
///
/// - Parameters:
///   - descriptor: Of the open file.
///   - patience: How long to wait for others.
///   - body: Gets 0 if it has the lock, else why not: `EWOULDBLOCK` if others had it all the time.
func withFileLock<Result, Failure>(
    _ descriptor: CInt, patience: Duration, _ body: (_ error: CInt) throws(Failure) -> Result
) throws(Failure) -> Result {
    let deadline = ContinuousClock.now + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        let error = errno
        guard error == EWOULDBLOCK || error == EINTR, ContinuousClock.now < deadline else {
            return try body(error)
        }
        allowingForks { _ = usleep(500) }
    }
    // Closing is not enough: a child that was forked meanwhile has the descriptor too.
    defer { flock(descriptor, LOCK_UN) }
    return try body(0)
}
