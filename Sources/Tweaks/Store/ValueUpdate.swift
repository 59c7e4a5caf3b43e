internal import TweakJSON
internal import TweakRecords

/// What one provider says anew. Every change of a value is one: what a person sets and resets, files that are read again,
/// providers that come, go, report and change places.
///
/// An update is planned with the store's lock, announced without it, committed with the lock, and then observers are told.
struct ValueUpdate {
    let source: TweakSource
    /// Each tweak at most once; `nil` for one that the provider has no value for any more.
    var opinions: [(key: TweakKey, provided: ProvidedValue?)]
    /// Whether the tweaks have admitted the values.
    var isAdmitted = false
    /// Whether what was set for the session ends.
    var endsSession = false
    /// What the provider knows of a tweak that no binary needs to declare. It asks nobody.
    var declaration: @Sendable (TweakKey) -> TweakDeclaration? = { _ in nil }
    /// Tweaks that the provider could not say anything about. They keep the values that they have.
    var failures: [TweakKey: any Error] = [:]

    init(of source: TweakSource, _ opinions: [(key: TweakKey, provided: ProvidedValue?)]) {
        self.source = source
        self.opinions = opinions
    }

    /// What a person changes: admitted values, and `nil` to reset. What is kept is meant for now too, so it ends what was
    /// set for the session.
    init(_ values: [(key: TweakKey, value: TweakValue?)], in source: TweakSource) {
        self.source = source
        opinions = values.map { ($0, $1.map(ProvidedValue.value)) }
        isAdmitted = true
        endsSession = source == .overrides
    }

    /// What is different in all that a provider has, except for tweaks that are left out.
    init(
        of source: TweakSource, replacing known: [TweakKey: ProvidedValue],
        with values: [TweakKey: ProvidedValue], except isLeftOut: (TweakKey) -> Bool = { _ in false }
    ) {
        self.source = source
        opinions = []
        for (key, value) in values where known[key] != value && !isLeftOut(key) { opinions.append((key, value)) }
        for key in known.keys where values[key] == nil && !isLeftOut(key) { opinions.append((key, nil)) }
    }

    /// What a provider says about the tweak at an index, if that is new.
    func opinion(of source: TweakSource, at index: Int) -> ProvidedValue?? {
        if source == self.source { return .some(opinions[index].provided) }
        return endsSession && source == .session ? .some(nil) : nil
    }
}

/// What an update does to tweaks.
struct ValuePlan {
    /// Without what tweaks refuse.
    var update: ValueUpdate
    /// Tweaks that are there, and what decides their values.
    var steps: [(entry: TweakEntry, resolution: Resolution)] = []
    /// Names of no tweak.
    var unknown: [TweakKey] = []
    /// What changes now.
    var changes: [TweakChange] = []
    var messages: [String] = []
}

extension StoreState {
    /// What an update does. It changes nothing.
    ///
    /// - Parameter layers: The providers in another order, if that is what is new.
    func plan(_ update: ValueUpdate, in layers: ProviderLayers? = nil) -> ValuePlan {
        let layers = layers ?? self.layers
        let known = update.isAdmitted ? [:] : layers[update.source]
        var plan = ValuePlan(update: update)
        plan.steps.reserveCapacity(update.opinions.count)
        var refused: Set<Int> = []
        for (index, (key, provided)) in update.opinions.enumerated() {
            guard let entry = tweaks[key] else {
                plan.unknown.append(key)
                continue
            }
            if let provided, known[key] != nil {
                do throws(TweakValueError) { _ = try provided.admission(for: entry.declaration) } catch {
                    // As with a set that is refused, the tweak keeps its value.
                    plan.messages.append("\(update.source) ignored: \(error)")
                    refused.insert(index)
                    continue
                }
            }
            let resolution = layers.resolve(entry.declaration, after: (update, index))
            if let change = entry.change(to: resolution) { plan.changes.append(change) }
            plan.messages += resolution.messages
            plan.steps.append((entry, resolution))
        }
        if !refused.isEmpty {
            plan.update.opinions = update.opinions.enumerated().filter { !refused.contains($0.offset) }.map(\.element)
        }
        // A person's come in the order in which they were given, a provider's in none.
        if !update.isAdmitted { plan.changes.sort { $0.key < $1.key } }
        return plan
    }

