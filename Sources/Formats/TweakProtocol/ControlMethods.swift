// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// A method of the protocol. The members are its parameters.
package protocol ControlMethod: JSONStructure, Sendable {
    /// The result of the method.
    associatedtype Answer: JSONReadable, JSONWritable, Sendable

    static var method: ControlMethodName { get }
    /// The names of all parameters.
    static var parameters: [ByteText] { get }
    /// Whether its values last until the client's connection is closed.
    var endsWithConnection: Bool { get }
}

extension ControlMethod {
    package static var name: String { method.rawValue }
    package var endsWithConnection: Bool { false }
}

/// The methods, by their names in requests.
package enum ControlMethodName: String, CaseIterable, Sendable {
    case describe, list, get, change, set, reset, setMany, run, subscribe, sample, unsubscribe, explain,
        history,
        undo, revert, mark, adopt

    /// Whether it sets values. Then a thread that may call observers executes it, and the answer says whether the
    /// values are kept.
    package var setsValues: Bool {
        switch self {
        case .change, .set, .reset, .setMany, .undo, .revert, .adopt: true
        case .describe, .list, .get, .run, .subscribe, .sample, .unsubscribe, .explain, .history, .mark: false
        }
    }

    /// Whether the answer depends on who asks.
    package var isAttributed: Bool { setsValues || self == .mark }
}

/// A call of a method.
package enum ControlCall: Sendable {
    case describe(DescribeProgram)
    case list(ListTweaks)
    case get(GetTweak)
    case change(ChangeTweaks)
    case set(SetTweak)
    case reset(ResetTweaks)
    case setMany(SetManyTweaks)
    case run(RunAction)
    case subscribe(SubscribeToChanges)
    case sample(SampleTweaks)
    case unsubscribe(UnsubscribeFromChanges)
    case explain(ExplainTweak)
    case history(ListHistory)
    case undo(UndoChanges)
    case revert(RevertChanges)
    case mark(MarkHistory)
    case adopt(ReadAdopted)
}

/// Describes the program.
package struct DescribeProgram: ControlMethod {
    package static let method = ControlMethodName.describe
    package static let parameters: [ByteText] = []

    package struct Answer: JSONStructure, Sendable {
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
    package init(members: JSONMembers) {}
    package func writeMembers(to writer: inout JSONWriter) {}
}

extension DescribeProgram.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        application = try members.read("application")
        executable = try members.read("executable")
        pid = try members.read("pid")
        self.protocol = try members.read("protocol")
        version = try members.read("version")
        tweaks = try members.read("tweaks")
        overrides = try members.readIfPresent("overrides")
        methods = try members.readIfPresent("methods")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("application", application)
        writer.member("executable", executable)
        writer.member("methods", methods)
        writer.member("overrides", overrides)
        writer.member("pid", pid)
        writer.member("protocol", self.protocol)
        writer.member("tweaks", tweaks)
        writer.member("version", version)
    }
}

/// Lists all tweaks, in the order of declaration.
package struct ListTweaks: ControlMethod {
    package static let method = ControlMethodName.list
    package static let parameters: [ByteText] = ["category", "collection"]

    /// Only list tweaks in this category.
    package var category: String?
    /// Only list tweaks in this collection of the category.
    package var collection: String?

    package struct Answer: JSONStructure, Sendable {
        package var tweaks: [JSONTweak]
        package init(tweaks: [JSONTweak]) { self.tweaks = tweaks }
    }

    package init(category: String? = nil, collection: String? = nil) {
        self.category = category
        self.collection = collection
    }
}

extension ListTweaks {
    package init(members: JSONMembers) throws(JSONError) {
        category = try members.readIfPresent("category")
        collection = try members.readIfPresent("collection")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("category", category)
        writer.member("collection", collection)
    }
}

extension ListTweaks.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        tweaks = try members.read("tweaks")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("tweaks", tweaks)
    }
}

/// Returns a tweak.
package struct GetTweak: ControlMethod {
    package static let method = ControlMethodName.get
    package typealias Answer = JSONTweak
    package static let parameters: [ByteText] = ["tweak"]

    package var tweak: TweakKey

    package init(tweak: TweakKey) { self.tweak = tweak }
}

extension GetTweak {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("tweak", tweak)
    }
}

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

/// Runs an action. The answer is sent after its functions have returned.
package struct RunAction: ControlMethod {
    package static let method = ControlMethodName.run
    package typealias Answer = Done
    package static let parameters: [ByteText] = ["tweak", "wait"]

    package var tweak: TweakKey
    /// Whether the answer waits until an actor or a queue has run the action.
    package var wait: Bool?

    package init(tweak: TweakKey, wait: Bool? = nil) { (self.tweak, self.wait) = (tweak, wait) }
}

extension RunAction {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        wait = try members.readIfPresent("wait")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("tweak", tweak)
        writer.member("wait", wait)
    }
}

