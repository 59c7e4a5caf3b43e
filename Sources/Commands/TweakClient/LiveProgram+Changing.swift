// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import TweakFormats
internal import TweakJSON
internal import TweakOverrides
package import TweakProtocol
internal import TweakRecords

extension LiveProgram {
    /// Changes tweaks in one request, whose names and texts the program evaluates, so that nothing is lost of what several
    /// clients change at once. This command evaluates them if the library in the program is older, if one of them may be
    /// a variable that only this command knows, or if they are for forks, too.
    package func change(_ request: ChangeTweaks) throws(Failure) -> ChangeTweaks.Answer {
        let answer = try answer(to: request)
        if request.dryRun != true { unread.warn(of: answer, warn) }
        return answer
    }

    private func answer(to request: ChangeTweaks) throws(Failure) -> ChangeTweaks.Answer {
        guard !lacksChange, request.durations.areNone || forks.isEmpty, try !mayNameAdopted(request) else {
            return try changeByOlderMethods(request)
        }
        do throws(ConnectionError) {
            let answer = try connection.ask(request)
            guard answer.refused.allSatisfy({ request.changes.indices.contains($0.index) }) else {
                throw ConnectionError.garbage(reason: "a change was refused that was not in the request")
            }
            note(answer)
            return answer
        } catch {
            switch error {
            case .answer(let problem) where problem.code == .unknownMethod: lacksChange = true
            // Other forms of many values are shorter.
            case .tooLong: break
            default: throw error.failure(of: title)
            }
            return try changeByOlderMethods(request)
        }
    }

    private func mayNameAdopted(_ request: ChangeTweaks) throws(Failure) -> Bool {
        guard adopted != nil else { return false }
        for change in request.changes {
            guard let key = TweakKey(change.tweak), try !isAdopted(key) else { return true }
        }
        return request.resettingOthers == true
    }

    private func changeByOlderMethods(_ request: ChangeTweaks) throws(Failure) -> ChangeTweaks.Answer {
        guard request.dryRun != true else {
            throw Failure(
                "the Tweaks library in the process is too old for a dry run", about: title, .unavailable)
        }
        let tweaks = Dictionary(try named(in: request).map { ($0.declaration.key, $0) }) { first, _ in first }
        var names = ResolvedNames(of: request)
        var evaluation = ChangeEvaluation(
            request, &names, in: KnownTweaks(keys: { Array(tweaks.keys) }) { tweaks[$0] })
        guard !evaluation.isRefused(unless: request.isAllOrNothing) else { return evaluation.answer }
        var ineffective: [IneffectiveValue] = []
        let (text, values) = (request.changes.first?.text, evaluation.values.filter { $0.value != nil })
        if request.changes.count == 1, request.resettingOthers != true, let text, let key = values.first?.key,
            let tweak = tweaks[key]
        {
            // It knows the value that the text starts from.
            _ = try set(tweak, to: text, request.durations)
        } else if !values.isEmpty || request.resettingOthers == true {
            var document = OverridesDocument()
            for (key, value) in values { document.set(value, for: key) }
            let answer = try setMany(
                document, resettingOthers: request.resettingOthers == true,
                allOrNothing: request.isAllOrNothing, request.durations)
            ineffective += answer.ineffective ?? []
            for refusal in answer.refused {
                evaluation.refuse(ChangeProblem(.refusedValue, refusal.message)) { $0 == refusal.tweak }
            }
        }
        if request.resettingOthers != true {
            for (key, value) in evaluation.values where value == nil {
                ineffective += try resetOne(key) ?? []
            }
        }
        var after: [TweakKey: JSONTweak] = [:]
        if evaluation.values.count > Self.fewTweaks {
            for tweak in try self.tweaks() { after[tweak.declaration.key] = tweak }
        } else {
            for (key, _) in evaluation.values { after[key] = try tweak(key) }
        }
        evaluation.note { after[$0] }
        var answer = evaluation.answer
        answer.ineffective = ineffective.isEmpty ? nil : ineffective
        return answer
    }

    /// The tweaks that are named in a request, or all if that takes fewer requests.
    private func named(in request: ChangeTweaks) throws(Failure) -> [JSONTweak] {
        guard request.resettingOthers != true, request.changes.count <= Self.fewTweaks else {
            return try tweaks()
        }
        var named: [JSONTweak] = []
        for change in request.changes {
            guard let key = TweakKey(change.tweak), let tweak = try tweak(key) else { return try tweaks() }
            named.append(tweak)
        }
        return named
    }

    /// The number of tweaks that are asked for one by one.
    static let fewTweaks = 16
}
