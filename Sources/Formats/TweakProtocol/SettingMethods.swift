// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// The end of values that are leased, and the way to them. Its members are parameters of ``ChangeTweaks``,
/// ``SetTweak`` and ``SetManyTweaks``.
package struct SetDurations: Sendable {
    /// The event that ends a lease.
    package enum End: String, CaseIterable, JSONReadable, JSONWritable, Sendable {
        /// The end of the client's connection.
        case closed
    }

    /// The event that ends the lease.
    package var end: End?
    /// The seconds after which the lease ends.
    package var lease: Double?
    /// The seconds until the values are reached.
    package var ramp: Double?

    package init(until end: End? = nil, for lease: Double? = nil, ramp: Double? = nil) {
        (self.end, self.lease, self.ramp) = (end, lease, ramp)
    }

    /// Reads `until`, `for` and `ramp` among the parameters of a method.
    init(_ members: JSONMembers) throws(JSONError) {
        end = try members.readIfPresent("until")
        lease = try members.readIfPresent("for")
        ramp = try members.readIfPresent("ramp")
    }

    /// Whether the values are leased.
    package var areLeased: Bool { end != nil || lease != nil }
    /// Whether the values are set in the usual way.
    package var areNone: Bool { !areLeased && ramp == nil }
}

/// Sets a tweak: also for the next start, or for some time.
package struct SetTweak: ControlMethod {
    package static let method = ControlMethodName.set
    package static let parameters: [ByteText] = ["tweak", "value", "text", "until", "for", "ramp"]

    package var tweak: TweakKey
    /// A JSON value of the tweak's type. Either this or ``text`` is set.
    package var value: JSONValue?
    /// Text as people type it.
    package var text: String?
    package var durations = SetDurations()
    package var endsWithConnection: Bool { durations.end == .closed }

    package struct Answer: JSONStructure, Sendable {
        package var tweak: TweakKey
        /// The current value.
        package var value: JSONValue
        /// Whether the given value was outside the limits and was clamped.
        package var wasClamped: Bool
        /// The provider of the current value.
        package var source: String
        /// The new value, if the tweak needs a restart or waits for a gate.
        package var pendingValue: JSONValue?
        /// The lease that gives the current value, or `nil`.
        package var lease: JSONLease?
        /// The way to the new value, or `nil`.
        package var ramp: JSONRamp?

        package init(
            tweak: TweakKey, value: JSONValue, wasClamped: Bool, source: String,
            pendingValue: JSONValue? = nil
        ) {
            self.tweak = tweak
            self.value = value
            self.wasClamped = wasClamped
            self.source = source
            self.pendingValue = pendingValue
        }
    }

    package init(tweak: TweakKey, value: JSONValue, _ durations: SetDurations = SetDurations()) {
        (self.tweak, self.value, self.durations) = (tweak, value, durations)
    }
    package init(tweak: TweakKey, text: String, _ durations: SetDurations = SetDurations()) {
        (self.tweak, self.text, self.durations) = (tweak, text, durations)
    }
}

extension SetTweak {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        value = try members.readIfPresent("value")
        text = try members.readIfPresent("text")
        durations = try SetDurations(members)
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("for", durations.lease)
        writer.member("ramp", durations.ramp)
        writer.member("text", text)
        writer.member("tweak", tweak)
        writer.member("until", durations.end)
        writer.member("value", value)
    }
}

extension SetTweak.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        value = try members.read("value")
        wasClamped = try members.read("wasClamped")
        source = try members.read("source")
        pendingValue = try members.readIfPresent("pendingValue")
        lease = try members.readIfPresent("lease")
        ramp = try members.readIfPresent("ramp")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("lease", lease)
        writer.member("pendingValue", pendingValue)
        writer.member("ramp", ramp)
        writer.member("source", source)
        writer.member("tweak", tweak)
        writer.member("value", value)
        writer.member("wasClamped", wasClamped)
    }
}

/// Removes overrides as one change: of a tweak, of a category or a collection in it, or of all tweaks.
package struct ResetTweaks: ControlMethod {
    package static let method = ControlMethodName.reset
    package static let parameters: [ByteText] = ["tweak", "category", "collection", "all", "leases"]

    /// Leases to end instead.
    package enum Leases: String, CaseIterable, JSONReadable, JSONWritable, Sendable {
        /// The leases that end with the client's connection.
        case own
        /// The leases of all clients.
        case all
    }

    package var tweak: TweakKey?
    package var category: String?
    package var collection: String?
    package var all: Bool?
    package var leases: Leases?

    package struct Answer: JSONStructure, Sendable {
        /// The number of overrides removed, or of leases ended.
        package var reset: Int
        /// The tweaks without their default nevertheless; `nil` if all have it.
        package var ineffective: [IneffectiveValue]?

        package init(reset: Int, ineffective: [IneffectiveValue]? = nil) {
            (self.reset, self.ineffective) = (reset, ineffective)
        }
    }

    package init(
        tweak: TweakKey? = nil, category: String? = nil, collection: String? = nil, all: Bool? = nil,
        leases: Leases? = nil
    ) {
        self.tweak = tweak
        self.category = category
        self.collection = collection
        self.all = all
        self.leases = leases
    }
}

