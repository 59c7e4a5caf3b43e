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
        var names = ResolvedNames(of: self)
        // Without the store's lock, because comparing abbreviated names with all others takes long.
        let all = store.withDecodedState { [names] state -> ([TweakKey], UInt64)? in
            names.areComplete(in: state) ? nil : (state.allKeys, state.keysGeneration)
        }
        if let all { names.resolve(among: all.0, all.1) }
        var evaluation = ChangeEvaluation()
        var isForProvider = false
        var ineffective: [IneffectiveValue] = []
        var lastNumber: UInt64 = 0
        store.apply { state in
            state.decode()
            lastNumber = state.history.lastNumber
            evaluation = ChangeEvaluation(self, &names, in: state) {
                state.value(afterResetOf: $0.key, by: requests.author)
            }
            if evaluation.isRefused(unless: allOrNothing ?? true) { return nil }
            let source = state.layers.keeper
            isForProvider = terms.lease == nil && !state.layers.keepsItself(source)
            if isForProvider { return nil }
            guard
                let update = state.update(evaluation.values, in: source, by: requests.author, terms)
            else { return nil }
            update.tag = tag
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
            ineffective = state.ineffective(
                evaluation.values.map { $0.key }, of: terms.lease == nil ? state.layers.keeper : .lease)
        }
        if isForProvider, dryRun != true {
            do throws(TweakError) { try store.change(evaluation.values, by: requests.author) } catch {
                throw ControlError(error)
            }
            store.withState { state in
                evaluation.note(in: state)
                ineffective = state.ineffective(evaluation.values.map { $0.key }, of: state.layers.keeper)
            }
        }
        requests.keepTime(terms)
        var answer = evaluation.answer
        answer.ineffective = ineffective.isEmpty || dryRun == true ? nil : ineffective
        if describing == true {
            answer.program = DescribeProgram().answer(requests)
            if answer.changes.count <= ControlLimits.describedTweaks {
                answer.tweaks = requests.look { state in
                    answer.changes.compactMap { state.tweaks[$0.tweak].map(state.form) }
                }
            }
        }
        return answer
    }

    private func check() throws(ControlError) {
        if resettingOthers == true, durations.areLeased {
            throw ControlError(.invalidParameters, "change cannot reset others during a lease")
        }
        if let tag, tag.utf8.count > ControlLimits.tagSize {
            throw ControlError(.invalidParameters, "a tag has at most \(ControlLimits.tagSize) bytes")
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

extension StoreState: ChangeableTweaks {
    var allKeys: [TweakKey] { tweaks.all.map { $0.key } }
    var keysGeneration: UInt64 { tweaks.generation }

    func has(_ key: TweakKey) -> Bool { tweaks[key] != nil }

    func changeable(_ key: TweakKey) -> ChangeableTweak? {
        tweaks[key].map(status).map {
            ChangeableTweak(
                $0.declaration, value: $0.value, source: $0.source.description, pendingValue: $0.pendingValue)
        }
    }

    func check(
        _ value: TweakValue?, of declaration: TweakDeclaration, _ durations: SetDurations
    ) throws(ChangeProblem) {
        let obstacle = declaration.obstacle(
            toLeases: durations.areLeased, toRamps: durations.ramp != nil)
        if let obstacle { throw ChangeProblem(obstacle) }
    }
}

extension StoreState {
    fileprivate func value(afterResetOf key: TweakKey, by author: ChangeAuthor) -> TweakValue {
        var value = tweaks[key]?.value ?? .nothing
        plan(update([(key, nil)], in: layers.keeper, by: author), in: layers).steps.forEach { _, step in
            value = step.resolution.value
        }
        return value
    }
}

extension ChangeEvaluation {
    /// Refuses all of it, because it does not fit into a gate.
    fileprivate mutating func refuse(_ error: TweakError, in state: StoreState) {
        refuse(ChangeProblem(error)) { key in
            guard case .gate(let name, _, _) = error else { return false }
            return state.gates.mailbox(of: key)?.name.description == name
        }
    }

    /// Notes what the changes have done. Only with the store's lock.
    fileprivate mutating func note(in state: StoreState) {
        note { declaration, changed in
            guard let entry = state.tweaks[declaration.key] else { return }
            let status = state.status(of: entry)
            (changed.newValue, changed.source) = (JSONValue(status.value), status.source.description)
            if let pending = status.pendingValue { changed.wait(with: pending, of: declaration) }
            changed.gate = status.gate
            (changed.lease, changed.ramp) = (state.lease(of: changed.tweak), state.ramp(of: changed.tweak))
            changed.isReadOtherwise = state.isReadOtherwise(entry) ? true : nil
        }
    }

    /// Notes what the changes would do. Only with the store's lock.
    fileprivate mutating func note(_ plan: ValuePlan, in state: StoreState) {
        plan.steps.forEach { _, step in
            note(step.entry.key) { declaration, changed in
                let status = state.status(of: step.entry)
                let new = step.resolution
                let isLater =
                    new.value != status.value && (status.gate != nil || declaration.needsRestart)
                changed.newValue = JSONValue(isLater ? status.value : new.value)
                changed.source = (isLater ? status.source : new.source).description
                if isLater { changed.wait(with: new.value, of: declaration) }
                changed.gate = status.gate
                changed.ramp = plan.ramps[changed.tweak].map {
                    JSONRamp(target: JSONValue($0.target), remaining: $0.duration / .seconds(1))
                }
            }
        }
    }
}
