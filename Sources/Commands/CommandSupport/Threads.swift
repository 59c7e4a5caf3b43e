// SPDX-License-Identifier: BSD-3-Clause
// Its module is taken for that of pthread_attr_t.
internal import CTweakSystem
internal import Glibc

/// Starts a detached thread that blocks all signals, which the first thread handles.
///
/// - Parameter stackSize: The size in bytes; `nil` for the default.
/// - Returns: The error number if no thread could be started; `nil` if it runs.
package func startThread(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) -> CInt? {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    // Threads inherit the signal mask.
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
