// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakJSON
internal import TweakOverrides
internal import TweakRecords

/// New values of one provider. Every change is an update: a set or reset, a file that is read again, a
/// provider that is added or removed, reports changes or moves.
///
/// An update is planned with the store's lock, announced without it, committed with it, and then delivered to
/// observers. It is a class because it is passed on a dozen times and a copy would retain each member; once
/// planned, only its number changes.
///
/// `@unchecked Sendable`: one thread makes an update, which is used only with the store's lock from its
/// commit on.
final class ValueUpdate: @unchecked Sendable {
    /// The provider's value for one tweak.
    struct Opinion {
        let key: TweakKey
        /// `nil` if the provider no longer has a value.
        let provided: ProvidedValue?
        /// The tweak, if it was looked up with the lock held for planning.
        var entry: TweakEntry?
    }

    let source: TweakSource
    let author: ChangeAuthor
    /// Each tweak at most once.
    let opinions: ShortList<Opinion>
    /// Whether the tweaks have accepted the values.
    @exclusivity(unchecked) var isAdmitted = false
    /// The values of these tweaks in the session afterwards, where others have none; `nil` to leave the
    /// session as it is.
    @exclusivity(unchecked) var session: [TweakKey: TweakValue]?
    /// The leases that begin or end with the update.
    @exclusivity(unchecked) var leases = Leases.Change()
    /// Whether leases begin or end, and nothing else changes.
    var isOfLeases: Bool { source == .binary && !leases.isEmpty }
    /// The effect on the ramps of these tweaks.
    @exclusivity(unchecked) var ramps = Ramps.end

    enum Ramps {
        /// Tweaks that get a value have it at once, without a ramp.
        case end
        /// Tweaks that get a value reach it gradually.
        case begin(Duration, at: ContinuousClock.Instant)
        /// Tweaks go on to the values that they have at a time.
        case advance(to: ContinuousClock.Instant)
    }
    /// The provider's declarations of tweaks that no binary needs to declare.
    @exclusivity(unchecked) var declarations = ProvidedDeclarations()
    /// The tweaks whose values the provider has decrypted.
    @exclusivity(unchecked) var secrets: Set<TweakKey> = []
    /// The number of the changes in the history that the update undoes; 0 for none.
    @exclusivity(unchecked) var undoes: UInt64 = 0
    /// The text by which the client recognises its change.
    @exclusivity(unchecked) var tag: String?
    /// The number of the update's changes in the history; 0 if there are none.
    @exclusivity(unchecked) var number: UInt64 = 0
    /// Tweaks for which the provider failed. They keep their values.
    @exclusivity(unchecked) var failures: [TweakKey: ProviderFailure] = [:]

    init(of source: TweakSource, by author: ChangeAuthor, _ opinions: ShortList<Opinion>) {
        (self.source, self.author, self.opinions) = (source, author, opinions)
    }

    convenience init(
        of source: TweakSource, by author: ChangeAuthor,
        _ opinions: some Sequence<(key: TweakKey, provided: ProvidedValue?)>
    ) {
        self.init(of: source, by: author, ShortList(opinions.lazy.map { Opinion(key: $0, provided: $1) }))
    }

    /// A person's changes: accepted values, and `nil` to reset. A kept value also applies now, so it ends the
    /// session's.
    convenience init(
        _ values: [(key: TweakKey, value: TweakValue?)], in source: TweakSource, by author: ChangeAuthor
    ) {
        self.init(of: source, by: author, values.lazy.map { ($0, $1.map(ProvidedValue.value)) })
        isAdmitted = true
        if source == .overrides { session = [:] }
    }

    /// A person's change of a single tweak to an accepted value.
    init(_ value: TweakValue, for entry: TweakEntry, in source: TweakSource, by author: ChangeAuthor) {
        (self.source, self.author) = (source, author)
        opinions = ShortList(Opinion(key: entry.key, provided: .value(value), entry: entry))
        isAdmitted = true
        if source == .overrides { session = [:] }
    }

    /// Gives tweaks the values of their providers, after leases have begun or ended.
    convenience init(
        resolving keys: some Sequence<TweakKey>, with leases: Leases.Change = Leases.Change(),
        by author: ChangeAuthor
    ) {
        // No provider has this source, so no provider's value is new.
        self.init(of: .binary, by: author, keys.lazy.map { ($0, nil) })
        isAdmitted = true
        self.leases = leases
    }

