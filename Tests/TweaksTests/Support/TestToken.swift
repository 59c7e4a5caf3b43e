// SPDX-License-Identifier: BSD-3-Clause
import TestSupport

@testable import Tweaks

/// An observation that the observer itself can end.
final class TestToken: Sendable {
    private let observation = Locked<TweakObservation?>(nil)

    func hold(_ observation: TweakObservation) { self.observation.withLock { $0 = observation } }
    func cancel() { observation.withLock { $0 }?.cancel() }
    func release() {
        var last: TweakObservation?
        observation.withLock { observation in
            last = observation
            observation = nil
        }
        withExtendedLifetime(last) {}
    }
}

extension Tweak {
    /// How many observers the tweak has.
    var observerCount: Int {
        let key = key
        return store.state.withLock { $0.delivery.observers.observing(key).count }
    }
}
