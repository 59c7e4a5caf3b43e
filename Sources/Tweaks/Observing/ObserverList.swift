internal import TweakRecords

/// Who wants to know of changes, in the order of their coming.
struct ObserverList {
    /// What is called when values have changed.
    enum DidChange: Sendable {
        /// For each tweak.
        case eachChange(@Sendable (TweakChange) -> Void)
        /// Once for all that changed together.
        case together(@Sendable ([TweakChange]) -> Void)
    }

    /// `@unchecked Sendable`: all is constant but for ``isRemoved``, which is only reached with the store's lock.
    final class Observer: @unchecked Sendable {
        let id: UInt64
        /// `nil` for all tweaks.
        let keys: [TweakKey]?
        let willChange: (@Sendable (TweakChange) -> Void)?
        let didChange: DidChange?
        /// The number of the last change before the observer came.
        let since: UInt64
        /// The address of the code, if an image has to stay loaded for it.
        let code: UInt?
        /// Whether the observer is gone when its tweak is.
        let endsWithTweak: Bool
        /// Whether the observer's owner does not exist any more.
        let isGone: (@Sendable () -> Bool)?
        fileprivate(set) var isRemoved = false

        /// Makes an observer with the ``ObserverList/nextID``.
        init(
            id: UInt64, keys: [TweakKey]?, willChange: (@Sendable (TweakChange) -> Void)?,
            didChange: DidChange?, since: UInt64, code: UInt? = nil, endsWithTweak: Bool = false,
            isGone: (@Sendable () -> Bool)? = nil
        ) {
            self.id = id
            self.keys = keys
            self.willChange = willChange
            self.didChange = didChange
            self.since = since
            self.code = code
            self.endsWithTweak = endsWithTweak
            self.isGone = isGone
        }

        func observes(_ key: TweakKey) -> Bool { keys?.contains(key) ?? true }
    }

    private var observers: [StableNumber: Observer] = [:]
    /// Those of each tweak, in order.
    private var ofTweak: [TweakKey: [Observer]] = [:]
    /// Those of all tweaks, in order.
    private var ofAll: [Observer] = []
    private var lastID: UInt64 = 0
    /// How many observers there may be before somebody looks which have no owner any more.
    private var crowdSize = 32
    private var tellingBefore = 0

    /// The id of the observer that is added next.
    var nextID: UInt64 { lastID + 1 }
    /// Whether an observer is called before a change.
    var areToldBefore: Bool { tellingBefore > 0 }
    var isEmpty: Bool { observers.isEmpty }

    mutating func add(_ observer: Observer) {
        lastID = observer.id
        observers[StableNumber(lastID)] = observer
        if let keys = observer.keys {
            for key in keys { ofTweak[key, default: []].append(observer) }
        } else {
            ofAll.append(observer)
        }
        if observer.willChange != nil { tellingBefore += 1 }
    }

    /// - Returns: The observer, so that what its closures hold is released after the store's lock.
    mutating func remove(_ id: UInt64) -> Observer? {
        guard let observer = observers.removeValue(forKey: StableNumber(id)) else { return nil }
        observer.isRemoved = true
        if observer.keys == nil { ofAll.removeAll { $0 === observer } }
        for key in observer.keys ?? [] {
            ofTweak[key]?.removeAll { $0 === observer }
            if ofTweak[key]?.isEmpty == true { ofTweak[key] = nil }
        }
        if observer.willChange != nil { tellingBefore -= 1 }
        return observer
    }

    /// - Returns: The observers that were removed.
    mutating func remove(where isUnwanted: (Observer) -> Bool) -> [Observer] {
        observers.values.filter(isUnwanted).compactMap { remove($0.id) }
    }

    /// All observers whenever they have doubled, so that those without an owner do not pile up; otherwise none.
    var crowd: [Observer] { observers.count > crowdSize ? Array(observers.values) : [] }

    /// - Returns: The observers of a ``crowd`` that have no owner.
    mutating func thinOut(_ gone: [UInt64]) -> [Observer] {
        let removed = gone.compactMap { remove($0) }
        crowdSize = max(32, observers.count * 2)
        return removed
    }

    subscript(id: UInt64) -> Observer? { observers[StableNumber(id)] }

    /// The observers of one tweak, in order.
    func observing(_ key: TweakKey) -> [Observer] {
        let observers = ofTweak[key] ?? []
        return ofAll.isEmpty ? observers : (observers + ofAll).sorted { $0.id < $1.id }
    }

    /// The observers of what has changed together, in order, each once.
    func observing(_ changes: [TweakChange]) -> [Observer] {
        if changes.count == 1 { return observing(changes[0].key) }
        var seen: Set<UInt64> = []
        let observers = changes.flatMap { ofTweak[$0.key] ?? [] } + ofAll
        return observers.filter { seen.insert($0.id).inserted }.sorted { $0.id < $1.id }
    }
}
