// SPDX-License-Identifier: BSD-3-Clause
import Tweaks

struct Loop {
    let store: String
    let what: String
    let run: (Int) -> Void
}

/// A store with 1,000 tweaks, some of them observed, and loops that use it.
struct Subject {
    private let name: String
    private let store: TweakStore
    private let keys: [TweakKey]
    private let observed: [Observed]

    /// Makes the tweaks.
    init(_ name: String, _ store: TweakStore, observerCounts: [Int]) throws {
        self.name = name
        self.store = store
        keys = (0..<1000).map { number in
            TweakKey("Category \(number / 100)", "Collection \(number / 10 % 10)", "Name of tweak \(number)")
        }
        for key in keys {
            try store.make(key.category, key.collection, key.name, default: 0, in: 0...1_000_000)
        }
        observed = try zip(keys, observerCounts).map { try Observed($0, in: store, observers: $1) }
    }

    /// Changes a tweak, or finds another one, in each iteration.
    var loops: [Loop] {
        observed.flatMap { observed in
            [
                loop("store.set, observers: \(observed.observers.count)") { _ in
                    observed.value += 1
                    _ = try store.set(.integer(Int128(observed.value % 1_000_000)), for: observed.key)
                },
                loop("tweak.set, observers: \(observed.observers.count)") { _ in
                    observed.value += 1
                    try observed.tweak.set(observed.value % 1_000_000)
                },
            ]
        } + [
            loop("store.tweak(…)") { turn in
                // Literals, as in a program.
                switch turn % 4 {
                case 0: _ = try store.tweak("Category 0", "Collection 1", "Name of tweak 12", as: Int.self)
                case 1: _ = try store.tweak("Category 2", "Collection 0", "Name of tweak 203", as: Int.self)
                case 2: _ = try store.tweak("Category 5", "Collection 2", "Name of tweak 529", as: Int.self)
                default: _ = try store.tweak("Category 9", "Collection 9", "Name of tweak 998", as: Int.self)
                }
            },
            loop("store.value(of:)") { _ = try store.value(of: keys[$0 % keys.count]) },
            loop("store.status(of:)") { _ = try store.status(of: keys[$0 % keys.count]) },
        ]
    }

    private func loop(_ what: String, _ body: @escaping (Int) throws -> Void) -> Loop {
        Loop(store: name, what: what) { turns in
            do {
                for turn in 0..<turns { try body(turn) }
            } catch {
                // The measurement would be meaningless. The process is the benchmark's own.
                fatalError("\(error)")
            }
        }
    }

    /// Every observer must have received every change.
    func checkObservers() {
        for observed in observed where observed.calls.count != observed.value * observed.observers.count {
            // As above: without its observers a set is cheaper.
            fatalError("\(observed.key): \(observed.calls.count) calls after \(observed.value) changes")
        }
    }
}

/// A tweak with observers.
private final class Observed {
    /// The number of calls of the observers.
    final class Calls: @unchecked Sendable {
        // Only the thread that changes the tweak calls its observers.
        var count = 0
    }

    let key: TweakKey
    let tweak: Tweak<Int>
    let calls = Calls()
    var observers: [TweakObservation] = []
    /// The number of sets, each to another value.
    var value = 0

    init(_ key: TweakKey, in store: TweakStore, observers count: Int) throws {
        self.key = key
        tweak = try store.tweak(key.category, key.collection, key.name)
        let calls = calls
        observers = (0..<count).map { _ in store.observe(key, didChange: { _ in calls.count += 1 }) }
    }
}
