// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// Changes that the program makes together; see ``TweakStore/batch(_:)``.
public struct TweakBatch {
    private let store: TweakStore
    private var values: [TweakKey: TweakValue?] = [:]
    private var order: [TweakKey] = []

    init(of store: TweakStore) { self.store = store }

    var changes: [(key: TweakKey, value: TweakValue?)] { order.map { ($0, values[$0] ?? nil) } }

    /// Sets a tweak of the batch's store when the batch ends.
    ///
    /// - Returns: The value as it will be applied: a number outside the limits is clamped.
    /// - Throws: ``TweakError`` if the tweak does not exist or refuses the value.
    @discardableResult
    public mutating func set<Value: TweakableValue>(
        _ value: Value, for tweak: Tweak<Value>
    ) throws(TweakError) -> Value {
        if tweak.cell == 0 { return tweak.fallback }
        let admission = try set(.value(value.tweakValue), of: Value.tweakType, for: tweak.key)
        return Value(tweakValue: admission.value) ?? value
    }

    /// Sets a tweak when the batch ends.
    ///
    /// - Returns: The value as it will be applied, and whether it was clamped to the limits.
    /// - Throws: ``TweakError`` if the tweak does not exist or refuses the value.
    @discardableResult
    public mutating func set(
        _ value: TweakValue, for key: TweakKey
    ) throws(TweakError) -> TweakDeclaration.Admission {
        try set(.value(value), for: key)
    }

    /// Resets a tweak when the batch ends.
    ///
    /// - Throws: ``TweakError`` if the tweak does not exist or is an action.
    public mutating func reset(_ key: TweakKey) throws(TweakError) {
        let declaration = try store.declaration(of: key)
        guard declaration.type != .action else { throw .refused(.isAction(declaration)) }
        add(nil, for: key)
    }

    /// Resets a tweak of the batch's store when the batch ends.
    ///
    /// - Throws: ``TweakError`` if nothing declares the tweak any more.
    public mutating func reset<Value: TweakableValue>(_ tweak: Tweak<Value>) throws(TweakError) {
        if tweak.cell != 0 { try reset(tweak.key) }
    }

    /// Returns the value that a tweak will have after the batch.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)`` if no tweak has this name.
    public func value(of key: TweakKey) throws(TweakError) -> TweakValue {
        let status = try store.storedStatus(of: key)
        guard let value = values[key] else { return status.value }
        return value ?? status.declaration.defaultValue
    }

    /// Returns the value that a tweak will have after the batch.
    public func value<Value: TweakableValue>(of tweak: Tweak<Value>) -> Value {
        (try? value(of: tweak.key)).flatMap(Value.init(tweakValue:)) ?? tweak.value
    }

    private mutating func set(
        _ value: ProvidedValue, of type: TweakType? = nil, for key: TweakKey
    ) throws(TweakError) -> TweakDeclaration.Admission {
        let declaration = try store.declaration(of: key)
        do throws(TweakValueError) {
            let admission = try value.admission(for: declaration, of: type)
            add(admission.value, for: key)
            return admission
        } catch {
            throw .refused(error)
        }
    }

    private mutating func add(_ value: TweakValue?, for key: TweakKey) {
        if values.updateValue(value, forKey: key) == nil { order.append(key) }
    }
}

extension TweakStore {
    /// Changes several tweaks together, or none.
    ///
    ///     try store.batch { batch in
    ///         try batch.set(240, for: stiffness)
    ///         try batch.set(12, for: damping)
    ///     }
    ///
    /// Tweaks keep their old values until the closure returns. Then all of them change, and observers are
    /// called: an observer of one tweak once, with its first and last value, and an observer of several
    /// tweaks once for all. If the closure throws, nothing changes and no observer is called. Changes that
    /// the closure makes without the batch take effect at once. If a provider cannot keep a value, that is
    /// reported.
    ///
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    public func batch<Result, Failure>(
        _ body: (inout TweakBatch) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var batch = TweakBatch(of: self)
        let result = try body(&batch)
        changeOrReport(batch.changes)
        return result
    }
}
