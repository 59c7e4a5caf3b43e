internal import TweakRecords

/// Keeps an observer in place. The observer is gone when this is cancelled or nobody holds it any more.
public final class TweakObservation: Sendable {
    private let remove: @Sendable () -> Void

    init(remove: @escaping @Sendable () -> Void) { self.remove = remove }

    deinit { remove() }

    /// Ends the observation. No call begins after this; one that runs on another thread may still be running.
    public func cancel() { remove() }
}

/// Who wants to know of changes, in the order of their coming.
struct ObserverList {
    struct Observer: Sendable {
        let id: UInt64
        /// `nil` for all tweaks.
        let key: TweakKey?
        let willChange: (@Sendable (TweakChange) -> Void)?
        let didChange: (@Sendable (TweakChange) -> Void)?
    }

    private var observers: [Observer] = []
    private var nextID: UInt64 = 0

    mutating func add(
        _ key: TweakKey?, willChange: (@Sendable (TweakChange) -> Void)?,
        didChange: (@Sendable (TweakChange) -> Void)?
    ) -> UInt64 {
        nextID += 1
        observers.append(Observer(id: nextID, key: key, willChange: willChange, didChange: didChange))
        return nextID
    }

    /// - Returns: The observer, so that what its closures hold is released after the store's lock.
    mutating func remove(_ id: UInt64) -> Observer? {
        observers.firstIndex { $0.id == id }.map { observers.remove(at: $0) }
    }

    func contains(_ id: UInt64) -> Bool { observers.contains { $0.id == id } }

    func observing(_ key: TweakKey) -> [Observer] { observers.filter { $0.key == nil || $0.key == key } }
}
