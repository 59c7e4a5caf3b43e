internal import TweakRecords

extension TweakStore {
    /// Sets a tweak in the provider that keeps what a person sets, or in another one.
    func set(
        _ key: TweakKey, in source: TweakSource? = nil,
        _ admit: (TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission
    ) throws(TweakError) -> TweakDeclaration.Admission {
        var admission: TweakDeclaration.Admission?
        var isForProvider = false
        do throws(TweakValueError) {
            try apply { (state) throws(TweakValueError) in
                state.decode()
                guard let entry = state.tweaks[key] else { return nil }
                let admitted = try entry.admit(admit)
                admission = admitted
                let source = source ?? state.layers.keeper
                isForProvider = !state.layers.keepsItself(source)
                return isForProvider ? nil : ValueUpdate(admitted.value, for: entry, in: source)
            }
        } catch {
            throw .refused(error)
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

    /// Changes several tweaks, and tells observers when all are changed. Sets with a value, resets with `nil`.
    ///
    /// - Parameter source: Whose values change; `nil` for the provider that keeps what a person sets. A reset takes
    ///   the session's value away too then.
    func change(
        _ values: [(key: TweakKey, value: TweakValue?)], in source: TweakSource? = nil
    ) throws(TweakError) {
        let (source, feed, isOwn) = state.withLock { state in
            let source = source ?? state.layers.keeper
            return (source, state.layers.feed(of: source), state.layers.keepsItself(source))
        }
        if isOwn {
            let update = ValueUpdate(values, in: source)
            return apply { _ in update }
        }
        guard let provider = feed?.provider as? any MutableTweakProvider else { throw .notMutable(source) }
        // It reports what it keeps, which is an update of its own.
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
    /// Takes the overrides of a category away, as one change.
    ///
    /// - Throws: ``TweakError/noTweaks(in:)``.
    public func reset(category: String) throws(TweakError) { try reset(category, nil) }

    /// Takes the overrides of a collection away, as one change.
    ///
    /// - Parameters:
    ///   - category: The category that the collection is in.
    ///   - collection: The name of the collection.
    /// - Throws: ``TweakError/noTweaks(in:)``.
    public func reset(category: String, collection: String) throws(TweakError) {
        try reset(category, collection)
    }

    /// All tweaks where a level is `nil`.
    func reset(_ category: String?, _ collection: String?) throws(TweakError) {
        let keys = keys(category, collection)
        guard !keys.isEmpty || category == nil else {
            throw .noTweaks(in: [category, collection].compactMap(\.self).joined(separator: "/"))
        }
        try change(keys.map { ($0, nil) })
    }

    /// The names of tweaks in the order of ``categories``, of all where a level is `nil`.
    func keys(_ category: String?, _ collection: String?) -> [TweakKey] {
        categories.filter { category?.hasSameBytes(as: $0.name) ?? true }
            .flatMap(\.collections).filter { collection?.hasSameBytes(as: $0.name) ?? true }
            .flatMap { $0.tweaks.map(\.declaration.key) }
    }
}
