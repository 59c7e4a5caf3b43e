// SPDX-License-Identifier: BSD-3-Clause
internal import TweakOverrides
internal import TweakRecords

extension TweakStore {
    /// Returns a preset of the current values.
    ///
    /// For a tweak with a lease the preset has the value that the lease hides, during a ramp the target, and
    /// otherwise the pending value if there is one.
    ///
    /// - Parameters:
    ///   - name: The preset's name, for people.
    ///   - category: The category to include; `nil` for all.
    ///   - includingDefaults: Whether the preset includes values that equal their defaults.
    public func preset(
        named name: String, of category: String? = nil, includingDefaults: Bool = false
    ) -> TweakPreset {
        var preset = TweakPreset(name: name)
        for tweak in lastingStatuses() where tweak.declaration.hasKeptValue {
            let key = tweak.declaration.key
            guard category?.hasSameBytes(as: key.category) ?? true else { continue }
            let value = tweak.pendingValue ?? tweak.value
            if includingDefaults || value != tweak.declaration.defaultValue {
                preset.values.set(value, for: key)
            }
        }
        return preset
    }

    /// Sets the values of a preset, as one change, and keeps them as overrides.
    ///
    /// If a tweak refuses its value, the others are still set.
    ///
    /// - Parameters:
    ///   - preset: The values.
    ///   - resettingOthers: Whether tweaks that are not in the preset are reset.
    /// - Returns: The tweaks that were set, and the others with reasons.
    @discardableResult
    public func apply(_ preset: TweakPreset, resettingOthers: Bool = false) -> TweakReport {
        apply(preset.values.keys.sorted(), resettingOthers: resettingOthers) {
            (declaration) throws(TweakError) in
            do throws(TweakValueError) {
                return try preset.values.admission(for: declaration).map { .set($0) } ?? .keep
            } catch {
                throw .refused(error)
            }
        }
    }
}
