// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
package import TweakProtocol
package import TweakRecords

/// A tweak and the values that texts such as `+=1` start from.
package struct ChangeableTweak {
    let declaration: TweakDeclaration
    let value: TweakValue
    let source: String?
    /// The value that waits, or `nil`.
    let pendingValue: TweakValue?

    package init(
        _ declaration: TweakDeclaration, value: TweakValue, source: String?, pendingValue: TweakValue?
    ) {
        (self.declaration, self.value) = (declaration, value)
        (self.source, self.pendingValue) = (source, pendingValue)
    }
}

/// The tweaks of a program: running with the library, in its memory, or in its files.
package protocol ChangeableTweaks {
    var allKeys: [TweakKey] { get }
    /// A number that differs if ``allKeys`` does.
    var keysGeneration: UInt64 { get }
    /// Returns whether there is a tweak with this name.
    func has(_ key: TweakKey) -> Bool
    func changeable(_ key: TweakKey) -> ChangeableTweak?
    /// Throws unless a tweak can get a value that it accepts, or `nil` for a reset.
    func check(
        _ value: TweakValue?, of declaration: TweakDeclaration, _ durations: SetDurations
    ) throws(ChangeProblem)
}

/// The tweaks that are named in a request.
package struct ResolvedNames {
    private let names: [Result<TweakName, TweakNameError>]
    private let areExact: Bool
    private var keys: [Result<TweakKey, TweakNameError>] = []
    /// The tweaks among which they were looked up; `nil` if all are complete names so far.
    private var generation: UInt64?

    package init(of request: ChangeTweaks) {
        areExact = request.exactNames == true
        names = request.changes.map { change in
            Result { () throws(TweakNameError) in try TweakName(parsing: change.tweak) }
        }
    }

    /// Returns whether all are complete names of tweaks.
    package func areComplete(in tweaks: some ChangeableTweaks) -> Bool {
        names.allSatisfy { (try? $0.get().key).map(tweaks.has) ?? false }
    }

    /// Looks up abbreviated names, which takes long in a program with many tweaks.
    package mutating func resolve(among all: [TweakKey], _ generation: UInt64) {
        var all = TweakNames(all)
        keys = names.map { [areExact] name in
            Result { () throws(TweakNameError) in
                let name = try name.get()
                return areExact ? try all.key(exactly: name) : try all.key(of: name)
            }
        }
        self.generation = generation
    }

    /// The tweak that a change names.
    package mutating func key(
        of index: Int, in tweaks: some ChangeableTweaks
    ) throws(TweakNameError) -> TweakKey {
        let name = try names[index].get()
        if let key = name.key, tweaks.has(key) { return key }
        // Tweaks may have come or gone since.
        if generation != tweaks.keysGeneration { resolve(among: tweaks.allKeys, tweaks.keysGeneration) }
        return try keys[index].get()
    }
}

