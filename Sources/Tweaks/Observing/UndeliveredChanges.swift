internal import FoundationEssentials
internal import TweakRecords

/// Changes that observers have not been told of, in order.
struct UndeliveredChanges {
    struct Delivery {
        /// What changed together; of each tweak at most one change.
        let changes: [TweakChange]
        let number: UInt64
        /// The only observer that is told; `nil` for all.
        let observer: UInt64?
    }

    private var deliveries: [Delivery] = []
    /// How many of the deliveries are done with. They are removed together, since removing the first one moves all.
    private var done = 0
    private(set) var lastNumber: UInt64 = 0
    /// Told of all changes as they are made, whatever observers do. It is called with the store's lock held.
    var listener: (@Sendable ([TweakChange], Date) -> Void)?

    mutating func append(_ change: TweakChange) { append(contentsOf: [change]) }

    /// Adds changes that observers of several tweaks are told of once.
    mutating func append(contentsOf changes: [TweakChange]) {
        guard !changes.isEmpty else { return }
        lastNumber += 1
        deliveries.append(Delivery(changes: changes, number: lastNumber, observer: nil))
        listener?(changes, Date())
    }

    /// Adds the first call of an observer.
    mutating func append(_ changes: [TweakChange], for observer: UInt64) {
        deliveries.append(Delivery(changes: changes, number: lastNumber, observer: observer))
    }

    mutating func popFirst() -> Delivery? {
        guard done < deliveries.count else { return nil }
        defer {
            done += 1
            if done == deliveries.count || done == 1000 {
                deliveries.removeFirst(done)
                done = 0
            }
        }
        return deliveries[done]
    }
}
