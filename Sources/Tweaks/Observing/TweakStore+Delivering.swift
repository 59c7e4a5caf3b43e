internal import TweakRecords

extension TweakStore {
    /// Tells observers what has changed. One thread at a time does; the others leave their changes to it, so that
    /// the order is kept and no thread waits for another's observers.
    func deliver() {
        var isContinuing = false
        // A call that has returned is no longer running as soon as there is something else to take the lock for.
        var finished: RunningCall?
        while let (changes, observers) = nextDelivery(isContinuing, finished) {
            isContinuing = true
            finished = nil
            for change in changes {
                for observer in observers {
                    // The observers of one change are those of its tweak.
                    guard case .eachChange(let didChange)? = observer.didChange,
                        changes.count == 1 || observer.observes(change.key)
                    else { continue }
                    finished = call(observer, after: finished) { didChange(change) }
                }
            }
            for observer in observers {
                guard case .together(let didChange)? = observer.didChange else { continue }
                finished = call(observer, after: finished) {
                    didChange(changes.filter { observer.observes($0.key) })
                }
            }
        }
    }

    /// Calls an observer, unless it has been removed.
    ///
    /// - Parameter finished: The call before.
    /// - Returns: The call; who gets it owes its end.
    private func call(
        _ observer: ObserverList.Observer, after finished: RunningCall?, _ body: () -> Void
    ) -> RunningCall? {
        let call = state.withLock { state in
            state.end(finished)
            return state.begin(observer.id)
        }
        guard let call else { return nil }
        Self.run(body)
        return call
    }

    /// - Parameters:
    ///   - isMine: Whether this thread is the one that delivers.
    ///   - finished: Its last call.
    private func nextDelivery(
        _ isMine: Bool, _ finished: RunningCall?
    ) -> ([TweakChange], [ObserverList.Observer])? {
        state.withLock { state in
            state.end(finished)
            if isMine { state.isDelivering = false }
            guard !state.isDelivering, let delivery = state.undelivered.popFirst() else { return nil }
            state.isDelivering = true
            if let id = delivery.observer {
                return (delivery.changes, state.observers[id].map { [$0] } ?? [])
            }
            let observers = state.observers.observing(delivery.changes)
            let isForAll = observers.allSatisfy { $0.since < delivery.number }
            return (delivery.changes, isForAll ? observers : observers.filter { $0.since < delivery.number })
        }
    }
}