/// The effect of a request's changes on the tweaks of a program: what each name means, and which value each text is.
package struct ChangeEvaluation {
    /// What becomes of a tweak.
    private struct Effect {
        let tweak: ChangeableTweak
        /// `nil` for a reset.
        var admission: TweakDeclaration.Admission?
        /// Whether the request names the tweak.
        let isNamed: Bool
        var answer: ChangeTweaks.Answer.ChangedTweak?
    }

    private var effects: [Effect] = []
    private var indexes: [TweakKey: Int] = [:]
    private var refused: [ChangeTweaks.Answer.Refusal] = []
    /// The index of the change that gave each tweak its value.
    private var origins: [TweakKey: Int] = [:]
    /// The number of the change in the program's history.
    package var number: Int?

    package init() {}

    /// Evaluates the changes in their order, each with the values of those before.
    ///
    /// - Parameter valueAfterReset: Returns the value of a tweak that this request has reset.
    package init(
        _ request: ChangeTweaks, _ names: inout ResolvedNames, in tweaks: some ChangeableTweaks,
        valueAfterReset: (TweakDeclaration) -> TweakValue = { $0.defaultValue }
    ) {
        for (index, change) in request.changes.enumerated() {
            var key: TweakKey?
            do throws(ChangeProblem) {
                let named: TweakKey
                do throws(TweakNameError) { named = try names.key(of: index, in: tweaks) } catch {
                    throw ChangeProblem(error)
                }
                key = named
                guard let tweak = tweaks.changeable(named) else {
                    throw ChangeProblem(.unknownTweak, "\(TweakError.unknown(named, nearest: []))")
                }
                let admission = try admission(
                    of: change, request.durations, tweak, in: tweaks, valueAfterReset)
                add(tweak, admission, isNamed: true)
                origins[named] = index
            } catch {
                refused.append(error.refusal(index: index, key))
            }
        }
        guard request.resettingOthers == true else { return }
        for key in tweaks.allKeys where indexes[key] == nil {
            guard let tweak = tweaks.changeable(key), tweak.declaration.type != .action else { continue }
            add(tweak, nil, isNamed: false)
        }
    }

    /// The new values in the order of their first mention; `nil` for a reset.
    package var values: [(key: TweakKey, value: TweakValue?)] {
        effects.map { ($0.tweak.declaration.key, $0.admission?.value) }
    }

    package var answer: ChangeTweaks.Answer {
        ChangeTweaks.Answer(
            number: number,
            // Most of the tweaks that are reset with others had no override.
            changes: effects.compactMap { effect in
                effect.answer.flatMap { changed in
                    effect.isNamed || changed.isEffective ? changed : nil
                }
            },
            refused: refused)
    }

    /// Returns whether there is nothing to do.
    package func isRefused(unless isPartial: Bool) -> Bool {
        effects.isEmpty || !refused.isEmpty && isPartial
    }

    private mutating func add(
        _ tweak: ChangeableTweak, _ admission: TweakDeclaration.Admission?, isNamed: Bool
    ) {
        if let index = indexes[tweak.declaration.key] {
            effects[index].admission = admission
        } else {
            indexes[tweak.declaration.key] = effects.count
            effects.append(Effect(tweak: tweak, admission: admission, isNamed: isNamed))
        }
    }

    /// - Returns: `nil` for a reset.
    private func admission(
        of change: ChangeTweaks.Change, _ durations: SetDurations, _ tweak: ChangeableTweak,
        in tweaks: some ChangeableTweaks, _ valueAfterReset: (TweakDeclaration) -> TweakValue
    ) throws(ChangeProblem) -> TweakDeclaration.Admission? {
        let declaration = tweak.declaration
        guard change.reset != true else {
            if declaration.type == .action { throw ChangeProblem(.refused(.isAction(declaration))) }
            guard !durations.areLeased else {
                let reason = "a lease has a value, so it cannot be a reset"
                throw ChangeProblem(.invalid(declaration.key, reason: reason))
            }
            try tweaks.check(nil, of: declaration, durations)
            return nil
        }
        let admission: TweakDeclaration.Admission
        do throws(TweakValueError) {
            admission =
                if let text = change.text {
                    try declaration.admit(text: text, current: current(of: tweak, valueAfterReset))
                } else {
                    try declaration.admit(change.value ?? .null)
                }
        } catch {
            throw ChangeProblem(.refused(error))
        }
        try tweaks.check(admission.value, of: declaration, durations)
        return admission
    }

    /// The value of a tweak after the changes so far.
    private func current(
        of tweak: ChangeableTweak, _ valueAfterReset: (TweakDeclaration) -> TweakValue
    ) -> TweakValue {
        guard let index = indexes[tweak.declaration.key] else { return tweak.pendingValue ?? tweak.value }
        return effects[index].admission?.value ?? valueAfterReset(tweak.declaration)
    }

    /// Refuses all of it.
    ///
    /// - Parameter isMeant: Returns whether a tweak is one that the problem is about.
    package mutating func refuse(_ problem: ChangeProblem, _ isMeant: (TweakKey) -> Bool) {
        let key = effects.lazy.map { $0.tweak.declaration.key }.first(where: isMeant)
        refused.append(problem.refusal(index: key.flatMap { origins[$0] } ?? 0, key))
        effects = []
    }

    /// Notes what has become of the tweaks.
    ///
    /// - Parameter complete: Fills in the new value, its source, and what delays it.
    package mutating func note(
        _ complete: (TweakDeclaration, inout ChangeTweaks.Answer.ChangedTweak) -> Void
    ) {
        for index in effects.indices { note(index, complete) }
    }

    /// Notes what becomes of one tweak, see ``note(_:)``.
    package mutating func note(
        _ key: TweakKey, _ complete: (TweakDeclaration, inout ChangeTweaks.Answer.ChangedTweak) -> Void
    ) {
        if let index = indexes[key] { note(index, complete) }
    }

    private mutating func note(
        _ index: Int, _ complete: (TweakDeclaration, inout ChangeTweaks.Answer.ChangedTweak) -> Void
    ) {
        let (tweak, admission) = (effects[index].tweak, effects[index].admission)
        let oldValue = JSONValue(tweak.value)
        var changed = ChangeTweaks.Answer.ChangedTweak(
            tweak: tweak.declaration.key, oldValue: oldValue, newValue: oldValue, source: "")
        changed.oldSource = tweak.source
        changed.oldPendingValue = tweak.pendingValue.map { JSONValue($0) }
        changed.givenValue = admission.map { JSONValue($0.value) }
        if let admission, admission.wasClamped {
            changed.clampedTo =
                switch admission.value {
                case tweak.declaration.minimum: .minimum
                case tweak.declaration.maximum: .maximum
                default: .type
                }
        }
        complete(tweak.declaration, &changed)
        effects[index].answer = changed
    }
}

