// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// A method of the protocol. The members are its parameters.
package protocol ControlMethod: Codable, Sendable {
    /// The result of the method.
    associatedtype Answer: Codable, Sendable
    associatedtype CodingKeys: CodingKey, CaseIterable

    static var name: String { get }
    /// Whether it sets values. Then a thread that may call observers executes it, and the answer says whether the
    /// values are kept.
    static var setsValues: Bool { get }
    /// Whether its values last until the client's connection is closed.
    var endsWithConnection: Bool { get }
    /// Whether the answer depends on who asks.
    static var isAttributed: Bool { get }
}

extension ControlMethod {
    package var endsWithConnection: Bool { false }
    package static var setsValues: Bool { false }
    package static var isAttributed: Bool { setsValues }
}

/// All methods.
let controlMethods: [any ControlMethod.Type] = [
    DescribeProgram.self, ListTweaks.self, GetTweak.self, ChangeTweaks.self, SetTweak.self, ResetTweaks.self,
    SetManyTweaks.self,
    RunAction.self, SubscribeToChanges.self, SampleTweaks.self, UnsubscribeFromChanges.self,
    ExplainTweak.self, ListHistory.self, UndoChanges.self, RevertChanges.self, MarkHistory.self,
    ReadAdopted.self,
]

/// The names of all methods.
package var methodNames: [String] { controlMethods.map { $0.name } }

/// Describes the program.
package struct DescribeProgram: ControlMethod {
    package static let name = "describe"
    package enum CodingKeys: CodingKey, CaseIterable {}

    package struct Answer: Codable, Sendable {
        /// The name under which overrides are kept, by default that of the executable.
        package var application: String
        /// The path of the executable.
        package var executable: String
        package var pid: Int32
        /// The version of the protocol.
        package var `protocol`: Int
        /// The version of the library in the program.
        package var version: String
        /// The number of tweaks.
        package var tweaks: Int
        /// The path of the overrides file; `nil` if values are not kept.
        package var overrides: String?
        /// The names of the methods; `nil` from programs with an older library.
        package var methods: [String]?

        package init(
            application: String, executable: String, pid: Int32, version: String, tweaks: Int,
            overrides: String?, methods: [String]? = nil
        ) {
            self.application = application
            self.executable = executable
            self.pid = pid
            self.protocol = ControlLimits.protocolVersion
            self.version = version
            self.tweaks = tweaks
            self.overrides = overrides
            self.methods = methods
        }
    }

    package init() {}
}

/// Lists all tweaks, in the order of declaration.
package struct ListTweaks: ControlMethod {
    package static let name = "list"
    package enum CodingKeys: CodingKey, CaseIterable { case category, collection }

    /// Only list tweaks in this category.
    package var category: String?
    /// Only list tweaks in this collection of the category.
    package var collection: String?

    package struct Answer: Codable, Sendable {
        package var tweaks: [JSONTweak]
        package init(tweaks: [JSONTweak]) { self.tweaks = tweaks }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(tweaks.written, forKey: .tweaks)
        }
    }

    package init(category: String? = nil, collection: String? = nil) {
        self.category = category
        self.collection = collection
    }
}

/// Returns a tweak.
package struct GetTweak: ControlMethod {
    package static let name = "get"
    package typealias Answer = JSONTweak
    package enum CodingKeys: CodingKey, CaseIterable { case tweak }

    package var tweak: TweakKey

    package init(tweak: TweakKey) { self.tweak = tweak }
}

/// The end of values that are leased, and the way to them. Its members are parameters of ``ChangeTweaks``,
/// ``SetTweak`` and ``SetManyTweaks``.
package struct SetDurations: Codable, Sendable {
    /// The event that ends a lease.
    package enum End: String, Codable, Sendable {
        /// The end of the client's connection.
        case closed
    }

    /// The event that ends the lease.
    package var end: End?
    /// The seconds after which the lease ends.
    package var lease: Double?
    /// The seconds until the values are reached.
    package var ramp: Double?

    private enum CodingKeys: String, CodingKey {
        case end = "until"
        case lease = "for"
        case ramp
    }

    package init(until end: End? = nil, for lease: Double? = nil, ramp: Double? = nil) {
        (self.end, self.lease, self.ramp) = (end, lease, ramp)
    }

    /// Whether the values are leased.
    package var areLeased: Bool { end != nil || lease != nil }
    /// Whether the values are set in the usual way.
    package var areNone: Bool { !areLeased && ramp == nil }
}

