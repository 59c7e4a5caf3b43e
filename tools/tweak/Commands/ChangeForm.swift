// SPDX-License-Identifier: BSD-3-Clause
import TweakClient
import TweakProtocol
import TweakRecords

/// The JSON form of a change of a tweak, with the members that answers of `change` have. Scripts rely on its keys.
struct ChangeForm: Encodable {
    let tweak: TweakKey
    let oldValue, newValue, pendingValue: TweakValue?
    let source: String?
    let lease: JSONLease?
    let ramp: JSONRamp?
    /// The limit that the value was moved to.
    var clampedTo: String?
    /// The process.
    var pid: Int32?
    /// The place in the sources that gave the value.
    var declared: String?

    init(_ change: ChangedTweak) {
        self.init(from: change.before, to: change.after)
        clampedTo = change.effect.clampedTo?.rawValue
    }

    init(from before: JSONTweak, to after: JSONTweak) {
        (tweak, oldValue) = (after.declaration.key, before.value)
        (newValue, pendingValue, source) = (after.value, after.pendingValue, after.source)
        (lease, ramp) = (after.lease, after.ramp)
    }
}
