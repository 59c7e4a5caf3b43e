// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

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
