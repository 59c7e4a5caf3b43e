// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import TweakFormats
internal import TweakJSON
package import TweakOverrides
package import TweakProtocol
package import TweakRecords

// Changes of a program whose tweaks this command evaluates, because the program has no library that does.

/// The tweaks of a program as this command knows them.
struct KnownTweaks: ChangeableTweaks {
    let keysGeneration: UInt64 = 0
    private let keys: () -> [TweakKey]
    private let tweak: (TweakKey) -> JSONTweak?
    private let problem: (TweakValue, TweakDeclaration) -> ChangeProblem?

    /// - Parameter problem: Returns why a tweak cannot get a value that it accepts.
    init(
        keys: @escaping () -> [TweakKey], tweak: @escaping (TweakKey) -> JSONTweak?,
        problem: @escaping (TweakValue, TweakDeclaration) -> ChangeProblem? = { _, _ in nil }
    ) {
        (self.keys, self.tweak, self.problem) = (keys, tweak, problem)
    }

    var allKeys: [TweakKey] { keys() }

    func has(_ key: TweakKey) -> Bool { tweak(key) != nil }

    func changeable(_ key: TweakKey) -> ChangeableTweak? {
        tweak(key).map {
            ChangeableTweak(
                $0.declaration, value: $0.value ?? .nothing, source: $0.source, pendingValue: $0.pendingValue)
        }
    }

    func check(
        _ value: TweakValue?, of declaration: TweakDeclaration, _ durations: SetDurations
    ) throws(ChangeProblem) {
        if let problem = value.flatMap({ problem($0, declaration) }) { throw problem }
    }
}

extension ChangeEvaluation {
    /// Notes the state of the tweaks after the changes.
    mutating func note(_ after: (TweakKey) -> JSONTweak?) {
        note { declaration, changed in
            guard let tweak = after(declaration.key) else { return }
            (changed.newValue, changed.source) = (JSONValue(tweak.value ?? .nothing), tweak.source ?? "")
            if let pending = tweak.pendingValue { changed.wait(with: pending, of: declaration) }
            (changed.gate, changed.lease, changed.ramp) = (tweak.gate, tweak.lease, tweak.ramp)
        }
    }
}

extension ChangeTweaks {
    /// Whether nothing changes if one of the changes is refused.
    var isAllOrNothing: Bool { allOrNothing ?? true }
    var setsAny: Bool { changes.contains { $0.reset != true } }

    /// A change to values from a file.
    package init(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool, _ durations: SetDurations
    ) {
        self.init(
            values.keys.sorted().map { Change(tweak: "\($0)", value: values[$0]) }, exactNames: true,
            resettingOthers: resettingOthers, allOrNothing: allOrNothing, durations)
    }
}

extension ChangeTweaks.Answer {
    /// Throws if one of the changes was refused.
    package func check() throws(Failure) {
        guard let refusal = refused.first else { return }
        guard refused.count > 1 else { throw Failure(refusal.message, refusal.failureKind) }
        throw Failure("nothing was set:", details: refused.map(\.message), refusal.failureKind)
    }
}

extension ChangeTweaks.Answer.Refusal {
    package var failureKind: FailureKind {
        switch kind {
        case .malformedName: .usage
        case .unknownTweak, .ambiguousName, .refusedValue, .notSettable, .refusedTerms, .gate: .invalid
        }
    }
}

extension ChangeTweaks.Answer {
    /// Notes the tweaks whose new value waits.
    func notingWaiting() -> Self {
        let waiting = changes.filter { $0.pendingValue != nil }.map { changed in
            IneffectiveValue(
                tweak: changed.tweak, value: changed.newValue, source: changed.source,
                pendingValue: changed.pendingValue, gate: changed.gate, lease: changed.lease)
        }
        var answer = self
        answer.ineffective = waiting.isEmpty ? nil : waiting
        return answer
    }
}

extension JSONTweak {
    /// The tweak after a change.
    package mutating func update(with changed: ChangeTweaks.Answer.ChangedTweak) {
        let type = declaration.type
        // Without the executable the default is unknown.
        value = changed.newValue.value(of: type) ?? (declaration.defaultValue == .nothing ? .nothing : nil)
        source = changed.source
        pendingValue = changed.pendingValue?.value(of: type)
        gate = changed.gate ?? gate
        (lease, ramp) = (changed.lease, changed.ramp)
    }
}

/// A tweak before and after a change.
package struct ChangedTweak {
    package let before: JSONTweak
    package var after: JSONTweak
    package let effect: ChangeTweaks.Answer.ChangedTweak

    fileprivate init(_ tweak: JSONTweak, _ effect: ChangeTweaks.Answer.ChangedTweak) {
        var (before, after) = (tweak, tweak)
        after.update(with: effect)
        let type = tweak.declaration.type
        before.value = effect.oldValue.value(of: type)
        before.pendingValue = effect.oldPendingValue?.value(of: type)
        (before.source, before.lease, before.ramp) = (effect.oldSource, nil, nil)
        (self.before, self.after, self.effect) = (before, after, effect)
    }
}

extension Program {
    /// The tweaks of a change before and after it. Takes further requests unless the answer describes the tweaks.
    package func tweaks(of answer: ChangeTweaks.Answer) throws(Failure) -> [ChangedTweak] {
        var described: [TweakKey: JSONTweak] = [:]
        var tweaks = answer.tweaks ?? []
        if answer.tweaks == nil, answer.changes.count > LiveProgram.fewTweaks { tweaks = try self.tweaks() }
        for tweak in tweaks { described[tweak.declaration.key] = tweak }
        var changed: [ChangedTweak] = []
        for effect in answer.changes {
            var tweak = described[effect.tweak]
            if tweak == nil { tweak = try tweakAgain(effect.tweak) }
            if let tweak { changed.append(ChangedTweak(tweak, effect)) }
        }
        return changed
    }

    /// Removes the overrides of tweaks, or with `nil` all, as one change.
    ///
    /// - Parameter tag: See ``ChangeTweaks/tag``.
    /// - Returns: The tweaks that do not have their default nevertheless; `nil` for none.
    @discardableResult
    package func reset(_ keys: [TweakKey]?, tag: String? = nil) throws(Failure) -> [IneffectiveValue]? {
        let changes = (keys ?? []).map { ChangeTweaks.Change(tweak: "\($0)", reset: true) }
        let answer = try change(
            ChangeTweaks(changes, exactNames: true, resettingOthers: keys == nil ? true : nil, tag: tag))
        // A named value may be left from another build.
        if let key = keys?.first, keys?.count == 1, answer.refused.first?.kind == .unknownTweak {
            try forget([key])
        } else {
            try answer.check()
        }
        return answer.ineffective
    }

    /// Sets several tweaks as one change. Values that a tweak cannot take are reported, and the others set unless it is
    /// all or nothing.
    package func apply(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool, _ durations: SetDurations
    ) throws(Failure) -> SetManyTweaks.Answer {
        let request = ChangeTweaks(
            values, resettingOthers: resettingOthers, allOrNothing: allOrNothing, durations)
        return SetManyTweaks.Answer(try change(request), to: request.changes)
    }
}
