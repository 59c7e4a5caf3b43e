// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    /// Finds a tweak by its name, declared in C or Swift, or made at run time.
    ///
    ///     let stiffness = try TweakStore.shared.tweak("Spring", "Physics", "Stiffness", as: Double.self)
    ///
    /// - Parameters:
    ///   - category: The first level of the name.
    ///   - collection: The second level.
    ///   - name: The third level.
    ///   - type: The tweak's type. A C `int` is an `Int32`, a `long` an `Int`.
    /// - Throws: ``TweakError/unknown(_:nearest:)`` or ``TweakError/otherType(_:asked:)``.
    @inlinable
    public func tweak<Value: TweakableValue>(
        _ category: String, _ collection: String, _ name: String, as type: Value.Type = Value.self
    ) throws(TweakError) -> Tweak<Value> {
        let found = try find(category, collection, name, Value.tweakType)
        guard found.isOptional == Value.tweakIsOptional else {
            throw .invalid(
                TweakKey(category, collection, name),
                reason: found.isOptional ? "it is optional" : "it is not optional")
        }
        guard let fallback = Value(tweakValue: found.defaultValue) else {
            throw .invalid(
                TweakKey(category, collection, name),
                reason: "its default, \(found.defaultValue), is not of type \(Value.self)")
        }
        return Tweak(cell: found.cell, default: fallback, in: isShared ? nil : self)
    }

    /// Finds a tweak by its name, as ``tweak(_:_:_:as:)`` does.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - type: The tweak's type.
    /// - Throws: ``TweakError/unknown(_:nearest:)``, ``TweakError/encrypted(_:)`` or ``TweakError/otherType(_:asked:)``.
    @inlinable
    public func tweak<Value: TweakableValue>(
        _ key: TweakKey, as type: Value.Type = Value.self
    ) throws(TweakError) -> Tweak<Value> {
        try tweak(key.category, key.collection, key.name)
    }

    @usableFromInline
    func find(
        _ category: String, _ collection: String, _ name: String, _ type: TweakType
    ) throws(TweakError) -> FoundTweak {
        // Repeated lookups are the most common case.
        if let found = state.withLock({ $0.tweaks.withEntry(category, collection, name) { $0.found } }),
            found.type == type
        {
            return found
        }
        let key = TweakKey(category, collection, name)
        let found = withDecodedState { state -> FoundTweak? in
            guard let entry = state.tweaks[key] else { return nil }
            _ = state.handle(of: entry)
            return entry.found
        }
        guard let found else {
            guard let monitor = state.withLock({ $0.tweaks[key]?.declaration }) else { throw unknown(key) }
            throw .refused(.isMonitor(monitor))
        }
        guard found.type == type else { throw .otherType(try declaration(of: key), asked: type) }
        return found
    }

    /// The name in the record with this cell.
    func key(ofCell cell: UInt) -> TweakKey {
        state.withLock { $0.key(ofCell: cell) }
    }

    func lastChange(of key: TweakKey) -> (change: TweakChange, time: Duration)? {
        state.withLock { $0.tweaks[key]?.lastChange }
    }
}

/// The data that a handle in Swift needs.
@usableFromInline
struct FoundTweak: Sendable {
    @usableFromInline let cell: UInt
    @usableFromInline let type: TweakType
    @usableFromInline let isOptional: Bool
    @usableFromInline let defaultValue: TweakValue
}
