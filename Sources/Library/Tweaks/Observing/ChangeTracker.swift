internal import Observation
internal import TweakRecords

/// Tells the Observation framework of a store's changes, from the first tracked read on.
final class ChangeTracker: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let observation = Guarded<TweakObservation?>(nil)

    /// Stands for the value of a tweak: each has a key path of its own.
    private subscript(key: TweakKey) -> Void { () }

    /// Says that the value of a tweak is about to be read.
    func access(_ key: TweakKey, in store: TweakStore) {
        if observation.withLock({ $0 == nil }) {
            let observation = store.observe(didChange: { [weak self] in self?.changed($0.key) })
            // Another thread may have been faster; one is enough.
            self.observation.withLock { if $0 == nil { $0 = observation } }
        }
        registrar.access(self, keyPath: \.[key])
    }

    /// Called when the value is there: who began to track while it changed is told too.
    private func changed(_ key: TweakKey) { registrar.withMutation(of: self, keyPath: \.[key]) {} }
}

extension Tweak {
    /// The current value, for code that the Observation framework tracks.
    ///
    ///     withObservationTracking {
    ///         draw(width: width.trackedValue)
    ///     } onChange: {
    ///         redraw()
    ///     }
    ///
    /// Reading ``value`` instead is one load, and not tracked. `onChange` is called when the new value is there.
    public var trackedValue: Value {
        get {
            if cell != 0 { store.tracker.access(key, in: store) }
            return value
        }
        nonmutating set { value = newValue }
    }
}
