// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import TweakJSON
package import TweakProtocol
package import TweakRecords

extension LiveProgram {
    /// Changes tweaks as one change, by texts that the program evaluates: so that nothing is lost of what several clients
    /// change at once, and its answer says what happened.
    ///
    /// - Parameters:
    ///   - texts: The tweaks and their values as typed. A repeated tweak is changed again.
    ///   - durations: How long the values count, and how fast they are reached.
    /// - Returns: What became of the tweaks, each once; `nil` if the library in the program cannot do that, because it is
    ///   older, or because one of them is a variable that only this command knows.
    /// - Throws: ``Failure`` if one of the changes is refused; then nothing has changed.
    package func change(
        _ texts: [(tweak: TweakKey, text: String)], _ durations: SetDurations
    ) throws(Failure) -> [TweakKey: ChangeTweaks.Answer.ChangedTweak]? {
        // Other processes of the program evaluate the texts for themselves.
        guard durations.areNone || forks.isEmpty else { return nil }
        for (tweak, _) in texts where try isAdopted(tweak) { return nil }
        let request = ChangeTweaks(
            texts.map { ChangeTweaks.Change(tweak: "\($0.tweak)", text: $0.text) }, durations)
        let answer: ChangeTweaks.Answer
        do throws(ConnectionError) { answer = try connection.ask(request) } catch {
            if case .answer(let error) = error, error.code == .unknownMethod { return nil }
            throw error.failure(of: title)
        }
        passOnWarnings()
        if let refusal = answer.refused.first {
            guard texts.count > 1 else { throw Failure(refusal.message, refusal.failureKind) }
            throw Failure("nothing was set:", details: answer.refused.map(\.message), refusal.failureKind)
        }
        return Dictionary(answer.changes.map { ($0.tweak, $0) }) { first, _ in first }
    }
}

extension ChangeTweaks.Answer.Refusal {
    fileprivate var failureKind: FailureKind {
        switch kind {
        case .malformedName: .usage
        case .unknownTweak, .ambiguousName, .refusedValue, .notSettable, .refusedTerms, .gate: .invalid
        }
    }
}

extension JSONTweak {
    /// The tweak after a change.
    package mutating func update(with changed: ChangeTweaks.Answer.ChangedTweak) {
        let type = declaration.type
        value = changed.newValue.value(of: type)
        source = changed.source
        pendingValue = changed.pendingValue?.value(of: type)
        gate = changed.gate ?? gate
        (lease, ramp) = (changed.lease, changed.ramp)
    }
}
