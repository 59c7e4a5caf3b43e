internal import CTweaks
internal import TweakRecords

/// Who wants to know of changes, what they have not been told of, and who is telling them. It is part of the state of a store.
struct Telling {
    /// Changes that observers are told of together.
    private struct News {
        /// Of each tweak at most one.
        let changes: [TweakChange]
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

    /// What the teller tells next, and whom.
    typealias Turn = (changes: [TweakChange], observers: [ObserverList.Observer])

    private(set) var observers = ObserverList()
    private var removed: [ObserverList.Observer] = []
    /// Told of all changes as they are made, whatever observers do. It is called with the store's lock held.
    var listener: (@Sendable ([TweakChange], Duration) -> Void)?
    /// Calls into the program that have not returned.
    private(set) var runningCalls: [RunningCall] = []
    private var waiting = FirstInFirstOut<News>()
    private(set) var lastNumber: UInt64 = 0
    /// How much may wait before it is merged.
    private var crowd = Self.smallestCrowd
    /// The thread that tells observers, and the last number that it will tell of.
    private var teller: (thread: UInt, last: UInt64)?

    private static let smallestCrowd = 256

    // MARK: What there is to tell

    /// Whether anybody wants to know of changes.
    var isHeard: Bool { listener != nil || !observers.isEmpty }

    /// Adds changes that observers of several tweaks are told of once.
    mutating func add(_ changes: [TweakChange]) {
        guard !changes.isEmpty else { return }
        lastNumber += 1
        let observing = observers.observing(changes)
        if !observing.isEmpty {
            waiting.append(News(changes: changes, number: lastNumber, recipients: .these(observing)))
            if waiting.count > crowd { mergeWaiting() }
        }
        listener?(changes, .since1970)
    }

    /// Makes one piece of news of all that wait for everybody, so that no more waits than there are tweaks: of each the first old
    /// value and the last new one.
    private mutating func mergeWaiting() {
        var all = CoalescedChanges<Void>()
        var rest = FirstInFirstOut<News>()
        while let news = waiting.popFirst() {
            if case .newcomer = news.recipients {
                rest.append(news)
                continue
            }
            for change in news.changes { all.add(change, note: ()) }
        }
        let changes = all.drainAll().map(\.change)
        if !changes.isEmpty {
            rest.append(News(changes: changes, number: lastNumber, recipients: .observers))
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
        if let teller {
            if teller.thread == thread { self.teller?.last = lastNumber }
            return nil
        }
        teller = (thread, lastNumber)
        return next()
    }

    /// - Returns: `nil` at the end of what the teller tells; it is not the teller any more then.
    mutating func next() -> Turn? {
        guard let teller, let news = waiting.first, news.number <= teller.last else {
            teller = nil
            return nil
        }
        _ = waiting.popFirst()
        if waiting.isEmpty { crowd = Self.smallestCrowd }
        switch news.recipients {
        case .these(let recipients): return (news.changes, recipients)
        case .newcomer(let recipient): return (news.changes, [recipient])
        case .observers:
            return (news.changes, observers.observing(news.changes).filter { $0.since < news.number })
        }
    }

    /// Whether something waits that nobody is telling of.
    var isLeft: Bool { teller == nil && !waiting.isEmpty }

    /// Ends what a thread was doing when a call left it in another way than by returning.
    mutating func abandon(on thread: UInt) {
        if let index = runningCalls.lastIndex(where: { $0.thread == thread }) {
            runningCalls.remove(at: index)
        }
        if teller?.thread == thread { teller = nil }
    }

    /// In a child that was forked there is only the calling thread.
    mutating func forgetOtherThreads(than thread: UInt) {
        runningCalls.removeAll { $0.thread != thread }
        if teller?.thread != thread { teller = nil }
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
            waiting.append(News(changes: first, number: lastNumber, recipients: .newcomer(observer)))
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