extension ChangeTweaks.Answer.ChangedTweak {
    /// Whether something is not as before: the value, the one that waits, or the source.
    package var isEffective: Bool {
        (oldValue, oldPendingValue) != (newValue, pendingValue) || oldSource != source && oldSource != nil
    }

    /// Notes that a value waits for a restart or a gate.
    package mutating func wait(with value: TweakValue, of declaration: TweakDeclaration) {
        pendingValue = JSONValue(value)
        waitsFor = declaration.needsRestart ? .restart : .gate
    }
}

/// The reason why a change is refused.
package struct ChangeProblem: Error {
    private let kind: ChangeTweaks.Answer.Kind
    private let message: String
    private var allowed: String?
    private var nearest: [TweakKey] = []

    package init(_ kind: ChangeTweaks.Answer.Kind, _ message: String) {
        (self.kind, self.message) = (kind, message)
    }

    package init(_ error: TweakNameError) {
        kind =
            switch error {
            case .malformed, .malformedGroup: .malformedName
            case .ambiguous, .group, .ambiguousGroup: .ambiguousName
            case .unknown, .dotted, .unknownGroup: .unknownTweak
            }
        (message, nearest) = ("\(error)", error.nearest)
    }

    package init(_ error: TweakError) {
        switch error {
        case .refused(.readOnly), .refused(.isAction), .refused(.isMonitor): kind = .notSettable
        case .refused(let reason): (kind, allowed) = (.refusedValue, reason.allowed)
        case .gate: kind = .gate
        default: kind = .refusedTerms
        }
        message = "\(error)"
    }

    fileprivate func refusal(index: Int, _ key: TweakKey?) -> ChangeTweaks.Answer.Refusal {
        .init(
            index: index, tweak: key, kind, message: message, allowed: allowed,
            nearest: nearest.isEmpty ? nil : Array(nearest.prefix(10)))
    }
}
