internal import CTweaks
internal import TweakFormats
internal import TweakRecords
internal import TweakSystem

/// Who wants to know of changes, what they have not been told of, and who is telling them. It is part of the state of a store.
struct ChangeDelivery {
    /// Changes that observers are told of together.
    private struct Notice {
        /// Of each tweak at most one.
        let changes: [TweakChange]
        /// What observers of loads are told of, instead of changes.
        var load: TweakLoad?
        let number: UInt64
        let recipients: Recipients
    }

    private enum Recipients {
        /// Who observes the tweaks now, and has been there before the last of the changes.
        case observers
        /// Those that observed the tweaks at the time.
        case these([ObserverList.Observer])
        /// One that hears for the first time.
        case newcomer(ObserverList.Observer)
    }

    /// What is delivered next, and to whom.
    typealias Turn = (changes: [TweakChange], load: TweakLoad?, observers: [ObserverList.Observer])

    private(set) var observers = ObserverList()
    private var removed: [ObserverList.Observer] = []
    /// Told of all changes as they are made, whatever observers do. It is called with the store's lock held.
    var listener: (@Sendable ([TweakChange], Duration) -> Void)?
    /// Calls into the program that have not returned.
    private(set) var runningCalls: [RunningCall] = []
    private var waiting = FIFOQueue<Notice>()
    private(set) var lastNumber: UInt64 = 0
    /// How much may wait before it is merged.
    private var crowd = Self.smallestCrowd
    /// The thread that tells observers, and the last number that it will tell of.
    private var deliverer: (thread: UInt, last: UInt64)?

    private static let smallestCrowd = 256

    // MARK: What there is to tell

    /// Whether somebody wants to know of changes.
    var isHeard: Bool { listener != nil || !observers.isEmpty }

    /// Adds changes that observers of several tweaks are told of once.
    mutating func add(_ changes: [TweakChange]) {
        guard !changes.isEmpty else { return }
        lastNumber += 1
        let observing = observers.observing(changes)
        if !observing.isEmpty {
            waiting.append(Notice(changes: changes, number: lastNumber, recipients: .these(observing)))
            if waiting.count > crowd { mergeWaiting() }
        }
        listener?(changes, .since1970)
    }

    /// Adds a load.
    mutating func add(_ load: TweakLoad) {
        let recipients = observers.observingLoads
        guard !recipients.isEmpty else { return }
        lastNumber += 1
        waiting.append(Notice(changes: [], load: load, number: lastNumber, recipients: .these(recipients)))
        if waiting.count > crowd { mergeWaiting() }
    }

    /// Makes one notice of all that wait for everybody, so that no more waits than there are tweaks: of each the first old
    /// value and the last new one. Of the loads of a provider the last one stays.
    private mutating func mergeWaiting() {
        var all = CoalescedChanges<Void>()
        var rest = FIFOQueue<Notice>()
        var loads: [TweakSource: Notice] = [:]
        while let notice = waiting.popFirst() {
            if case .newcomer = notice.recipients {
                rest.append(notice)
                continue
            }
            if let load = notice.load { loads[load.source] = notice }
            for change in notice.changes { all.add(change, note: ()) }
        }
        let changes = all.drainAll().map(\.change)
        if !changes.isEmpty {
            rest.append(Notice(changes: changes, number: lastNumber, recipients: .observers))
        }
        for notice in loads.values {
            rest.append(
                Notice(
                    changes: [], load: notice.load, number: lastNumber, recipients: notice.recipients))
        }
        waiting = rest
        // Merging takes as long as what waits is.
        crowd = max(Self.smallestCrowd, rest.count + changes.count)
    }

    // MARK: Who tells

    /// Makes this thread the one that tells, of what waits now; or, if it is the one already, has it tell of that too.
    ///
    /// - Returns: What it tells first; `nil` if it has not begun.
    mutating func begin() -> Turn? {
        guard !waiting.isEmpty else { return nil }
        let thread = RunningCall.currentThread
        if let deliverer {
            if deliverer.thread == thread { self.deliverer?.last = lastNumber }
            return nil
        }
        deliverer = (thread, lastNumber)
        return next()
    }

    /// - Returns: `nil` at the end of what the deliverer tells; it is not the deliverer any more then.
    mutating func next() -> Turn? {
        guard let deliverer, let notice = waiting.first, notice.number <= deliverer.last else {
            deliverer = nil
            return nil
        }
        _ = waiting.popFirst()
        if waiting.isEmpty { crowd = Self.smallestCrowd }
        switch notice.recipients {
        case .these(let recipients): return (notice.changes, notice.load, recipients)
        case .newcomer(let recipient): return (notice.changes, nil, [recipient])
        case .observers:
            return (
                notice.changes, nil,
                observers.observing(notice.changes).filter { $0.since < notice.number }
            )
        }
    }

    /// Whether something waits that nobody is telling of.
    var isLeft: Bool { deliverer == nil && !waiting.isEmpty }

