// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import Glibc
internal import TweakFormats
package import TweakOverrides
package import TweakProtocol
package import TweakRecords
internal import TweakJSON
internal import TweakMemory
internal import TweakSystem

/// A running program without the library, whose cells are read and written in its memory. Changes last until it ends.
package final class MemoryProgram: Program {
    private let process: ProcessMemory
    private let tweaksInMemory: MemoryTweaks
    /// The adopted variables, which have no records.
    private let variables: MemoryVariables
    /// Whether the library is in the process, and this program has only adopted variables, which the library does not
    /// store.
    private let isBesideLibrary: Bool
    private var guards: [MemoryGuard] = []
    /// Whether the user knows of the first guard. A sweep has one after the other.
    private var hasNamedGuard = false
    private let executable: String
    private let warn: (Warning) -> Void
    private var hasSaid = false
    private lazy var stored = StoredVariables(of: process)
    private lazy var unread = UnreadTweaks(of: "\(process.pid)")

    package var pid: pid_t? { process.pid }
    var processID: pid_t { process.pid }
    package var hasEnded: Bool { process.hasEnded }
    package let title: String

    /// Reads the memory of a process.
    ///
    /// - Parameter isBesideLibrary: Whether to read the adopted variables of a process with the library, which has all
    ///   other tweaks.
    /// - Returns: `nil` if the process has no tweaks, or has the library, which must be used instead.
    /// - Throws: ``Failure`` if the process has ended, or its tweaks cannot be read.
    package init?(
        pid: pid_t, isBesideLibrary: Bool = false, warn: @escaping (Warning) -> Void
    ) throws(Failure) {
        guard !isBesideLibrary || AdoptedBuilds.areThere else { return nil }
        (self.warn, self.isBesideLibrary) = (warn, isBesideLibrary)
        let executable = executablePath(of: "\(pid)")
        self.executable = executable ?? "\(pid)"
        title = executable.map { "\(lastComponent(of: $0)) (\(pid))" } ?? "\(pid)"
        do throws(MemoryError) {
            process = try ProcessMemory(pid: pid)
            tweaksInMemory = try MemoryTweaks(in: process, executable: executable)
            if tweaksInMemory.found.sawNothing { try process.checkAccess() }
        } catch .forbidden(let rule) {
            // Judging by its files, it may have no tweaks.
            var scan = ProcessScan()
            switch scan.content(of: pid) {
            case .nothing where executable.map(AdoptedBuilds.areThere(for:)) != true: return nil
            case .library: return nil
            case .tweaks, .nothing, nil: throw Failure(rule, about: title, .forbidden)
            }
        } catch {
            throw error.failure(of: title)
        }
        let found = tweaksInMemory.found
        guard found.haveLibrary == isBesideLibrary else { return nil }
        let application = Self.application(in: found, self.executable, warn)
        variables = MemoryVariables(
            AdoptedBuilds.load(of: application, warn).imageVariables, in: process, found)
        guard !isBesideLibrary && !found.images.isEmpty || !variables.isEmpty else { return nil }
        guard !isBesideLibrary else { return }
        for problem in tweaksInMemory.found.problems { warn("\(title): \(problem)") }
    }

    package var description: ProgramDescription {
        ProgramDescription(
            program: executable,
            application: Self.application(in: tweaksInMemory.found, executable, warn),
            overrides: nil, pid: process.pid)
    }

    private static func application(
        in images: MemoryImages, _ executable: String, _ warn: (Warning) -> Void
    ) -> String {
        ApplicationName.first(
            environment: nil, declared: images.applications, executable: executable,
            problem: { warn(Warning($0)) })
    }

    /// All tweaks with their values: those with records, and then the adopted variables.
    private func all() -> [(declaration: TweakDeclaration, value: TweakValue?)] {
        let declared = isBesideLibrary ? [] : tweaksInMemory.all()
        guard !variables.isEmpty else { return declared }
        let keys = Set(declared.map(\.declaration.key))
        return declared + variables.all().filter { !keys.contains($0.declaration.key) }
    }

    /// Returns whether a tweak is an adopted variable.
    func isAdopted(_ key: TweakKey) -> Bool { variables.contains(key) }

    package func tweaks() -> [JSONTweak] {
        let moment = moment
        return all().map { status($0, moment) }
    }

    /// The values that wait for gates, and those that commands have stored in variables.
    private struct Moment {
        var waiting: [UInt64: [UInt8]] = [:]
        var stored: OverridesDocument
    }

    private var moment: Moment {
        Moment(waiting: isBesideLibrary ? [:] : tweaksInMemory.waiting(), stored: stored.load())
    }

    /// Returns whether the program may change a tweak itself.
    private func isVariable(_ key: TweakKey) -> Bool {
        variables.contains(key) || !isBesideLibrary && tweaksInMemory.isVariable(key)
    }

    package func tweak(_ key: TweakKey) throws(Failure) -> JSONTweak? {
        if isBesideLibrary { return variables.tweak(key).map { status($0, moment) } }
        // The loop stores what waited.
        if tweaksInMemory.gate(of: key) != nil {
            try inMemory { () throws(MemoryError) in try tweaksInMemory.refresh([key]) }
        }
        let tweak = tweaksInMemory.tweak(key) ?? variables.tweak(key)
        return tweak.map { status($0, moment) }
    }

    /// The tweak with a value that was read.
    package func status(_ declaration: TweakDeclaration, _ value: TweakValue?) -> JSONTweak {
        status((declaration, value), moment)
    }

    private func status(
        _ tweak: (declaration: TweakDeclaration, value: TweakValue?), _ moment: Moment,
        pending: TweakValue? = nil
    ) -> JSONTweak {
        let (declaration, value) = tweak
        let source: TweakSource =
            if !isChanged(declaration, value) {
                .binary
            } else if isVariable(declaration.key),
                (try? moment.stored.admission(for: declaration))?.value != value
            {
                .program
            } else {
                .memory
            }
        return JSONTweak(
            declaration, value: value, source: "\(source)",
            pendingValue: pending ?? tweaksInMemory.pendingValue(of: declaration, in: moment.waiting),
            gate: isBesideLibrary
                ? nil : tweaksInMemory.gate(of: declaration.key).map { "\($0.gate.name)" })
    }

    package func change(_ request: ChangeTweaks) throws(Failure) -> ChangeTweaks.Answer {
        guard request.durations.areNone else { return try lease(request) }
        var names = ResolvedNames(of: request)
        let deadline = ContinuousClock.now + Self.gatePatience
        var change = Change()
        while try !withLock({ () throws(Failure) in
            // What waits may be stored meanwhile, so texts are evaluated again.
            if !change.hasBegun { change = try evaluate(request, &names) }
            guard try make(&change) else { return false }
            if request.dryRun != true, !change.isRefused { note(&change) }
            return true
        }) {
            guard ContinuousClock.now < deadline else {
                let gates = change.gated.map { "\($0.gate.gate.name)" }
                throw Failure(
                    "nothing was set: an earlier change still waits for the gate \(gates.last ?? ""), which the program has "
                        + "not passed for \(Self.gatePatience.components.seconds) s", about: title,
                    .unavailable)
            }
            usleep(1000)
        }
        if request.dryRun != true, !change.isRefused,
            change.evaluation.values.contains(where: { $0.value != nil })
        {
            sayThatNothingIsKept()
            unread.warn(of: change.evaluation.answer, warn)
        }
        if change.isTorn { warnOfTornTweaks(besides: change) }
        return change.evaluation.answer.notingWaiting()
    }

    /// Notes what the process has after a change. Only with the lock, or the values may be those of another change.
    private func note(_ change: inout Change) {
        let variables = change.evaluation.values.filter { isVariable($0.key) }
        if !variables.isEmpty {
            do throws(Failure) {
                try stored.note(Dictionary(variables.map { ($0.key, $0.value) }) { $1 })
            } catch {
                warn("\(title): values stored in variables now count as the program's own: \(error.message)")
            }
        }
        // Before the cells, as in the evaluation. The process may have ended.
        let moment = moment
        if !isBesideLibrary { try? tweaksInMemory.refresh(change.evaluation.values.map(\.key)) }
        change.evaluation.note { self.known($0, moment) }
    }

    /// A change, and its stores that are still to be made.
    private struct Change {
        var evaluation = ChangeEvaluation()
        var isRefused = false
        var direct: [TweakKey: TweakValue] = [:]
        var gated: [(gate: MemoryGate, values: [TweakKey: TweakValue])] = []
        /// Whether a gate has got its values.
        var hasBegun = false
        /// Whether other tweaks may have values of a part of an earlier change.
        var isTorn = false
    }

    /// The tweak with its value as last read.
    private func known(_ key: TweakKey, _ moment: Moment) -> JSONTweak? {
        ((isBesideLibrary ? nil : tweaksInMemory.tweak(key)) ?? variables.tweak(key)).map {
            status($0, moment)
        }
    }

    /// Evaluates a change with the values that the process has now. Only with the lock.
    private func evaluate(
        _ request: ChangeTweaks, _ names: inout ResolvedNames
    ) throws(Failure) -> Change {
        // Before the cells, so that a value that the loop stores meanwhile is not missed.
        let moment = moment
        let tweaks = KnownTweaks(keys: { [self] in all().map(\.declaration.key) }) { [self] key in
            known(key, moment)
        } problem: { [tweaksInMemory] value, declaration in
            do throws(MemoryRefusal) {
                try tweaksInMemory.checkWriting(value, to: declaration)
                return nil
            } catch {
                return ChangeProblem(error)
            }
        }
        if !isBesideLibrary {
            var keys = request.resettingOthers == true ? tweaks.allKeys : []
            for index in request.changes.indices {
                if let key = try? names.key(of: index, in: tweaks) { keys.append(key) }
            }
            try inMemory { () throws(MemoryError) in try tweaksInMemory.refresh(keys) }
        }
        var change = Change(evaluation: ChangeEvaluation(request, &names, in: tweaks))
        change.isRefused = change.evaluation.isRefused(unless: request.isAllOrNothing)
        guard !change.isRefused else { return change }
        for (key, value) in change.evaluation.values {
            guard let tweak = known(key, moment) else { continue }
            // A default need not be stored again, what is read-only cannot be, and the program's own values stay.
            guard value != nil || tweak.isSet && isChanged(tweak.declaration, tweak.nextValue) else {
                continue
            }
            let value = value ?? tweak.declaration.defaultValue
            guard !isBesideLibrary, let gate = tweaksInMemory.gate(of: key) else {
                change.direct[key] = value
                continue
            }
            if let index = change.gated.firstIndex(where: { $0.gate.gate.name == gate.gate.name }) {
                change.gated[index].values[key] = value
            } else {
                change.gated.append((gate, [key: value]))
            }
        }
        for (gate, values) in change.gated {
            do throws(MemoryRefusal) { try tweaksInMemory.check(values, fitInto: gate) } catch {
                change = Change(evaluation: change.evaluation, isRefused: true)
                change.evaluation.refuse(ChangeProblem(error)) { values[$0] != nil }
                return change
            }
        }
        if request.dryRun == true {
            let values = change.gated.reduce(into: change.direct) { $0.merge($1.values) { $1 } }
            change = Change(evaluation: change.evaluation)
            var moment = moment
            for (key, value) in values { moment.stored.set(value, for: key) }
            change.evaluation.note { key in
                known(key, moment).map { tweak in
                    status(
                        (tweak.declaration, tweak.gate == nil ? values[key] ?? tweak.value : tweak.value),
                        moment, pending: tweak.gate == nil ? nil : values[key])
                }
            }
        }
        return change
    }

    /// Makes the stores of a change. Only with the lock.
    ///
    /// - Returns: `false` if something else waits for one of the gates. It is not taken back, because the loop may be
    ///   storing it.
    private func make(_ change: inout Change) throws(Failure) -> Bool {
        while let (gate, values) = change.gated.last {
            let isPut = try inMemory { () throws(MemoryError) in try tweaksInMemory.put(values, into: gate) }
            guard isPut else { return false }
            change.gated.removeLast()
            change.hasBegun = true
        }
        guard !change.direct.isEmpty else { return true }
        try inMemory { () throws(MemoryError) in
            if !isBesideLibrary { change.isTorn = try tweaksInMemory.set(change.direct) }
            try variables.set(
                change.direct.filter { isBesideLibrary || tweaksInMemory.tweak($0.key) == nil })
        }
        return true
    }

    private func isChanged(_ declaration: TweakDeclaration, _ value: TweakValue?) -> Bool {
        // A monitor is read-only too.
        declaration.type != .action && !declaration.isReadOnly && declaration.defaultValue != .nothing
            && value != declaration.defaultValue
    }

    /// Has a guard process change values and put the old ones back.
    private func lease(_ request: ChangeTweaks) throws(Failure) -> ChangeTweaks.Answer {
        guard request.durations.ramp == nil else {
            throw Failure(
                isBesideLibrary
                    ? "a variable that the library does not store cannot be ramped"
                    : "without the Tweaks library in the process a value cannot be ramped",
                about: title, .unavailable)
        }
        let (memoryGuard, answer, warnings) = try MemoryGuard.start(request, in: process.pid, title: title)
        guard let memoryGuard else { return answer }
        if !isBesideLibrary {
            try inMemory { () throws(MemoryError) in try tweaksInMemory.refresh(answer.changes.map(\.tweak)) }
        }
        for warning in warnings where warning.kind == .torn {
            warn(Warning(warning.message, .torn, process: process.pid))
        }
        guards.append(memoryGuard)
        if !hasNamedGuard {
            let reason =
                isBesideLibrary
                ? "the library does not store the variable" : "the Tweaks library is not in the process"
            warn(
                Warning(
                    "\(title): \(reason), so the process \(memoryGuard.pid) puts the old "
                        + (answer.changes.count == 1 ? "value" : "values") + " back", .restoring,
                    process: process.pid))
        }
        hasNamedGuard = true
        return answer
    }

    /// Puts the values of leases that end with this process back, and returns when that is done.
    package func endLeases() {
        for memoryGuard in guards { memoryGuard.end() }
        guards = []
    }

    package var overrides: OverridesDocument {
        var document = OverridesDocument()
        for tweak in tweaks() where tweak.isSet && isChanged(tweak.declaration, tweak.value) {
            document.set(tweak.value, for: tweak.declaration.key)
        }
        return document
    }

    package func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer {
        let tweak = try tweakAgain(key)
        var opinions: [ExplainTweak.Answer.Opinion] = []
        if let source = tweak.source, source != "\(TweakSource.binary)" {
            opinions.append(.init(source: source, value: tweak.value.map { .scalar($0) }))
        }
        opinions.append(
            .init(source: "\(TweakSource.binary)", value: .scalar(tweak.declaration.defaultValue)))
        var answer = ExplainTweak.Answer(
            tweak: key, value: .scalar(tweak.value ?? .nothing), source: tweak.source ?? "",
            opinions: opinions)
        answer.gate = tweak.gate.map { name in
            .init(
                name: name, pendingValue: tweak.pendingValue.map { .scalar($0) }, waitingSince: nil,
                lastPassed: nil)
        }
        return answer
    }

    /// Returns whether ``sampler(for:)`` can read a tweak: those made at run time have no record in an image.
    package func canSample(_ key: TweakKey) -> Bool {
        variables.contains(key) || tweaksInMemory.tweak(key) != nil
    }

    /// A sampler for some of the tweaks; beside the library, also for those with records.
    ///
    /// - Throws: ``Failure`` if a tweak no longer exists.
    package func sampler(for keys: [TweakKey]) throws(Failure) -> MemorySampler {
        guard let sampler = tweaksInMemory.sampler(for: keys, and: variables) else {
            throw Failure("one of the tweaks no longer exists", about: title, .unavailable)
        }
        return MemorySampler(sampler, title: title)
    }

    /// How long a setter waits until nothing else waits for a gate, and until the loop has passed it.
    private static let gatePatience: Duration = .seconds(2)
    /// How long it waits for others that write.
    private static let lockPatience: Duration = .seconds(10)

    private func inMemory<Result>(
        _ body: () throws(MemoryError) -> Result
    ) throws(Failure) -> Result {
        do throws(MemoryError) { return try body() } catch { throw error.failure(of: title) }
    }

    /// The directory for the files of this user's commands.
    static var ownDirectory: ControlDirectory? {
        // The session's directory may be missing, and changes of the same time must not be lost.
        let usual = ControlDirectory(path: "/tmp/tweaks-\(geteuid())")
        return (ControlDirectory.ownCandidates + [usual]).first(where: \.canBeThere)
    }

    /// Has variables whose values are the program's own again.
    func forgetStores(in keys: [TweakKey]) {
        try? withLock { () throws(Failure) in try stored.note(Dictionary(keys.map { ($0, nil) }) { $1 }) }
    }

    /// The variables in which values were stored.
    var storedKeys: Set<TweakKey> { Set(stored.load().keys) }

    /// Runs `body` while no other process writes into the memory of this user's programs.
    private func withLock<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let own = geteuid()
        let owner = ProcessEntry(pid: process.pid)?.user ?? own
        // Root makes no directory for another user, who has locked nothing without one.
        let others =
            owner == own
            ? nil
            : ControlDirectory.candidates(user: owner) { _ in nil }.first { access($0.path, F_OK) == 0 }
        let user = others == nil ? own : owner
        guard let directory = others ?? Self.ownDirectory else {
            guard tweaksInMemory.needsLock else { return try body() }
            throw Failure("there is no directory for its lock", about: title, .system)
        }
        do throws(ControlDirectory.Problem) { try directory.prepare(for: user) } catch {
            throw Failure("\(error)", about: title, .system)
        }
        let path = directory.path + "/memory.lock"
        // Root may lock it first.
        let descriptor = openFile(path, O_RDONLY | O_CREAT | O_NOFOLLOW, mode: 0o644)
        guard descriptor >= 0 else {
            throw Failure("cannot open \(path): \(systemMessage())", about: title, .system)
        }
        defer { close(descriptor) }
        return try withFileLock(descriptor, patience: Self.lockPatience) { error throws(Failure) in
            guard error == 0 else {
                throw Failure("cannot lock \(path): \(systemMessage(error))", about: title, .system)
            }
            return try body()
        }
    }

    /// Names the tweaks that an earlier writer may have stored before it was killed, and that a change leaves as they are.
    private func warnOfTornTweaks(besides change: Change) {
        let set = Set(change.evaluation.values.map(\.key))
        let names = tweaksInMemory.all().map(\.declaration).filter {
            !set.contains($0.key) && $0.type != .action && !$0.isReadOnly && !$0.needsRestart
                // Other texts than choices cannot be written.
                && ($0.type != .string || !$0.choices.isEmpty) && tweaksInMemory.gate(of: $0.key) == nil
        }.map { "\($0.key)" }
        guard !names.isEmpty else { return }
        warn(
            Warning(
                "\(title): an earlier command was killed while it stored values, so tweaks that were not set now may hold a "
                    + "part of them: \(names.beginning.joined(separator: ", ")); set these again, or reset all with "
                    + "tweak reset --all \(process.pid)", .torn, process: process.pid))
    }

    private func sayThatNothingIsKept() {
        guard !hasSaid else { return }
        hasSaid = true
        let reason =
            isBesideLibrary ? "library does not store the variable" : "Tweaks library is not in the process"
        warn("\(title): the change lasts for this run only, because the \(reason)")
    }
}

