// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakJSON
internal import TweakOverrides
internal import TweakProtocol
internal import TweakRecords
internal import TweakSystem

/// Executes the protocol's methods with a store.
struct ControlRequests: Sendable {
    let store: TweakStore
    /// The thread that may call the program's code.
    let worker: SerialQueue
    /// Who requests.
    var author = ChangeAuthor.program

    /// Throws unless the tweak is an action that can run.
    func checkAction(_ key: TweakKey) throws(ControlError) {
        let declaration = try status(of: key).declaration
        guard declaration.type == .action else { throw ControlError(.noAction(declaration)) }
    }

    func status(of key: TweakKey) throws(ControlError) -> TweakStatus {
        if let status = look({ $0.status(of: key) }) { return status }
        throw ControlError(store.unknown(key))
    }

    /// Reads the state without calling or waiting for the program's code.
    func look<Result>(_ body: (StoreState) -> Result) -> Result {
        let (result, hasMessages) = store.state.withLock { state in
            state.decode()
            return (body(state), state.hasMessages)
        }
        // The next holder of the lock may report them; this thread must not call a log handler.
        if hasMessages { _ = worker.add { [store] in store.withState { _ in } } }
        return result
    }

    func run(_ call: RunAction, as run: ActionRun) throws(ControlError) {
        if let runner = store.state.withLock({ $0.delivery.observers.runner(of: call.tweak) }) {
            runner(call.tweak, run)
            run.end()
            return
        }
        do throws(TweakError) { try store.run(call.tweak, as: run) } catch { throw ControlError(error) }
    }

    /// The tweaks among these that do not have, or not yet, what a change of the overrides gave them; `nil` if all have it.
    func ineffective(_ keys: [TweakKey]) -> [IneffectiveValue]? {
        let found = look { $0.ineffective(keys, of: $0.layers.keeper) }
        return found.isEmpty ? nil : found
    }

    fileprivate func overrides(of keys: [TweakKey]) -> Int {
        store.withDecodedState { state in keys.count { state.layers[.overrides][$0] != nil } }
    }
}

// MARK: - Methods

/// A method that needs only the store.
protocol StoreMethod: ControlMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer
}

extension DescribeProgram: StoreMethod {
    func answer(_ requests: ControlRequests) -> Answer {
        let path = executablePath() ?? ""
        return Answer(
            application: requests.store.state.withLock { $0.application } ?? lastComponent(of: path),
            executable: path,
            pid: getpid(), version: libraryVersion, tweaks: requests.look { $0.tweaks.count },
            overrides: requests.store.writer?.file?.path,
            methods: ControlMethodName.allCases.map { $0.rawValue })
    }
}

extension ListTweaks: StoreMethod {
    func answer(_ requests: ControlRequests) -> Answer {
        Answer(
            tweaks: requests.look { state in
                state.tweaks.all.filter { tweak in
                    (category?.hasSameBytes(as: tweak.key.category) ?? true)
                        && (collection?.hasSameBytes(as: tweak.key.collection) ?? true)
                }.map(state.form)
            })
    }
}

extension GetTweak: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> JSONTweak {
        if let form = requests.look({ state in state.tweaks[tweak].map(state.form) }) {
            return form
        }
        throw ControlError(requests.store.unknown(tweak))
    }
}

extension ExplainTweak: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        let status = try requests.status(of: tweak)
        let tweak = status.declaration
        let (provided, others, leases) = requests.look { state in
            (
                state.layers.opinions(on: tweak.key).map {
                    ($0.source, $0.provided, state.layers.feed(of: $0.source))
                },
                state.layers.all.filter { $0.values[tweak.key] == nil }.compactMap {
                    $0.feed?.provider as? ProvidedValues
                },
                state.layers.leases[tweak.key]
            )
        }
        var opinions = provided.map { source, provided, feed in
            var opinion = Answer.Opinion(source: source.name, value: JSONValue(provided))
            do throws(TweakValueError) {
                let admission = try provided.admission(for: tweak)
                if admission.wasClamped { opinion.given = opinion.value }
                opinion.value = JSONValue(admission.value)
            } catch {
                opinion.error = "\(error)"
            }
            opinion.location = feed?.fileProvider?.origins.joined(separator: ", ")
            return opinion
        }
        if let index = opinions.firstIndex(where: { $0.source == TweakSource.lease.name }) {
            opinions.replaceSubrange(
                index...index,
                with: leases.reversed().map { lease in
                    var opinion = opinions[index]
                    opinion.value = JSONValue(lease.value)
                    opinion.lease = JSONLease(lease)
                    return opinion
                })
        }
        opinions.append(
            Answer.Opinion(
                source: TweakSource.binary.name, value: JSONValue(tweak.defaultValue)))
        var answer = Answer(
            tweak: tweak.key, value: JSONValue(status.value), source: status.source.description,
            opinions: opinions)
        answer.gate = requests.look { state in
            state.gates.mailbox(of: tweak.key).map { mailbox in
                mailbox.probe()
                return Answer.Gate(
                    name: "\(mailbox.name)",
                    pendingValue: tweak.needsRestart ? nil : status.pendingValue.map(JSONValue.init),
                    waitingSince: mailbox.waitingSince.map { $0.time / .seconds(1) },
                    lastPassed: mailbox.lastPassed.map { $0 / .seconds(1) })
            }
        }
        for provider in others {
            let files = provider.files.filter { isAccessible($0) }
            guard !files.isEmpty else { continue }
            var silent = Answer.Opinion(source: provider.source.name, value: nil)
            silent.location = files.joined(separator: ", ")
            answer.silent = (answer.silent ?? []) + [silent]
        }
        return answer
    }
}

