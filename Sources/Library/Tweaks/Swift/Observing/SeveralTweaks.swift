// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

extension TweakStore {
    /// Calls a closure with the values of several tweaks when any of them changes, on the thread that changes
    /// it.
    ///
    ///     observation = TweakStore.observe(width, height) { width, height in layout(width, height) }
    ///
    /// A batch is one call. The values are those at the time of the call, so the last call always has the
    /// last values.
    ///
    /// - Parameters:
    ///   - tweaks: The tweaks, which may belong to different stores.
    ///   - initially: Whether to call first with the current values.
    ///   - body: Called with the values, in the order of the tweaks.
    /// - Returns: The observation, which ends when it is released.
    public static func observe<each Value: TweakableValue>(
        _ tweaks: repeat Tweak<each Value>, initially: Bool = false,
        onChange body: @escaping @Sendable (repeat each Value) -> Void
    ) -> TweakObservation {
        let several = SeveralTweaks(tweaks: (repeat each tweaks))
        return observe(several.members, initially: initially) { _ in { several.withValues(body) } }
    }

    /// Calls a closure on the main actor with the values of several tweaks after any of them has changed.
    ///
    /// Changes that wait for the actor are merged.
    ///
    /// - Parameters:
    ///   - tweaks: The tweaks, which may belong to different stores.
    ///   - actor: `MainActor.self`.
    ///   - initially: Whether to call first with the current values.
    ///   - body: Called with the values, in the order of the tweaks.
    /// - Returns: The observation, which ends when it is released.
    public static func observe<each Value: TweakableValue>(
        _ tweaks: repeat Tweak<each Value>, on actor: MainActor.Type, initially: Bool = false,
        onChange body: @escaping @MainActor @Sendable (repeat each Value) -> Void
    ) -> TweakObservation {
        let several = SeveralTweaks(tweaks: (repeat each tweaks))
        return observe(several.members, initially: initially) { call in
            let relay = ActorRelay { _ in
                await MainActor.run { call { several.withValues(body) } }
            }
            return { relay.post([.something]) }
        }
    }

    /// Adds one observer to each of the stores.
    ///
    /// - Parameter makeBody: Makes the callback from a function that makes a call unless the observation has
    ///   ended.
    private static func observe(
        _ members: [(store: TweakStore, key: TweakKey)], initially: Bool,
        _ makeBody: (_ call: @escaping @Sendable (() -> Void) -> Void) -> @Sendable () -> Void
    ) -> TweakObservation {
        guard let first = members.first else {
            if initially { makeBody { $0() }() }
            return TweakObservation { _ in }
        }
        let observations = Dictionary(grouping: members) { ObjectIdentifier($0.store) }.values.compactMap {
            members -> TweakObservation? in
            guard let store = members.first?.store else { return nil }
            // There is one first call, however many stores there are.
            let isFirst = initially && store === first.store
            return store.addObserver(
                of: members.map(\.key), startingWith: isFirst ? { _ in .nothing } : nil
            ) { observer in
                let body = makeBody(observer.call)
                return .together { _ in body() }
            }
        }
        return TweakObservation { waits in
            for observation in observations { waits ? observation.cancel() : observation.end() }
        }
    }
}

/// Tweaks in one value, because capturing a pack in a closure crashes the compiler.
private struct SeveralTweaks<each Value: TweakableValue>: Sendable {
    let tweaks: (repeat Tweak<each Value>)

    /// The stores and names of the tweaks, without constants.
    var members: [(store: TweakStore, key: TweakKey)] {
        var members: [(TweakStore, TweakKey)] = []
        for tweak in repeat each tweaks {
            if tweak.cell != 0 { members.append((tweak.store, tweak.key)) }
        }
        return members
    }

    func withValues(_ body: (repeat each Value) -> Void) {
        body(repeat Self.value(of: each tweaks))
    }

    private static func value<Member>(of tweak: Tweak<Member>) -> Member { tweak.value }
}

extension TweakChange {
    /// A stand-in for a change, for observers that read the values themselves.
    fileprivate static let something = TweakChange(
        key: TweakKey("", "", ""), oldValue: .nothing, newValue: .nothing, source: .binary)
}
