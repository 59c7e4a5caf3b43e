internal import CTweakSystem
internal import CTweaks
internal import Glibc
internal import TweakSystem

/// The thread of the library that waits for what comes from outside: changes of files, and requests. There is one in
/// the process, from when there is something to wait for. While nothing comes it sleeps.
///
/// It never calls the program's code, so nothing that the program does holds it up; what may call it is for the
/// ``worker``. In a child that was forked it does not exist, and another takes its place.
final class EventLoop: Sendable {
    /// Something that the thread waits for. It is made, used and let go of on the thread.
    protocol Source: AnyObject {
        /// What is waited for, as poll(2) takes it.
        var awaited: [pollfd] { get }
        /// When it wants its turn although nothing happens.
        var deadline: ContinuousClock.Instant? { get }

        /// Called when anything has happened, also with other sources.
        ///
        /// - Parameter happened: What was ``awaited``, with the events.
        /// - Returns: Whether it goes on. If not, it has closed its files.
        func handle(_ happened: ArraySlice<pollfd>) -> Bool

        /// Closes its files: nothing is waited for any more.
        func end()
    }

    /// Makes something to wait for, on the thread, or gives what there is to wait for to one of the others.
    typealias Make = @Sendable (_ thread: EventLoop, _ others: [any Source]) -> (any Source)?

    /// How long the process has run before the thread does anything. The kernel takes some milliseconds to end a process
    /// that watches files, and others would see its socket come and go, which one that ends at once need not cause.
    private static let startDelay: Int64 = 250_000_000
    /// How often to look for the end of the program's threads once `main` has been left by pthread_exit(3).
    private static let pauseAfterMain: Int64 = 50_000_000

    private struct State {
        var arriving: [Make] = []
        /// Readable if the thread shall wake up: eventfd(2). It is made when the thread begins to wait.
        var event: Descriptor?
        var isRaised = false
    }

    /// A fork waits for its lock.
    static let current = Guarded<EventLoop?>(nil)

    /// Where the program's code may be called. It has a stack like the program's threads, and goes a second after its
    /// last job.
    let worker = SerialQueue(patience: 1)
    private let state = Guarded(State())

    /// Has the thread wait for something more.
    ///
    /// - Parameter make: Makes it; `nil` if that cannot be, or another one waits for it too.
    /// - Returns: Whether there is a thread.
    static func wait(for make: @escaping Make) -> Bool {
        current.withLock { current in
            if let current {
                current.state.withLock { $0.arriving.append(make) }
                current.wake()
                return true
            }
            let thread = EventLoop()
            thread.state.withLock { $0.arriving = [make] }
            // The small stack is too small for a program with large thread-local variables.
            guard
                let started = BackgroundThread(stackSize: BackgroundThread.smallStack, thread.run)
                    ?? BackgroundThread(thread.run)
            else { return false }
            started.detach()
            current = thread
            return true
        }
    }

    /// Gives every source a turn soon. Called on any thread.
    func wake() {
        state.withLock { state in
            guard !state.isRaised, let event = state.event, event.isOurs else { return }
            state.isRaised = true
            fbtweak__raise_event(event.number)
        }
    }

    private func run() {
        allowingForks { fbtweak__sleep_while_main_lives(Self.startDelay) }
        var sources: [any Source] = []
        while true {
            if fbtweak__only_library_remains() { return endProcess(sources) }
            guard fbtweak__has_memory(), let event = ownEvent() else {
                // No memory, or as many open files as the process may have.
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

    /// - Returns: The sources that go on.
    private func wait(_ event: Descriptor, for sources: [any Source]) -> [any Source] {
        var awaited = [pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)]
        var ends: [Int] = []
        for source in sources {
            awaited += source.awaited
            ends.append(awaited.count)
        }
        let nanoseconds = nanoseconds(until: sources.compactMap(\.deadline).min())
        var error = allowingForks { fbtweak__poll(&awaited, awaited.count, nanoseconds) ? 0 : errno }
        if error == 0, awaited.first?.revents != 0 {
            error = state.withLock { state in
                state.isRaised = false
                return !event.isOurs || fbtweak__lower_event(event.number) ? 0 : errno
            }
        }
        guard error == 0 else { return giveUp(sources, because: error) }
        var start = 1
        // The ends go up to the number of those awaited, and each source has as many as it had a moment ago.
        return zip(sources, ends).filter { source, end in
            defer { start = end }
            return source.handle(awaited[start..<end])
        }.map(\.0)
    }

    /// As ``fbtweak__poll`` takes them, of a minute at most.
    private func nanoseconds(until deadline: ContinuousClock.Instant?) -> Int64 {
        let time = deadline.map { Int64(min(max($0 - .now, .zero), .seconds(60)) / .nanoseconds(1)) }
        guard fbtweak__main_has_ended() else { return time ?? -1 }
        return min(time ?? Self.pauseAfterMain, Self.pauseAfterMain)
    }

    /// Ends all sources: the process may not wait for them. To try again and again would take a whole core.
    private func giveUp(_ sources: [any Source], because error: CInt) -> [any Source] {
        for source in sources { source.end() }
        let message =
            "cannot wait for requests and changes of files, so they count from the next start on: "
            + systemMessage(error)
        if !worker.add({ TweakStore.shared.diagnostics.warn(message) }) {
            TweakStore.shared.diagnostics.warn(message)
        }
        return []
    }

    /// Lets the process end after the last of the program's threads has. The C library then exits on the last thread
    /// there is, which is one with the stack and the signals of the program's.
    private func endProcess(_ sources: [any Source]) {
        for source in sources { source.end() }
        for queue in [worker, TweakStore.worker.withLock({ $0 })] { queue.endWhenIdle() }
        BackgroundThread { allowingForks { fbtweak__wait_for_other_threads() } }?.detach()
    }

    /// - Returns: Whether nobody can add a source any more.
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
