// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc

/// A library thread. It blocks all signals, because the program's handlers must not run on it.
struct BackgroundThread {
    /// Large enough to parse JSON nested to ``deepestNesting``. Only the used part takes memory.
    static let smallStack = 512 << 10

    private let thread: UInt

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - stackSize: In bytes; `nil` for the default of the program's own threads.
    ///   - delay: How many nanoseconds it sleeps first, less if the main thread ends. It allocates nothing before.
    ///   - restsAtExit: Whether all that the thread does is work as of `fbtweak__begin_work`.
    ///   - abandoned: Called on the thread if the program's code has ended it.
    ///   - body: The thread's main function.
    /// - Returns: `nil` if there are too many threads or memory is short.
    init?(
        stackSize: Int? = nil, delay: Int64 = 0, restsAtExit: Bool = false,
        abandoned: @escaping @Sendable () -> Void = {}, _ body: @escaping @Sendable () -> Void
    ) {
        guard fbtweak__has_room_for_thread() else { return nil }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }

        // The thread inherits this mask.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let work = Unmanaged.passRetained(
            Work(body: body, abandoned: abandoned, delay: delay, restsAtExit: restsAtExit))
        if restsAtExit { fbtweak__count_writers(1) }
        if delay > 0 { fbtweak__count_sleepers(1) }
        var thread: UInt = 0
        let result = fbtweak__create_thread(
            &thread, &attributes,
            { context in
                if let delay = Work.at(context)?.takeUnretainedValue().delay, delay > 0 {
                    fbtweak__sleep_until_room(delay)
                }
                fbtweak__begin_work()
                fbtweak__prepare_thread()
                // A constructor of the program may take long.
                while !fbtweak__runtime_is_ready() { usleep(1000) }
                let restsAtExit = Work.at(context)?.takeUnretainedValue().restsAtExit == true
                if !restsAtExit { fbtweak__end_work() }
                fbtweak__run_thread(
                    { Work.at($0)?.takeUnretainedValue().body() },
                    { Work.at($0)?.takeRetainedValue().abandoned() }, context)
                Work.at(context)?.release()
                if restsAtExit {
                    fbtweak__end_work()
                    fbtweak__count_writers(-1)
                }
                return nil
            }, work.toOpaque())
        guard result == 0 else {
            if restsAtExit { fbtweak__count_writers(-1) }
            if delay > 0 { fbtweak__count_sleepers(-1) }
            work.release()
            return nil
        }
        self.thread = thread
    }

    /// Waits for the thread to end. Call either this or ``detach()``.
    func join() { fbtweak__join_thread(thread) }

    /// Lets the thread end on its own.
    func detach() { fbtweak__detach_thread(thread) }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        let abandoned: @Sendable () -> Void
        let delay: Int64
        let restsAtExit: Bool

        init(
            body: @escaping @Sendable () -> Void, abandoned: @escaping @Sendable () -> Void, delay: Int64,
            restsAtExit: Bool
        ) {
            self.body = body
            self.abandoned = abandoned
            self.delay = delay
            self.restsAtExit = restsAtExit
        }

        static func at(_ pointer: UnsafeMutableRawPointer?) -> Unmanaged<Work>? {
            pointer.map { Unmanaged.fromOpaque($0) }
        }
    }
}