    /// The differences from a provider's former values, except for tweaks that are left out, and the values
    /// that are renewed.
    convenience init(
        of source: TweakSource, by author: ChangeAuthor, replacing known: [TweakKey: ProvidedValue],
        with values: [TweakKey: ProvidedValue], except isLeftOut: (TweakKey) -> Bool = { _ in false },
        renewing isRenewed: (TweakKey) -> Bool = { _ in false }
    ) {
        var opinions = ShortList<Opinion>()
        for (key, value) in values where (known[key] != value || isRenewed(key)) && !isLeftOut(key) {
            opinions.append(Opinion(key: key, provided: value))
        }
        for key in known.keys where values[key] == nil && !isLeftOut(key) {
            opinions.append(Opinion(key: key, provided: nil))
        }
        self.init(of: source, by: author, opinions)
    }
}

/// The effect of an update on tweaks.
struct ValuePlan {
    /// The index of the update's provider, or `nil` if the store does not have it.
    let layer: Int?
    /// Existing tweaks and their new values.
    var steps = ShortList<(entry: TweakEntry, resolution: Resolution)>()
    /// The ramps of these tweaks afterwards. Other tweaks have none.
    var ramps: [TweakKey: Ramp] = [:]
    /// The indices of values in the update that their tweaks refuse.
    var refused: Set<Int> = []
    var messages: [String] = []
    /// Whether the steps are in the order in which a person gave the values. A provider's values are
    /// unordered.
    let isInOrder: Bool

    /// The changes that committing the plan would make, without those that wait already.
    var changes: [TweakChange] {
        let changes = steps.compactMap { entry, resolution in
            entry.pendingValue == resolution.value ? nil : entry.change(to: resolution)
        }
        return isInOrder ? changes : changes.sorted { $0.key < $1.key }
    }
}

extension StoreState {
    /// Plans an update, without changing anything.
    ///
    /// - Parameter layers: The providers, possibly in a new order.
    func plan(_ update: ValueUpdate, in layers: ProviderLayers) -> ValuePlan {
        let layer = layers.index(of: update.source)
        let known = update.isAdmitted ? [:] : layers[update.source]
        var plan = ValuePlan(layer: layer, isInOrder: update.isAdmitted)
        plan.steps.reserveCapacity(update.opinions.count)
        update.opinions.forEach { index, opinion in
            guard let entry = opinion.entry ?? tweaks[opinion.key] else { return }
            let isOfProviders = !update.isAdmitted && entry.isProvided
            // The new declaration, if only providers declare the tweak.
            let declaration =
                isOfProviders
                ? layers.declaration(of: opinion.key, after: update, opinion.provided, in: layer) : nil
            if let provided = opinion.provided, let former = known[opinion.key] {
                let admitted = { (value: ProvidedValue) throws(TweakValueError) in
                    try entry.admit { (tweak, _) throws(TweakValueError) in
                        try value.admission(for: declaration ?? tweak)
                    }
                }
                do throws(TweakValueError) {
                    let admission = try admitted(provided)
                    // The same value in another form is no change: the file has 3 for 3.0, and texts for colours. The
                    // program may have stored another value in its variable since.
                    if !isOfProviders, !admission.wasClamped, (try? admitted(former)) == admission { return }
                } catch {
                    // As with a refused set, the tweak keeps its value.
                    plan.messages.append("\(update.source) ignored: \(error)")
                    plan.refused.insert(index)
                    return
                }
            }
            let resolution =
                if let declaration {
                    layers.resolve(declaration, after: update, opinion.provided, in: layer, &plan.messages)
                } else if isOfProviders, !layers.fail(opinion.key) {
                    // The tweak disappears, and its handles return the default.
                    Resolution(value: entry.declaration.defaultValue, source: .binary)
                } else {
                    entry.resolution(
                        in: layers, after: update, opinion.provided, in: layer, &plan.messages)
                }
            plan.steps.append((entry, ramped(resolution, of: entry, by: update, &plan.ramps)))
        }
        return plan
    }