extension SetTweak: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        guard (value == nil) != (text == nil) else {
            throw ControlError(
                .invalidParameters, "set takes either a value other than null, or a text")
        }
        let change = ChangeTweaks.Change(tweak: "\(tweak)", value: value, text: text)
        let answer = try ChangeTweaks([change], exactNames: true, durations).answer(requests)
        guard let changed = answer.changes.first else {
            throw answer.refused.first.flatMap(ControlError.init)
                ?? ControlError(requests.store.unknown(tweak))
        }
        return Answer(changed)
    }
}

extension ResetTweaks: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        if let answer = try resetGroup(requests) { return answer }
        throw ControlError(
            .invalidParameters,
            "reset takes a tweak, or a category with or without a collection, or \"all\": true")
    }

    /// - Returns: `nil` if the parameters are ambiguous.
    private func resetGroup(_ requests: ControlRequests) throws(ControlError) -> Answer? {
        do throws(TweakError) {
            if let leases { return try end(leases, requests) }
            let keys: [TweakKey]
            let count: Int
            switch (tweak, category, collection, all) {
            case (let key?, nil, nil, nil):
                keys = [key]
                count = requests.overrides(of: keys)
                try requests.store.reset(key, by: requests.author)
            case (nil, let category?, let collection, nil):
                keys = requests.store.keys(category, collection)
                count = requests.overrides(of: keys)
                try requests.store.reset(category, collection, by: requests.author)
            case (nil, nil, nil, true?):
                keys = requests.store.keys(nil, nil)
                count = requests.overrides(of: keys)
                try requests.store.reset(nil, nil, by: requests.author)
            default:
                return nil
            }
            return Answer(reset: count, ineffective: requests.ineffective(keys))
        } catch {
            throw ControlError(error)
        }
    }

    private func end(_ leases: Leases, _ requests: ControlRequests) throws(TweakError) -> Answer? {
        let keys: [TweakKey]
        switch (tweak, category, collection, all) {
        case (let key?, nil, nil, nil):
            try requests.store.checkHasValue(key)
            keys = [key]
        case (nil, let category?, let collection, nil):
            keys = requests.store.keys(category, collection)
            if keys.isEmpty {
                throw .noTweaks(in: [category, collection].compactMap { $0 }.joined(separator: "/"))
            }
        case (nil, nil, nil, true?): keys = requests.store.keys(nil, nil)
        default: return nil
        }
        let client = requests.client
        return Answer(
            reset: requests.store.endLeases(of: keys, by: requests.author) {
                leases == .all || client != nil && $0.terms.connection === client
            })
    }
}

extension SetManyTweaks: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        guard !durations.areLeased || resettingOthers != true else {
            throw ControlError(.invalidParameters, "setMany cannot reset others during a lease")
        }
        let changes = values.keys.sorted().map { ChangeTweaks.Change(tweak: "\($0)", value: values[$0]) }
        let request = ChangeTweaks(
            changes, exactNames: true, resettingOthers: resettingOthers, allOrNothing: allOrNothing ?? false,
            durations)
        return Answer(try request.answer(requests), to: changes)
    }
}

extension ReadAdopted: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Done {
        do throws(OverridesError) { try requests.store.readAdopted(storingAgain: again == true) } catch {
            throw ControlError(.internalError, "\(error)")
        }
        return Done()
    }
}

// MARK: - Messages

extension JSONValue {
    fileprivate init(_ provided: ProvidedValue) {
        self =
            switch provided {
            case .value(let value): JSONValue(value)
            case .text(let text), .unusable(let text): .scalar(.string(text))
            }
    }
}

extension JSONLease {
    fileprivate init(_ lease: Lease) {
        self.init(by: "\(lease.author)", remaining: lease.terms.end.map(Self.seconds))
    }

    /// The seconds until a time, in milliseconds.
    fileprivate static func seconds(until end: ContinuousClock.Instant) -> Double {
        (max(end - .now, .zero) / .milliseconds(1)).rounded() / 1000
    }
}

extension StoreState {
    /// The JSON form of a tweak.
    func form(of entry: TweakEntry) -> JSONTweak {
        let status = status(of: entry)
        var form = JSONTweak(
            status.declaration, value: status.value, source: status.source.description,
            pendingValue: status.pendingValue, gate: status.gate)
        (form.lease, form.ramp) = (lease(of: entry.key), ramp(of: entry.key))
        if entry.isProvided { form.introducedBy = layers.introducer(of: entry.key)?.name }
        form.overwrittenValue = entry.overwrittenValue
        return form
    }

