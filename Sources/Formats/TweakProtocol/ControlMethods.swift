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
        history, undo, revert, mark, adopt

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
