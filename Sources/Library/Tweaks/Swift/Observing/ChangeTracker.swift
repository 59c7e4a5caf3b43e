// SPDX-License-Identifier: BSD-3-Clause
internal import Observation
internal import TweakRecords

/// Forwards a store's changes to the Observation framework, from the first tracked read on.
final class ChangeTracker: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let observation = Guarded<TweakObservation?>(nil)

    /// Gives each tweak a key path of its own.
    private subscript(key: TweakKey) -> Void { () }

    /// Registers an access to the value of a tweak.
    func access(_ key: TweakKey, in store: TweakStore) {
        if observation.withLock({ $0 == nil }) {
            let observation = store.observe(didChange: { [weak self] in self?.changed($0.key) })
            // Another thread may have been faster; one observation suffices.
            self.observation.withLock { if $0 == nil { $0 = observation } }
        }
        registrar.access(self, keyPath: \.[key])
    }

    /// Called after the change, so that code that began tracking meanwhile is notified too.
    private func changed(_ key: TweakKey) { registrar.withMutation(of: self, keyPath: \.[key]) {} }
}

extension Tweak {
    /// The current value, with the access tracked by the Observation framework.
    ///
    ///     withObservationTracking {
    ///         draw(width: width.trackedValue)
    ///     } onChange: {
    ///         redraw()
    ///     }
    ///
    /// Reading ``value`` instead is one load and is not tracked. `onChange` is called after the change.
    public var trackedValue: Value {
        get {
            if cell != 0 { store.tracker.access(key, in: store) }
            return value
        }
        nonmutating set { value = newValue }
    }
}
