// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakFormats
internal import TweakRecords
internal import TweakSystem

/// A store's observers, the changes that they have not been notified of, and the thread that notifies them. Part of the
/// store's state.
struct ChangeDelivery {
    /// Changes that observers are notified of together.
    private struct Notice {
        /// At most one for each tweak.
        let changes: [TweakChange]
        /// Set for observers of loads; there are no changes then.
        var load: TweakLoad?
        let number: UInt64
        let recipients: Recipients
    }

    private enum Recipients {
        /// The current observers of the tweaks that registered before the last of the changes.
        case observers
        /// The observers of the tweaks at the time of the changes.
        case these([ObserverList.Observer])
        /// A new observer's first call.
        case newcomer(ObserverList.Observer)
    }

    /// The next notice and its observers.
    typealias Turn = (changes: [TweakChange], load: TweakLoad?, observers: [ObserverList.Observer])

    private(set) var observers = ObserverList()
    private var removed: [ObserverList.Observer] = []
    /// Called with all changes as they are made, with the store's lock held.
    var listener: (@Sendable ([TweakChange], ChangeNote) -> Void)?
    /// Calls into the program that have not returned.
    private(set) var runningCalls: [RunningCall] = []
    private var waiting = FIFOQueue<Notice>()
    private(set) var lastNumber: UInt64 = 0
    /// The number of waiting notices at which they are merged.
    private var crowd = Self.smallestCrowd
    /// The thread that notifies observers, and the number of its last notice.
    private var deliverer: (thread: UInt, last: UInt64)?

    private static let smallestCrowd = 256

    // MARK: Notices

    /// Whether there are observers.
    var isHeard: Bool { listener != nil || !observers.isEmpty }

    /// Adds changes that observers of several tweaks are notified of once.
    mutating func add(_ changes: [TweakChange], of update: ValueUpdate) {
        guard !changes.isEmpty else { return }
        lastNumber += 1
        let observing = observers.observing(changes)
        if !observing.isEmpty {
            waiting.append(Notice(changes: changes, number: lastNumber, recipients: .these(observing)))
            if waiting.count > crowd { mergeWaiting() }
        }
        listener?(changes, ChangeNote(of: update))
    }

    /// Adds a load.
    mutating func add(_ load: TweakLoad) {
        let recipients = observers.observingLoads
        guard !recipients.isEmpty else { return }
        lastNumber += 1
        waiting.append(Notice(changes: [], load: load, number: lastNumber, recipients: .these(recipients)))
        if waiting.count > crowd { mergeWaiting() }
    }

    /// Merges the waiting notices for all observers into one, so that no more waits than there are tweaks: for each
    /// tweak the first old value and the last new one, for each provider the last load.
    private mutating func mergeWaiting() {
        var all = CoalescedChanges<Void>()
        var rest = FIFOQueue<Notice>()
        var loads: [Notice] = []
        while let notice = waiting.popFirst() {
            if case .newcomer = notice.recipients {
                rest.append(notice)
                continue
            }
            if let load = notice.load {
                loads.removeAll { $0.load?.source == load.source }
                loads.append(notice)
            }
            for change in notice.changes { all.add(change, note: ()) }
        }
        let changes = all.drainAll().map { $0.change }
        if !changes.isEmpty {
            rest.append(Notice(changes: changes, number: lastNumber, recipients: .observers))
        }
        for notice in loads {
            rest.append(
                Notice(
                    changes: [], load: notice.load, number: lastNumber, recipients: notice.recipients))
        }
        waiting = rest
        // Merging takes time proportional to what waits.
        crowd = max(Self.smallestCrowd, rest.count + changes.count)
    }

    // MARK: The notifying thread

    /// Makes this thread the deliverer of everything that waits now; if it is the deliverer already, extends its work.
    ///
    /// - Returns: The first notice; `nil` if this thread does not start delivering.
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

    /// - Returns: `nil` at the end of the deliverer's work; it is not the deliverer any more then.
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

    /// Whether something waits and no thread delivers it.
    var isLeft: Bool { deliverer == nil && !waiting.isEmpty }

    /// Ends what a thread was doing when a call did not return normally.
    mutating func abandon(on thread: UInt) {
        if let index = runningCalls.lastIndex(where: { $0.thread == thread }) {
            runningCalls.remove(at: index)
        }
        if deliverer?.thread == thread { deliverer = nil }
    }

    /// Drops the threads that a forked child does not have.
    mutating func forgetOtherThreads(than thread: UInt) {
        runningCalls.removeAll { $0.thread != thread }
        if deliverer?.thread != thread { deliverer = nil }
        listener = nil
    }

    // MARK: Observers

    /// Adds an observer.
    ///
    /// - Parameters:
    ///   - first: The changes of its first call.
    ///   - make: Makes it from its id and the number of the last change before it.
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

    /// Removes the observers that end with this tweak.
    mutating func removeObservers(endingWith key: TweakKey) {
        for observer in observers.observing(key) where observer.endsWithTweak { removeObserver(observer.id) }
    }

    /// Removes the observers in a crowd whose owners are gone.
    mutating func thinOut(_ gone: [UInt64]) { removed += observers.thinOut(gone) }

    var hasRemoved: Bool { !removed.isEmpty }

    /// Returns the removed observers, so that their closures are released without the store's lock.
    mutating func drainRemoved() -> [ObserverList.Observer] {
        guard !removed.isEmpty else { return [] }
        defer { removed = [] }
        return removed
    }

    // MARK: Calls

