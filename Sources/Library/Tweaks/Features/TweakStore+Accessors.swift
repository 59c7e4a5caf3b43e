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
    ///   - title: What a person sees instead of the name.
    ///   - description: What it does, for a person.
    ///   - group: Under which heading a person finds it.
    public func tweak<Value: TweakableValue>(
        _ key: TweakKey, default: Value, title: String? = nil, description: String? = nil,
        group: String? = nil
    ) -> Tweak<Value> {
        do throws(TweakError) {
            do throws(TweakError) {
                return try make(key, `default`, texts: ["title": title, "doc": description, "group": group])
            } catch .exists {
                return try tweak(key)
            }
        } catch {
            diagnostics.warn("\(error)")
            return Tweak(__constant: `default`)
        }
    }
}
