internal import TweakFormats
internal import TweakRecords

extension TweakStore {
    /// The value of a variable of a feature, which is the tweak `Features/feature/variable`.
    ///
    ///     let limit = try store.value(ofFeature: "search", variable: "limit", as: Int.self)
    ///
    /// - Parameters:
    ///   - feature: The feature.
    ///   - variable: The variable.
    ///   - type: The type of the value. An integer is also a `Double`; nothing else is two things.
    /// - Throws: ``FeatureError``.
    public func value<Value: TweakableValue>(
        ofFeature feature: String, variable: String, as type: Value.Type = Value.self
    ) throws(FeatureError) -> Value {
        let key = TweakKey(PlacedFeature.category, feature, variable)
        let status: TweakStatus
        do throws(TweakError) { status = try self.status(of: key) } catch {
            guard state.withLock({ $0.layers.isEncrypted(key) }) else { throw .notFound(key) }
            throw .decryptionClosureNotProvided(key)
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
