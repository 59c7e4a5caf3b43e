// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakRecords

/// A value that stands above the overrides until a time, or until a client's connection is closed.
struct Lease {
    /// The end of a lease: the first of these.
    struct Terms {
        /// The end, on a clock that nobody sets; `nil` if only the connection ends the lease.
        var end: ContinuousClock.Instant?
        /// The client whose connection ends the lease; `nil` if only the time does.
        var connection: ClientIdentity?

        /// Whether a lease with these terms certainly ends no later than one with the others.
        fileprivate func areCovered(by others: Terms) -> Bool {
            (others.connection == nil || others.connection === connection)
                && (others.end.map { other in end.map { $0 <= other } ?? false } ?? true)
        }
    }

    let value: TweakValue
    let terms: Terms
    let author: ChangeAuthor
    /// Tells the leases of a tweak apart.
    let number: UInt64
}

/// The leases of a store. The newest lease of a tweak counts; when it ends, the one before it counts again.
///
/// Part of ``ProviderLayers``, which has the values that count.
struct Leases {
    /// The leases of each tweak, oldest first, at least one.
    private(set) var byTweak: [TweakKey: [Lease]] = [:]
    private(set) var count = 0
    /// The time when the next lease ends; `nil` if only connections end leases.
    private(set) var nextEnd: ContinuousClock.Instant?
    /// The open connections of clients that have asked for leases.
    private var connections: [ClientIdentity] = []
    /// The number of leases that end with each connection, if there are any.
    private var counts: [ObjectIdentifier: Int] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { count == 0 }

    subscript(key: TweakKey) -> [Lease] { isEmpty ? [] : byTweak[key] ?? [] }

    // MARK: Connections

    mutating func open(_ connection: ClientIdentity) {
        if !isOpen(connection) { connections.append(connection) }
    }

    mutating func close(_ connection: ClientIdentity) { connections.removeAll { $0 === connection } }

    /// Whether leases of a connection may begin: the worker executes requests of clients that have gone.
    func isOpen(_ connection: ClientIdentity) -> Bool { connections.contains { $0 === connection } }

    /// The number of leases that end with a connection.
    func count(of connection: ClientIdentity) -> Int { counts[ObjectIdentifier(connection)] ?? 0 }

    // MARK: Changes

    /// Leases that begin or end together.
    struct Change {
        /// The leases of the affected tweaks afterwards, oldest first.
        fileprivate(set) var byTweak: [TweakKey: [Lease]] = [:]

        var isEmpty: Bool { byTweak.isEmpty }

        /// The value that counts afterwards; `nil` if the tweak's leases stay the same, `.some(nil)` if none is left.
        func value(of key: TweakKey) -> TweakValue?? {
            byTweak.isEmpty ? nil : byTweak[key].map { $0.last?.value }
        }

        /// The values that count afterwards.
        var values: [(key: TweakKey, value: TweakValue?)] { byTweak.map { ($0, $1.last?.value) } }
    }

    /// The change that begins leases. Older leases that would never count again end.
    mutating func beginning(
        _ values: [(key: TweakKey, value: TweakValue)], _ terms: Lease.Terms, by author: ChangeAuthor
    ) -> Change {
        var change = Change()
        for (key, value) in values {
            lastNumber += 1
            let lease = Lease(value: value, terms: terms, author: author, number: lastNumber)
            change.byTweak[key] = self[key].filter { !$0.terms.areCovered(by: terms) } + [lease]
        }
        return change
    }

    /// The change that ends some leases of some tweaks.
    func ending(of keys: some Sequence<TweakKey>, where ends: (Lease) -> Bool) -> Change {
        var change = Change()
        if isEmpty { return change }
        for key in keys {
            guard let leases = byTweak[key], leases.contains(where: ends) else { continue }
            change.byTweak[key] = leases.filter { !ends($0) }
        }
        return change
    }

    /// The change that ends some leases.
    func ending(where ends: (Lease) -> Bool) -> Change { ending(of: byTweak.keys, where: ends) }

    /// A lease whose time is over.
    func due(at now: ContinuousClock.Instant) -> Lease? {
        guard let nextEnd, nextEnd <= now else { return nil }
        return byTweak.values.lazy.flatMap { $0 }.first { $0.isOver(at: now) }
    }

    /// The tweaks for which another lease counts after a change, or none.
    func affected(by change: Change) -> [TweakKey] {
        change.byTweak.filter { key, leases in self[key].last?.number != leases.last?.number }.map { $0.key }
            .sorted()
    }

    /// Leases are only searched if some go, so that beginning many takes no longer for each.
    mutating func apply(_ change: Change) {
        var isEndOpen = false
        for (key, leases) in change.byTweak {
            let before = self[key]
            byTweak[key] = leases.isEmpty ? nil : leases
            count += leases.count - before.count
            // They are sorted by number, and at most the last one is new.
            let new = leases.last.flatMap { $0.number > before.last?.number ?? 0 ? $0 : nil }
            if let new {
                noteConnection(of: new, 1)
                if let end = new.terms.end { nextEnd = min(nextEnd ?? end, end) }
            }
            guard leases.count - (new == nil ? 0 : 1) < before.count else { continue }
            let kept = Set(leases.map { $0.number })
            for lease in before where !kept.contains(lease.number) {
                noteConnection(of: lease, -1)
                if let nextEnd, lease.terms.end == nextEnd { isEndOpen = true }
            }
        }
        if isEndOpen { nextEnd = byTweak.values.lazy.flatMap { $0 }.compactMap { $0.terms.end }.min() }
    }

    private mutating func noteConnection(of lease: Lease, _ difference: Int) {
        guard let connection = lease.terms.connection else { return }
        let count = counts[ObjectIdentifier(connection), default: 0] + difference
        counts[ObjectIdentifier(connection)] = count == 0 ? nil : count
    }
}

extension Lease {
    func isOver(at now: ContinuousClock.Instant) -> Bool { terms.end.map { $0 <= now } ?? false }
}
