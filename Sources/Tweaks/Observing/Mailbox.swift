internal import TweakRecords

/// Changes that wait for an actor.
///
/// Several changes of a tweak become one, from the first old value to the last new one, so what waits is bounded.
final class Mailbox: Sendable {
    private struct Waiting {
        var changes: [TweakKey: (change: TweakChange, isFirstCall: Bool)] = [:]
        var order: [TweakKey] = []
        var hasTask = false
    }

    private let waiting = Guarded(Waiting())
    private let deliver: @Sendable ([TweakChange]) async -> Void

    init(deliver: @escaping @Sendable ([TweakChange]) async -> Void) { self.deliver = deliver }

    func post(_ changes: [TweakChange]) {
        let needsTask = waiting.withLock { waiting in
            for change in changes {
                let earlier = waiting.changes[change.key]
                if earlier == nil { waiting.order.append(change.key) }
                let sum = TweakChange(
                    key: change.key, oldValue: earlier?.change.oldValue ?? change.oldValue,
                    newValue: change.newValue, source: change.source)
                let isFirstCall = earlier?.isFirstCall ?? (change.oldValue == change.newValue)
                waiting.changes[change.key] = (sum, isFirstCall)
            }
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
            guard !waiting.order.isEmpty else {
                waiting.hasTask = false
                return nil
            }
            defer {
                waiting.changes = [:]
                waiting.order = []
            }
            return waiting.order.compactMap { key in
                waiting.changes[key].flatMap { change, isFirstCall in
                    isFirstCall || change.oldValue != change.newValue ? change : nil
                }
            }
        }
    }
}

extension Actor {
    /// Runs a closure on the actor.
    func run(_ body: @Sendable (isolated Self) -> Void) { body(self) }
}
