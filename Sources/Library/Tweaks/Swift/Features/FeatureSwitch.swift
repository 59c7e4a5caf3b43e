// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
public import TweakRecords

/// A feature that is switched on and off while the program runs.
///
///     let stereo = store.feature("awesome", "sound", "stereo")
///     if stereo.isEnabled { … }
///     try stereo.disable()
///
/// It is a Bool tweak of the category `Features`: `Features/awesome/enabled` for a feature,
/// `Features/awesome/sound` for a part of it, and for nested parts their names separated by slashes:
/// `Features/awesome/sound%2Fstereo`. A part is enabled only if all features that enclose it are.
/// `FBTweakFeature` in C, `#feature` in Swift, or a provider such as a ``FeaturesProvider`` declares it.
public struct FeatureSwitch: Sendable {
    /// The names of the enclosing features, outermost first, and its own.
    public let path: [String]
    private let store: TweakStore

    init(_ path: [String], in store: TweakStore) {
        self.path = path
        self.store = store
        store.startIfShared()
    }

    /// The name of the switch's tweak.
    public var key: TweakKey { PlacedFeature.key(of: path) }

    /// Whether the feature is on: its own switch and those of all enclosing features. ``ownValue`` is its own
    /// switch alone.
    ///
    /// An unknown feature is off, which is reported once. A feature that has only variables in a file, and no
    /// switch, is on.
    public var isEnabled: Bool {
        path.indices.allSatisfy { index in
            if let isOn = store.isOn(path[...index]) { return isOn }
            store.diagnostics.warn("\(store.unknown(PlacedFeature.key(of: path[...index])))")
            return false
        }
    }

    /// Whether the feature's own switch, which ``set(_:)`` sets, is on; `nil` if the feature is unknown. A
    /// feature whose switch is on can still be off, because an enclosing one is; see ``isEnabled``.
    public var ownValue: Bool? { store.isOn(path[...]) }

    /// Whether the feature's own switch is on.
    @available(*, deprecated, renamed: "ownValue")
    public var isOn: Bool? { ownValue }

    /// The feature's description for people.
    public var description: String? { (try? store.status(of: key))?.declaration.description }

    /// Switches the feature on and keeps the setting, even while the feature is unknown.
    ///
    /// - Throws: ``TweakError`` if the setting cannot be kept.
    public func enable() throws(TweakError) { try set(true) }

    /// Switches the feature off and keeps the setting, even while the feature is unknown.
    ///
    /// - Throws: ``TweakError`` if the setting cannot be kept.
    public func disable() throws(TweakError) { try set(false) }

    /// Switches the feature on or off and keeps the setting, even while the feature is unknown.
    ///
    /// - Throws: ``TweakError`` if the setting cannot be kept.
    public func set(_ isOn: Bool) throws(TweakError) {
        makeSwitch()
        try store.keep(isOn, for: key)
    }

    /// Resets the switch: removes its override, so that the next provider or the default decides.
    ///
    /// - Throws: ``TweakError`` if a provider cannot remove its value.
    public func reset() throws(TweakError) {
        makeSwitch()
        try store.keep(nil as Bool?, for: key)
    }

    /// Makes the switch of a feature that has only variables.
    private func makeSwitch() {
        if path.count == 1, store.hasOnlyVariables(path[0]) { _ = try? store.make(key, default: true) }
    }

    /// Calls a closure when ``isEnabled`` changes, also through an enclosing feature, on the thread that
    /// makes the change.
    ///
    /// The feature may be unknown, and may come and go with a provider's values.
    ///
    /// - Parameter body: Called with the new state.
    /// - Returns: The observation, which ends when it is released.
    public func observe(_ body: @escaping @Sendable (Bool) -> Void) -> TweakObservation {
        let isEnabled = { @Sendable in path.indices.allSatisfy { store.isOn(path[...$0]) ?? false } }
        let last = Guarded(isEnabled())
        return store.addObserver(of: [], andOfFeature: path.first) { _ in
            .together { _ in
                let state = isEnabled()
                let isNew = last.withLock { last in
                    defer { last = state }
                    return last != state
                }
                if isNew { body(state) }
            }
        }
    }
}

extension TweakStore {
    /// Returns whether the switch of a feature is on; `nil` if the feature is unknown.
    fileprivate func isOn(_ path: ArraySlice<String>) -> Bool? {
        let known: Bool? = (try? valueIfKnown(of: PlacedFeature.key(of: path))) ?? nil
        if let known { return known }
        return path.count == 1 && path.allSatisfy(hasOnlyVariables) ? true : nil
    }

    /// Returns whether providers have variables of a feature, and nothing declares its switch.
    fileprivate func hasOnlyVariables(_ feature: String) -> Bool {
        withDecodedState { state in
            state.tweaks[PlacedFeature.key(of: [feature])] == nil
                && state.tweaks.all.contains { tweak in
                    tweak.key.category == PlacedFeature.category
                        && tweak.key.collection.hasSameBytes(as: feature)
                        && state.layers.declaration(of: tweak.key) != nil
                }
        }
    }

    /// Returns the feature with this path: the names of the enclosing features, outermost first, and its own.
    public func feature(_ name: String, _ parts: String...) -> FeatureSwitch {
        FeatureSwitch([name] + parts, in: self)
    }

    /// Returns whether a feature and all features that enclose it are on.
    public func isFeatureEnabled(_ name: String, _ parts: String...) -> Bool {
        FeatureSwitch([name] + parts, in: self).isEnabled
    }

    /// Resets all features and their variables, as one change, including unknown ones.
    ///
    /// - Throws: ``TweakError/noTweaks(in:)`` if there are no features.
    public func resetAllFeatures() throws(TweakError) {
        let category = PlacedFeature.category
        let kept = state.withLock { state in
            state.layers[state.layers.keeper].keys.filter { $0.category.hasSameBytes(as: category) }
        }
        let keys = Set(keys(category, nil)).union(kept)
        guard !keys.isEmpty else { throw .noTweaks(in: category) }
        try change(keys.sorted().map { ($0, nil) })
    }
}
