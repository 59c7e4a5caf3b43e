// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

/// Changes tweaks, as one change: names and texts are those that people type, and the program decides what they mean.
///
/// The changes are evaluated in their order, each with the values of those before, under one lock. So `+=1` loses
/// nothing however many clients send it.
package struct ChangeTweaks: ControlMethod {
    package static let method = ControlMethodName.change
    package static let parameters: [ByteText] = [
        "changes", "exactNames", "resettingOthers", "allOrNothing", "dryRun", "describing", "tag", "until",
        "for", "ramp",
    ]

    /// A change of one tweak: exactly one of ``value``, ``text`` and ``reset``.
    package struct Change: JSONStructure, Sendable {
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

    package struct Answer: JSONStructure, Sendable {
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
}

extension ChangeTweaks {
    package init(members: JSONMembers) throws(JSONError) {
        changes = try members.read("changes")
        exactNames = try members.readIfPresent("exactNames")
        resettingOthers = try members.readIfPresent("resettingOthers")
        allOrNothing = try members.readIfPresent("allOrNothing")
        dryRun = try members.readIfPresent("dryRun")
        describing = try members.readIfPresent("describing")
        tag = try members.readIfPresent("tag")
        durations = try SetDurations(members)
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("allOrNothing", allOrNothing)
        writer.member("changes", changes)
        writer.member("describing", describing)
        writer.member("dryRun", dryRun)
        writer.member("exactNames", exactNames)
        writer.member("for", durations.lease)
        writer.member("ramp", durations.ramp)
        writer.member("resettingOthers", resettingOthers)
        writer.member("tag", tag)
        writer.member("until", durations.end)
    }
}

extension ChangeTweaks.Change {
    package init(members: JSONMembers) throws(JSONError) {
        try members.check(allowed: ["tweak", "value", "text", "reset"])
        tweak = try members.read("tweak")
        // Null is a wrong value, which must not be taken for a missing one.
        value = try members.readUnlessMissing("value")
        text = try members.readUnlessMissing("text")
        reset = try members.readUnlessMissing("reset")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("reset", reset)
        writer.member("text", text)
        writer.member("tweak", tweak)
        writer.member("value", value)
    }
}

extension ChangeTweaks.Answer {
    package init(members: JSONMembers) throws(JSONError) {
        number = try members.readIfPresent("number")
        changes = try members.read("changes")
        refused = try members.read("refused")
        ineffective = try members.readIfPresent("ineffective")
        program = try members.readIfPresent("program")
        tweaks = try members.readIfPresent("tweaks")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("changes", changes)
        writer.member("ineffective", ineffective)
        writer.member("number", number)
        writer.member("program", program)
        writer.member("refused", refused)
        writer.member("tweaks", tweaks)
    }
}

extension ChangeTweaks.Answer.ChangedTweak {
    package init(members: JSONMembers) throws(JSONError) {
        tweak = try members.read("tweak")
        oldValue = try members.read("oldValue")
        oldSource = try members.readIfPresent("oldSource")
        oldPendingValue = try members.readIfPresent("oldPendingValue")
        newValue = try members.read("newValue")
        source = try members.read("source")
        givenValue = try members.readIfPresent("givenValue")
        clampedTo = try members.readIfPresent("clampedTo")
        pendingValue = try members.readIfPresent("pendingValue")
        waitsFor = try members.readIfPresent("waitsFor")
        gate = try members.readIfPresent("gate")
        lease = try members.readIfPresent("lease")
        ramp = try members.readIfPresent("ramp")
        isReadOtherwise = try members.readIfPresent("isReadOtherwise")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("clampedTo", clampedTo)
        writer.member("gate", gate)
        writer.member("givenValue", givenValue)
        writer.member("isReadOtherwise", isReadOtherwise)
        writer.member("lease", lease)
        writer.member("newValue", newValue)
        writer.member("oldPendingValue", oldPendingValue)
        writer.member("oldSource", oldSource)
        writer.member("oldValue", oldValue)
        writer.member("pendingValue", pendingValue)
        writer.member("ramp", ramp)
        writer.member("source", source)
        writer.member("tweak", tweak)
        writer.member("waitsFor", waitsFor)
    }
}

extension ChangeTweaks.Answer.Refusal {
    package init(members: JSONMembers) throws(JSONError) {
        index = try members.read("index")
        tweak = try members.readIfPresent("tweak")
        kind = try members.read("kind")
        message = try members.read("message")
        allowed = try members.readIfPresent("allowed")
        nearest = try members.readIfPresent("nearest")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("allowed", allowed)
        writer.member("index", index)
        writer.member("kind", kind)
        writer.member("message", message)
        writer.member("nearest", nearest)
        writer.member("tweak", tweak)
    }
}

extension ChangeTweaks.Answer {
    /// The effect of a change on one tweak.
    package struct ChangedTweak: JSONStructure, Sendable {
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

    package enum Limit: String, CaseIterable, JSONReadable, JSONWritable, Sendable {
        case minimum, maximum
        /// The nearest number that the type has.
        case type
    }

    package enum Wait: String, CaseIterable, JSONReadable, JSONWritable, Sendable { case gate, restart }

    /// A change that was refused.
    package struct Refusal: JSONStructure, Sendable {
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

    package enum Kind: String, CaseIterable, JSONReadable, JSONWritable, Sendable {
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
