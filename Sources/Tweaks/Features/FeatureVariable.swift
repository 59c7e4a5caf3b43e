internal import TweakFormats
public import TweakRecords

/// A property that is a variable of a feature.
///
///     @FeatureVariable("search", "limit") var limit = 20                         // declares the variable
///     @FeatureVariable("search", "title", fallback: "Search") var title: String  // of whoever declares it
///
/// The initial value is the default of the tweak `Features/search/limit`, which is made when the property is, unless the
/// program has it already. It is of the property's type, whatever a file of variables says: a `1` there is also a `Double`.
/// Setting the property keeps an override. If the program declares the variable with another type, the property has its
/// default, and that is reported once.
@propertyWrapper
public struct FeatureVariable<Value: TweakableValue>: Sendable {
    /// The tweak.
    public let key: TweakKey
    private let fallback: Value
    private let store: TweakStore

    /// Declares a variable.
    public init(
        wrappedValue: Value, _ feature: String, _ variable: String, description: String? = nil,
        store: TweakStore = .shared
    ) {
        self.init(feature, variable, fallback: wrappedValue, store: store)
        // Whoever was faster declares it.
        _ = try? store.make(
            key.category, key.collection, key.name, default: wrappedValue, description: description)
    }

    /// Uses a variable that others declare.
    ///
    /// - Parameters:
    ///   - feature: The feature.
    ///   - variable: The variable.
    ///   - fallback: What the property is if nobody does.
    ///   - store: Where the tweak is.
    public init(_ feature: String, _ variable: String, fallback: Value, store: TweakStore = .shared) {
        key = TweakKey(PlacedFeature.category, feature, variable)
        self.fallback = fallback
        self.store = store
    }

    /// The current value. Setting it keeps an override, also while nothing declares the variable; what cannot be set is
    /// reported.
    public var wrappedValue: Value {
        get {
            do throws(FeatureError) {
                return try store.value(ofFeature: key.collection, variable: key.name)
            } catch {
                if case .notFound = error {
                } else {
                    store.diagnostics.warn("\(error); the property has its default")
                }
                return fallback
            }
        }
        nonmutating set { store.setOrReport(newValue, for: key) }
    }

    /// The property wrapper, for ``key`` and ``reset()``.
    public var projectedValue: Self { self }

    /// Takes the override away.
    ///
    /// - Throws: ``TweakError`` if nobody declares the variable.
    public func reset() throws(TweakError) { try store.reset(key) }
}

/// A property that is a variable of a feature, or `nil` if there is no such variable of this type.
///
///     @OptionalFeatureVariable("search", "limit") var limit: Int?
///
/// Setting the property keeps an override, and setting it to `nil` takes that away. While nothing declares the variable the
/// property has what is kept.
@propertyWrapper
public struct OptionalFeatureVariable<Value: TweakableValue>: Sendable {
    /// The tweak.
    public let key: TweakKey
    private let store: TweakStore

    /// Uses a variable that others declare.
    public init(_ feature: String, _ variable: String, store: TweakStore = .shared) {
        key = TweakKey(PlacedFeature.category, feature, variable)
        self.store = store
    }

    /// The current value. What cannot be set is reported.
    public var wrappedValue: Value? {
        get { store.valueIfAny(ofFeature: key.collection, variable: key.name) }
        nonmutating set { store.setOrReport(newValue, for: key) }
    }
}

extension TweakStore {
    /// Sets, or resets with `nil`. What nothing declares is kept too, and counts when something does.
    fileprivate func setOrReport<Value: TweakableValue>(_ value: Value?, for key: TweakKey) {
        let known = withDecodedState { state in
            state.tweaks[key].map { (declaration: $0.declaration, isProvided: $0.isProvided) }
        }
        do throws(TweakError) {
            guard let value else { return known == nil ? try change([(key, nil)]) : try reset(key) }
            guard let known else { return try change([(key, try admitted(value, for: key))]) }
            // In the file it may be written as an integer, or as text.
            if known.isProvided, known.declaration.type != Value.tweakType,
                let provided = Value(tweakValue: known.declaration.defaultValue)
            {
                _ = try? make(key.category, key.collection, key.name, default: provided)
            }
            try set(value.tweakValue, for: key)
        } catch {
            diagnostics.warn("\(error)")
        }
    }

    /// The form in which a tweak of just this type would take a value.
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

extension TweakStore {
    /// The value of a variable of a feature, which is the tweak `Features/feature/variable`.
    ///
    ///     let limit = try store.value(ofFeature: "search", variable: "limit", as: Int.self)
    ///
    /// - Parameters:
    ///   - feature: The feature.
    ///   - variable: The variable.
    ///   - type: The type of the value. An integer is also a `Double`; nothing else is two things.
    /// A variable that nothing declares has what providers have for it, a person's first.
    ///
    /// - Throws: ``FeatureError``.
    public func value<Value: TweakableValue>(
        ofFeature feature: String, variable: String, as type: Value.Type = Value.self
    ) throws(FeatureError) -> Value {
        let key = TweakKey(PlacedFeature.category, feature, variable)
        let status: TweakStatus
        do throws(TweakError) { status = try self.status(of: key) } catch {
            let (opinions, isEncrypted) = state.withLock {
                ($0.layers.opinions(on: key), $0.layers.isEncrypted(key))
            }
            for case .value(let kept) in opinions.lazy.map(\.provided) {
                if let value = Value(tweakValue: kept) { return value }
            }
            throw isEncrypted ? .decryptionClosureNotProvided(key) : .notFound(key)
        }
        guard let value = Value(tweakValue: status.value) else {
            throw .notSupported(key, is: status.declaration.type, asked: Value.tweakType)
        }
        return value
    }

    /// The value of a variable of a feature, or `nil` if there is none of the type.
    public func valueIfAny<Value: TweakableValue>(
        ofFeature feature: String, variable: String, as type: Value.Type = Value.self
    ) -> Value? {
        try? value(ofFeature: feature, variable: variable)
    }
}

/// Why a variable of a feature has no value of the type that was asked for.
public enum FeatureError: Error, Hashable {
    /// No tweak has this name, in any provider or binary.
    case notFound(TweakKey)
    /// The variable is of another type.
    case notSupported(TweakKey, is: TweakType, asked: TweakType)
    /// The value is encrypted, and its provider has no closure that decrypts it.
    case decryptionClosureNotProvided(TweakKey)
}

extension FeatureError: CustomStringConvertible {
    /// What was asked for, and what is there.
    public var description: String {
        switch self {
        case .notFound(let key): "\(key): there is no such variable"
        case .notSupported(let key, let type, let asked): "\(key): it is of type \(type), not \(asked)"
        case .decryptionClosureNotProvided(let key):
            "\(key): the value is encrypted, and its provider was made without a closure that decrypts it"
        }
    }
}