    /// Returns the value of a ramping tweak on the way to that of its providers.
    ///
    /// - Parameter ramps: Collects the tweak's ramp, if it has one afterwards.
    private func ramped(
        _ resolution: Resolution, of entry: TweakEntry, by update: ValueUpdate,
        _ ramps: inout [TweakKey: Ramp]
    ) -> Resolution {
        var resolution = resolution
        switch update.ramps {
        case .begin(let duration, let now):
            let isOfUpdate = resolution.source == (update.source == .binary ? .lease : update.source)
            let start = entry.pendingValue ?? entry.value
            guard isOfUpdate, resolution.value != start, entry.declaration.obstacleToRamps == nil else {
                return resolution
            }
            ramps[entry.key] = Ramp(
                start: start, target: resolution.value, source: resolution.source, began: now,
                duration: duration)
            resolution.value = start
        case .advance(let now):
            guard let ramp = self.ramps[entry.key], ramp.leads(to: resolution) else { return resolution }
            resolution.value = ramp.value(at: now, of: entry.declaration)
            if now < ramp.end { ramps[entry.key] = ramp }
        case .end:
            guard !self.ramps.isEmpty, let ramp = self.ramps[entry.key], ramp.leads(to: resolution),
                // A set to the target jumps there. The overrides file that is read again after the ramp began does not.
                !update.isAdmitted || update.source != ramp.source,
                update.leases.value(of: entry.key) == nil
            else { return resolution }
            ramps[entry.key] = ramp
            // Below a gate it may not be stored yet.
            resolution.value = entry.pendingValue ?? entry.value
        }
        return resolution
    }

    /// Applies a plan, and leaves the changes for observers.
    ///
    /// - Returns: `false` if no thread will write the overrides, so that the caller must flush.
    mutating func commit(_ plan: ValuePlan, of update: ValueUpdate) -> Bool {
        // A person's value is pinned, whatever changes below it, so it is kept even if the tweak has it already.
        let isKept = update.source == .overrides && update.isAdmitted
        var isWritten = true
        let isHeard = delivery.isHeard
        let unknown = isHeard ? observedUnknown(in: update) : []
        if !update.secrets.isEmpty { history.secrets.formUnion(update.secrets) }
        let before = history.isOn ? history.prepare(plan, update, layers) : ShortList()
        layers.commit(update, to: plan.layer, except: plan.refused) { key, provided in
            guard isKept else { return }
            setWhileReloading?.insert(key)
            guard let writer else { return }
            var value: TweakValue?
            if case .value(let new)? = provided { value = new }
            isWritten = writer.enqueue(value, for: key) && isWritten
        }
        if !adopted.builds.isEmpty || hasObjects { keepOwnValues(plan) }
        var changes: [TweakChange] = []
        var gated = GatedSteps()
        findGates()
        if plan.steps.count > 0 {
            gates.storing {
                plan.steps.forEach { _, step in
                    if !gates.isEmpty, gated.add((step.entry, step.resolution, update), to: gates) {
                        return
                    }
                    if isHeard, let change = step.entry.change(to: step.resolution) {
                        // A literal costs half as much as appending to an empty array.
                        if changes.isEmpty { changes = [change] } else { changes.append(change) }
                    }
                    step.entry.commit(step.resolution)
                }
            }
        }
        put(gated, of: update.source)
        if !ramps.isEmpty || !plan.ramps.isEmpty {
            plan.steps.forEach { _, step in follow(plan.ramps[step.entry.key], step.entry) }
        }
        if history.isOn { history.record(plan, before, of: update, layers) }
        if update.author.isOutside { noteSet(plan) }
        if !plan.isInOrder { changes.sort { $0.key < $1.key } }
        delivery.add(changes, of: update)
        if !plan.messages.isEmpty { messages += plan.messages }
        if !update.isAdmitted { followProviders(update) }
        for (key, oldValue) in unknown where tweaks[key] == nil {
            let newValue = layers.value(ofUndeclared: key)
            guard newValue != oldValue else { continue }
            let change = TweakChange(
                key: key, oldValue: oldValue, newValue: newValue, source: update.source)
            delivery.add([change], of: update)
        }
        return isWritten
    }

    /// Sets or removes the ramp of a tweak.
    mutating func follow(_ ramp: Ramp?, _ entry: TweakEntry) {
        guard ramp != nil || ramps[entry.key] != nil else { return }
        ramps[entry.key] = ramp
        entry.rampTarget = ramp?.target
    }

    /// Returns the observed undeclared names in an update, with the providers' values.
    private func observedUnknown(in update: ValueUpdate) -> [(TweakKey, TweakValue)] {
        var unknown: [(TweakKey, TweakValue)] = []
        update.opinions.forEach { _, opinion in
            let key = opinion.key
            guard opinion.entry == nil, tweaks[key] == nil, delivery.observers.areThere(for: key) else {
                return
            }
            unknown.append((key, layers.value(ofUndeclared: key)))
        }
        return unknown
    }