    /// Makes the values of a plan those of the tweaks, and leaves the changes for observers.
    ///
    /// - Parameter writer: What writes a person's overrides; `nil` if nothing is to be written.
    /// - Returns: Whether a thread will write what there is to write; otherwise the caller owes a flush.
    mutating func commit(_ plan: ValuePlan, _ writer: OverridesWriter? = nil) -> Bool {
        let isWritten = keep(plan.update, writer)
        layers.commit(plan.update)
        for (entry, resolution) in plan.steps { entry.commit(resolution) }
        messages += plan.messages
        telling.add(plan.changes)
        declare(plan)
        return isWritten
    }

    /// What it does to ask the providers in another order; `nil` if that does not name each of them once.
    func plan(inOrder sources: [TweakSource]) -> ValuePlan? {
        // No provider has this source, so nobody says anything anew.
        let update = ValueUpdate(of: .binary, layers.keys.map { ($0, nil) })
        return layers.ordered(sources).map { plan(update, in: $0) }
    }

    /// Asks the providers in another order.
    mutating func commit(inOrder sources: [TweakSource]) {
        guard let plan = plan(inOrder: sources), let ordered = layers.ordered(sources) else { return }
        layers = ordered
        _ = commit(plan)
    }

    /// Has a person's overrides written. What a person sets is pinned, whatever changes below it, so it is kept also if the
    /// tweak has the value already.
    private mutating func keep(_ update: ValueUpdate, _ writer: OverridesWriter?) -> Bool {
        guard update.source == .overrides, update.isAdmitted else { return true }
        var isWritten = true
        let known = layers[.overrides]
        for (key, provided) in update.opinions where known[key] != provided {
            setWhileReloading?.insert(key)
            guard let writer else { continue }
            if case .value(let value)? = provided {
                isWritten = writer.enqueue(value, for: key) && isWritten
            } else {
                isWritten = writer.enqueue(nil, for: key) && isWritten
            }
        }
        return isWritten
    }

    /// Has tweaks that only providers know come and go.
    private mutating func declare(_ plan: ValuePlan) {
        guard !plan.update.isAdmitted else { return }
        for key in plan.unknown {
            if let declaration = plan.update.declaration(key) { undeclared[key] = declaration }
        }
        for (key, provided) in plan.update.opinions
        where provided == nil && layers.opinions(on: key).isEmpty {
            undeclared[key] = nil
            removeCells(of: key) { $0.owner == .provided }
        }
    }
}

extension TweakStore {
    /// Makes an update, and tells observers.
    ///
    /// - Parameter update: The update by the state of the store at the time; `nil` for nothing.
    func apply(_ update: (StoreState) -> ValueUpdate?) {
        announce { state in update(state).map { state.plan($0).changes } ?? [] }
        let writer = writer.withLock { $0 }
        let (isWritten, hasChanges) = withState { state -> (Bool, Bool) in
            guard let plan = update(state).map({ state.plan($0) }) else { return (true, false) }
            return (state.commit(plan, writer), !plan.changes.isEmpty)
        }
        if !isWritten { writer?.flush() }
        // Without changes of its own this thread would only tell of what others are about to.
        if hasChanges { tellObservers() }
    }

    /// Calls the observers that want to know before.
    ///
    /// - Parameter changes: What is about to change. It is only asked if there is such an observer.
    func announce(_ changes: (StoreState) -> [TweakChange]) {
        let announced = state.withLock { state in
            state.telling.observers.areToldBefore ? changes(state) : []
        }
        for change in announced {
            for observer in state.withLock({ $0.telling.observers.observing(change.key) }) {
                guard let willChange = observer.willChange else { continue }
                call(observer.id) { willChange(change) }
            }
        }
    }
}

extension OverridesDocument {
    /// What it holds, by name.
    var provided: [TweakKey: ProvidedValue] {
        var provided = [TweakKey: ProvidedValue](minimumCapacity: count)
        forEach { key, entry in
            provided[key] = entry.tweakValue.map(ProvidedValue.value) ?? .unusable(entry.summary)
        }
        return provided
    }
}
