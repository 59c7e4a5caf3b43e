// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
internal import TweakJSON
internal import TweakProtocol
internal import TweakRecords

extension ChangeTweaks: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        try check()
        let terms = try requests.terms(durations, count: changes.count)
        let store = requests.store
        var names = ResolvedNames(of: changes, in: store)
        var evaluation = ChangeEvaluation()
        var isForProvider = false
        var lastNumber: UInt64 = 0
        store.apply { state in
            state.decode()
            lastNumber = state.history.lastNumber
            evaluation = ChangeEvaluation()
            evaluation.evaluate(self, on: terms, &names, in: &state)
            if evaluation.isRefused(unless: allOrNothing ?? true) { return nil }
            let source = state.layers.keeper
            isForProvider = terms.lease == nil && !state.layers.keepsItself(source)
            if isForProvider { return nil }
            guard
                let update = state.update(evaluation.values, in: source, by: requests.author, terms)
            else { return nil }
            do throws(TweakError) { try state.checkGates(update) } catch {
                evaluation.refuse(error, in: state)
                return nil
            }
            guard dryRun == true else { return update }
            evaluation.note(state.plan(update, in: state.layers), in: state)
            return nil
        } committed: { state in
            if state.history.lastNumber != lastNumber {
                evaluation.number = Int(exactly: state.history.lastNumber)
            }
            evaluation.note(in: state)
        }
        if isForProvider, dryRun != true {
            do throws(TweakError) { try store.change(evaluation.values, by: requests.author) } catch {
                throw ControlError(error)
            }
            store.withState { evaluation.note(in: $0) }
        }
        requests.keepTime(terms)
        return evaluation.answer
    }

    private func check() throws(ControlError) {
        if resettingOthers == true, durations.areLeased {
            throw ControlError(.invalidParameters, "change cannot reset others during a lease")
        }
        for change in changes where !change.hasOneEffect {
            throw ControlError(
                .invalidParameters, "a change has either a value, a text, or \"reset\": true")
        }
    }
}

extension ChangeTweaks.Change {
    fileprivate var hasOneEffect: Bool {
        reset ?? true && [value != nil, text != nil, reset != nil].count { $0 } == 1
    }
}

/// The tweaks that are named in a request, looked up without the store's lock, because comparing abbreviated names with
/// all others takes long.
private struct ResolvedNames {
    private let names: [Result<TweakName, TweakNameError>]
    private var keys: [Result<TweakKey, TweakNameError>] = []
    /// The state of the tweaks in which they were looked up; `nil` if all are complete names.
    private var generation: UInt64?

    init(of changes: [ChangeTweaks.Change], in store: TweakStore) {
        names = changes.map { change in
            Result { () throws(TweakNameError) in try TweakName(parsing: change.tweak) }
        }
        let all = store.withDecodedState { [names] state -> (TweakNames, UInt64)? in
            names.allSatisfy { (try? $0.get().key).map { state.tweaks[$0] != nil } ?? false }
                ? nil : (state.names, state.tweaks.generation)
        }
        if let all { resolve(among: all.0, all.1) }
    }

    private mutating func resolve(among all: TweakNames, _ generation: UInt64) {
        var all = all
        keys = names.map { name in
            Result { () throws(TweakNameError) in try all.key(of: try name.get()) }
        }
        self.generation = generation
    }

    /// The tweak that a change names. Only with the store's lock.
    mutating func key(of index: Int, in state: StoreState) throws(TweakNameError) -> TweakKey {
        let name = try names[index].get()
        if let key = name.key, state.tweaks[key] != nil { return key }
        // Images may have come or gone since.
        if generation != state.tweaks.generation { resolve(among: state.names, state.tweaks.generation) }
        return try keys[index].get()
    }
}

extension StoreState {
    fileprivate var names: TweakNames { TweakNames(tweaks.all.map(\.key)) }
}

/// The effect of a request's changes. Only with the store's lock.
private struct ChangeEvaluation {
    /// What becomes of a tweak.
    private struct Effect {
        let entry: TweakEntry
        let oldValue: TweakValue
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
    var number: Int?

    var values: [(key: TweakKey, value: TweakValue?)] {
        effects.map { ($0.entry.key, $0.admission?.value) }
    }

    var answer: ChangeTweaks.Answer {
        ChangeTweaks.Answer(
            number: number,
            // Most of the tweaks that are reset with others had no override.
            changes: effects.filter { $0.isNamed || $0.answer.map { $0.oldValue != $0.newValue } ?? false }
                .compactMap(\.answer),
            refused: refused)
    }

    /// Returns whether there is nothing to do.
    func isRefused(unless isPartial: Bool) -> Bool { effects.isEmpty || !refused.isEmpty && isPartial }

    mutating func evaluate(
        _ request: ChangeTweaks, on terms: SetTerms, _ names: inout ResolvedNames, in state: inout StoreState
    ) {
        for (index, change) in request.changes.enumerated() {
            var key: TweakKey?
            do throws(Problem) {
                let named: TweakKey
                do throws(TweakNameError) { named = try names.key(of: index, in: state) } catch {
                    throw .name(error)
                }
                key = named
                guard let entry = state.tweaks[named] else { continue }
                let admission = try admission(of: change, on: terms, entry, in: state)
                add(entry, admission, isNamed: true)
                origins[named] = index
            } catch {
                refused.append(error.refusal(index: index, key))
            }
        }
        guard request.resettingOthers == true else { return }
        for entry in state.tweaks.all where indexes[entry.key] == nil && entry.declaration.type != .action {
            add(entry, nil, isNamed: false)
        }
    }

