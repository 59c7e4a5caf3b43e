// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import CTweaks
internal import Glibc
internal import TweakSystem

/// The library thread that waits for file changes and requests. There is one per process, started when there is
/// something to wait for, and it sleeps while nothing happens.
///
/// It never calls the program's code, so the program cannot hold it up; the ``worker`` does that. A forked child starts
/// its own.
final class EventLoop: Sendable {
    /// An event source. It is created, used and released on the thread.
    protocol Source: AnyObject {
        /// The descriptors to poll, as poll(2) takes them.
        var awaited: [pollfd] { get }
        /// The time of its next turn, even if no event arrives.
        var deadline: ContinuousClock.Instant? { get }

        /// Called after any event, also one of another source.
        ///
        /// - Parameter happened: The ``awaited`` descriptors, with their events.
        /// - Returns: `false` if the source is finished and has closed its files.
        func handle(_ happened: ArraySlice<pollfd>) -> Bool

        /// Closes its files; nothing is polled any more.
        func end()
    }

    /// Creates a source on the thread, or hands the work to one of the existing sources and returns `nil`.
    typealias Make = @Sendable (_ thread: EventLoop, _ others: [any Source]) -> (any Source)?

    /// The delay before the thread starts its work. Ending a process that watches files takes the kernel some
    /// milliseconds, and a process that ends at once need not show its socket to others. Its allocator may end first.
    private static let startDelay: Int64 = 250_000_000
    /// The interval of checks for the end of the program's threads after `main` was left with pthread_exit(3).
    private static let pauseAfterMain: Int64 = 50_000_000

    private struct State {
        var arriving: [Make] = []
        /// Readable if the thread is to wake up: an eventfd(2), created when the thread starts to wait.
        var event: Descriptor?
        var isRaised = false
    }

    /// A fork waits for its lock.
    static let current = Guarded<EventLoop?>(nil)

    /// The thread that may call the program's code. It has a stack like the program's threads, and ends after a second
    /// without work.
    let worker = SerialQueue(patience: 1)
    private let state = Guarded(State())

    /// Adds a source.
    ///
    /// - Parameter make: Creates it; returns `nil` if that fails or another source does its work.
    /// - Returns: `false` if there is no thread.
    static func wait(for make: @escaping Make) -> Bool {
        current.withLock { current in
            if let current {
                current.state.withLock { $0.arriving.append(make) }
                current.wake()
                return true
            }
            let thread = EventLoop()
            thread.state.withLock { $0.arriving = [make] }
            // The small stack may not suffice for a program with large thread-local variables.
            guard
                let started = BackgroundThread(
                    stackSize: BackgroundThread.smallStack, delay: startDelay, thread.run)
                    ?? BackgroundThread(delay: startDelay, thread.run)
            else { return false }
            started.detach()
            current = thread
            return true
        }
    }

    /// Gives every source a turn soon. Callable on any thread.
    func wake() {
        state.withLock { state in
            guard !state.isRaised, let event = state.event, event.isOurs else { return }
            state.isRaised = true
            fbtweak__raise_event(event.number)
        }
    }

    private func run() {
        _ = TweakStore.flushEarlyAtExit
        var sources: [any Source] = []
        while true {
            if fbtweak__only_library_remains() { return endProcess(sources) }
            guard fbtweak__has_memory(), let event = ownEvent() else {
                // Out of memory or descriptors.
                allowingForks { _ = sleep(1) }
                continue
            }
            let arrived = state.withLock { state in
                defer { state.arriving = [] }
                return state.arriving
            }
            for make in arrived {
                if let source = make(self, sources) { sources.append(source) }
            }
            if sources.isEmpty, end() { return }
            sources = wait(event, for: sources)
        }
    }

    private func ownEvent() -> Descriptor? {
        state.withLock { state in
            if let event = state.event, event.isOurs { return event }
            state.event?.close()
            state.event = Descriptor.make(fbtweak__make_event)
            state.isRaised = false
            return state.event
        }
    }

    /// - Returns: The sources that are not finished.
    private func wait(_ event: Descriptor, for sources: [any Source]) -> [any Source] {
        var awaited = [pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)]
        var ends: [Int] = []
        for source in sources {
            awaited += source.awaited
            ends.append(awaited.count)
        }
        let nanoseconds = nanoseconds(until: sources.compactMap { $0.deadline }.min())
        var error = allowingForks { fbtweak__poll(&awaited, awaited.count, nanoseconds) ? 0 : errno }
        if error == 0, awaited.first?.revents != 0 {
            error = state.withLock { state in
                state.isRaised = false
                return !event.isOurs || fbtweak__lower_event(event.number) ? 0 : errno
            }
        }
        guard error == 0 else { return giveUp(sources, because: error) }
        var start = 1
        // The ends never exceed the number of polled descriptors, and each source has as many as before the wait.
        return zip(sources, ends).filter { source, end in
            defer { start = end }
            return source.handle(awaited[start..<end])
        }.map { $0.0 }
    }

    /// The timeout for ``fbtweak__poll``, a minute at most.
    private func nanoseconds(until deadline: ContinuousClock.Instant?) -> Int64 {
        let time = deadline.map { Int64(min(max($0 - .now, .zero), .seconds(60)) / .nanoseconds(1)) }
        guard fbtweak__main_has_ended() else { return time ?? -1 }
        return min(time ?? Self.pauseAfterMain, Self.pauseAfterMain)
    }

    /// Ends all sources, because the process is not allowed to poll. Retrying forever would keep a core busy.
    private func giveUp(_ sources: [any Source], because error: CInt) -> [any Source] {
        for source in sources { source.end() }
        let message =
            "cannot poll for requests and file changes, so changes take effect at the next start: "
            + systemMessage(error)
        if !worker.add({ TweakStore.ofProcess.diagnostics.warn(message) }) {
            TweakStore.ofProcess.diagnostics.warn(message)
        }
        return []
    }

    /// Lets the process end after the program's last thread has. The C library runs exit handlers on the last thread,
    /// so that must be one with the stack and signal mask of the program's threads.
    private func endProcess(_ sources: [any Source]) {
        for source in sources { source.end() }
        for queue in [worker, TweakStore.worker.withLock({ $0 })] { queue.endWhenIdle() }
        BackgroundThread { allowingForks { fbtweak__wait_for_other_threads() } }?.detach()
    }

    /// - Returns: Whether no source can be added any more.
    private func end() -> Bool {
        Self.current.withLock { current in
            state.withLock { state in
                guard state.arriving.isEmpty else { return false }
                state.event?.close()
                state.event = nil
                if current === self { current = nil }
                return true
            }
        }
    }
}