/// Sets a tweak: also for the next start, or for some time.
package struct SetTweak: ControlMethod {
    package static let name = "set"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable { case tweak, value, text, until, `for`, ramp }

    package var tweak: TweakKey
    /// A JSON value of the tweak's type. Either this or ``text`` is set.
    package var value: JSONValue?
    /// Text as people type it.
    package var text: String?
    package var durations = SetDurations()
    package var endsWithConnection: Bool { durations.end == .closed }

    package struct Answer: Codable, Sendable {
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

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tweak = try container.decode(TweakKey.self, forKey: .tweak)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value)
        text = try container.decodeIfPresent(String.self, forKey: .text)
        durations = try SetDurations(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tweak, forKey: .tweak)
        try container.encodeIfPresent(value, forKey: .value)
        try container.encodeIfPresent(text, forKey: .text)
        try durations.encode(to: encoder)
    }
}

/// Removes overrides as one change: of a tweak, of a category or a collection in it, or of all tweaks.
package struct ResetTweaks: ControlMethod {
    package static let name = "reset"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable { case tweak, category, collection, all, leases }

    /// Leases to end instead.
    package enum Leases: String, Codable, Sendable {
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

    package struct Answer: Codable, Sendable {
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

/// Sets several tweaks, as one change. Refused values are reported, and the others are set, unless `allOrNothing` is
/// true.
package struct SetManyTweaks: ControlMethod {
    package static let name = "setMany"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable {
        case values, resettingOthers, allOrNothing, until, `for`, ramp
    }

    /// The values; in JSON by category, collection and name, as in an overrides file.
    package var values: [TweakKey: JSONValue]
    /// Whether all other tweaks are reset to their defaults.
    package var resettingOthers: Bool?
    /// Whether nothing changes if one of the values cannot be set.
    package var allOrNothing: Bool?
    package var durations = SetDurations()
    package var endsWithConnection: Bool { durations.end == .closed }

    package struct Answer: Codable, Sendable {
        package struct Refusal: Codable, Sendable {
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

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        values = [:]
        resettingOthers = try container.decodeIfPresent(Bool.self, forKey: .resettingOthers)
        allOrNothing = try container.decodeIfPresent(Bool.self, forKey: .allOrNothing)
        durations = try SetDurations(from: decoder)
        let categories = try container.nestedContainer(keyedBy: JSONName.self, forKey: .values)
        for category in categories.allKeys {
            let collections = try categories.nestedContainer(keyedBy: JSONName.self, forKey: category)
            for collection in collections.allKeys {
                let names = try collections.nestedContainer(keyedBy: JSONName.self, forKey: collection)
                for name in names.allKeys {
                    let key = TweakKey(category.stringValue, collection.stringValue, name.stringValue)
                    values[key] = try names.decode(JSONValue.self, forKey: name)
                }
            }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var nested: [ByteText: [ByteText: JSONObject]] = [:]
        for (key, value) in values {
            nested[ByteText(key.category), default: [:]][ByteText(key.collection), default: [:]][key.name] =
                value
        }
        let categories = nested.mapValues { JSONValue.object($0.mapValues { .object($0) }) }
        try container.encode(JSONValue.object(categories), forKey: .values)
        try container.encodeIfPresent(resettingOthers, forKey: .resettingOthers)
        try container.encodeIfPresent(allOrNothing, forKey: .allOrNothing)
        try durations.encode(to: encoder)
    }
}

/// Runs an action. The answer is sent after its functions have returned.
package struct RunAction: ControlMethod {
    package static let name = "run"
    package typealias Answer = Done
    package enum CodingKeys: CodingKey, CaseIterable { case tweak, wait }

    package var tweak: TweakKey
    /// Whether the answer waits until an actor or a queue has run the action.
    package var wait: Bool?

    package init(tweak: TweakKey, wait: Bool? = nil) { (self.tweak, self.wait) = (tweak, wait) }
}

/// Subscribes to changes, see ``ChangedTweaks``.
package struct SubscribeToChanges: ControlMethod {
    package static let name = "subscribe"
    package enum CodingKeys: CodingKey, CaseIterable { case tweaks }

    /// The tweaks, which need not exist yet; `nil` for all.
    package var tweaks: [TweakKey]?

    package struct Answer: Codable, Sendable {
        package var subscription: Int
        package init(subscription: Int) { self.subscription = subscription }
    }

    package init(tweaks: [TweakKey]? = nil) { self.tweaks = tweaks }
}

/// Ends a subscription to changes or samples. After the answer, no more messages for it are sent.
package struct UnsubscribeFromChanges: ControlMethod {
    package static let name = "unsubscribe"
    package typealias Answer = Done
    package enum CodingKeys: CodingKey, CaseIterable { case subscription }

    package var subscription: Int

    package init(subscription: Int) { self.subscription = subscription }
}

/// Returns each provider's value for a tweak.
package struct ExplainTweak: ControlMethod {
    package static let name = "explain"
    package enum CodingKeys: CodingKey, CaseIterable { case tweak }

    package var tweak: TweakKey

    package struct Answer: Codable, Sendable {
        package struct Opinion: Codable, Sendable {
            package var source: String
            package var value: JSONValue?
            /// The source's number, if it is outside the limits and ``value`` is the nearest one inside.
            package var given: JSONValue?
            /// The reason why the tweak refuses the source's value.
            package var error: String?
            /// The location of the value in the source, a file or a place in it, or `nil`.
            package var location: String?
            /// The client and the end of a lease.
            package var lease: JSONLease?

            package init(source: String, value: JSONValue?, error: String? = nil) {
                self.source = source
                self.value = value
                self.error = error
            }
        }

        package struct Gate: Codable, Sendable {
            package var name: String
            /// The value that waits.
            package var pendingValue: JSONValue?
            /// When the oldest change of the gate began to wait or the loop last passed since then, in seconds since
            /// 1970; `nil` if nothing waits.
            package var waitingSince: Double?
            /// When the loop was last seen to pass, in seconds since 1970. It is looked for from one answer to the next, and
            /// while something waits.
            package var lastPassed: Double?

            package init(
                name: String, pendingValue: JSONValue?, waitingSince: Double?, lastPassed: Double?
            ) {
                self.name = name
                self.pendingValue = pendingValue
                self.waitingSince = waitingSince
                self.lastPassed = lastPassed
            }
        }

        package var tweak: TweakKey
        package var value: JSONValue
        package var source: String
        /// Highest precedence first: the first without an error counts; the last is the default in the binary.
        package var opinions: [Opinion]
        /// The gate that changes of the tweak wait for; `nil` if there is none.
        package var gate: Gate?
        /// Sources that follow an agent's files and have no value for the tweak; the files may have the reason. `nil`
        /// if there are none.
        package var silent: [Opinion]?

        package init(tweak: TweakKey, value: JSONValue, source: String, opinions: [Opinion]) {
            self.tweak = tweak
            self.value = value
            self.source = source
            self.opinions = opinions
        }
    }

    package init(tweak: TweakKey) { self.tweak = tweak }
}

/// Reads the file of adopted variables again.
package struct ReadAdopted: ControlMethod {
    package static let name = "adopt"
    package typealias Answer = Done
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable { case again }

    /// Whether to store the values once more that the program has overwritten.
    package var again: Bool?

    package init(again: Bool? = nil) { self.again = again }
}

/// The answer to a method without a result: an empty object, unless an action has yet to run.
package struct Done: Codable, Sendable {
    /// What will run an action: `mainActor`, another `actor` or a `queue`; `nil` if it has run.
    package var handedTo: String?

    package init(handedTo: String? = nil) { self.handedTo = handedTo }
}

/// A notification to a client that has subscribed to changes.
package struct ChangedTweaks: Codable, Equatable, Sendable {
    package static let name = "changed"

    package struct Change: Codable, Equatable, Sendable {
        package var tweak: TweakKey
        package var oldValue: JSONValue
        package var newValue: JSONValue
        /// The provider of the new value.
        package var source: String
        /// The time of the change, in seconds since 1970.
        package var time: Double
        /// Who made the change; `nil` from programs with an older library.
        package var by: String?
        /// The number of the change in the program's history; `nil` if the history is off or the library is older.
        package var number: Int?
        /// The tag of the request that made the change, see ``ChangeTweaks/tag``.
        package var tag: String?

        package init(
            tweak: TweakKey, oldValue: JSONValue, newValue: JSONValue, source: String, time: Double,
            by: String? = nil, number: Int? = nil, tag: String? = nil
        ) {
            self.tweak = tweak
            self.oldValue = oldValue
            self.newValue = newValue
            self.source = source
            self.time = time
            (self.by, self.number, self.tag) = (by, number, tag)
        }
    }

    package var subscription: Int
    /// Changes made together, or while the client did not read; at most one for each tweak.
    package var changes: [Change]

    package init(subscription: Int, changes: [Change]) {
        self.subscription = subscription
        self.changes = changes
    }
}
