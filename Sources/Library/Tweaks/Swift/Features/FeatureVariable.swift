// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
public import TweakRecords

/// A property backed by a variable of a feature.
///
///     @FeatureVariable("search", "limit") var limit = 20                         // declares the variable
///     @FeatureVariable("search", "title", fallback: "Search") var title: String  // declared elsewhere
///
/// The initial value is the default of the tweak `Features/search/limit`, which the property makes unless the
/// program already has it. The tweak has the property's type, whatever a file of variables contains: a `1`
/// there can be a `Double`. Setting the property keeps an override. If the program declares the variable with
/// another type, the property returns its default, which is reported once.
@propertyWrapper
public struct FeatureVariable<Value: TweakableValue>: Sendable {
    /// The name of the variable's tweak.
    public let key: TweakKey
    @usableFromInline let fallback: Value
    @usableFromInline let store: TweakStore

    /// Declares a variable, whose default is the property's initial value.
    @_alwaysEmitIntoClient
    public init(
        wrappedValue: Value, _ feature: String, _ variable: String, description: String? = nil,
        store: TweakStore = .shared
    ) {
        self.init(feature, variable, fallback: wrappedValue, store: store)
        // A concurrent declaration is fine, too.
        _ = try? store.make(key, default: wrappedValue, description: description)
    }

    /// Uses a variable that is declared elsewhere.
    ///
    /// - Parameters:
    ///   - feature: The feature.
    ///   - variable: The variable.
    ///   - fallback: The property's value while nothing declares the variable.
    ///   - store: The store of the tweak.
    @_alwaysEmitIntoClient
    public init(_ feature: String, _ variable: String, fallback: Value, store: TweakStore = .shared) {
        key = TweakKey(feature: feature, variable: variable)
        self.fallback = fallback
        self.store = store
    }

    /// The current value. Setting it keeps an override, even while nothing declares the variable; a refused
    /// value is reported.
    public var wrappedValue: Value {
        get {
            do throws(TweakError) { return try store.valueIfKnown(of: key) ?? fallback } catch {
                store.diagnostics.warn("\(error); the property has its default")
                return fallback
            }
        }
        nonmutating set { store.setOrReport(newValue, for: key) }
    }

    /// The property wrapper, for ``key`` and ``reset()``.
    public var projectedValue: Self { self }

    /// Resets the variable: removes its override, so that the next provider or the default decides.
    ///
    /// - Throws: ``TweakError`` if nothing declares the variable.
    public func reset() throws(TweakError) { try store.reset(key) }

    /// Calls a closure when the property changes, on the thread that makes the change.
    ///
    /// Every change counts, whoever makes it. Providers of the variable may come and go.
    ///
    ///     observation = $limit.observe { limit in print(limit) }
    ///
    /// - Parameter body: Called with the new value.
    /// - Returns: The observation, which ends when it is released.
    public func observe(_ body: @escaping @Sendable (Value) -> Void) -> TweakObservation {
        let fallback = fallback
        return store.observeVariable(key, fallback: fallback) { body($0 ?? fallback) }
    }
}

/// A property backed by a variable of a feature; `nil` if there is no such variable of this type.
///
///     @OptionalFeatureVariable("search", "limit") var limit: Int?
///
/// Setting the property keeps an override, and setting it to `nil` resets it. While nothing declares the
/// variable, the property has the kept value.
@propertyWrapper
public struct OptionalFeatureVariable<Value: TweakableValue>: Sendable {
    /// The name of the variable's tweak.
    public let key: TweakKey
    @usableFromInline let store: TweakStore

    /// Uses a variable that is declared elsewhere.
    @_alwaysEmitIntoClient
    public init(_ feature: String, _ variable: String, store: TweakStore = .shared) {
        key = TweakKey(feature: feature, variable: variable)
        self.store = store
    }

    /// The current value. A refused value is reported.
    public var wrappedValue: Value? {
        get { (try? store.valueIfKnown(of: key)) ?? nil }
        nonmutating set { store.setOrReport(newValue, for: key) }
    }

    /// The property wrapper, for ``key``, ``reset()`` and ``observe(_:)``.
    public var projectedValue: Self { self }

    /// Resets the variable, even while nothing declares it. Setting the property to `nil` does the same, but
    /// reports errors instead of throwing them.
    ///
    /// - Throws: ``TweakError`` if a provider cannot remove its value.
    public func reset() throws(TweakError) { try store.keep(nil as Value?, for: key) }

    /// Calls a closure when the property changes, as ``FeatureVariable/observe(_:)`` does.
    ///
    /// - Parameter body: Called with the new value; `nil` if there is none.
    /// - Returns: The observation, which ends when it is released.
    public func observe(_ body: @escaping @Sendable (Value?) -> Void) -> TweakObservation {
        store.observeVariable(key, fallback: nil, body)
    }
}

extension TweakStore {
    /// Sets a variable of a feature, and keeps the value.
    ///
    ///     try store.set(30, ofFeature: "search", variable: "limit")
    ///
    /// A value for an undeclared variable, which ``set(_:for:)`` refuses, is kept too, and applies when
    /// something declares the variable.
    ///
    /// - Parameters:
    ///   - value: The value; `nil` resets the variable.
    ///   - feature: The feature.
    ///   - variable: The variable.
    /// - Throws: ``TweakError`` if the variable cannot take the value.
    public func set<Value: TweakableValue>(
        _ value: Value?, ofFeature feature: String, variable: String
    ) throws(TweakError) {
        try keep(value, for: TweakKey(feature: feature, variable: variable))
    }