extension ResetTweaks {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.readIfPresent("tweak")
        category = try members.readIfPresent("category")
        collection = try members.readIfPresent("collection")
        all = try members.readIfPresent("all")
        leases = try members.readIfPresent("leases")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("all", all)
        writer.member("category", category)
        writer.member("collection", collection)
        writer.member("leases", leases)
        writer.member("tweak", tweak)
    }
}

extension ResetTweaks.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        reset = try members.read("reset")
        ineffective = try members.readIfPresent("ineffective")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("ineffective", ineffective)
        writer.member("reset", reset)
    }
}

/// Sets several tweaks, as one change. Refused values are reported, and the others are set, unless `allOrNothing` is
/// true.
package struct SetManyTweaks: ControlMethod {
    package static let method = ControlMethodName.setMany
    package static let parameters: [ByteText] = [
        "values", "resettingOthers", "allOrNothing", "until", "for", "ramp",
    ]

    /// The values; in JSON by category, collection and name, as in an overrides file.
    package var values: [TweakKey: JSONValue]
    /// Whether all other tweaks are reset to their defaults.
    package var resettingOthers: Bool?
    /// Whether nothing changes if one of the values cannot be set.
    package var allOrNothing: Bool?
    package var durations = SetDurations()
    package var endsWithConnection: Bool { durations.end == .closed }

    package struct Answer: JSONStructure, Sendable {
        package struct Refusal: JSONStructure, Sendable {
            package var tweak: TweakKey
            package var message: String

            package init(tweak: TweakKey, message: String) {
                self.tweak = tweak
                self.message = message
            }
        }

        /// The tweaks that were set.
        package var applied: [TweakKey]
        /// The tweaks among them whose values were clamped.
        package var clamped: [TweakKey]
        /// Names of tweaks that the program does not have.
        package var unknown: [TweakKey]
        /// The tweaks that refused their values, with reasons.
        package var refused: [Refusal]
        /// The tweaks that were set or reset and do not have the new value; `nil` if all have it.
        package var ineffective: [IneffectiveValue]?

        package init(applied: [TweakKey], clamped: [TweakKey], unknown: [TweakKey], refused: [Refusal]) {
            self.applied = applied
            self.clamped = clamped
            self.unknown = unknown
            self.refused = refused
        }
    }

    package init(
        values: [TweakKey: JSONValue], resettingOthers: Bool? = nil, allOrNothing: Bool? = nil,
        _ durations: SetDurations = SetDurations()
    ) {
        self.values = values
        self.resettingOthers = resettingOthers
        self.allOrNothing = allOrNothing
        self.durations = durations
    }
}

extension SetManyTweaks.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        applied = try members.read("applied")
        clamped = try members.read("clamped")
        unknown = try members.read("unknown")
        refused = try members.read("refused")
        ineffective = try members.readIfPresent("ineffective")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("applied", applied)
        writer.member("clamped", clamped)
        writer.member("ineffective", ineffective)
        writer.member("refused", refused)
        writer.member("unknown", unknown)
    }
}

extension SetManyTweaks.Answer.Refusal {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        message = try members.read("message")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("message", message)
        writer.member("tweak", tweak)
    }
}

extension SetManyTweaks {
    package init(members: JSONMembers) throws(JSONError) {
        resettingOthers = try members.readIfPresent("resettingOthers")
        allOrNothing = try members.readIfPresent("allOrNothing")
        durations = try SetDurations(members)
        let categories: [ByteText: [ByteText: JSONObject]] = try members.read("values")
        values = [:]
        for (category, collections) in categories {
            for (collection, names) in collections {
                for (name, value) in names {
                    values[TweakKey(category.text, collection.text, name.text)] = value
                }
            }
        }
    }

    package func writeMembers(to writer: inout JSONWriter) {
        var categories: [ByteText: [ByteText: JSONObject]] = [:]
        for (key, value) in values {
            let (category, collection) = (ByteText(key.category), ByteText(key.collection))
            categories[category, default: [:]][collection, default: [:]][key.name] = value
        }
        writer.member("allOrNothing", allOrNothing)
        writer.member("for", durations.lease)
        writer.member("ramp", durations.ramp)
        writer.member("resettingOthers", resettingOthers)
        writer.member("until", durations.end)
        writer.member("values", categories)
    }
}
