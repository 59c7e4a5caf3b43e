internal import TweakProtocol
internal import TweakRecords

/// What other threads have for the one that talks to clients.
final class ControlMail: Sendable {
    /// What has become of a request that another thread has done.
    struct Outcome: Sendable {
        enum Place { case worker, action }

        let client: UInt64
        let place: Place
        /// What is sent to the client, with the newline; empty if it wants no answer.
        let line: [UInt8]
    }

    private struct Content {
        /// With the time of the last one, in seconds since 1970.
        var changes = CoalescedChanges<Double>()
        var outcomes: [Outcome] = []
    }

    private let content = Guarded(Content())
    private let thread: EventLoop

    init(for thread: EventLoop) { self.thread = thread }

    func post(_ changes: [TweakChange], at time: Double) {
        content.withLock { content in
            for change in changes { content.changes.add(change, note: time) }
        }
        thread.wake()
    }

    func post(_ outcome: Outcome) {
        content.withLock { $0.outcomes.append(outcome) }
        thread.wake()
    }

    func drain() -> (changes: [(change: TweakChange, time: Double)], outcomes: [Outcome]) {
        content.withLock { content in
            defer { content = Content() }
            return (content.changes.drainAll().map { ($0.change, $0.note) }, content.outcomes)
        }
    }
}
