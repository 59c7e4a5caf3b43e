// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import Glibc
package import TweakFormats
package import TweakOverrides
package import TweakProtocol
package import TweakRecords
internal import TweakJSON
internal import TweakMemory
internal import TweakSystem

/// A running program without the library, whose cells are read and written in its memory. Changes last until it ends.
package final class MemoryProgram: Program {
    private let process: ProcessMemory
    private var tweaksInMemory: MemoryTweaks
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
        let waiting = tweaksInMemory.waiting()
        return all().map { status($0, waiting) }
    }

    package func tweak(_ key: TweakKey) throws(Failure) -> JSONTweak? {
        if isBesideLibrary { return variables.tweak(key).map { status($0, [:]) } }
        // The loop stores what waited.
        if tweaksInMemory.gate(of: key) != nil {
            try inMemory { () throws(MemoryError) in try tweaksInMemory.refresh([key]) }
        }
        let tweak = tweaksInMemory.tweak(key) ?? variables.tweak(key)
        return tweak.map { status($0, tweaksInMemory.waiting()) }
    }

    /// The tweak with a value that was read.
    package func status(_ declaration: TweakDeclaration, _ value: TweakValue?) -> JSONTweak {
        status((declaration, value), tweaksInMemory.waiting())
    }

    private func status(
        _ tweak: (declaration: TweakDeclaration, value: TweakValue?), _ waiting: [UInt64: [UInt8]]
    ) -> JSONTweak {
        let isDefault = !isChanged(tweak.declaration, tweak.value)
        return JSONTweak(
            tweak.declaration, value: tweak.value,
            source: isDefault ? "\(TweakSource.binary)" : "\(TweakSource.memory)",
            pendingValue: tweaksInMemory.pendingValue(of: tweak.declaration, in: waiting),
            gate: isBesideLibrary
                ? nil : tweaksInMemory.gate(of: tweak.declaration.key).map { "\($0.gate.name)" })
    }

    package func set(
        _ tweak: JSONTweak, to text: String, _ durations: SetDurations
    ) throws(Failure) -> JSONTweak {
        let key = tweak.declaration.key
        if !durations.areNone {
            let admission = try failing {
                try tweak.declaration.admit(text: text, current: tweak.value)
            }
            var values = OverridesDocument()
            values.set(admission.value, for: key)
            let answer = try lease(values, durations)
            guard answer.refused.isEmpty, answer.unknown.isEmpty else {
                throw Failure(answer.refused.first?.message ?? "\(key): there is no such tweak", .invalid)
            }
            return try tweakAgain(key)
        }
        let value = try failing { try tweak.declaration.admit(text: text, current: tweak.value).value }
        do throws(MemoryRefusal) { try tweaksInMemory.checkWriting(value, to: tweak.declaration) } catch {
            throw Failure("\(error)", .invalid)
        }
        try write([key: value])
        sayThatNothingIsKept()
        return try tweakAgain(key)
    }

    @discardableResult
    package func reset(_ scope: TweakScope) throws(Failure) -> [IneffectiveValue]? {
        var defaults: [TweakKey: TweakValue] = [:]
        for (declaration, value) in all()
        where scope.contains(declaration.key) && isChanged(declaration, value) {
            defaults[declaration.key] = declaration.defaultValue
        }
        try write(defaults)
        return waiting(among: defaults.keys)
    }

    /// The tweaks among these whose values wait for a gate; `nil` if there are none.
    private func waiting(among keys: some Sequence<TweakKey>) -> [IneffectiveValue]? {
        let gated = keys.filter { tweaksInMemory.gate(of: $0) != nil }
        guard !gated.isEmpty else { return nil }
        let waiting = tweaksInMemory.waiting()
        let found = gated.compactMap { tweaksInMemory.tweak($0).map { status($0, waiting) } }
            .filter { $0.pendingValue != nil }.map(IneffectiveValue.init)
        return found.isEmpty ? nil : found
    }

    private func isChanged(_ declaration: TweakDeclaration, _ value: TweakValue?) -> Bool {
        // A monitor is read-only too.
        declaration.type != .action && !declaration.isReadOnly && value != declaration.defaultValue
    }

    /// Has a guard process set values and put the old ones back.
    private func lease(
        _ values: OverridesDocument, _ durations: SetDurations
    ) throws(Failure) -> SetManyTweaks.Answer {
        guard durations.ramp == nil else {
            throw Failure(
                isBesideLibrary
                    ? "a variable that the library does not store cannot change gradually"
                    : "without the Tweaks library in the process a value cannot change gradually",
                about: title, .unavailable)
        }
        let (memoryGuard, answer) = try MemoryGuard.start(
            SetManyTweaks(values: values.values, allOrNothing: true, durations), in: process.pid,
            title: title)
        guard let memoryGuard else { return answer }
        // Reads the values that the guard has written.
        do throws(MemoryError) {
            tweaksInMemory = try MemoryTweaks(in: process, executable: executable)
        } catch {
            throw error.failure(of: title)
        }
        guards.append(memoryGuard)
        if !hasNamedGuard {
            let reason =
                isBesideLibrary
                ? "the library does not store the variable" : "the Tweaks library is not in the process"
            warn(
                Warning(
                    "\(title): \(reason), so the process \(memoryGuard.pid) puts the old "
                        + (answer.applied.count == 1 ? "value" : "values") + " back", .restoring,
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

    package func apply(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool, _ durations: SetDurations
    ) throws(Failure) -> SetManyTweaks.Answer {
        if !durations.areNone { return try lease(values, durations) }
        let known = all()
        var (answer, admitted) = values.decide(for: known.map(\.declaration), allOrNothing: allOrNothing) {
            try tweaksInMemory.checkWriting($0, to: $1)
        }
        guard var changes = admitted else { return answer }
        for (declaration, value) in known where resettingOthers && isChanged(declaration, value) {
            changes[declaration.key] = changes[declaration.key] ?? declaration.defaultValue
        }
        try write(changes)
        if !answer.applied.isEmpty { sayThatNothingIsKept() }
        answer.ineffective = waiting(among: changes.keys)
        return answer
    }

    package var overrides: OverridesDocument {
        var document = OverridesDocument()
        for (declaration, value) in all() where isChanged(declaration, value) {
            document.set(value, for: declaration.key)
        }
        return document
    }

    package func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer {
        let tweak = try tweakAgain(key)
        var opinions: [ExplainTweak.Answer.Opinion] = []
        if tweak.source == "\(TweakSource.memory)" {
            opinions.append(.init(source: "\(TweakSource.memory)", value: tweak.value.map { .scalar($0) }))
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

    private func write(_ values: [TweakKey: TweakValue]) throws(Failure) {
        guard !isBesideLibrary else {
            return try inMemory { () throws(MemoryError) in try variables.set(values) }
        }
        var direct = values
        var gated: [(gate: MemoryGate, values: [TweakKey: TweakValue])] = []
        for (key, value) in values {
            guard let gate = tweaksInMemory.gate(of: key) else { continue }
            direct[key] = nil
            if let index = gated.firstIndex(where: { $0.gate.gate.name == gate.gate.name }) {
                gated[index].values[key] = value
            } else {
                gated.append((gate, [key: value]))
            }
        }
        for (gate, values) in gated {
            do throws(MemoryRefusal) { try tweaksInMemory.check(values, fitInto: gate) } catch {
                throw Failure("\(error)", .invalid)
            }
        }
        for (gate, values) in gated { try put(values, into: gate) }
        guard !direct.isEmpty else { return }
        try withLock { () throws(Failure) in
            try inMemory { () throws(MemoryError) in
                try tweaksInMemory.set(direct)
                try variables.set(direct.filter { tweaksInMemory.tweak($0.key) == nil })
            }
        }
    }

    /// How long a setter waits until nothing else waits for a gate, and until the loop has passed it.
    private static let gatePatience: Duration = .seconds(2)

    /// Leaves values to the loop. Those that wait already are not taken back, because the loop may be storing them.
    private func put(_ values: [TweakKey: TweakValue], into gate: MemoryGate) throws(Failure) {
        let deadline = ContinuousClock.now + Self.gatePatience
        while true {
            let isPut = try withLock { () throws(Failure) in
                try inMemory { () throws(MemoryError) in try tweaksInMemory.put(values, into: gate) }
            }
            if isPut { return }
            guard ContinuousClock.now < deadline else {
                throw Failure(
                    "nothing was set: an earlier change still waits for the gate \(gate.gate.name), which the program has "
                        + "not passed for \(Self.gatePatience.components.seconds) s", about: title,
                    .unavailable)
            }
            usleep(1000)
        }
    }

    private func inMemory<Result>(
        _ body: () throws(MemoryError) -> Result
    ) throws(Failure) -> Result {
        do throws(MemoryError) { return try body() } catch { throw error.failure(of: title) }
    }

    /// Runs `body` while no other process writes into the memory of this user's programs.
    private func withLock<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard tweaksInMemory.needsLock else { return try body() }
        let user = ProcessEntry(pid: process.pid)?.user ?? geteuid()
        let places =
            user == geteuid()
            ? ControlDirectory.ownCandidates : ControlDirectory.candidates(user: user) { _ in nil }
        guard let directory = places.first(where: \.canBeThere) else {
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
        return try withFileLock(descriptor, patience: Self.gatePatience) { error throws(Failure) in
            guard error == 0 else {
                throw Failure("cannot lock \(path): \(systemMessage(error))", about: title, .system)
            }
            return try body()
        }
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

extension TweakSource {
    /// A value written into the memory of a process, perhaps by the process itself.
    package static let memory = TweakSource("memory")
}

extension MemoryError {
    fileprivate func failure(of title: String) -> Failure { Failure("\(self)", about: title, kind) }
}
