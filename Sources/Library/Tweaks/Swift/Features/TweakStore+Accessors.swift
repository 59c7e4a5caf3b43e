// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

extension TweakStore {
    /// Returns the tweak of this name, and makes it unless something declares it. For generated accessors.
    ///
    ///     let awesome = TweakStore.shared.tweak(TweakKey("Features", "awesome", "enabled"), default: true)
    ///
    /// If the name belongs to a tweak of another type, the handle returns only the default, and the store
    /// logs that.
    ///
    /// - Parameters:
    ///   - key: The name.
    ///   - default: The default, used if the tweak is made.
    ///   - title: The name that people see.
    ///   - description: A description for people.
    ///   - group: The heading under which people see the tweak.
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
