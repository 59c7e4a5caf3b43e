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

    /// The same for one value.
    init(_ value: TweakValue, for key: TweakKey, in source: TweakSource) {
        self.source = source
        opinions = [(key, .value(value))]
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
        for (key, value) in values where known[key] != value && !isLeftOut(key) {
            opinions.append((key, value))
        }
        for key in known.keys where values[key] == nil && !isLeftOut(key) { opinions.append((key, nil)) }
    }
}

/// What an update does to tweaks.
struct ValuePlan {
    /// Tweaks that are there, and what decides their values.
    var steps: [(entry: TweakEntry, resolution: Resolution)] = []
    /// Where in the update values are that the tweaks refuse.
    var refused: Set<Int> = []
    /// Names of no tweak.
    var unknown: [TweakKey] = []
    /// What changes now.
    var changes: [TweakChange] = []
    var messages: [String] = []
}

extension StoreState {
    /// What an update does. It changes nothing.
    ///
    /// - Parameter layers: The providers, perhaps in another order than they are in.
    func plan(_ update: ValueUpdate, in layers: ProviderLayers) -> ValuePlan {
        let known = update.isAdmitted ? [:] : layers[update.source]
        var plan = ValuePlan()
        plan.steps.reserveCapacity(update.opinions.count)
        for index in update.opinions.indices {
            let key = update.opinions[index].key
            guard let entry = tweaks[key] else {
                plan.unknown.append(key)
                continue
            }
            if let provided = update.opinions[index].provided, known[key] != nil {
                do throws(TweakValueError) {
                    _ = try entry.admit { (tweak) throws(TweakValueError) in
                        try provided.admission(for: tweak)
                    }
                } catch {
                    // As with a set that is refused, the tweak keeps its value.
                    plan.messages.append("\(update.source) ignored: \(error)")
                    plan.refused.insert(index)
                    continue
                }
            }
            let resolution = entry.resolution(in: layers, after: update, at: index)
            if let change = entry.change(to: resolution) { plan.changes.append(change) }
            if !resolution.messages.isEmpty { plan.messages += resolution.messages }
            plan.steps.append((entry, resolution))
        }
        // A person's come in the order in which they were given, a provider's in none.
        if !update.isAdmitted { plan.changes.sort { $0.key < $1.key } }
        return plan
    }

    /// Makes the values of a plan those of the tweaks, and leaves the changes for observers.
    ///
    /// - Parameter writer: What writes a person's overrides; `nil` if nothing is to be written.
    /// - Returns: Whether a thread will write what there is to write; otherwise the caller owes a flush.
    mutating func commit(_ plan: ValuePlan, of update: ValueUpdate, _ writer: OverridesWriter? = nil) -> Bool
    {
        // What a person sets is pinned, whatever changes below it, so it is kept also if the tweak has the value already.
        let isKept = update.source == .overrides && update.isAdmitted
        var isWritten = true
        layers.commit(update, except: plan.refused) { key, provided in
            guard isKept else { return }
            setWhileReloading?.insert(key)
            guard let writer else { return }
            var value: TweakValue?
            if case .value(let new)? = provided { value = new }
            isWritten = writer.enqueue(value, for: key) && isWritten
        }
        for (entry, resolution) in plan.steps { entry.commit(resolution) }
        if !plan.messages.isEmpty { messages += plan.messages }
        telling.add(plan.changes)
        if !update.isAdmitted { declare(plan, of: update) }
        return isWritten
    }

    /// What it does to ask the providers in another order; `nil` if that does not name each of them once.
    func plan(inOrder sources: [TweakSource]) -> (ValuePlan, ValueUpdate, ProviderLayers)? {
        // No provider has this source, so nobody says anything anew.
        let update = ValueUpdate(of: .binary, layers.keys.map { ($0, nil) })
        return layers.ordered(sources).map { (plan(update, in: $0), update, $0) }
    }

    /// Asks the providers in another order.
    mutating func commit(inOrder sources: [TweakSource]) {
        guard let (plan, update, ordered) = plan(inOrder: sources) else { return }
        layers = ordered
        _ = commit(plan, of: update)
    }

    /// Has tweaks that only providers know come and go.
    private mutating func declare(_ plan: ValuePlan, of update: ValueUpdate) {
        for key in plan.unknown {
            if let declaration = update.declaration(key) { undeclared[key] = declaration }
        }
        for (key, provided) in update.opinions where provided == nil && layers.opinions(on: key).isEmpty {
            undeclared[key] = nil
            removeCells(of: key) { $0.owner == .provided }
        }
    }
}

extension TweakStore {
    /// Makes an update, and tells observers.
    ///
    /// - Parameter update: The update by the state of the store at the time; `nil` for nothing. It is asked again if observers were
    ///   called meanwhile.
    func apply<Failure>(
        _ update: (inout StoreState) throws(Failure) -> ValueUpdate?
    ) throws(Failure) {
        let writer = writer.withLock { $0 }
        var isAnnounced = false
        while true {
            let (announced, isWritten, isTeller) = try withState {
                (state) throws(Failure) -> ([TweakChange]?, Bool, Bool) in
                guard let update = try update(&state) else { return (nil, true, false) }
                let plan = state.plan(update, in: state.layers)
                if !isAnnounced, state.telling.observers.areToldBefore { return (plan.changes, true, false) }
                let isWritten = state.commit(plan, of: update, writer)
                // Without changes of its own this thread would only tell of what others are about to.
                return (nil, isWritten, !plan.changes.isEmpty && state.telling.begin())
            }
            if let announced {
                announce(announced)
                isAnnounced = true
                continue
            }
            if !isWritten { writer?.flush() }
            if isTeller { tell() }
            return
        }
    }

    /// Calls the observers that want to know before.
    func announce(_ changes: [TweakChange]) {
        for change in changes {
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
