// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// Lists the last changes, oldest first.
package struct ListHistory: ControlMethod {
    package static let name = "history"
    package enum CodingKeys: CodingKey, CaseIterable { case since, limit }

    /// Only list changes after those with this number.
    package var since: Int?
    /// The maximum number of changes; those made together are not separated.
    package var limit: Int?

    package struct Change: Codable, Sendable {
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

    package struct Mark: Codable, Sendable {
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

    package struct Answer: Codable, Sendable {
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

/// A tweak that was given a former value. The values are those without leases and kills.
package struct RestoredValue: Codable, Sendable {
    package var tweak: TweakKey
    package var oldValue: JSONValue
    package var newValue: JSONValue

    package init(tweak: TweakKey, oldValue: JSONValue, newValue: JSONValue) {
        (self.tweak, self.oldValue, self.newValue) = (tweak, oldValue, newValue)
    }
}

/// Gives tweaks the values before a change, as one change.
package struct UndoChanges: ControlMethod {
    package static let name = "undo"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable { case number }

    /// The number of the changes to undo; `nil` for the newest of a person that are not undone.
    package var number: Int?

    package struct Answer: Codable, Sendable {
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

/// Gives tweaks the values of the start of the program, or of a mark, as one change.
package struct RevertChanges: ControlMethod {
    package static let name = "revert"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable { case mark }

    /// The name of the mark; `nil` for the start.
    package var mark: String?

    package struct Answer: Codable, Sendable {
        package var changes: [RestoredValue]
        /// The tweaks among them that do not have the former value; `nil` if all have it.
        package var ineffective: [IneffectiveValue]?

        package init(changes: [RestoredValue], ineffective: [IneffectiveValue]? = nil) {
            (self.changes, self.ineffective) = (changes, ineffective)
        }
    }

    package init(mark: String? = nil) { self.mark = mark }
}

/// Marks a moment, to which ``RevertChanges`` goes back. A mark of the same name moves.
package struct MarkHistory: ControlMethod {
    package static let name = "mark"
    package static let isAttributed = true
    package enum CodingKeys: CodingKey, CaseIterable { case name }

    package var name: String

    package struct Answer: Codable, Sendable {
        /// The number of the last change before.
        package var number: Int
        package init(number: Int) { self.number = number }
    }

    package init(name: String) { self.name = name }
}
