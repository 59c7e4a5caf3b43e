/// Changes that wait for an actor.
final class Mailbox: Sendable {
    private struct Waiting {
        var changes = CoalescedChanges<Void>()
        var hasTask = false
    }

    private let waiting = Guarded(Waiting())
    private let deliver: @Sendable ([TweakChange]) async -> Void

    init(deliver: @escaping @Sendable ([TweakChange]) async -> Void) { self.deliver = deliver }

    func post(_ changes: [TweakChange]) {
        let needsTask = waiting.withLock { waiting in
            for change in changes { waiting.changes.add(change, note: ()) }
            defer { waiting.hasTask = true }
            return !waiting.hasTask
        }
        // Detached, because what the task that changes a tweak has for itself is none of the observer's.
        if needsTask { Task.detached { await self.work() } }
    }

    private func work() async {
        while let changes = next() {
            if !changes.isEmpty { await deliver(changes) }
        }
    }

    private func next() -> [TweakChange]? {
        waiting.withLock { waiting in
            guard !waiting.changes.isEmpty else {
                waiting.hasTask = false
                return nil
            }
            return waiting.changes.drainAll().map(\.change)
        }
    }
}

extension Actor {
    /// Runs a closure on the actor.
    func run(_ body: @Sendable (isolated Self) -> Void) { body(self) }
}
