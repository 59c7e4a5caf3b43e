internal import TweakRecords

extension TweakStore {
    /// Sets a tweak in the provider that keeps what a person sets, or in another one.
    func set(
        _ key: TweakKey, in source: TweakSource? = nil,
        _ admit: (TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission
    ) throws(TweakError) -> TweakDeclaration.Admission {
        let writer = writer.withLock { $0 }
        var isWritten = true
        let outcome = withDecodedState {
            state -> (Result<TweakDeclaration.Admission, TweakValueError>, Bool)? in
            guard let index = state.entries.index(forKey: key) else { return nil }
            do throws(TweakValueError) {
                let admission = try state.entries.values[index].inPlace { (entry) throws(TweakValueError) in
                    try admit(entry.declaration)
                }
                let source = source ?? state.chain.keeper
                if state.observers.areToldBefore || !state.canSet(in: source) {
                    return (.success(admission), false)
                }
                let change: TweakChange?
                (change, isWritten) = state.change(admission.value, for: key, at: index, in: source, writer)
                if let change { state.undelivered.append(change) }
                return (.success(admission), true)
            } catch {
                return (.failure(error), true)
            }
        }
        if !isWritten { writer?.flush() }
        guard let (result, isDone) = outcome else { throw unknown(key) }
        let admission: TweakDeclaration.Admission
        do throws(TweakValueError) { admission = try result.get() } catch { throw .refused(error) }
        if isDone { deliver() } else { try change([(key, admission.value)], in: source) }
        return admission
    }

    /// Checks that a tweak exists and has a value.
    func checkValue(_ key: TweakKey) throws(TweakError) {
        let declaration = try entry(of: key).declaration
        guard declaration.type != .action else { throw .refused(.isAction(declaration)) }
    }

    /// Changes several tweaks, and tells observers when all are changed. Sets with a value, resets with `nil`.
    ///
    /// - Parameter source: Whose values change; `nil` for the provider that keeps what a person sets. A reset takes
    ///   the session's value away too then.
    func change(_ values: [(key: TweakKey, value: TweakValue?)], in source: TweakSource? = nil)
        throws(TweakError)
    {
        let (source, feed, canSet) = state.withLock { state in
            let source = source ?? state.chain.keeper
            return (source, state.chain.feed(of: source), state.canSet(in: source))
        }
        guard canSet else { return try change(values, of: source, feed) }
        for (key, value) in values {
            let change = state.withLock { state in
                state.observers.areToldBefore ? state.change(of: key, to: value, in: source) : nil
            }
            if let change { announce(change) }
        }
        let writer = writer.withLock { $0 }
        if !state.withLock({ $0.change(values, in: source, writer) }) { writer?.flush() }
        deliver()
    }

    func changeOrReport(_ values: [(key: TweakKey, value: TweakValue?)]) {
        do throws(TweakError) { try change(values) } catch { diagnostics.warn("\(error)") }
    }

    /// Has a provider change its values. It reports them, and the store takes over what it reports.
    private func change(
        _ values: [(key: TweakKey, value: TweakValue?)], of source: TweakSource, _ feed: ProviderFeed?
    ) throws(TweakError) {
        guard let provider = feed?.provider as? any MutableTweakProvider else { throw .notMutable(source) }
        var problem: TweakError?
        for (key, value) in values {
            do { try provider.set(value, for: key) } catch {
                problem = problem ?? .notKept(key, source, reason: "\(error)")
            }
        }
        if let problem { throw problem }
    }

    /// Calls the observers of a tweak that want to know before.
    func announce(_ change: TweakChange) {
        for observer in state.withLock({ $0.observers.observing(change.key) }) {
            guard let willChange = observer.willChange else { continue }
            call(observer.id) { willChange(change) }
        }
    }
}

extension StoreState {
    /// Whether a source is one that the store keeps itself and a person changes.
    func canSet(in source: TweakSource) -> Bool { source == .overrides || source == .session }

    /// Changes tweaks together and has their observers told.
    ///
    /// - Returns: Whether a thread will write what there is to write; otherwise the caller owes a flush.
    fileprivate mutating func change(
        _ values: [(key: TweakKey, value: TweakValue?)], in source: TweakSource, _ writer: OverridesWriter?
    ) -> Bool {
        var changes: [TweakChange] = []
        var isWritten = true
        for (key, value) in values {
            guard let index = entries.index(forKey: key) else { continue }
            let outcome = change(value, for: key, at: index, in: source, writer)
            isWritten = isWritten && outcome.isWritten
            if let change = outcome.change { changes.append(change) }
        }
        undelivered.append(contentsOf: changes)
        return isWritten
    }

    fileprivate mutating func change(
        _ value: TweakValue?, for key: TweakKey, at index: Dictionary<TweakKey, Entry>.Index,
        in source: TweakSource,
        _ writer: OverridesWriter?
    ) -> (change: TweakChange?, isWritten: Bool) {
        let outcome = set(value, for: key, at: index, in: source)
        guard outcome.overrideChanged, source == .overrides, let writer else { return (outcome.change, true) }
        return (outcome.change, writer.enqueue(value, for: key))
    }
}
