// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    /// Finds a tweak by name, whether declared in C or Swift or made at run time.
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

    /// Finds a tweak by name, as ``tweak(_:_:_:as:)`` does.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - type: The tweak's type.
    /// - Throws: ``TweakError/unknown(_:nearest:)``, ``TweakError/encrypted(_:)`` or
    ///   ``TweakError/otherType(_:asked:)``.
    @inlinable
    public func tweak<Value: TweakableValue>(
        _ key: TweakKey, as type: Value.Type = Value.self
    ) throws(TweakError) -> Tweak<Value> {
        try tweak(key.category, key.collection, key.name)
    }
}
