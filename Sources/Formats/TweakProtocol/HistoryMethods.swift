// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// Lists the last changes, oldest first.
package struct ListHistory: ControlMethod {
    package static let method = ControlMethodName.history
    package static let parameters: [ByteText] = ["since", "limit"]

    /// Only list changes after those with this number.
    package var since: Int?
    /// The maximum number of changes; those made together are not separated.
    package var limit: Int?

    package struct Change: JSONStructure, Sendable {
        /// Changes made together have the same number.
        package var number: Int
        package var tweak: TweakKey
        package var oldValue: JSONValue
        package var newValue: JSONValue
        /// The provider of the new value.
        package var source: String
        /// Who made the change.
        package var by: String
        /// The person for whom a client made it, as the client says; `nil` if it does not.
        package var person: String?
        /// The time of the change, in seconds since 1970.
        package var time: Double
        /// The time on the monotonic clock of the machine, in seconds.
        package var monotonicTime: Double
        /// The number of the changes that it undoes, or `nil`.
        package var undoes: Int?
        /// Whether the new value still waits; `nil` if not.
        package var isPending: Bool?
        /// Whether a lease began or ended, which cannot be undone; `nil` if not.
        package var isOfLease: Bool?
        /// Whether the client's lease of the tweak ended with it, so that the new value took effect; `nil` if not.
        package var endsLease: Bool?
        /// Whether long texts are shortened; `nil` if not.
        package var isShortened: Bool?
        /// The seconds in which the new value is reached gradually; `nil` if it applies at once.
        package var ramp: Double?

        package init(
            number: Int, tweak: TweakKey, oldValue: JSONValue, newValue: JSONValue, source: String,
            by: String,
            time: Double, monotonicTime: Double
        ) {
            (self.number, self.tweak, self.source, self.by) = (number, tweak, source, by)
            (self.oldValue, self.newValue) = (oldValue, newValue)
            (self.time, self.monotonicTime) = (time, monotonicTime)
        }
    }

    package struct Mark: JSONStructure, Sendable {
        package var name: String
        /// The number of the last change before.
        package var number: Int
        package var by: String
        /// The person for whom a client set it, as the client says; `nil` if it does not.
        package var person: String?
        /// In seconds since 1970.
        package var time: Double

        package init(name: String, number: Int, by: String, person: String? = nil, time: Double) {
            (self.name, self.number, self.by, self.person, self.time) = (name, number, by, person, time)
        }
    }

    package struct Answer: JSONStructure, Sendable {
        package var changes: [Change]
        /// In the order of time.
        package var marks: [Mark]
        /// The number of the oldest changes that are kept; `nil` if there are none.
        package var first: Int?
        /// The number of the newest changes; 0 if there were none.
        package var last: Int

        package init(changes: [Change], marks: [Mark], first: Int?, last: Int) {
            (self.changes, self.marks, self.first, self.last) = (changes, marks, first, last)
        }
    }

    package init(since: Int? = nil, limit: Int? = nil) { (self.since, self.limit) = (since, limit) }
}

extension ListHistory {
    package init(members: JSONMembers) throws(JSONError) {
        since = try members.readIfPresent("since")
        limit = try members.readIfPresent("limit")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("limit", limit)
        writer.member("since", since)
    }
}

extension ListHistory.Change {
    package init(members: JSONMembers) throws(JSONError) {
        number = try members.read("number")
        tweak = try members.read("tweak")
        oldValue = try members.read("oldValue")
        newValue = try members.read("newValue")
        source = try members.read("source")
        by = try members.read("by")
        person = try members.readIfPresent("person")
        time = try members.read("time")
        monotonicTime = try members.read("monotonicTime")
        undoes = try members.readIfPresent("undoes")
        isPending = try members.readIfPresent("isPending")
        isOfLease = try members.readIfPresent("isOfLease")
        endsLease = try members.readIfPresent("endsLease")
        isShortened = try members.readIfPresent("isShortened")
        ramp = try members.readIfPresent("ramp")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("by", by)
        writer.member("endsLease", endsLease)
        writer.member("isOfLease", isOfLease)
        writer.member("isPending", isPending)
        writer.member("isShortened", isShortened)
        writer.member("monotonicTime", monotonicTime)
        writer.member("newValue", newValue)
        writer.member("number", number)
        writer.member("oldValue", oldValue)
        writer.member("person", person)
        writer.member("ramp", ramp)
        writer.member("source", source)
        writer.member("time", time)
        writer.member("tweak", tweak)
        writer.member("undoes", undoes)
    }
}

