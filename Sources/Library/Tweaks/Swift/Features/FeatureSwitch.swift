// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
public import TweakRecords

/// A feature that is switched on and off while the program runs.
///
///     let stereo = store.feature("awesome", "sound", "stereo")
///     if stereo.isEnabled { … }
///     try stereo.disable()
///
/// It is a Bool tweak of the category `Features`: `Features/awesome/enabled` for a feature, `Features/awesome/sound`
/// for a part of it, and for nested parts their names separated by slashes: `Features/awesome/sound%2Fstereo`. A part
/// is only enabled if the features around it are. `FBTweakFeature` in C, `#feature` in Swift, or a provider such as a
/// ``FeaturesProvider`` declares it.
public struct FeatureSwitch: Sendable {
    /// The names of the enclosing features, outermost first, and its own.
    public let path: [String]
    private let store: TweakStore

    init(_ path: [String], in store: TweakStore) {
        self.path = path
        self.store = store
        store.startIfShared()
    }

    /// The tweak.
    public var key: TweakKey { PlacedFeature.key(of: path) }

    /// Whether the feature is on: its own switch, and those of all features around it. ``ownValue`` is its own switch alone.
    ///
    /// An unknown feature is off, and that is reported once. One that has only variables in a file, and no switch, is on.
    public var isEnabled: Bool {
        path.indices.allSatisfy { index in
            if let isOn = store.isOn(path[...index]) { return isOn }
            store.diagnostics.warn("\(store.unknown(PlacedFeature.key(of: path[...index])))")
            return false
        }
    }

    /// The value of its own switch, which ``set(_:)`` sets; `nil` if the feature is unknown. A feature whose switch is on
    /// can be off, because one around it is: see ``isEnabled``.
    public var ownValue: Bool? { store.isOn(path[...]) }

    /// The value of its own switch.
    @available(*, deprecated, renamed: "ownValue")
    public var isOn: Bool? { ownValue }

    /// Its description for people.
    public var description: String? { (try? store.status(of: key))?.declaration.description }

    /// Switches the feature on and keeps that, even while the feature is unknown.
    ///
    /// - Throws: ``TweakError`` if that cannot be kept.
    public func enable() throws(TweakError) { try set(true) }

    /// Switches the feature off and keeps that, even while the feature is unknown.
    ///
    /// - Throws: ``TweakError`` if that cannot be kept.
    public func disable() throws(TweakError) { try set(false) }

    /// Switches the feature on or off and keeps that, even while the feature is unknown.
    ///
    /// - Throws: ``TweakError`` if that cannot be kept.
    public func set(_ isOn: Bool) throws(TweakError) {
        makeSwitch()
        try store.keep(isOn, for: key)
    }

    /// Resets the switch: without an override it has the value of the next provider, or its default.
    ///
    /// - Throws: ``TweakError`` if a provider cannot give up its value.
    public func reset() throws(TweakError) {
        makeSwitch()
        try store.keep(nil as Bool?, for: key)
    }

    /// Makes the switch of a feature that has only variables.
    private func makeSwitch() {
        if path.count == 1, store.hasOnlyVariables(path[0]) { _ = try? store.make(key, default: true) }
    }

    /// Calls back when ``isEnabled`` changes, also through a feature around it, on the thread that makes the change.
    /// The feature may be unknown yet, and may come and go with a provider's values.
    ///
    /// - Parameter body: Called with the new state.
    /// - Returns: The observation, which lasts as long as it is held.
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

    /// The feature with these names of enclosing features and its own.
    public func feature(_ name: String, _ parts: String...) -> FeatureSwitch {
        FeatureSwitch([name] + parts, in: self)
    }

    /// Returns whether the feature and all features around it are on.
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
