// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import Glibc
package import TweakFormats
package import TweakOverrides
internal import TweakJSON
package import TweakProtocol
package import TweakRecords

extension ProgramDescription {
    fileprivate init(_ answer: DescribeProgram.Answer) {
        self.init(
            program: answer.executable, application: answer.application, overrides: answer.overrides,
            pid: answer.pid)
    }
}

/// A running program that answers requests. Adopted variables that it does not know are in its memory.
package final class LiveProgram: Program {
    package let running: RunningProgram
    package let connection: Connection
    private var hasAnswered = false
    private var knownDescription: ProgramDescription?
    /// The problems with changes that the program has told of.
    private var warnings: [ControlWarning] = []
    let warn: (Warning) -> Void
    /// Whether its library is known to be older than the method `change`.
    var lacksChange = false
    lazy var unread = UnreadTweaks(of: "\(running.pid)")

    /// The processes that it has forked. They follow its overrides file, but have leases and ramps of their own, so these are
    /// set in each.
    package var forks: [LiveProgram] = []
    /// The forks in which the last leased or ramped values were set.
    package private(set) var reachedForks: [LiveProgram] = []
    /// The forks in which they could not be set, and why.
    package private(set) var missedForks: [(fork: LiveProgram, problem: Failure)] = []

    package var pid: pid_t? { running.pid }
    package var title: String { running.title }

    /// The adopted variables in the memory of the process, if there are some that it does not know: its library is older,
    /// or they are texts or in a library that was loaded later.
    package private(set) lazy var adopted: MemoryProgram? = {
        do throws(Failure) {
            for key in try namesOfVariables where try declaredTweak(key) == nil {
                return try MemoryProgram(pid: running.pid, isBesideLibrary: true, warn: warn)
            }
        } catch {
            warn("\(title): its adopted variables cannot be read: \(error.message)")
        }
        return nil
    }()

    /// The names of the adopted variables that the program may have.
    private var namesOfVariables: Set<TweakKey> {
        get throws(Failure) {
            guard AdoptedBuilds.areThere else { return [] }
            let description = try description
            let adopted = AdoptedBuilds.load(of: description.application, warn)
            guard !adopted.builds.isEmpty else { return [] }
            let build = buildIdentity(of: "/proc/\(running.pid)/exe")
            return adopted.names(in: description.program ?? "", buildID: build)
        }
    }

    /// Connects to a program.
    ///
    /// - Parameters:
    ///   - budget: The budget for answers; `nil` for one large answer.
    ///   - warn: Called with problems of adopted variables.
    /// - Returns: `nil` if nothing listens.
    package init?(
        _ running: RunningProgram, _ patience: Patience = .usual, budget: AnswerBudget? = nil,
        warn: @escaping (Warning) -> Void = { _ in }
    ) throws(Failure) {
        do throws(ConnectionError) {
            connection = try Connection(to: running, patience, budget: budget)
        } catch .refused {
            return nil
        } catch {
            throw error.failure(of: running.title)
        }
        (self.running, self.warn) = (running, warn)
    }

    /// Connects to the processes that it has forked so far.
    package func findForks() {
        forks.removeAll(where: \.running.hasEnded)
        let known = Set(forks.map(\.running.pid)).union([running.pid])
        for fork in RunningProgram.all()
        where !known.contains(fork.pid) && fork.parent(among: [running]) != nil {
            if let fork = try? LiveProgram(fork) { forks.append(fork) }
        }
    }

    package func ask<Method: ControlMethod>(
        _ method: Method, _ patience: Patience? = nil
    ) throws(Failure) -> Method.Answer {
        do throws(ConnectionError) {
            let answer = try connection.ask(method, patience)
            hasAnswered = true
            passOnWarnings()
            return answer
        } catch {
            throw error.failure(of: title)
        }
    }

    /// Reports the problems with changes that the program has told of.
    package func passOnWarnings() {
        let new = connection.drainWarnings()
        for warning in new { warn(Warning("\(title): \(warning.message)", process: running.pid)) }
        warnings = (warnings + new).suffix(16)
    }

    /// Returns the last problems with changes since the last call.
    package func drainWarnings() -> [ControlWarning] {
        defer { warnings = [] }
        return warnings
    }

    /// Sends a request whose answer may take long, after the program has shown that it responds.
    private func askForMuch<Method: ControlMethod>(_ method: Method) throws(Failure) -> Method.Answer {
        if !hasAnswered { _ = try description }
        return try ask(method, connection.patience.forMuch)
    }

    package var description: ProgramDescription {
        get throws(Failure) {
            if let knownDescription { return knownDescription }
            let description = ProgramDescription(try ask(DescribeProgram()))
            knownDescription = description
            return description
        }
    }

    /// Notes what an answer says of the program.
    func note(_ answer: ChangeTweaks.Answer) {
        hasAnswered = true
        if let program = answer.program { knownDescription = ProgramDescription(program) }
        passOnWarnings()
    }

    package func tweaks() throws(Failure) -> [JSONTweak] {
        let declared = try declaredTweaks()
        guard let adopted else { return declared }
        let keys = Set(declared.map(\.declaration.key))
        return declared + adopted.tweaks().filter { !keys.contains($0.declaration.key) }
    }

    /// The tweaks without the adopted variables.
    package func declaredTweaks() throws(Failure) -> [JSONTweak] { try askForMuch(ListTweaks()).tweaks }

    package func tweak(_ key: TweakKey) throws(Failure) -> JSONTweak? {
        if let tweak = try declaredTweak(key) { return tweak }
        return try adopted?.tweak(key)
    }

    /// Returns whether a tweak is an adopted variable.
    package func isAdopted(_ key: TweakKey) throws(Failure) -> Bool {
        guard let adopted, adopted.isAdopted(key) else { return false }
        return try declaredTweak(key) == nil
    }

    package func isAdopted(anyOf tweaks: [JSONTweak]) throws(Failure) -> Bool {
        for tweak in tweaks where try isAdopted(tweak.declaration.key) { return true }
        return false
    }

    private func declaredTweak(_ key: TweakKey) throws(Failure) -> JSONTweak? {
        do throws(ConnectionError) {
            let tweak = try connection.ask(GetTweak(tweak: key))
            hasAnswered = true
            return tweak
        } catch .answer(let error) where error.code == .unknownTweak {
            return nil
        } catch {
            throw error.failure(of: title)
        }
    }

    /// Sets a tweak to a text as typed.
    func set(_ tweak: JSONTweak, to text: String, _ durations: SetDurations) throws(Failure) {
        let key = tweak.declaration.key
        if let adopted, try isAdopted(key) {
            let change = ChangeTweaks.Change(tweak: "\(key)", text: text)
            return try adopted.change(ChangeTweaks([change], exactNames: true, durations)).check()
        }
        var values = OverridesDocument()
        if !durations.areNone, !forks.isEmpty {
            let admission = try failing {
                try tweak.declaration.admit(text: text, current: tweak.nextValue)
            }
            values.set(admission.value, for: key)
            leaseInForks(values, allOrNothing: true, durations)
        }
        let request = SetTweak(tweak: key, text: text, durations)
        let began = ContinuousClock.now
        _ = try checkingAge(durations) { () throws(Failure) in try ask(request) }
        keepInForks(values, allOrNothing: true, durations, since: began)
    }

    /// Says so if the library in the program does not know leases and ramps.
    private func checkingAge<Result>(
        _ durations: SetDurations, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(Failure) { return try body() } catch {
            // Those libraries do not describe their methods.
            guard !durations.areNone, let answer = try? ask(DescribeProgram()), answer.methods == nil
            else { throw error }
            throw Failure(
                "the Tweaks library in the process is too old for leases and ramps",
                about: title, .unavailable)
        }
    }

    /// Leases values in the forks. A ramp that is kept is leased there at first, so that the overrides file, in which its
    /// end is kept, does not cut it short.
    private func leaseInForks(
        _ values: OverridesDocument, allOrNothing: Bool, _ durations: SetDurations
    ) {
        var leased = durations
        if let ramp = durations.ramp, !durations.areLeased {
            (leased.end, leased.lease) = (.closed, ramp + Self.rampMargin)
        }
        apply(values, allOrNothing: allOrNothing, leased, to: answeringForks())
    }

    /// Keeps the values of a ramp in the forks, too, which ends their leases: whatever the overrides file says next counts
    /// there at once.
    ///
    /// - Parameter began: When the ramp began in this process.
    private func keepInForks(
        _ values: OverridesDocument, allOrNothing: Bool, _ durations: SetDurations,
        since began: ContinuousClock.Instant
    ) {
        guard var ramp = durations.ramp, !durations.areLeased, !forks.isEmpty else { return }
        ramp -= (ContinuousClock.now - began) / .seconds(1)
        ramp = max(ramp, ControlLimits.rampDurations.lowerBound)
        let leased = reachedForks
        reachedForks = []
        apply(values, allOrNothing: allOrNothing, SetDurations(ramp: ramp), to: leased)
    }

    private func apply(
        _ values: OverridesDocument, allOrNothing: Bool, _ durations: SetDurations, to forks: [LiveProgram]
    ) {
        for fork in forks {
            do throws(Failure) {
                let answer = try fork.apply(
                    values, resettingOthers: false, allOrNothing: allOrNothing, durations)
                let problems =
                    answer.unknown.map { "\($0): no such tweak" } + answer.refused.map(\.message)
                if allOrNothing, !problems.isEmpty {
                    throw Failure("it refused the values", details: problems, .invalid)
                }
                reachedForks.append(fork)
            } catch {
                miss(fork, error)
            }
        }
    }

    private func miss(_ fork: LiveProgram, _ problem: Failure) {
        if !fork.running.hasEnded { missedForks.append((fork, problem)) }
    }

    /// The forks that answer; the others are missed. All are asked before an answer is awaited and before anything changes,
    /// so that one that does not answer delays no other one.
    private func answeringForks() -> [LiveProgram] {
        (reachedForks, missedForks) = ([], [])
        let end = ContinuousClock.now + connection.patience.silence
        var asked: [(fork: LiveProgram, id: RequestID)] = []
        for fork in forks {
            do throws(ConnectionError) {
                let id = try fork.connection.send(DescribeProgram())
                asked.append((fork, id))
            } catch {
                miss(fork, error.failure(of: fork.title))
            }
        }
        var answering: [LiveProgram] = []
        for (fork, id) in asked {
            do throws(ConnectionError) {
                // The time may be over because of another one.
                try fork.connection.receive()
                _ = try fork.connection.answer(
                    to: id, of: DescribeProgram.self, until: end, connection.patience)
                answering.append(fork)
            } catch {
                miss(fork, error.failure(of: fork.title))
            }
        }
        return answering
    }

    /// The seconds in which the end of a ramp is kept.
    private static let rampMargin = 1.0

    /// Ends the leases of this connection, and those of the forks.
    package func endLeases() throws(Failure) {
        for fork in forks where !fork.running.hasEnded { try? fork.endLeases() }
        adopted?.endLeases()
        _ = try ask(ResetTweaks(all: true, leases: .own))
    }

    /// Resets tweaks by `reset`, and adopted variables in the memory of the process.
    func resetOne(_ key: TweakKey) throws(Failure) -> [IneffectiveValue]? {
        if let adopted, try isAdopted(key) { return try adopted.reset([key]) }
        return try ask(ResetTweaks(tweak: key)).ineffective
    }

    private static func request(_ scope: TweakScope) -> ResetTweaks {
        switch scope {
        case .tweak(let key): ResetTweaks(tweak: key)
        case .group(let category, let collection): ResetTweaks(category: category, collection: collection)
        case .all: ResetTweaks(all: true)
        }
    }

    /// Ends the leases of all clients.
    ///
    /// - Returns: The number of leases, those of forks included.
    package func endLeases(of scope: TweakScope) throws(Failure) -> Int {
        var ended = 0
        var request = Self.request(scope)
        request.leases = .all
        for fork in answeringForks() {
            do throws(Failure) {
                ended += try fork.endLeases(of: scope)
                reachedForks.append(fork)
            } catch {
                miss(fork, error)
            }
        }
        return ended + (try ask(request).reset)
    }

    /// Sets values by `setMany`, and those of adopted variables in the memory of the process.
    func setMany(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool, _ durations: SetDurations
    ) throws(Failure) -> SetManyTweaks.Answer {
        var (values, ofAdopted) = (values, OverridesDocument())
        for key in values.keys where try isAdopted(key) {
            ofAdopted[key] = values[key]
            values[key] = nil
        }
        guard let adopted, resettingOthers || !ofAdopted.keys.isEmpty else {
            return try applyToDeclared(values, resettingOthers, allOrNothing, durations)
        }
        if allOrNothing {
            // Nothing is set if an adopted variable refuses its value.
            var trial = ChangeTweaks(
                ofAdopted, resettingOthers: false, allOrNothing: true, SetDurations())
            trial.dryRun = true
            let answer = try adopted.change(trial)
            if !answer.refused.isEmpty { return SetManyTweaks.Answer(answer, to: trial.changes) }
        }
        var answer = SetManyTweaks.Answer(applied: [], clamped: [], unknown: [], refused: [])
        if resettingOthers || !values.keys.isEmpty {
            answer = try applyToDeclared(values, resettingOthers, allOrNothing, durations)
            if allOrNothing, !(answer.refused.isEmpty && answer.unknown.isEmpty) { return answer }
        }
        var request = ChangeTweaks(
            ofAdopted, resettingOthers: false, allOrNothing: allOrNothing, durations)
        if resettingOthers {
            // The library knows of the variables that it stores which of them were set.
            let declared = Set(try declaredTweaks().map(\.declaration.key))
            for key in adopted.tweaks().map(\.declaration.key)
            where ofAdopted[key] == nil && !declared.contains(key) {
                request.changes.append(ChangeTweaks.Change(tweak: "\(key)", reset: true))
            }
        }
        let more = SetManyTweaks.Answer(try adopted.change(request), to: request.changes)
        answer.applied += more.applied
        answer.clamped += more.clamped
        answer.refused += more.refused
        return answer
    }

    private func applyToDeclared(
        _ values: OverridesDocument, _ resettingOthers: Bool, _ allOrNothing: Bool, _ durations: SetDurations
    ) throws(Failure) -> SetManyTweaks.Answer {
        if !durations.areNone { leaseInForks(values, allOrNothing: allOrNothing, durations) }
        let request = SetManyTweaks(
            values: values.values, resettingOthers: resettingOthers,
            allOrNothing: allOrNothing ? true : nil, durations)
        let began = ContinuousClock.now
        let answer = try checkingAge(durations) { () throws(Failure) in try askForMuch(request) }
        if !allOrNothing || answer.refused.isEmpty && answer.unknown.isEmpty {
            keepInForks(values, allOrNothing: allOrNothing, durations, since: began)
        }
        return answer
    }

    package var overrides: OverridesDocument {
        get throws(Failure) {
            var document = OverridesDocument()
            for tweak in try declaredTweaks() {
                if let source = tweak.source, Self.sourcesAboveOverrides.contains(source) {
                    // The kept value is in a lower provider.
                    let kept = try explain(tweak.declaration.key).opinions.first {
                        $0.source == "\(TweakSource.overrides)"
                    }
                    if let value = kept?.value?.value(of: tweak.declaration.type) {
                        document.set(value, for: tweak.declaration.key)
                    }
                    continue
                }
                let isSet =
                    if let pending = tweak.pendingValue {
                        pending != tweak.declaration.defaultValue
                    } else {
                        tweak.source == "\(TweakSource.overrides)"
                    }
                if isSet { document.set(tweak.lastingValue, for: tweak.declaration.key) }
            }
            return document
        }
    }

    private static let sourcesAboveOverrides = Set(
        [TweakSource.session, .lease, .environment, .kill].map { "\($0)" })

    package func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer {
        if let adopted, try isAdopted(key) { return try adopted.explain(key) }
        return try ask(ExplainTweak(tweak: key))
    }
}

extension Done {
    /// What will run the action, in words, such as `the main actor`; `nil` if it has run.
    package var taker: String? {
        switch handedTo {
        case "mainActor": "the main actor"
        case "actor": "an actor"
        default: handedTo.map { "a \($0)" }
        }
    }
}
