internal import CTweaks
internal import Glibc

/// A thread of the library. It blocks all signals: the host's handlers must not run on it.
struct BackgroundThread {
    /// Enough for JSON of ``deepestNesting``. Only what is used of it takes memory.
    static let smallStack = 512 << 10

    private let thread: pthread_t

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - stackSize: In bytes; `nil` for what the program's own threads have.
    ///   - abandoned: Called on the thread when code of the program has ended it.
    ///   - body: What it does.
    /// - Returns: `nil` if there can be no more threads, or memory is short.
    init?(
        stackSize: Int? = nil, abandoned: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable () -> Void
    ) {
        guard fbtweak__has_room_for_thread() else { return nil }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }

        // A thread inherits the mask.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let work = Unmanaged.passRetained(Work(body: body, abandoned: abandoned))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, &attributes,
            { context in
                fbtweak__prepare_thread()
                // Some constructor of the program may take long.
                while !fbtweak__runtime_is_ready() { usleep(1000) }
                fbtweak__run_thread(
                    { Work.at($0)?.takeUnretainedValue().body() },
                    { Work.at($0)?.takeRetainedValue().abandoned() }, context)
                Work.at(context)?.release()
                return nil
            }, work.toOpaque())
        guard result == 0 else {
            work.release()
            return nil
        }
        self.thread = thread
    }

    /// Waits for the end. Call either this or ``detach()``.
    func join() { pthread_join(thread, nil) }

    /// Lets the thread end when it likes.
    func detach() { pthread_detach(thread) }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        let abandoned: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void, abandoned: @escaping @Sendable () -> Void) {
            self.body = body
            self.abandoned = abandoned
        }

        static func at(_ pointer: UnsafeMutableRawPointer?) -> Unmanaged<Work>? {
            pointer.map { Unmanaged.fromOpaque($0) }
        }
    }
}