    /// Ends what a thread was doing when a call left it in another way than by returning.
    mutating func abandon(on thread: UInt) {
        if let index = runningCalls.lastIndex(where: { $0.thread == thread }) {
            runningCalls.remove(at: index)
        }
        if deliverer?.thread == thread { deliverer = nil }
    }

    /// In a child that was forked there is only the calling thread.
    mutating func forgetOtherThreads(than thread: UInt) {
        runningCalls.removeAll { $0.thread != thread }
        if deliverer?.thread != thread { deliverer = nil }
        listener = nil
    }

    // MARK: Observers

    /// Adds an observer.
    ///
    /// - Parameters:
    ///   - first: The changes that it is told of first.
    ///   - make: Makes it, of its id and the number of the last change before it came.
    /// - Returns: The id.
    mutating func add(
        first: [TweakChange] = [], _ make: (_ id: UInt64, _ since: UInt64) -> ObserverList.Observer
    ) -> UInt64 {
        let observer = make(observers.nextID, lastNumber)
        observers.add(observer)
        if !first.isEmpty {
            waiting.append(Notice(changes: first, number: lastNumber, recipients: .newcomer(observer)))
        }
        return observer.id
    }

    mutating func removeObservers(where isUnwanted: (ObserverList.Observer) -> Bool) {
        removed += observers.remove(where: isUnwanted)
    }

    mutating func removeObserver(_ id: UInt64) {
        if let observer = observers.remove(id) { removed.append(observer) }
    }

    /// Removes those that are gone when their tweak is.
    mutating func removeObservers(endingWith key: TweakKey) {
        for observer in observers.observing(key) where observer.endsWithTweak { removeObserver(observer.id) }
    }

    /// Removes those of a crowd that have no owner.
    mutating func thinOut(_ gone: [UInt64]) { removed += observers.thinOut(gone) }

    var hasRemoved: Bool { !removed.isEmpty }

    /// Takes those out that have been removed. What their closures hold is released after the store's lock.
    mutating func drainRemoved() -> [ObserverList.Observer] {
        guard !removed.isEmpty else { return [] }
        defer { removed = [] }
        return removed
    }

    // MARK: Calls

    /// Begins to call an observer.
    ///
    /// - Returns: `nil` if it has been removed.
    mutating func begin(_ observer: UInt64) -> RunningCall? {
        observers[observer].flatMap { begin($0) }
    }

    mutating func begin(_ observer: ObserverList.Observer) -> RunningCall? {
        if observer.isRemoved { return nil }
        let call = RunningCall(.observer(observer.id), code: observer.code)
        begin(call)
        return call
    }

    mutating func begin(_ call: RunningCall) { runningCalls.append(call) }

    mutating func end(_ call: RunningCall?) {
        if let call, let index = runningCalls.lastIndex(of: call) { runningCalls.remove(at: index) }
    }
}

extension TweakStore {
    /// What tells of changes that came while another thread was telling of its own. It goes a second after the last.
    static let worker = Guarded(SerialQueue(patience: 1))

    /// Tells observers what has changed. One thread at a time does, of what there is when it begins and of what its observers
    /// change; the others leave their changes to it, so that the order is kept and no thread waits for another's observers.
    /// What is left in the end a thread of the library tells, so that nobody who sets one tweak tells of all that others do.
    func deliverChanges() {
        if let turn = state.withLock({ $0.delivery.begin() }) { deliver(turn) }
    }

    /// Tells observers what came of an attempt to load values.
    func deliver(_ load: TweakLoad) {
        state.withLock { $0.delivery.add(load) }
        deliverChanges()
    }

    /// Tells observers, when this thread is the one that does.
    func deliver(_ first: ChangeDelivery.Turn) {
        var turn = first
        while true {
            // A call that has returned is no longer running as soon as there is something else to take the lock for.
            var finished: RunningCall?
            for change in turn.changes {
                for observer in turn.observers {
                    // The observers of one change are those of its tweak.
                    guard case .eachChange(let didChange)? = observer.didChange,
                        turn.changes.count == 1 || observer.observes(change.key)
                    else { continue }
                    finished = call(observer, after: finished) { didChange(change) }
                }
            }
            for observer in turn.observers {
                switch observer.didChange {
                case .together(let didChange):
                    finished = call(observer, after: finished) { [changes = turn.changes] in
                        didChange(changes.filter { observer.observes($0.key) })
                    }
                case .loads(let didLoad):
                    guard let load = turn.load else { continue }
                    finished = call(observer, after: finished) { didLoad(load) }
                case .eachChange, .requests, nil: continue
                }
            }
            let (next, isLeft) = state.withLock { state in
                state.delivery.end(finished)
                let next = state.delivery.next()
                return (next, next == nil && state.delivery.isLeft)
            }
            guard let next else {
                if isLeft { handOn() }
                return
            }
            turn = next
        }
    }