/// Subscribes to changes, see ``ChangedTweaks``.
package struct SubscribeToChanges: ControlMethod {
    package static let method = ControlMethodName.subscribe
    package static let parameters: [ByteText] = ["tweaks"]

    /// The tweaks, which need not exist yet; `nil` for all.
    package var tweaks: [TweakKey]?

    package struct Answer: JSONStructure, Sendable {
        package var subscription: Int
        package init(subscription: Int) { self.subscription = subscription }
    }

    package init(tweaks: [TweakKey]? = nil) { self.tweaks = tweaks }
}

extension SubscribeToChanges {
    package init(members: JSONMembers) throws(JSONError) {
        tweaks = try members.readIfPresent("tweaks")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("tweaks", tweaks)
    }
}

extension SubscribeToChanges.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        subscription = try members.read("subscription")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("subscription", subscription)
    }
}

/// Ends a subscription to changes or samples. After the answer, no more messages for it are sent.
package struct UnsubscribeFromChanges: ControlMethod {
    package static let method = ControlMethodName.unsubscribe
    package typealias Answer = Done
    package static let parameters: [ByteText] = ["subscription"]

    package var subscription: Int

    package init(subscription: Int) { self.subscription = subscription }
}

extension UnsubscribeFromChanges {
    package init(members: JSONMembers) throws(JSONError) {
        subscription = try members.read("subscription")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("subscription", subscription)
    }
}

/// Returns each provider's value for a tweak.
package struct ExplainTweak: ControlMethod {
    package static let method = ControlMethodName.explain
    package static let parameters: [ByteText] = ["tweak"]

    package var tweak: TweakKey

    package struct Answer: JSONStructure, Sendable {
        package struct Opinion: JSONStructure, Sendable {
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

        package struct Gate: JSONStructure, Sendable {
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

extension ExplainTweak {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("tweak", tweak)
    }
}

extension ExplainTweak.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        value = try members.read("value")
        source = try members.read("source")
        opinions = try members.read("opinions")
        gate = try members.readIfPresent("gate")
        silent = try members.readIfPresent("silent")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("gate", gate)
        writer.member("opinions", opinions)
        writer.member("silent", silent)
        writer.member("source", source)
        writer.member("tweak", tweak)
        writer.member("value", value)
    }
}

extension ExplainTweak.Answer.Opinion {
    package init(members: JSONMembers) throws(JSONError) {
        source = try members.read("source")
        value = try members.readIfPresent("value")
        given = try members.readIfPresent("given")
        error = try members.readIfPresent("error")
        location = try members.readIfPresent("location")
        lease = try members.readIfPresent("lease")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("error", error)
        writer.member("given", given)
        writer.member("lease", lease)
        writer.member("location", location)
        writer.member("source", source)
        writer.member("value", value)
    }
}

extension ExplainTweak.Answer.Gate {
    package init(members: JSONMembers) throws(JSONError) {
        name = try members.read("name")
        pendingValue = try members.readIfPresent("pendingValue")
        waitingSince = try members.readIfPresent("waitingSince")
        lastPassed = try members.readIfPresent("lastPassed")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("lastPassed", lastPassed)
        writer.member("name", name)
        writer.member("pendingValue", pendingValue)
        writer.member("waitingSince", waitingSince)
    }
}

/// Reads the file of adopted variables again.
package struct ReadAdopted: ControlMethod {
    package static let method = ControlMethodName.adopt
    package typealias Answer = Done
    package static let parameters: [ByteText] = ["again"]

    /// Whether to store the values once more that the program has overwritten.
    package var again: Bool?

    package init(again: Bool? = nil) { self.again = again }
}

extension ReadAdopted {
    package init(members: JSONMembers) throws(JSONError) {
        again = try members.readIfPresent("again")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("again", again)
    }
}

/// The answer to a method without a result: an empty object, unless an action has yet to run.
package struct Done: JSONStructure, Sendable {
    /// What will run an action: `mainActor`, another `actor` or a `queue`; `nil` if it has run.
    package var handedTo: String?

    package init(handedTo: String? = nil) { self.handedTo = handedTo }
}

extension Done {
    package init(members: JSONMembers) throws(JSONError) {
        handedTo = try members.readIfPresent("handedTo")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("handedTo", handedTo)
    }
}

/// A notification to a client that has subscribed to changes.
package struct ChangedTweaks: JSONStructure, Equatable, Sendable {
    package static let name = "changed"

    package struct Change: JSONStructure, Equatable, Sendable {
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

extension ChangedTweaks {
    package init(members: JSONMembers) throws(JSONError) {
        subscription = try members.read("subscription")
        changes = try members.read("changes")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("changes", changes)
        writer.member("subscription", subscription)
    }
}

extension ChangedTweaks.Change {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        oldValue = try members.read("oldValue")
        newValue = try members.read("newValue")
        source = try members.read("source")
        time = try members.read("time")
        by = try members.readIfPresent("by")
        number = try members.readIfPresent("number")
        tag = try members.readIfPresent("tag")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("by", by)
        writer.member("newValue", newValue)
        writer.member("number", number)
        writer.member("oldValue", oldValue)
        writer.member("source", source)
        writer.member("tag", tag)
        writer.member("time", time)
        writer.member("tweak", tweak)
    }
}
