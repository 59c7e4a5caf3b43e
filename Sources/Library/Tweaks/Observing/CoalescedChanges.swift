// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Changes that wait to be delivered.
///
/// Several changes of a tweak become one, from the first old value to the last new one, so their number is bounded by
/// that of the tweaks. A value that is back where it was has not changed.
struct CoalescedChanges<Note: Sendable>: Sendable {
    private struct Address: StableHashable {
        let recipient: UInt64
        let key: TweakKey

        func combine(into hasher: inout StableHasher) {
            hasher.combine(recipient)
            key.combine(into: &hasher)
        }
    }

    private struct Waiting {
        var change: TweakChange
        /// Whether the first change has the same value twice, as in an observer's first call.
        let isFirstCall: Bool
        var note: Note
    }

    private var waiting: [Address: Waiting] = [:]
    private var order = FIFOQueue<Address>()

    var isEmpty: Bool { order.isEmpty }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - recipient: The change's recipient. Changes of different recipients are not merged.
    ///   - note: A note to the change; the last one is kept.
    mutating func add(_ change: TweakChange, for recipient: UInt64 = 0, note: Note) {
        let address = Address(recipient: recipient, key: change.key)
        guard let earlier = waiting[address] else {
            order.append(address)
            waiting[address] = Waiting(
                change: change, isFirstCall: change.oldValue == change.newValue, note: note)
            return
        }
        waiting[address]?.note = note
        waiting[address]?.change = TweakChange(
            key: change.key, oldValue: earlier.change.oldValue, newValue: change.newValue,
            source: change.source)
    }

    /// Drops the changes of a recipient.
    mutating func removeAll(for recipient: UInt64) {
        order.removeAll { $0.recipient == recipient }
        waiting = waiting.filter { $0.key.recipient != recipient }
    }

    /// Removes and returns the oldest change.
    mutating func popFirst() -> (change: TweakChange, recipient: UInt64, note: Note)? {
        while let address = order.popFirst() {
            if let first = waiting.removeValue(forKey: address),
                first.isFirstCall || first.change.oldValue != first.change.newValue
            {
                return (first.change, address.recipient, first.note)
            }
        }
        return nil
    }

    /// Removes and returns all changes, in the order in which their tweaks first changed.
    mutating func drainAll() -> [(change: TweakChange, recipient: UInt64, note: Note)] {
        var all: [(change: TweakChange, recipient: UInt64, note: Note)] = []
        while let next = popFirst() { all.append(next) }
        return all
    }
}

/// A first-in, first-out queue.
struct FIFOQueue<Element> {
    private var elements: [Element] = []
    /// The number of elements already removed. They are erased together, because erasing the first one moves all
    /// others.
    private var taken = 0

    var isEmpty: Bool { taken == elements.count }
    var count: Int { elements.count - taken }
    // `taken` never exceeds the number of elements.
    var first: Element? { isEmpty ? nil : elements[taken] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        taken += 1
        if taken == elements.count || taken == 1000 {
            elements.removeFirst(taken)
            taken = 0
        }
        return first
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        elements = elements[taken...].filter { !isUnwanted($0) }
        taken = 0
    }
}

extension FIFOQueue: Sendable where Element: Sendable {}
