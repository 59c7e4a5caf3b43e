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
        /// The address of the code, if an image has to stay loaded for it.
        var code: UInt?
        /// Whether the observer is gone when its tweak is.
        var endsWithTweak = false
    }

    private var observers: [Observer] = []
    private var lastID: UInt64 = 0
    /// The id of the observer that is added next.
    var nextID: UInt64 { lastID + 1 }

    mutating func add(
        _ key: TweakKey?, willChange: (@Sendable (TweakChange) -> Void)?,
        didChange: (@Sendable (TweakChange) -> Void)?, code: UInt? = nil, endsWithTweak: Bool = false
    ) -> UInt64 {
        lastID += 1
        observers.append(
            Observer(
                id: lastID, key: key, willChange: willChange, didChange: didChange, code: code,
                endsWithTweak: endsWithTweak))
        return lastID
    }

    /// - Returns: The observers that were removed.
    mutating func remove(where isUnwanted: (Observer) -> Bool) -> [Observer] {
        let removed = observers.filter(isUnwanted)
        if !removed.isEmpty { observers.removeAll(where: isUnwanted) }
        return removed
    }

    /// - Returns: The observer, so that what its closures hold is released after the store's lock.
    mutating func remove(_ id: UInt64) -> Observer? {
        observers.firstIndex { $0.id == id }.map { observers.remove(at: $0) }
    }

    subscript(id: UInt64) -> Observer? { observers.first { $0.id == id } }

    func observing(_ key: TweakKey) -> [Observer] { observers.filter { $0.key == nil || $0.key == key } }
}