    /// Adds and removes tweaks that only providers declare, and leaves the changes for observers.
    private mutating func followProviders(_ update: ValueUpdate) {
        let isHeard = delivery.isHeard
        var new: [TweakKey] = []
        var changes: [TweakChange] = []
        update.opinions.forEach { _, opinion in
            let key = opinion.key
            let former = isHeard ? tweaks[key]?.value : nil
            if followProviders(key, by: update.author) {
                new.append(key)
            } else if let former, tweaks[key] == nil {
                changes.append(
                    TweakChange(key: key, oldValue: former, newValue: .nothing, source: .binary))
            }
        }
        guard isHeard else { return }
        if !new.isEmpty { decode() }
        for key in new {
            guard let entry = tweaks[key] else { continue }
            changes.append(
                TweakChange(key: key, oldValue: .nothing, newValue: entry.value, source: entry.source))
        }
        delivery.add(changes.sorted { $0.key < $1.key }, of: update)
    }

    /// Plans a new order of the providers; `nil` unless the order names each provider once.
    func plan(inOrder sources: [TweakSource]) -> (ValuePlan, ValueUpdate, ProviderLayers)? {
        // No provider has this source, so no value is new.
        let update = ValueUpdate(of: .binary, by: .program, layers.keys.lazy.map { ($0, nil) })
        return layers.ordered(sources).map { (plan(update, in: $0), update, $0) }
    }

    /// Changes the order of the providers.
    mutating func commit(inOrder sources: [TweakSource]) {
        guard let (plan, update, ordered) = plan(inOrder: sources) else { return }
        layers = ordered
        _ = commit(plan, of: update)
    }
}

extension TweakStore {
    /// Applies an update, and notifies observers.
    ///
    /// - Parameters:
    ///   - update: Returns the update for the store's current state, or `nil` for none. It is called again if
    ///     observers were called meanwhile.
    ///   - committed: Called with the lock, with the state after the update.
    func apply<Failure>(
        _ update: (inout StoreState) throws(Failure) -> ValueUpdate?, committed: ((StoreState) -> Void)? = nil
    ) throws(Failure) {
        var isAnnounced = false
        while true {
            let applied = try withState { (state) throws(Failure) in
                try update(&state).map { state.perform($0, isAnnounced: isAnnounced, committed: committed) }
            }
            guard let applied, !follow(applied) else { return }
            isAnnounced = true
        }
    }

    /// Calls the observers of an update.
    ///
    /// - Returns: Whether the update is done; otherwise it has only been announced.
    @inline(never)
    private func follow(_ applied: AppliedUpdate) -> Bool {
        if let announced = applied.announced {
            announce(announced)
            return false
        }
        if !applied.isWritten { flush() }
        if let turn = applied.turn { deliver(turn) }
        return true
    }

    /// Calls the observers that are notified before changes.
    func announce(_ changes: [TweakChange]) {
        for change in changes {
            for observer in state.withLock({ $0.delivery.observers.observing(change.key) }) {
                guard let willChange = observer.willChange else { continue }
                state.call(observer.id) { willChange(change) }
            }
        }
    }
}

/// The rest of an update, to be done without the lock.
private struct AppliedUpdate {
    /// Changes that observers are notified of before; nothing has changed then.
    var announced: [TweakChange]?
    var isWritten = true
    var turn: ChangeDelivery.Turn?
}

extension StoreState {
    /// Applies an update, unless observers must be notified before. Not inlined, because there are many
    /// closures that make an update.
    @inline(never)
    fileprivate mutating func perform(
        _ update: ValueUpdate, isAnnounced: Bool, committed: ((StoreState) -> Void)?
    ) -> AppliedUpdate {
        if !images.undecoded.isEmpty { decode(only: update.opinions.compactMap { $0.key }) }
        let plan = plan(update, in: layers)
        if !isAnnounced, delivery.observers.areToldBefore { return AppliedUpdate(announced: plan.changes) }
        let earlier = delivery.lastNumber
        let isWritten = commit(plan, of: update)
        committed?(self)
        // Without changes of its own, this thread would only deliver those of others.
        return AppliedUpdate(
            isWritten: isWritten, turn: delivery.lastNumber != earlier ? delivery.begin() : nil)
    }
}