    private mutating func add(
        _ entry: TweakEntry, _ admission: TweakDeclaration.Admission?, isNamed: Bool
    ) {
        if let index = indexes[entry.key] {
            effects[index].admission = admission
        } else {
            indexes[entry.key] = effects.count
            effects.append(
                Effect(entry: entry, oldValue: entry.value, admission: admission, isNamed: isNamed))
        }
    }

    /// - Returns: `nil` for a reset.
    private func admission(
        of change: ChangeTweaks.Change, on terms: SetTerms, _ entry: TweakEntry, in state: StoreState
    ) throws(Problem) -> TweakDeclaration.Admission? {
        let declaration = entry.declaration
        do throws(TweakError) {
            if let obstacle = declaration.obstacle(to: terms) { throw obstacle }
            if change.reset == true {
                if declaration.type == .action { throw .refused(.isAction(declaration)) }
                guard terms.lease == nil else {
                    throw .invalid(entry.key, reason: "a lease has a value, so it cannot be a reset")
                }
                return nil
            }
            do throws(TweakValueError) {
                guard let text = change.text else { return try declaration.admit(change.value ?? .null) }
                return try declaration.admit(text: text, current: current(of: entry, in: state))
            } catch {
                throw .refused(error)
            }
        } catch {
            throw .store(error)
        }
    }

    /// The value of a tweak after the changes so far.
    private func current(of entry: TweakEntry, in state: StoreState) -> TweakValue {
        guard let index = indexes[entry.key] else { return entry.pendingValue ?? entry.value }
        if let admission = effects[index].admission { return admission.value }
        let reset = ValueUpdate([(entry.key, nil)], in: state.layers.keeper, by: .program)
        var value = entry.value
        state.plan(reset, in: state.layers).steps.forEach { _, step in value = step.resolution.value }
        return value
    }

    /// Refuses all of it, because it does not fit into a gate.
    mutating func refuse(_ error: TweakError, in state: StoreState) {
        let problem = Problem.store(error)
        var key: TweakKey?
        if case .gate(let name, _, _) = error {
            key = effects.first { state.gates.mailbox(of: $0.entry.key)?.name.description == name }?.entry.key
        }
        refused.append(problem.refusal(index: key.flatMap { origins[$0] } ?? 0, key))
        effects = []
    }

    /// Notes what the changes have done.
    mutating func note(in state: StoreState) {
        for index in effects.indices {
            let status = state.status(of: effects[index].entry)
            var changed = changed(effects[index], status.value, status.source)
            if let pending = status.pendingValue { changed.wait(with: pending, status) }
            changed.gate = status.gate
            (changed.lease, changed.ramp) = (state.lease(of: changed.tweak), state.ramp(of: changed.tweak))
            effects[index].answer = changed
        }
    }

    /// Notes what the changes would do.
    mutating func note(_ plan: ValuePlan, in state: StoreState) {
        plan.steps.forEach { _, step in
            guard let index = indexes[step.entry.key] else { return }
            let status = state.status(of: step.entry)
            let isLater =
                step.resolution.value != status.value
                && (status.gate != nil || status.declaration.needsRestart)
            var changed = changed(
                effects[index], isLater ? status.value : step.resolution.value,
                isLater ? status.source : step.resolution.source)
            if isLater { changed.wait(with: step.resolution.value, status) }
            changed.gate = status.gate
            if let ramp = plan.ramps[step.entry.key] {
                changed.ramp = JSONRamp(
                    target: JSONValue(ramp.target), remaining: ramp.duration / .seconds(1))
            }
            effects[index].answer = changed
        }
    }

    private func changed(
        _ effect: Effect, _ value: TweakValue, _ source: TweakSource
    ) -> ChangeTweaks.Answer.ChangedTweak {
        var changed = ChangeTweaks.Answer.ChangedTweak(
            tweak: effect.entry.key, oldValue: JSONValue(effect.oldValue), newValue: JSONValue(value),
            source: source.description)
        guard let admission = effect.admission else { return changed }
        changed.givenValue = JSONValue(admission.value)
        if admission.wasClamped {
            let declaration = effect.entry.declaration
            changed.clampedTo =
                switch admission.value {
                case declaration.minimum: .minimum
                case declaration.maximum: .maximum
                default: .type
                }
        }
        return changed
    }
}

extension ChangeTweaks.Answer.ChangedTweak {
    fileprivate mutating func wait(with value: TweakValue, _ status: TweakStatus) {
        pendingValue = JSONValue(value)
        waitsFor = status.declaration.needsRestart ? .restart : .gate
    }
}

/// The reason why a change is refused.
private enum Problem: Error {
    case name(TweakNameError)
    case store(TweakError)

    func refusal(index: Int, _ key: TweakKey?) -> ChangeTweaks.Answer.Refusal {
        switch self {
        case .name(let error):
            let kind: ChangeTweaks.Answer.Kind =
                switch error {
                case .malformed, .malformedGroup: .malformedName
                case .ambiguous, .group, .ambiguousGroup: .ambiguousName
                case .unknown, .dotted, .unknownGroup: .unknownTweak
                }
            return .init(
                index: index, tweak: nil, kind, message: "\(error)",
                nearest: error.nearest.isEmpty ? nil : Array(error.nearest.prefix(10)))
        case .store(let error):
            var allowed: String?
            let kind: ChangeTweaks.Answer.Kind
            switch error {
            case .refused(.readOnly), .refused(.isAction), .refused(.isMonitor): kind = .notSettable
            case .refused(let reason): (kind, allowed) = (.refusedValue, reason.allowed)
            case .gate: kind = .gate
            default: kind = .refusedTerms
            }
            return .init(index: index, tweak: key, kind, message: "\(error)", allowed: allowed)
        }
    }
}
