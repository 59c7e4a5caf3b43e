internal import Glibc
internal import TweakJSON
internal import TweakOverrides
internal import TweakProtocol
internal import TweakRecords
internal import TweakSystem

/// What the methods of the protocol do with a store.
struct ControlRequests: Sendable {
    let store: TweakStore
    /// Where the program's code may be called.
    let worker: SerialQueue
}

// MARK: - Looking

/// These do not call the program's code and wait for none of it.
extension ControlRequests {
    func describe() -> DescribeProgram.Answer {
        let path = executablePath() ?? ""
        return DescribeProgram.Answer(
            application: lastComponent(of: path), executable: path,
            pid: getpid(), version: libraryVersion, tweaks: look { $0.tweaks.count },
            overrides: store.writer?.file?.path)
    }

    func list(_ call: ListTweaks) -> ListTweaks.Answer {
        ListTweaks.Answer(
            tweaks: look { state in
                state.tweaks.all.filter { tweak in
                    (call.category?.hasSameBytes(as: tweak.key.category) ?? true)
                        && (call.collection?.hasSameBytes(as: tweak.key.collection) ?? true)
                }.map { JSONTweak($0.status) }
            })
    }

    func get(_ call: GetTweak) throws(ControlError) -> JSONTweak { JSONTweak(try status(of: call.tweak)) }

    func explain(_ call: ExplainTweak) throws(ControlError) -> ExplainTweak.Answer {
        let status = try status(of: call.tweak)
        let tweak = status.declaration
        var opinions = look { $0.layers.opinions(on: call.tweak) }.map { source, provided in
            var opinion = ExplainTweak.Answer.Opinion(source: source.name, value: JSONValue(provided))
            do throws(TweakValueError) {
                opinion.value = JSONValue(try provided.admission(for: tweak).value)
            } catch {
                opinion.error = "\(error)"
            }
            return opinion
        }
        opinions.append(
            ExplainTweak.Answer.Opinion(
                source: TweakSource.binary.name, value: JSONValue(tweak.defaultValue)))
        return ExplainTweak.Answer(
            tweak: tweak.key, value: JSONValue(status.value), source: status.source.description,
            opinions: opinions)
    }

    /// Sees whether a tweak can be run.
    func checkAction(_ key: TweakKey) throws(ControlError) {
        let declaration = try status(of: key).declaration
        guard declaration.type == .action else { throw ControlError(.noAction(declaration)) }
    }

    private func status(of key: TweakKey) throws(ControlError) -> TweakStatus {
        if let status = look({ $0.tweaks[key]?.status }) { return status }
        throw ControlError(.unknown(key, nearest: look { $0.tweaks.all.map(\.key) }.nearest(to: key)))
    }

    private func look<Result>(_ body: (StoreState) -> Result) -> Result {
        let (result, hasMessages) = store.state.withLock { state in
            state.decode()
            return (body(state), !state.messages.isEmpty)
        }
        // Whoever takes the lock next may report them; this thread must not call a log handler.
        if hasMessages { _ = worker.add { [store] in store.withState { _ in } } }
        return result
    }
}

// MARK: - Changing

/// These call observers.
extension ControlRequests {
    func set(_ call: SetTweak) throws(ControlError) -> SetTweak.Answer {
        guard (call.value == nil) != (call.text == nil) else {
            throw ControlError(
                .invalidParameters, "set takes a value that is not null, or a text, and not both")
        }
        do throws(TweakError) {
            let admission = try store.set(call.tweak) { (declaration) throws(TweakValueError) in
                if let text = call.text { return try declaration.admit(text: text) }
                return try declaration.admit(call.value ?? .null)
            }
            let status = try store.storedStatus(of: call.tweak)
            return SetTweak.Answer(
                tweak: call.tweak, value: JSONValue(status.value), wasClamped: admission.wasClamped,
                source: status.source.description, pendingValue: status.pendingValue.map(JSONValue.init))
        } catch {
            throw ControlError(error)
        }
    }

    func reset(_ call: ResetTweaks) throws(ControlError) -> ResetTweaks.Answer {
        if let answer = try resetGroup(call) { return answer }
        throw ControlError(
            .invalidParameters,
            "reset takes a tweak, or a category with or without a collection, or \"all\": true")
    }

    /// - Returns: `nil` if it is not clear what is meant.
    private func resetGroup(_ call: ResetTweaks) throws(ControlError) -> ResetTweaks.Answer? {
        do throws(TweakError) {
            let count: Int
            switch (call.tweak, call.category, call.collection, call.all) {
            case (let key?, nil, nil, nil):
                count = overrides(of: [key])
                try store.reset(key)
            case (nil, let category?, let collection, nil):
                count = overrides(of: store.keys(category, collection))
                try store.reset(category, collection)
            case (nil, nil, nil, true?):
                count = overrides(of: store.keys(nil, nil))
                store.resetAll()
            default:
                return nil
            }
            return ResetTweaks.Answer(reset: count)
        } catch {
            throw ControlError(error)
        }
    }

    func setMany(_ call: SetManyTweaks) -> SetManyTweaks.Answer {
        var preset = TweakPreset(name: "")
        for (key, value) in call.values { preset.values[key] = value }
        let report = store.apply(
            preset, resettingOthers: call.resettingOthers ?? false,
            allOrNothing: call.allOrNothing ?? false)
        return SetManyTweaks.Answer(
            applied: report.applied, clamped: report.clamped, unknown: report.unknown,
            refused: report.refused.sorted { $0.key < $1.key }.map {
                SetManyTweaks.Answer.Refusal(tweak: $0.key, message: "\($0.value)")
            })
    }

    func run(_ call: RunAction) throws(ControlError) -> Done {
        do throws(TweakError) { try store.run(call.tweak) } catch { throw ControlError(error) }
        return Done()
    }

    private func overrides(of keys: [TweakKey]) -> Int {
        store.withDecodedState { state in keys.count { state.layers[.overrides][$0] != nil } }
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

    fileprivate init(_ value: TweakValue) { self = value == .nothing ? .null : .scalar(value) }
}

extension JSONTweak {
    fileprivate init(_ status: TweakStatus) {
        self.init(
            status.declaration, value: status.value, source: status.source.description,
            pendingValue: status.pendingValue)
    }
}

extension ChangedTweaks.Change {
    init(_ change: TweakChange, at time: Double) {
        self.init(
            tweak: change.key, oldValue: JSONValue(change.oldValue), newValue: JSONValue(change.newValue),
            source: change.source.description, time: time)
    }
}

extension ControlError {
    init(_ error: TweakError) {
        switch error {
        case .unknown(_, let nearest): self.init(.unknownTweak, "\(error)", nearest: nearest)
        case .noTweaks: self.init(.unknownTweak, "\(error)")
        case .noAction: self.init(.noAction, "\(error)")
        case .refused(let reason): self.init(.refused, "\(error)", allowed: reason.allowed)
        case .notKept, .notMutable: self.init(.notKept, "\(error)")
        case .otherType, .exists, .notMade, .invalid, .order: self.init(.internalError, "\(error)")
        }
    }
}

extension TweakValueError {
    /// The values that the tweak takes; `nil` if it takes none.
    fileprivate var allowed: String? {
        switch self {
        case .wrongType(let tweak, _), .notFinite(let tweak, _), .containsNUL(let tweak),
            .notAmongChoices(let tweak, _):
            tweak.allowed
        case .readOnly, .isAction: nil
        }
    }
}