    /// The tweaks among these that do not have, or not yet, the value of a provider.
    func ineffective(_ keys: [TweakKey], of provider: TweakSource) -> [IneffectiveValue] {
        guard let given = layers.index(of: provider) else { return [] }
        lazy var visible = layers.from(provider)
        return keys.compactMap { key in
            guard let entry = tweaks[key], entry.declaration.hasKeptValue else { return nil }
            let isHidden =
                layers.index(of: entry.source).map { $0 < given } ?? false
                && visible.resolve(entry.declaration).value != entry.value
            guard isHidden || entry.pendingValue != nil else { return nil }
            let status = status(of: entry)
            return IneffectiveValue(
                tweak: key, value: JSONValue(status.value), source: status.source.name,
                pendingValue: status.pendingValue.map(JSONValue.init), gate: status.gate,
                lease: lease(of: key))
        }
    }

    /// The lease that gives a tweak its value.
    func lease(of key: TweakKey) -> JSONLease? {
        guard let lease = layers.leases[key].last, let entry = tweaks[key], entry.source == .lease else {
            return nil
        }
        var json = JSONLease(lease)
        json.hiddenValue = JSONValue(lasting(of: entry).value)
        return json
    }

    func ramp(of key: TweakKey) -> JSONRamp? {
        guard !ramps.isEmpty, let ramp = ramps[key] else { return nil }
        return JSONRamp(target: JSONValue(ramp.target), remaining: JSONLease.seconds(until: ramp.end))
    }
}

extension ControlRequests {
    /// The client's connection; `nil` if the program requests.
    fileprivate var client: ClientIdentity? {
        if case .client(let client) = author { client.connection } else { nil }
    }

    /// Makes sure that leases end and ramps advance. Without a thread for that they end at once.
    func keepTime(_ terms: SetTerms) { if terms.needTime { _ = store.keepTime() } }

    /// Checks how long values count.
    ///
    /// - Parameter count: The number of values.
    func terms(_ durations: SetDurations, count: Int) throws(ControlError) -> SetTerms {
        var terms = SetTerms()
        if durations.areNone { return terms }
        if let ramp = durations.ramp {
            guard ControlLimits.rampDurations.contains(ramp) else {
                throw ControlError(.invalidParameters, "a ramp takes 0.001 to 3600 seconds")
            }
            terms.ramp = .seconds(ramp)
        }
        if durations.areLeased {
            if let lease = durations.lease, !ControlLimits.leaseDurations.contains(lease) {
                throw ControlError(.invalidParameters, "a lease takes 0.001 to 604800 seconds, a week")
            }
            terms.lease = Lease.Terms(
                end: durations.lease.map { .now + .seconds($0) },
                connection: durations.end == nil ? nil : client)
            let (own, all) = store.state.withLock { state in
                (
                    durations.end == nil ? 0 : client.map(state.layers.leases.count) ?? 0,
                    state.layers.leases.count
                )
            }
            guard own + count <= ControlLimits.leases, all + count <= ControlLimits.allLeases else {
                throw ControlError(
                    .busy,
                    "there are \(own) leases of this client and \(all) in all; allowed: \(ControlLimits.leases) "
                        + "and \(ControlLimits.allLeases)")
            }
        } else if store.state.withLock({ !$0.layers.keepsItself($0.layers.keeper) }) {
            throw ControlError(
                .refused, "values that a provider of the program keeps cannot be ramped")
        }
        return terms
    }
}

extension ChangedTweaks.Change {
    init(_ change: TweakChange, _ note: ChangeNote) {
        self.init(
            tweak: change.key, oldValue: JSONValue(change.oldValue), newValue: JSONValue(change.newValue),
            source: change.source.description, time: note.time / .seconds(1), by: note.author.description,
            number: note.number > 0 ? Int(exactly: note.number) : nil, tag: note.tag)
    }
}

extension ControlError {
    /// - Returns: `nil` if there is no such tweak.
    fileprivate init?(_ refusal: ChangeTweaks.Answer.Refusal) {
        if refusal.kind == .unknownTweak { return nil }
        self.init(.refused, refusal.message, allowed: refusal.allowed)
    }

    init(_ error: TweakError) {
        switch error {
        case .unknown(_, let nearest): self.init(.unknownTweak, "\(error)", nearest: nearest)
        case .noTweaks, .encrypted: self.init(.unknownTweak, "\(error)")
        case .noAction: self.init(.noAction, "\(error)")
        case .refused(let reason): self.init(.refused, "\(error)", allowed: reason.allowed)
        case .gate: self.init(.refused, "\(error)")
        case .notKept, .notMutable: self.init(.notKept, "\(error)")
        case .invalid: self.init(.refused, "\(error)")
        case .otherType, .exists, .notMade, .order: self.init(.internalError, "\(error)")
        }
    }
}