/// Reads the cells of some tweaks of a process without the library, up to some thousand times a second.
package struct MemorySampler {
    private let cells: CellSampler
    private let title: String

    fileprivate init(_ cells: CellSampler, title: String) { (self.cells, self.title) = (cells, title) }

    /// The declarations, in the order of the names.
    package var declarations: [TweakDeclaration] { cells.declarations }

    /// The current values; `nil` for a text that cannot be read.
    ///
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/unavailable`` if the process has ended or executed another
    ///   program.
    package func read() throws(Failure) -> [TweakValue?] {
        do throws(MemoryError) { return try cells.read() } catch { throw error.failure(of: title) }
    }

    /// Appends the eight bytes of each cell, as this machine loads them.
    package func readBits(into words: inout [UInt64]) throws(Failure) {
        do throws(MemoryError) { try cells.readBits(into: &words) } catch {
            throw error.failure(of: title)
        }
    }
}

extension MemoryError {
    fileprivate func failure(of title: String) -> Failure { Failure("\(self)", about: title, kind) }
}

extension ChangeProblem {
    fileprivate init(_ refusal: MemoryRefusal) {
        let kind: ChangeTweaks.Answer.Kind =
            switch refusal {
            case .noSuchText: .refusedValue
            case .needsRestart, .otherByteOrder: .refusedTerms
            case .unknown: .unknownTweak
            case .gateIsTooSmall: .gate
            }
        self.init(kind, "\(refusal)")
    }
}
