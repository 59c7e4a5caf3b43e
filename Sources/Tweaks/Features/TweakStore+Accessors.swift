public import TweakRecords

extension TweakStore {
    /// The tweak of a name, which is made unless something declares it. For generated accessors.
    ///
    ///     let awesome = TweakStore.shared.tweak(TweakKey("Features", "awesome", "enabled"), default: true)
    ///
    /// If there is a tweak of this name and another type, the handle has the default and nothing else, and the store's
    /// logger says so.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The value of the tweak that nobody has changed, if it has to be made.
    ///   - description: What it does, for a person.
    public func tweak<Value: TweakableValue>(
        _ key: TweakKey, default: Value, description: String? = nil
    ) -> Tweak<Value> {
        do throws(TweakError) {
            do throws(TweakError) {
                return try make(
                    key.category, key.collection, key.name, default: `default`, description: description)
            } catch .exists {
                return try tweak(key.category, key.collection, key.name)
            }
        } catch {
            diagnostics.warn("\(error)")
            return Tweak(__constant: `default`)
        }
    }
}
