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
    }

    /// Makes something to wait for, on the thread, or gives what there is to wait for to one of the others.
    typealias Make = @Sendable (_ thread: EventLoop, _ others: [any Source]) -> (any Source)?

    /// How long the process has run before the thread does anything. The kernel takes some milliseconds to end a process
    /// that watches files, and others would see its socket come and go, which one that ends at once need not cause.
    private static let startDelay: useconds_t = 250_000

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
        allowingForks { _ = usleep(Self.startDelay) }
        var sources: [any Source] = []
        while true {
            guard let event = ownEvent() else {
                // The process has as many open files as it may have.
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
        _ = allowingForks { fbtweak__poll(&awaited, awaited.count, nanoseconds) }
        if awaited.first?.revents != 0 {
            state.withLock { state in
                state.isRaised = false
                if event.isOurs { fbtweak__lower_event(event.number) }
            }
        }
        var start = 1
        // The ends go up to the number of those awaited, and each source has as many as it had a moment ago.
        return zip(sources, ends).filter { source, end in
            defer { start = end }
            return source.handle(awaited[start..<end])
        }.map(\.0)
    }

    /// As ``fbtweak__poll`` takes them, of a minute at most.
    private func nanoseconds(until deadline: ContinuousClock.Instant?) -> Int64 {
        guard let deadline else { return -1 }
        return Int64(min(max(deadline - .now, .zero), .seconds(60)) / .nanoseconds(1))
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
