internal import CTweaks

/// Runs something during which a fork need not wait for this thread: what waits, or calls the program's code.
///
/// The Swift runtime has locks of its own, which it takes when a type is used for the first time. A child that was
/// forked while another thread has one of them waits for it for ever. So a fork waits until the library does nothing on
/// other threads, which takes a moment; see `forks.c`.
func allowingForks<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let held = fbtweak__allow_forks()
    defer { if held { _ = fbtweak__hold_forks() } }
    return try body()
}