    fileprivate func setOrReport<Value: TweakableValue>(_ value: Value?, for key: TweakKey) {
        do throws(TweakError) { try keep(value, for: key) } catch { diagnostics.warn("\(error)") }
    }

    /// Sets a value, or resets with `nil`. A value for an undeclared variable is kept too, and applies when
    /// something declares it.
    func keep<Value: TweakableValue>(_ value: Value?, for key: TweakKey) throws(TweakError) {
        startIfShared()
        ask(withDecodedState { $0.feedsToAsk(about: key) }, about: key)
        let known = withDecodedState { state in
            state.tweaks[key].map { (declaration: $0.declaration, isProvided: $0.isProvided) }
        }
        guard let value else { return known == nil ? try change([(key, nil)]) : try reset(key) }
        guard let known else { return try change([(key, try admitted(value, for: key))]) }
        // The file may contain it as an integer or a string.
        if known.isProvided, known.declaration.type != Value.tweakType,
            let provided = Value(tweakValue: known.declaration.defaultValue)
        {
            _ = try? make(key, default: provided)
        }
        try set(value.tweakValue, for: key)
    }

    /// Queries the providers that cannot list their names about an undeclared variable.
    private func ask(_ feeds: [ProviderFeed], about key: TweakKey) {
        for feed in feeds { feed.report(.tweaks([key])) }
    }

    /// - Parameter fallback: The value to report where there is none.
    fileprivate func observeVariable<Value: TweakableValue>(
        _ key: TweakKey, fallback: Value?, _ body: @escaping @Sendable (Value?) -> Void
    ) -> TweakObservation {
        let value = { @Sendable () -> Value? in (try? self.valueIfKnown(of: key)) ?? fallback }
        let last = Guarded(value()?.tweakValue)
        return addObserver(of: [key]) { _ in
            .together { _ in
                let new = value()
                let isNew = last.withLock { last in
                    defer { last = new?.tweakValue }
                    return last != new?.tweakValue
                }
                if isNew { body(new) }
            }
        }
    }

    /// Returns the value as a tweak of exactly this type would accept it.
    private func admitted<Value: TweakableValue>(
        _ value: Value, for key: TweakKey
    ) throws(TweakError) -> TweakValue {
        let (type, value) = (Value.tweakType, value.tweakValue)
        do throws(TweakValueError) {
            return try TweakDeclaration(key: key, type: type, defaultValue: value).admit(value).value
        } catch {
            throw .refused(error)
        }
    }
}

extension TweakKey {
    /// Creates the name of a feature's variable: `Features/feature/variable`.
    public init(feature: String, variable: String) {
        self.init(PlacedFeature.category, feature, variable)
    }
}

extension TweakStore {
    /// Returns the value of a feature's variable: the tweak `Features/feature/variable`.
    ///
    ///     let limit = try store.value(ofFeature: "search", variable: "limit", as: Int.self)
    ///
    /// For an undeclared variable it is the value that providers have, a person's override first.
    ///
    /// - Parameters:
    ///   - feature: The feature.
    ///   - variable: The variable.
    ///   - type: The type of the value. An integer can be read as a `Double`; there is no other conversion.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)``, ``TweakError/otherType(_:asked:)`` or
    ///   ``TweakError/encrypted(_:)``.
    public func value<Value: TweakableValue>(
        ofFeature feature: String, variable: String, as type: Value.Type = Value.self
    ) throws(TweakError) -> Value {
        let key = TweakKey(feature: feature, variable: variable)
        guard let value: Value = try valueIfKnown(of: key) else { throw unknown(key) }
        return value
    }

    /// The value of a variable, or `nil`.
    func valueIfKnown<Value: TweakableValue>(of key: TweakKey) throws(TweakError) -> Value? {
        startIfShared()
        let (found, opinions, isEncrypted, unasked) = withDecodedState { state in
            let found = state.tweaks[key].map { (declaration: $0.declaration, value: $0.value) }
            return (
                found, found == nil ? state.layers.opinions(on: key) : [], state.layers.isEncrypted(key),
                state.feedsToAsk(about: key)
            )
        }
        guard unasked.isEmpty else {
            ask(unasked, about: key)
            return try valueIfKnown(of: key)
        }
        guard let found else {
            for case .value(let kept) in opinions.lazy.map(\.provided) {
                if let value = Value(tweakValue: kept) { return value }
            }
            if isEncrypted { throw .encrypted(key) }
            return nil
        }
        let value = ScopedValues.current?.value(of: key, in: self) ?? found.value
        if let value = Value(tweakValue: value) { return value }
        throw .otherType(found.declaration, asked: Value.tweakType)
    }

    /// Returns the value of a feature's variable, or `nil` if there is none of this type.
    public func valueIfAny<Value: TweakableValue>(
        ofFeature feature: String, variable: String, as type: Value.Type = Value.self
    ) -> Value? {
        (try? valueIfKnown(of: TweakKey(feature: feature, variable: variable))) ?? nil
    }
}