    /// Has a thread of the library tell what is left. If there can be none, the next change does.
    func handOn() { _ = Self.worker.withLock { $0 }.add { self.deliverChanges() } }

    /// Calls an observer, unless it has been removed.
    ///
    /// - Parameter finished: The call before.
    /// - Returns: The call; who gets it owes its end.
    private func call(
        _ observer: ObserverList.Observer, after finished: RunningCall?, _ body: () -> Void
    ) -> RunningCall? {
        let call = state.withLock { state in
            state.delivery.end(finished)
            return state.delivery.begin(observer)
        }
        if call != nil { callProgram(body) }
        return call
    }
}

/// Who wants to know of changes, in the order of their coming.
struct ObserverList {
    /// What is called when values have changed.
    enum DidChange: Sendable {
        /// For each tweak.
        case eachChange(@Sendable (TweakChange) -> Void)
        /// Once for all that changed together.
        case together(@Sendable ([TweakChange]) -> Void)
        /// When a provider's values have been loaded or could not be. It observes no tweaks.
        case loads(@Sendable (TweakLoad) -> Void)
        /// When a person asks for an action, or any for `nil`, instead of running it. It observes no tweaks.
        case requests(of: TweakKey?, @Sendable (TweakKey) -> Void)
    }

    /// `@unchecked Sendable`: all is constant but for ``isRemoved``, which is only reached with the store's lock.
    final class Observer: @unchecked Sendable {
        let id: UInt64
        /// `nil` for all tweaks.
        let keys: [TweakKey]?
        /// The feature whose tweaks it observes too.
        let feature: ByteText?
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
            id: UInt64, keys: [TweakKey]?, feature: String? = nil,
            willChange: (@Sendable (TweakChange) -> Void)?,
            didChange: DidChange?, since: UInt64, code: UInt? = nil, endsWithTweak: Bool = false,
            isGone: (@Sendable () -> Bool)? = nil
        ) {
            self.id = id
            self.keys = keys
            self.feature = feature.map { ByteText($0) }
            self.willChange = willChange
            self.didChange = didChange
            self.since = since
            self.code = code
            self.endsWithTweak = endsWithTweak
            self.isGone = isGone
        }

        func observes(_ key: TweakKey) -> Bool {
            keys?.contains(key) ?? true || feature.map { ObserverList.feature(of: key) == $0 } ?? false
        }
    }

    /// The feature that a tweak is of; `nil` if it is of none.
    fileprivate static func feature(of key: TweakKey) -> ByteText? {
        key.category.hasSameBytes(as: PlacedFeature.category) ? ByteText(key.collection) : nil
    }

    private var observers: [StableNumber: Observer] = [:]
    /// Those of each tweak, in order.
    private var ofTweak: [TweakKey: [Observer]] = [:]
    /// Those of all tweaks of a feature, in order.
    private var ofFeature: [ByteText: [Observer]] = [:]
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
        if let feature = observer.feature { ofFeature[feature, default: []].append(observer) }
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
        if let feature = observer.feature {
            ofFeature[feature]?.removeAll { $0 === observer }
            if ofFeature[feature]?.isEmpty == true { ofFeature[feature] = nil }
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

    /// The observers of loads, in order.
    var observingLoads: [Observer] {
        observers.values.filter { if case .loads = $0.didChange { true } else { false } }
            .sorted { $0.id < $1.id }
    }

    /// What runs an action that a person asks for: what came last, of those for it or else of those for all.
    func runner(of action: TweakKey) -> (@Sendable (TweakKey) -> Void)? {
        let runners = observers.values.sorted { $0.id > $1.id }.compactMap { observer in
            if case .requests(let key, let run) = observer.didChange { (key, run) } else { nil }
        }
        return (runners.first { $0.0 == action } ?? runners.first { $0.0 == nil })?.1
    }

    /// The observers of one tweak, in order.
    func observing(_ key: TweakKey) -> [Observer] {
        let observers = ofTweak[key] ?? []
        if ofAll.isEmpty, ofFeature.isEmpty { return observers }
        return (observers + ofAll + observingFeature(of: key)).sorted { $0.id < $1.id }
    }

    /// Whether there are observers of a name, or of its feature.
    func areThere(for key: TweakKey) -> Bool { ofTweak[key] != nil || !observingFeature(of: key).isEmpty }

    private func observingFeature(of key: TweakKey) -> [Observer] {
        ofFeature.isEmpty ? [] : Self.feature(of: key).flatMap { ofFeature[$0] } ?? []
    }

    /// The observers of what has changed together, in order, each once.
    func observing(_ changes: [TweakChange]) -> [Observer] {
        if changes.count == 1 { return observing(changes[0].key) }
        var seen: Set<UInt64> = []
        let observers = changes.flatMap { (ofTweak[$0.key] ?? []) + observingFeature(of: $0.key) } + ofAll
        return observers.filter { seen.insert($0.id).inserted }.sorted { $0.id < $1.id }
    }
}
