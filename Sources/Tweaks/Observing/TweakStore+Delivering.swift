internal import TweakRecords

extension TweakStore {
    /// Tells observers what has changed. One thread at a time does; the others leave their changes to it, so that
    /// the order is kept and no thread waits for another's observers.
    func deliver() {
        var isContinuing = false
        while let (changes, observers) = nextDelivery(isContinuing) {
            isContinuing = true
            for change in changes {
                for observer in observers {
                    guard case .eachChange(let didChange)? = observer.didChange, observer.observes(change.key)
                    else { continue }
                    call(observer.id) { didChange(change) }
                }
            }
            for observer in observers {
                guard case .together(let didChange)? = observer.didChange else { continue }
                call(observer.id) { didChange(changes.filter { observer.observes($0.key) }) }
            }
        }
    }

    /// - Parameter isMine: Whether this thread is the one that delivers.
    private func nextDelivery(_ isMine: Bool) -> ([TweakChange], [ObserverList.Observer])? {
        state.withLock { state in
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
