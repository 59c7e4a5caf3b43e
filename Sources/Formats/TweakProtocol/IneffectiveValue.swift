// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// A tweak without the value that a change gave it, because another provider takes precedence or the value waits.
package struct IneffectiveValue: JSONStructure, Sendable {
    package var tweak: TweakKey
    /// The current value, and its provider.
    package var value: JSONValue
    package var source: String
    /// The value that waits for a restart or a gate; `nil` if none does.
    package var pendingValue: JSONValue?
    /// The name of the tweak's gate, or `nil`.
    package var gate: String?
    /// The lease that gives the current value, or `nil`.
    package var lease: JSONLease?

    package init(
        tweak: TweakKey, value: JSONValue, source: String, pendingValue: JSONValue? = nil,
        gate: String? = nil,
        lease: JSONLease? = nil
    ) {
        (self.tweak, self.value, self.source) = (tweak, value, source)
        (self.pendingValue, self.gate, self.lease) = (pendingValue, gate, lease)
    }

    /// The state of a tweak.
    package init(_ tweak: JSONTweak) {
        self.init(
            tweak: tweak.declaration.key, value: .scalar(tweak.value ?? .nothing), source: tweak.source ?? "",
            pendingValue: tweak.pendingValue.map { .scalar($0) }, gate: tweak.gate, lease: tweak.lease)
    }
}

extension IneffectiveValue {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        value = try members.read("value")
        source = try members.read("source")
        pendingValue = try members.readIfPresent("pendingValue")
        gate = try members.readIfPresent("gate")
        lease = try members.readIfPresent("lease")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("gate", gate)
        writer.member("lease", lease)
        writer.member("pendingValue", pendingValue)
        writer.member("source", source)
        writer.member("tweak", tweak)
        writer.member("value", value)
    }
}
