internal import Glibc

/// Starts a thread, which nobody waits for and which gets no signals: those are for the one that began.
///
/// - Parameter stackSize: In bytes; `nil` for the usual one.
/// - Returns: Why there can be no more threads, as a number of errno; `nil` if it runs.
package func startThread(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) -> CInt? {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    // A thread inherits the mask.
    var (all, before) = (sigset_t(), sigset_t())
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let box = Unmanaged.passRetained(ThreadBody(body))
    var thread = pthread_t()
    let problem = pthread_create(
        &thread, &attributes,
        { context in
            context.map { Unmanaged<ThreadBody>.fromOpaque($0).takeRetainedValue().body() }
            return nil
        }, box.toOpaque())
    guard problem != 0 else { return nil }
    box.release()
    return problem
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