    /// Starts a call of an observer.
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

    /// Whether the function of a type record is running on another thread.
    @inline(never) var isDescribing: Bool {
        for call in runningCalls where call.target == .type {
            if call.thread != RunningCall.currentThread { return true }
        }
        return false
    }

    mutating func begin(_ call: RunningCall) { runningCalls.append(call) }

    mutating func end(_ call: RunningCall?) {
        if let call, let index = runningCalls.lastIndex(of: call) { runningCalls.remove(at: index) }
    }
}

extension TweakStore {
    /// Notifies of changes that came while another thread was notifying of its own. It ends a second after the last.
    static let worker = Guarded(SerialQueue(patience: 1))

    /// Notifies observers of changes. One thread at a time does so, for what waits when it starts and what its
    /// observers change; other threads leave their changes to it, so the order is kept and no thread waits for
    /// another's observers. A library thread delivers the rest, so that a thread that sets one tweak does not deliver
    /// everyone's changes.
    func deliverChanges() {
        if let turn = state.withLock({ $0.delivery.begin() }) { deliver(turn) }
    }

    /// Notifies observers of an attempt to load values.
    func deliver(_ load: TweakLoad) {
        state.withLock { $0.delivery.add(load) }
        deliverChanges()
    }

    /// Notifies observers, on the deliverer's thread.
    func deliver(_ first: ChangeDelivery.Turn) {
        var turn = first
        while true {
            // A finished call ends the next time the lock is taken.
            var finished: RunningCall?
            for change in turn.changes {
                for observer in turn.observers {
                    // All observers of a single change are those of its tweak.
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

    /// Leaves the rest to a library thread. If none can be started, the next change delivers it.
    func handOn() { _ = Self.worker.withLock { $0 }.add { self.deliverChanges() } }

    /// Calls an observer, unless it has been removed.
    ///
    /// - Parameter finished: The call before.
    /// - Returns: The call, which the caller must end.
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

/// The observers of changes, in registration order.
struct ObserverList {
    /// The callback after a change.
    enum DidChange: Sendable {
        /// Called for each tweak.
        case eachChange(@Sendable (TweakChange) -> Void)
        /// Called once for all changes that were made together.
        case together(@Sendable ([TweakChange]) -> Void)
        /// Called when a provider's values were loaded, or loading failed. Such an observer observes no tweaks.
        case loads(@Sendable (TweakLoad) -> Void)
        /// Called instead of running an action, or any action for `nil`, when a person requests it. Such an observer
        /// observes no tweaks.
        case requests(of: TweakKey?, @Sendable (TweakKey, ActionRun) -> Void)
    }

    /// `@unchecked Sendable`: everything is constant except ``isRemoved``, which is accessed only with the store's
    /// lock.
    final class Observer: @unchecked Sendable {
        let id: UInt64
        /// `nil` for all tweaks.
        let keys: [TweakKey]?
        /// The feature whose tweaks it observes too.
        let feature: ByteText?
        let willChange: (@Sendable (TweakChange) -> Void)?
        let didChange: DidChange?
        /// The number of the last change before the registration.
        let since: UInt64
        /// The address of the callback's code, if its image has to stay loaded.
        let code: UInt?
        /// Whether the observer is removed with its tweak.
        let endsWithTweak: Bool
        /// Returns whether the observer's owner no longer exists.
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

    /// The feature that a tweak belongs to, or `nil`.
    fileprivate static func feature(of key: TweakKey) -> ByteText? {
        key.category.hasSameBytes(as: PlacedFeature.category) ? ByteText(key.collection) : nil
    }

    private var observers: [StableNumber: Observer] = [:]
    /// The observers of single tweaks, in order.
    private var ofTweak: [TweakKey: [Observer]] = [:]
    /// The observers of all tweaks of a feature, in order.
    private var ofFeature: [ByteText: [Observer]] = [:]
    /// The observers of all tweaks, in order.
    private var ofAll: [Observer] = []
    private var lastID: UInt64 = 0
    /// The number of observers at which those without an owner are looked for.
    private var crowdSize = 32
    private var tellingBefore = 0

    /// The id of the observer that is added next.
    var nextID: UInt64 { lastID + 1 }
    /// Whether any observer is called before changes.
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

    /// All observers each time their number has doubled, so that those without an owner do not pile up; otherwise none.
    var crowd: [Observer] { observers.count > crowdSize ? Array(observers.values) : [] }

    /// - Returns: The observers in a ``crowd`` whose owners are gone.
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

    /// The handler of an action that a person requests: the newest for this action, or else the newest for all.
    func runner(of action: TweakKey) -> (@Sendable (TweakKey, ActionRun) -> Void)? {
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

    /// Whether a name, or its feature, has observers.
    func areThere(for key: TweakKey) -> Bool { ofTweak[key] != nil || !observingFeature(of: key).isEmpty }

    private func observingFeature(of key: TweakKey) -> [Observer] {
        ofFeature.isEmpty ? [] : Self.feature(of: key).flatMap { ofFeature[$0] } ?? []
    }

    /// The observers of a set of changes, in order, each once.
    func observing(_ changes: [TweakChange]) -> [Observer] {
        if changes.count == 1 { return observing(changes[0].key) }
        var seen: Set<UInt64> = []
        let observers = changes.flatMap { (ofTweak[$0.key] ?? []) + observingFeature(of: $0.key) } + ofAll
        return observers.filter { seen.insert($0.id).inserted }.sorted { $0.id < $1.id }
    }
}
