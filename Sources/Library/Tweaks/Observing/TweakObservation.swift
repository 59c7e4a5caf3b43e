// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakRecords

/// An observer's registration. Most observers are removed when their observation is deallocated; an observer
/// with an owner, or a binding to an object, lasts as long as that object.
public final class TweakObservation: Sendable {
    private let lastsWithoutHolder: Bool
    private let remove: @Sendable (_ waits: Bool) -> Void

    init(lastsWithoutHolder: Bool = false, remove: @escaping @Sendable (_ waits: Bool) -> Void) {
        self.lastsWithoutHolder = lastsWithoutHolder
        self.remove = remove
    }

    deinit {
        // Without waiting, which nobody expects of a deinitialiser.
        if !lastsWithoutHolder { remove(false) }
    }

    /// Ends the observation. After it returns, no call starts, and none is running on another thread.
    ///
    /// It waits for a running call, so do not hold a lock that the observer takes. Inside a callback of a
    /// store it does not wait, because another thread may be waiting for that callback.
    public func cancel() { remove(true) }

    /// Ends the observation without waiting.
    func end() { remove(false) }
}

/// A reference to an observer, for calling and ending it. It does not retain the store.
struct ObserverReference: Sendable {
    /// The store's state, not the store: weak references triple the cost of reference counting an object, and
    /// every handle of a private store counts.
    fileprivate let state: WeakReference<Guarded<StoreState>>
    fileprivate let id: UInt64

    /// Makes a call, unless the observer has been removed.
    func call(_ body: () -> Void) { state.object?.call(id, body) }

    /// Removes the observer.
    ///
    /// - Parameter waits: Whether to wait until the observer is not running on another thread.
    func remove(waits: Bool) {
        guard let state = state.object else { return }
        // Its closures may be the program's, so they are released without the lock.
        _ = state.withLock { state in
            state.delivery.removeObserver(id)
            return state.delivery.drainRemoved()
        }
        if waits, !fbtweak__is_in_call() { state.waitForCalls { $0.target == .observer(id) } }
    }
}

extension TweakStore {
    /// Adds an observer.
    ///
    /// - Parameters:
    ///   - keys: The tweaks; `nil` for all.
    ///   - feature: A feature whose tweaks are observed too, also those added later.
    ///   - unknownValue: If given, the observer is called first with the current values. The closure returns
    ///     the value of a tweak that the store does not have, or `nil` to leave it out.
    ///   - isGone: Returns whether the observer's owner no longer exists.
    ///   - lastsWithoutHolder: Whether the observer outlives its observation.
    ///   - didChange: Makes the callback.
    func addObserver(
        of keys: [TweakKey]?, andOfFeature feature: String? = nil,
        startingWith unknownValue: ((TweakKey) -> TweakValue?)? = nil,
        willChange: (@Sendable (TweakChange) -> Void)? = nil, isGone: (@Sendable () -> Bool)? = nil,
        lastsWithoutHolder: Bool = false, _ didChange: (ObserverReference) -> ObserverList.DidChange?
    ) -> TweakObservation {
        startIfShared()
        let weakState = WeakReference(self.state)
        let (reference, crowd) = withState { state -> (ObserverReference, [ObserverList.Observer]) in
            var first: [TweakChange] = []
            if let unknownValue {
                state.decode()
                let all = state.tweaks.all.filter { $0.declaration.type != .action }.map { $0.key }
                first = (keys ?? all).compactMap { key in
                    let entry = state.tweaks[key]
                    return (entry?.value ?? unknownValue(key)).map { value in
                        TweakChange(
                            key: key, oldValue: value, newValue: value, source: entry?.source ?? .binary)
                    }
                }
            }
            let observer = state.delivery.add(first: first) { id, since in
                ObserverList.Observer(
                    id: id, keys: keys, feature: feature, willChange: willChange,
                    didChange: didChange(ObserverReference(state: weakState, id: id)), since: since,
                    isGone: isGone
                )
            }
            return (ObserverReference(state: weakState, id: observer), state.delivery.observers.crowd)
        }
        // Without the lock: the check may deallocate the owner, whose deinitialiser may call the store.
        let gone = crowd.filter { $0.isGone?() ?? false }.map { $0.id }
        if !crowd.isEmpty { withState { $0.delivery.thinOut(gone) } }
        if unknownValue != nil { deliverChanges() }
        return TweakObservation(lastsWithoutHolder: lastsWithoutHolder) { reference.remove(waits: $0) }
    }
}