extension ListHistory.Mark {
    package init(members: JSONMembers) throws(JSONError) {
        name = try members.read("name")
        number = try members.read("number")
        by = try members.read("by")
        person = try members.readIfPresent("person")
        time = try members.read("time")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("by", by)
        writer.member("name", name)
        writer.member("number", number)
        writer.member("person", person)
        writer.member("time", time)
    }
}

extension ListHistory.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        changes = try members.read("changes")
        marks = try members.read("marks")
        first = try members.readIfPresent("first")
        last = try members.read("last")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("changes", changes)
        writer.member("first", first)
        writer.member("last", last)
        writer.member("marks", marks)
    }
}

/// A tweak that was given a former value. The values are those without leases and kills.
package struct RestoredValue: JSONStructure, Sendable {
    package var tweak: TweakKey
    package var oldValue: JSONValue
    package var newValue: JSONValue

    package init(tweak: TweakKey, oldValue: JSONValue, newValue: JSONValue) {
        (self.tweak, self.oldValue, self.newValue) = (tweak, oldValue, newValue)
    }
}

extension RestoredValue {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        oldValue = try members.read("oldValue")
        newValue = try members.read("newValue")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("newValue", newValue)
        writer.member("oldValue", oldValue)
        writer.member("tweak", tweak)
    }
}

/// Gives tweaks the values before a change, as one change.
package struct UndoChanges: ControlMethod {
    package static let method = ControlMethodName.undo
    package static let parameters: [ByteText] = ["number"]

    /// The number of the changes to undo; `nil` for the newest of a person that are not undone.
    package var number: Int?

    package struct Answer: JSONStructure, Sendable {
        /// The numbers of the first and the last of the changes that were undone.
        package var first, last: Int
        package var changes: [RestoredValue]
        /// The tweaks among them that do not have the former value; `nil` if all have it.
        package var ineffective: [IneffectiveValue]?

        package init(
            first: Int, last: Int, changes: [RestoredValue], ineffective: [IneffectiveValue]? = nil
        ) {
            (self.first, self.last) = (first, last)
            (self.changes, self.ineffective) = (changes, ineffective)
        }
    }

    package init(number: Int? = nil) { self.number = number }
}

extension UndoChanges {
    package init(members: JSONMembers) throws(JSONError) {
        number = try members.readIfPresent("number")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("number", number)
    }
}

extension UndoChanges.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        first = try members.read("first")
        last = try members.read("last")
        changes = try members.read("changes")
        ineffective = try members.readIfPresent("ineffective")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("changes", changes)
        writer.member("first", first)
        writer.member("ineffective", ineffective)
        writer.member("last", last)
    }
}

/// Gives tweaks the values of the start of the program, or of a mark, as one change.
package struct RevertChanges: ControlMethod {
    package static let method = ControlMethodName.revert
    package static let parameters: [ByteText] = ["mark"]

    /// The name of the mark; `nil` for the start.
    package var mark: String?

    package struct Answer: JSONStructure, Sendable {
        package var changes: [RestoredValue]
        /// The tweaks among them that do not have the former value; `nil` if all have it.
        package var ineffective: [IneffectiveValue]?

        package init(changes: [RestoredValue], ineffective: [IneffectiveValue]? = nil) {
            (self.changes, self.ineffective) = (changes, ineffective)
        }
    }

    package init(mark: String? = nil) { self.mark = mark }
}

extension RevertChanges {
    package init(members: JSONMembers) throws(JSONError) {
        mark = try members.readIfPresent("mark")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("mark", mark)
    }
}

extension RevertChanges.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        changes = try members.read("changes")
        ineffective = try members.readIfPresent("ineffective")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("changes", changes)
        writer.member("ineffective", ineffective)
    }
}

/// Marks a moment, to which ``RevertChanges`` goes back. A mark of the same name moves.
package struct MarkHistory: ControlMethod {
    package static let method = ControlMethodName.mark
    package static let parameters: [ByteText] = ["name"]

    package var name: String

    package struct Answer: JSONStructure, Sendable {
        /// The number of the last change before.
        package var number: Int
        package init(number: Int) { self.number = number }
    }

    package init(name: String) { self.name = name }
}

extension MarkHistory {
    package init(members: JSONMembers) throws(JSONError) {
        name = try members.read("name")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("name", name)
    }
}

extension MarkHistory.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        number = try members.read("number")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("number", number)
    }
}
