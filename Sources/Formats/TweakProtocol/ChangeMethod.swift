// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// Changes tweaks, as one change: names and texts are those that people type, and the program decides what they mean.
///
/// The changes are evaluated in their order, each with the values of those before, under one lock. So `+=1` loses
/// nothing however many clients send it.
package struct ChangeTweaks: ControlMethod {
    package static let name = "change"
    package static let setsValues = true
    package enum CodingKeys: CodingKey, CaseIterable {
        case changes, exactNames, resettingOthers, allOrNothing, dryRun, describing, tag, until, `for`, ramp
    }

    /// A change of one tweak: exactly one of ``value``, ``text`` and ``reset``.
    package struct Change: Codable, Sendable {
        /// The tweak's name as people type it: the last one to three levels, whole or abbreviated.
        package var tweak: String
        /// A JSON value of the tweak's type.
        package var value: JSONValue?
        /// A value as people type it, such as `+=10%` or `max/2`.
        package var text: String?
        /// Whether the override is removed.
        package var reset: Bool?

        package init(tweak: String, value: JSONValue? = nil, text: String? = nil, reset: Bool? = nil) {
            (self.tweak, self.value, self.text, self.reset) = (tweak, value, text, reset)
        }

        private enum CodingKeys: CodingKey, CaseIterable { case tweak, value, text, reset }

        package init(from decoder: any Decoder) throws {
            let given = try decoder.container(keyedBy: JSONName.self).allKeys.map(\.stringValue)
            let known = CodingKeys.allCases.map(\.stringValue)
            if let other = given.first(where: { !known.contains($0) }) {
                throw ControlError(
                    .invalidParameters,
                    "a change has no member \"\(other)\"; allowed: \(known.joined(separator: ", "))")
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tweak = try container.decode(String.self, forKey: .tweak)
            // Null is a wrong value, which must not be taken for a missing one.
            value = container.contains(.value) ? try container.decode(JSONValue.self, forKey: .value) : nil
            text = container.contains(.text) ? try container.decode(String.self, forKey: .text) : nil
            reset = container.contains(.reset) ? try container.decode(Bool.self, forKey: .reset) : nil
        }
    }

    package var changes: [Change]
    /// Whether all names are complete, as in files, and none is taken for an abbreviation.
    package var exactNames: Bool?
    /// Whether the overrides of all other tweaks are removed.
    package var resettingOthers: Bool?
    /// Whether nothing changes if one of the changes is refused, which is so unless this is false.
    package var allOrNothing: Bool?
    /// Whether nothing changes in any case, and the answer says what would.
    package var dryRun: Bool?
    /// Whether the answer describes the program and the changed tweaks, so that no further request is needed to show them.
    package var describing: Bool?
    /// A text of the client's choice, by which it recognises the change in ``ChangedTweaks``.
    package var tag: String?
    package var durations = SetDurations()
    package var endsWithConnection: Bool { durations.end == .closed }

    package struct Answer: Codable, Sendable {
        /// The number of the change in the program's history; `nil` if no value changed, or if the history is off.
        package var number: Int?
        /// What happened to the tweaks, one for each tweak in the order of their first mention; those that
        /// `resettingOthers` has reset come last.
        package var changes: [ChangedTweak]
        /// The changes that were refused.
        package var refused: [Refusal]
        /// The tweaks that were set or reset and do not have the new value; `nil` if all have it.
        package var ineffective: [IneffectiveValue]?
        /// The program, if the request asks for it.
        package var program: DescribeProgram.Answer?
        /// The tweaks of ``changes`` after them, if the request asks for it and they are at most
        /// ``ControlLimits/describedTweaks``.
        package var tweaks: [JSONTweak]?

        package init(number: Int? = nil, changes: [ChangedTweak] = [], refused: [Refusal] = []) {
            (self.number, self.changes, self.refused) = (number, changes, refused)
        }
    }

    package init(
        _ changes: [Change], exactNames: Bool? = nil, resettingOthers: Bool? = nil,
        allOrNothing: Bool? = nil, dryRun: Bool? = nil, describing: Bool? = nil, tag: String? = nil,
        _ durations: SetDurations = SetDurations()
    ) {
        self.changes = changes
        self.exactNames = exactNames
        self.resettingOthers = resettingOthers
        self.allOrNothing = allOrNothing
        (self.dryRun, self.describing, self.tag) = (dryRun, describing, tag)
        self.durations = durations
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        changes = try container.decode([Change].self, forKey: .changes)
        exactNames = try container.decodeIfPresent(Bool.self, forKey: .exactNames)
        resettingOthers = try container.decodeIfPresent(Bool.self, forKey: .resettingOthers)
        allOrNothing = try container.decodeIfPresent(Bool.self, forKey: .allOrNothing)
        dryRun = try container.decodeIfPresent(Bool.self, forKey: .dryRun)
        describing = try container.decodeIfPresent(Bool.self, forKey: .describing)
        tag = try container.decodeIfPresent(String.self, forKey: .tag)
        durations = try SetDurations(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(changes, forKey: .changes)
        try container.encodeIfPresent(exactNames, forKey: .exactNames)
        try container.encodeIfPresent(resettingOthers, forKey: .resettingOthers)
        try container.encodeIfPresent(allOrNothing, forKey: .allOrNothing)
        try container.encodeIfPresent(dryRun, forKey: .dryRun)
        try container.encodeIfPresent(describing, forKey: .describing)
        try container.encodeIfPresent(tag, forKey: .tag)
        try durations.encode(to: encoder)
    }
}

extension ChangeTweaks.Answer {
    /// The effect of a change on one tweak.
    package struct ChangedTweak: Codable, Sendable {
        package var tweak: TweakKey
        /// The value before.
        package var oldValue: JSONValue
        /// The source of the value before; `nil` from older libraries.
        package var oldSource: String?
        /// The value that waited before, or `nil`.
        package var oldPendingValue: JSONValue?
        /// The value now. It differs from ``givenValue`` if that waits, is reached gradually, or another source decides.
        package var newValue: JSONValue
        /// The source of the value now.
        package var source: String
        /// The value that was accepted, within the limits; `nil` for a reset.
        package var givenValue: JSONValue?
        /// The limit that the value was moved to, or `nil`.
        package var clampedTo: Limit?
        /// The new value, if it waits.
        package var pendingValue: JSONValue?
        /// The event that the new value waits for.
        package var waitsFor: Wait?
        /// The name of the gate that the tweak is below.
        package var gate: String?
        /// The lease that gives the value now.
        package var lease: JSONLease?
        /// The way to the new value.
        package var ramp: JSONRamp?
        /// Whether the program is known to read the tweak in another way than by code at its declaration: it has found it
        /// by name, bound a variable to it, or observes it. `nil` if not, and from older libraries.
        package var isReadOtherwise: Bool?

        package init(tweak: TweakKey, oldValue: JSONValue, newValue: JSONValue, source: String) {
            (self.tweak, self.oldValue, self.newValue, self.source) = (tweak, oldValue, newValue, source)
        }
    }

    package enum Limit: String, Codable, Sendable {
        case minimum, maximum
        /// The nearest number that the type has.
        case type
    }

    package enum Wait: String, Codable, Sendable { case gate, restart }

    /// A change that was refused.
    package struct Refusal: Codable, Sendable {
        /// The index in the request's changes.
        package var index: Int
        /// The tweak, if its name is known.
        package var tweak: TweakKey?
        package var kind: Kind
        /// The problem, and what is allowed, for people.
        package var message: String
        /// The allowed values, in words.
        package var allowed: String?
        /// The tweaks that were probably meant, most similar first.
        package var nearest: [TweakKey]?

        package init(
            index: Int, tweak: TweakKey?, _ kind: Kind, message: String, allowed: String? = nil,
            nearest: [TweakKey]? = nil
        ) {
            (self.index, self.tweak, self.kind, self.message) = (index, tweak, kind, message)
            (self.allowed, self.nearest) = (allowed, nearest)
        }
    }

    package enum Kind: String, Codable, Sendable {
        /// The name is malformed.
        case malformedName
        /// No tweak has the name.
        case unknownTweak
        /// Several tweaks could be meant.
        case ambiguousName
        /// The tweak refuses the value.
        case refusedValue
        /// The tweak is an action, a monitor or read-only.
        case notSettable
        /// The tweak cannot change in this way: gradually, or for a time.
        case refusedTerms
        /// The change does not fit into a gate.
        case gate
    }
}

// MARK: - Answers of older methods

extension SetTweak.Answer {
    package init(_ changed: ChangeTweaks.Answer.ChangedTweak) {
        self.init(
            tweak: changed.tweak, value: changed.newValue, wasClamped: changed.clampedTo != nil,
            source: changed.source, pendingValue: changed.pendingValue)
        (lease, ramp) = (changed.lease, changed.ramp)
    }
}

extension SetManyTweaks.Answer {
    /// - Parameter changes: Those of the request, which refusals name by their places.
    package init(_ changed: ChangeTweaks.Answer, to changes: [ChangeTweaks.Change]) {
        self.init(applied: [], clamped: [], unknown: [], refused: [])
        ineffective = changed.ineffective
        for change in changed.changes where change.givenValue != nil {
            applied.append(change.tweak)
            if change.clampedTo != nil { clamped.append(change.tweak) }
        }
        for refusal in changed.refused {
            guard let key = refusal.tweak ?? TweakKey(changes[refusal.index].tweak) else { continue }
            if refusal.kind == .unknownTweak {
                unknown.append(key)
            } else {
                refused.append(.init(tweak: key, message: refusal.message))
            }
        }
    }
}
