package import TweakJSON
package import TweakRecords

/// A method of the protocol: the members are its parameters.
package protocol ControlMethod: Codable, Hashable, Sendable {
    /// What a program answers if it was done.
    associatedtype Answer: Codable, Hashable, Sendable
    associatedtype CodingKeys: CodingKey, CaseIterable

    static var name: String { get }
    /// Whether it sets values: then a thread that may call observers does it, and the answer tells whether they are kept.
    static var setsValues: Bool { get }
}

extension ControlMethod {
    package static var setsValues: Bool { false }
}

/// All methods.
let controlMethods: [any ControlMethod.Type] = [
    DescribeProgram.self, ListTweaks.self, GetTweak.self, SetTweak.self, ResetTweaks.self, SetManyTweaks.self,
    RunAction.self, SubscribeToChanges.self, SampleTweaks.self, UnsubscribeFromChanges.self,
    ExplainTweak.self,
]

/// Asks which program it is.
package struct DescribeProgram: ControlMethod {
    package static let name = "describe"
    package enum CodingKeys: CodingKey, CaseIterable {}

    package struct Answer: Codable, Hashable, Sendable {
        /// The last component of the executable's path, by which overrides are kept.
        package var application: String
        /// The path of the executable.
        package var executable: String
        package var pid: Int32
        /// The version of the protocol.
        package var `protocol`: Int
        /// The version of the library in the program.
        package var version: String
        /// How many tweaks there are.
        package var tweaks: Int
        /// The path of the overrides file; `nil` if values are not kept.
        package var overrides: String?

        package init(
            application: String, executable: String, pid: Int32, version: String, tweaks: Int,
            overrides: String?
        ) {
            self.application = application
            self.executable = executable
            self.pid = pid
            self.protocol = ControlLimits.protocolVersion
            self.version = version
            self.tweaks = tweaks
            self.overrides = overrides
        }
    }

    package init() {}
}

/// Asks for all tweaks, in the order of declaration.
package struct ListTweaks: ControlMethod {
    package static let name = "list"
    package enum CodingKeys: CodingKey, CaseIterable { case category, collection }

    /// Only those of this category.
    package var category: String?
    /// Only those of this collection of it.
    package var collection: String?

    package struct Answer: Codable, Hashable, Sendable {
        package var tweaks: [JSONTweak]
        package init(tweaks: [JSONTweak]) { self.tweaks = tweaks }
    }

    package init(category: String? = nil, collection: String? = nil) {
        self.category = category
        self.collection = collection
    }
}

/// Asks for a tweak.
package struct GetTweak: ControlMethod {
    package static let name = "get"
    package typealias Answer = JSONTweak
    package enum CodingKeys: CodingKey, CaseIterable { case tweak }

    package var tweak: TweakKey

    package init(tweak: TweakKey) { self.tweak = tweak }
}