extension OverridesDocument {
    /// The values by name.
    var provided: [TweakKey: ProvidedValue] {
        var provided = [TweakKey: ProvidedValue](minimumCapacity: count)
        forEach { key, entry in
            provided[key] = entry.tweakValue.map(ProvidedValue.value) ?? .unusable(entry.summary)
        }
        return provided
    }
}

extension TweakStore {
    /// Sets a tweak in the provider that keeps a person's values, or in another one.
    ///
    /// A text can calculate with the tweak's value: the pending one, or else the current one.
    ///
    /// - Parameter type: The only type that the tweak may have; `nil` for any.
    func set(
        _ given: ProvidedValue, of type: TweakType? = nil, for key: TweakKey, in source: TweakSource? = nil
    ) throws(TweakError) -> TweakDeclaration.Admission {
        var admission: TweakDeclaration.Admission?
        var isForProvider = false
        try apply { (state) throws(TweakError) in
            state.decode()
            guard let entry = state.tweaks[key] else { return nil }
            let admitted: TweakDeclaration.Admission
            do throws(TweakValueError) {
                admitted = try entry.admit { (tweak, current) throws(TweakValueError) in
                    try given.admission(for: tweak, of: type, current: current)
                }
            } catch {
                throw .refused(error)
            }
            admission = admitted
            let source = source ?? state.layers.keeper
            isForProvider = !state.layers.keepsItself(source)
            if isForProvider { return nil }
            let update = ValueUpdate(admitted.value, for: entry, in: source, by: .program)
            try state.checkGates(update)
            return update
        }
        guard let admission else { throw unknown(key) }
        if isForProvider { try change([(key, admission.value)], in: source) }
        return admission
    }

    /// Checks that a tweak exists and has a value.
    func checkHasValue(_ key: TweakKey) throws(TweakError) {
        let declaration = try declaration(of: key)
        guard declaration.type != .action else { throw .refused(.isAction(declaration)) }
    }

    /// Changes several tweaks, and notifies observers afterwards. A value sets, `nil` resets.
    ///
    /// - Parameter source: The provider whose values change; `nil` for the one that keeps a person's values,
    ///   where a reset also removes the session's value.
    func change(
        _ values: [(key: TweakKey, value: TweakValue?)], in source: TweakSource? = nil,
        by author: ChangeAuthor = .program
    ) throws(TweakError) {
        let (source, feed, isOwn) = state.withLock { state in
            let source = source ?? state.layers.keeper
            return (source, state.layers.feed(of: source), state.layers.keepsItself(source))
        }
        if isOwn {
            let usual = ValueUpdate(values, in: source, by: author)
            return try apply { (state) throws(TweakError) in
                let update =
                    state.layers.leases.isEmpty ? usual : state.update(values, in: source, by: author)
                try state.checkGates(update)
                return update
            }
        }
        guard let provider = feed?.mutableProvider else { throw .notMutable(source) }
        // The provider reports the change, which is an update of its own.
        var problem: TweakError?
        for (key, value) in values {
            do { try provider.set(value, for: key) } catch {
                problem = problem ?? .notKept(key, source, reason: "\(error)")
            }
        }
        if let problem { throw problem }
    }

    func changeOrReport(_ values: [(key: TweakKey, value: TweakValue?)]) {
        do throws(TweakError) { try change(values) } catch { diagnostics.warn("\(error)") }
    }
}

extension TweakStore {
    /// Resets the tweaks of a category, as one change.
    ///
    /// - Throws: ``TweakError/noTweaks(in:)`` if there are none.
    public func reset(category: String) throws(TweakError) { try reset(category, nil, by: .program) }

    /// Resets the tweaks of a collection, as one change.
    ///
    /// - Parameters:
    ///   - category: The collection's category.
    ///   - collection: The name of the collection.
    /// - Throws: ``TweakError/noTweaks(in:)`` if there are none.
    public func reset(category: String, collection: String) throws(TweakError) {
        try reset(category, collection, by: .program)
    }

    /// Resets the tweaks of a collection; `nil` for a level stands for all of its names.
    func reset(_ category: String?, _ collection: String?, by author: ChangeAuthor) throws(TweakError) {
        let keys = keys(category, collection)
        guard !keys.isEmpty || category == nil else {
            throw .noTweaks(in: [category, collection].compactMap { $0 }.joined(separator: "/"))
        }
        try change(keys.map { ($0, nil) }, by: author)
    }
}
