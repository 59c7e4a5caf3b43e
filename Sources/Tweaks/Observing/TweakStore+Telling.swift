internal import TweakRecords

extension TweakStore {
    /// What tells of changes that came while another thread was telling of its own. It goes a second after the last.
    static let worker = Guarded(SerialQueue(patience: 1))

    /// Tells observers what has changed. One thread at a time does, of what there is when it begins and of what its observers
    /// change; the others leave their changes to it, so that the order is kept and no thread waits for another's observers.
    /// What is left in the end a thread of the library tells, so that nobody who sets one tweak tells of all that others do.
    func tellObservers() {
        if let turn = state.withLock({ $0.telling.begin() }) { tell(turn) }
    }

    /// Tells observers, when this thread is the one that does.
    func tell(_ first: Telling.Turn) {
        var turn = first
        while true {
            // A call that has returned is no longer running as soon as there is something else to take the lock for.
            var finished: RunningCall?
            for change in turn.changes {
                for observer in turn.observers {
                    // The observers of one change are those of its tweak.
                    guard case .eachChange(let didChange)? = observer.didChange,
                        turn.changes.count == 1 || observer.observes(change.key)
                    else { continue }
                    finished = call(observer, after: finished) { didChange(change) }
                }
            }
            for observer in turn.observers {
                guard case .together(let didChange)? = observer.didChange else { continue }
                finished = call(observer, after: finished) { [changes = turn.changes] in
                    didChange(changes.filter { observer.observes($0.key) })
                }
            }
            let (next, isLeft) = state.withLock { state in
                state.telling.end(finished)
                let next = state.telling.next()
                return (next, next == nil && state.telling.isLeft)
            }
            guard let next else {
                if isLeft { handOn() }
                return
            }
            turn = next
        }
    }

    /// Has a thread of the library tell what is left. If there can be none, the next change does.
    func handOn() { _ = Self.worker.withLock { $0 }.add { self.tellObservers() } }

    /// Calls an observer, unless it has been removed.
    ///
    /// - Parameter finished: The call before.
    /// - Returns: The call; who gets it owes its end.
    private func call(
        _ observer: ObserverList.Observer, after finished: RunningCall?, _ body: () -> Void
    ) -> RunningCall? {
        let call = state.withLock { state in
            state.telling.end(finished)
            return state.telling.begin(observer)
        }
        if call != nil { callProgram(body) }
        return call
    }
}