/// Sets a tweak, for the next start too.
package struct SetTweak: ControlMethod {
    package static let name = "set"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable { case tweak, value, text }

    package var tweak: TweakKey
    /// Either this, a JSON value of the tweak's type,
    package var value: JSONValue?
    /// or this, what a person typed.
    package var text: String?

    package struct Answer: Codable, Hashable, Sendable {
        package var tweak: TweakKey
        /// The value that the tweak has now.
        package var value: JSONValue
        /// Whether the given value was outside the limits and was moved to the nearest one.
        package var wasClamped: Bool
        /// The provider of the current value.
        package var source: String
        /// The value that was set, if the tweak needs a restart.
        package var pendingValue: JSONValue?

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

    package init(tweak: TweakKey, value: JSONValue) { (self.tweak, self.value) = (tweak, value) }
    package init(tweak: TweakKey, text: String) { (self.tweak, self.text) = (tweak, text) }
}

/// Takes overrides away, as one change: of a tweak, of a category or a collection of it, or of all tweaks.
package struct ResetTweaks: ControlMethod {
    package static let name = "reset"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable { case tweak, category, collection, all }

    package var tweak: TweakKey?
    package var category: String?
    package var collection: String?
    package var all: Bool?

    package struct Answer: Codable, Hashable, Sendable {
        /// How many tweaks had an override.
        package var reset: Int
        package init(reset: Int) { self.reset = reset }
    }

    package init(
        tweak: TweakKey? = nil, category: String? = nil, collection: String? = nil, all: Bool? = nil
    ) {
        self.tweak = tweak
        self.category = category
        self.collection = collection
        self.all = all
    }
}

/// Sets several tweaks, as one change. What one of them cannot take is reported, and the others are set unless it is to be
/// all or nothing.
package struct SetManyTweaks: ControlMethod {
    package static let name = "setMany"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable { case values, resettingOthers, allOrNothing }

    /// In JSON by category, collection and name, as an overrides file has them.
    package var values: [TweakKey: JSONValue]
    /// Whether all other tweaks get their defaults.
    package var resettingOthers: Bool?
    /// Whether nothing changes if one of the values cannot be set.
    package var allOrNothing: Bool?

    package struct Answer: Codable, Hashable, Sendable {
        package struct Refusal: Codable, Hashable, Sendable {
            package var tweak: TweakKey
            package var message: String

            package init(tweak: TweakKey, message: String) {
                self.tweak = tweak
                self.message = message
            }
        }

        /// The tweaks that have their values.
        package var applied: [TweakKey]
        /// Those of them whose values were outside the limits.
        package var clamped: [TweakKey]
        /// Names that the program does not have.
        package var unknown: [TweakKey]
        /// Why the others do not have their values.
        package var refused: [Refusal]

        package init(applied: [TweakKey], clamped: [TweakKey], unknown: [TweakKey], refused: [Refusal]) {
            self.applied = applied
            self.clamped = clamped
            self.unknown = unknown
            self.refused = refused
        }
    }

    package init(
        values: [TweakKey: JSONValue], resettingOthers: Bool? = nil, allOrNothing: Bool? = nil
    ) {
        self.values = values
        self.resettingOthers = resettingOthers
        self.allOrNothing = allOrNothing
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        values = [:]
        resettingOthers = try container.decodeIfPresent(Bool.self, forKey: .resettingOthers)
        allOrNothing = try container.decodeIfPresent(Bool.self, forKey: .allOrNothing)
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
    }
}

/// Runs an action. The answer comes when it has returned.
package struct RunAction: ControlMethod {
    package static let name = "run"
    package typealias Answer = Done
    package enum CodingKeys: CodingKey, CaseIterable { case tweak }

    package var tweak: TweakKey

    package init(tweak: TweakKey) { self.tweak = tweak }
}

/// Asks to be told of changes from now on, see ``ChangedTweaks``.
package struct SubscribeToChanges: ControlMethod {
    package static let name = "subscribe"
    package enum CodingKeys: CodingKey, CaseIterable { case tweaks }

    /// Which tweaks, all if it is `nil`. They need not be there yet.
    package var tweaks: [TweakKey]?

    package struct Answer: Codable, Hashable, Sendable {
        package var subscription: Int
        package init(subscription: Int) { self.subscription = subscription }
    }

    package init(tweaks: [TweakKey]? = nil) { self.tweaks = tweaks }
}

/// Asks not to be told any more, of changes or with samples. After the answer nothing comes for the subscription.
package struct UnsubscribeFromChanges: ControlMethod {
    package static let name = "unsubscribe"
    package typealias Answer = Done
    package enum CodingKeys: CodingKey, CaseIterable { case subscription }

    package var subscription: Int

    package init(subscription: Int) { self.subscription = subscription }
}

/// Asks what each provider says about the value of a tweak.
package struct ExplainTweak: ControlMethod {
    package static let name = "explain"
    package enum CodingKeys: CodingKey, CaseIterable { case tweak }

    package var tweak: TweakKey

    package struct Answer: Codable, Hashable, Sendable {
        package struct Opinion: Codable, Hashable, Sendable {
            package var source: String
            package var value: JSONValue?
            /// The number that the source has, if it is outside the limits and ``value`` is the nearest one inside.
            package var given: JSONValue?
            /// Why the tweak cannot take what the source has.
            package var error: String?
            /// Where the source has it, a file or a place in the source; `nil` if that is not known.
            package var location: String?

            package init(source: String, value: JSONValue?, error: String? = nil) {
                self.source = source
                self.value = value
                self.error = error
            }
        }

        package var tweak: TweakKey
        package var value: JSONValue
        package var source: String
        /// The first one counts that has no error; the last one is the default in the binary.
        package var opinions: [Opinion]
        /// The sources that follow an agent's files and have no value for the tweak; the files may tell why. `nil` if there is none.
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

/// The answer of a method that only is done: an object without members.
package struct Done: Codable, Hashable, Sendable {
    package init() {}
}

/// What a program says to a client that has subscribed, without being asked.
package struct ChangedTweaks: Codable, Hashable, Sendable {
    package static let name = "changed"

    package struct Change: Codable, Hashable, Sendable {
        package var tweak: TweakKey
        package var oldValue: JSONValue
        package var newValue: JSONValue
        /// The provider of the new value.
        package var source: String
        /// When, in seconds since 1970.
        package var time: Double

        package init(tweak: TweakKey, oldValue: JSONValue, newValue: JSONValue, source: String, time: Double)
        {
            self.tweak = tweak
            self.oldValue = oldValue
            self.newValue = newValue
            self.source = source
            self.time = time
        }
    }

    package var subscription: Int
    /// What changed together, or while the client did not read; of each tweak at most one change.
    package var changes: [Change]

    package init(subscription: Int, changes: [Change]) {
        self.subscription = subscription
        self.changes = changes
    }
}
