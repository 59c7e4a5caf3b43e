package import CommandSupport
package import Glibc
package import TweakJSON
internal import TweakMemory
package import TweakOverrides
package import TweakProtocol
package import TweakRecords
internal import TweakSystem

/// A program whose tweaks are shown and changed, whether it runs or not.
package protocol Program: AnyObject {
    /// `nil` if it does not run.
    var pid: pid_t? { get }
    /// What tells it from other programs: `spring (123)`, or the path of the executable.
    var title: String { get }
    /// What its JSON form begins with.
    var description: ProgramDescription { get throws(Failure) }

    /// All tweaks, in the order of declaration.
    func tweaks() throws(Failure) -> [JSONTweak]
    /// One of them; `nil` if there is none of the name.
    func tweak(_ key: TweakKey) throws(Failure) -> JSONTweak?
    /// Sets a tweak.
    ///
    /// - Parameters:
    ///   - tweak: The tweak as the program had it.
    ///   - text: The text as typed.
    /// - Returns: The tweak as the program has it now.
    func set(_ tweak: JSONTweak, to text: String) throws(Failure) -> JSONTweak
    /// Takes overrides away, as one change.
    func reset(_ scope: TweakScope) throws(Failure)
    /// Sets several tweaks, as one change. What one of them cannot take is reported, and the others are set unless it is to
    /// be all or nothing.
    func apply(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool
    ) throws(Failure) -> SetManyTweaks.Answer
    /// The values that were set, with those of tweaks that the program does not have as far as they are known.
    var overrides: OverridesDocument { get throws(Failure) }
    /// Who has which opinion about the value of a tweak that the program has.
    func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer
}

/// The JSON form of a program: keys are a promise to scripts.
package struct ProgramDescription: Encodable {
    /// The path of the executable; `nil` if only the application's name is known.
    package let program: String?
    /// The last component of that path, by which overrides and presets are kept.
    package let application: String
    /// The path of the overrides file; `nil` if values are not kept.
    package let overrides: String?
    /// `nil` if the program does not run.
    package let pid: Int32?
}

extension Program {
    /// Who it runs as, if that is another user than this process.
    package var otherUser: String? { pid.flatMap { otherUserName(of: $0) } }

    /// The tweak that a person names, see ``TweakName``.
    package func tweak(named text: String) throws(Failure) -> JSONTweak {
        let name = try TweakName(text)
        // One question is enough for most, and a program may have many tweaks.
        if let key = name.key, let tweak = try tweak(key) { return tweak }
        let tweaks = try tweaks()
        guard !tweaks.isEmpty else { throw Failure("it has no tweaks", about: title, .invalid) }
        let key = try name.key(among: tweaks.map(\.declaration.key))
        guard let tweak = tweaks.first(where: { $0.declaration.key == key }) else { throw gone(key) }
        return tweak
    }

    /// A tweak that was there a moment ago.
    package func tweakAgain(_ key: TweakKey) throws(Failure) -> JSONTweak {
        guard let tweak = try tweak(key) else { throw gone(key) }
        return tweak
    }

    /// Who has which opinion about the value of a tweak, and where it is written.
    package func explanation(of tweak: JSONTweak) throws(Failure) -> ExplainTweak.Answer {
        var explanation = try explain(tweak.declaration.key)
        let overrides = try description.overrides
        for (index, opinion) in zip(explanation.opinions.indices, explanation.opinions)
        where opinion.location == nil {
            explanation.opinions[index].location =
                switch opinion.source {
                case "\(TweakSource.overrides)": overrides
                case "\(TweakSource.binary)": tweak.declaration.location
                default: nil
                }
        }
        return explanation
    }

    /// The values as a preset has them.
    ///
    /// - Parameter includingDefaults: Whether values that nobody has set are in it too.
    package func values(includingDefaults: Bool) throws(Failure) -> OverridesDocument {
        var values = OverridesDocument()
        for tweak in try tweaks() where tweak.declaration.type != .action && !tweak.declaration.isReadOnly {
            if includingDefaults || tweak.nextValue != tweak.declaration.defaultValue {
                values.set(tweak.nextValue, for: tweak.declaration.key)
            }
        }
        return values
    }

    /// What is kept of tweaks that nothing declares, as of another build. Of a program of another user it is not known.
    ///
    /// - Parameter tweaks: All that the program declares; if `nil` it is asked, in case something is kept.
    package func undeclared(besides tweaks: [JSONTweak]? = nil) throws(Failure) -> OverridesDocument {
        let description = try description
        guard otherUser == nil, description.program != nil, let path = description.overrides,
            access(path, F_OK) == 0
        else {
            // What it says of files would have root change its own.
            return OverridesDocument()
        }
        let declared: [JSONTweak]
        if let tweaks { declared = tweaks } else { declared = try self.tweaks() }
        return OverridesDocument(undeclaredIn: path, besides: declared)
    }

    /// Keeps nothing any more of tweaks that nothing declares.
    package func forget(_ keys: [TweakKey]) throws(Failure) {
        guard let path = try description.overrides, !keys.isEmpty else { return }
        let changes = Dictionary(keys.map { ($0, nil as TweakValue?) }) { first, _ in first }
        if let problem = try failing({ try OverridesFile(path: path).update(changes) }) {
            throw Failure(problem, .inputOutput)
        }
    }

    private func gone(_ key: TweakKey) -> Failure {
        Failure("\(key): the tweak is gone; its library has been closed", .unavailable)
    }
}

extension JSONTweak {
    /// The value with which the program starts the next time.
    package var nextValue: TweakValue? { pendingValue ?? value }
}

/// Finds the programs that a person names.
package struct ProgramSearch {
    private let patience: Patience
    private let warn: (String) -> Void

    /// - Parameters:
    ///   - patience: How long one that runs is waited for.
    ///   - warn: Is told what is wrong with the files of one that does not run and left out.
    package init(_ patience: Patience = .usual, warn: @escaping (String) -> Void) {
        (self.patience, self.warn) = (patience, warn)
    }

    /// The programs of a name: process id, path or application.
    ///
    /// A path is one if it has a slash or if there is such a file; then a program that runs from it is asked. The memory of
    /// one that does not have the library is read. What does not run, or does not want to be asked, is found by its file:
    /// of an application by the search path, or its overrides alone. A name is that of an executable, or else what
    /// programs that run say that they are called.
    ///
    /// - Parameter checkingValues: Whether it must be known which values the tweaks take.
    /// - Returns: Several only of those that run.
    package func programs(
        named name: String, checkingValues: Bool = false
    ) throws(Failure) -> [any Program] {
        if !name.isEmpty, name.allSatisfy({ $0.isASCII && $0.isNumber }) {
            return [try program(withID: name)]
        }
        if name.contains("/") || isAccessible(name) {
            let path = realPath(name) ?? name
            let running = try listeningSoon { $0 == path }
            if !running.isEmpty { return running }
            let inMemory = try inMemory { $0 == path }
            return inMemory.isEmpty ? [try OfflineProgram(path: path, warn: warn)] : inMemory
        }
        let running = try listeningSoon { lastComponent(of: $0) == name }
        if !running.isEmpty { return running }
        var named: [LiveProgram] = []
        for entry in Survey().entries where entry.description?.application == name {
            if let program = try LiveProgram(entry.running, patience) { named.append(program) }
        }
        if !named.isEmpty { return named }
        let inMemory = try inMemory { lastComponent(of: $0) == name }
        if !inMemory.isEmpty { return inMemory }
        if let path = try? findExecutable(named: name) { return [try OfflineProgram(path: path, warn: warn)] }
        return [try application(name, checkingValues: checkingValues)]
    }

    private func program(withID text: String) throws(Failure) -> any Program {
        guard let pid = pid_t(text), kill(pid, 0) == 0 || errno == EPERM else {
            throw Failure("\(text): there is no such process", .unavailable)
        }
        repeat {
            if let running = RunningProgram(pid: pid), let program = try LiveProgram(running, patience) {
                return program
            }
        } while isWaited(for: { $0.pid == pid })
        let user = ProcessEntry(pid: pid)?.user
        let other = user == geteuid() ? nil : user.map(userName)
        if let other, geteuid() != 0 {
            throw Failure(
                "\(text): the process is one of \(other), who may ask it, and so may root", .forbidden)
        }
        if let program = try MemoryProgram(pid: pid, warn: warn) { return program }
        // Its overrides are those of its user.
        if let other {
            throw Failure("\(text): the process is one of \(other), and does not listen", .unavailable)
        }
        guard let path = executablePath(of: text) else {
            throw Failure("\(text): the process does not want to be asked", .unavailable)
        }
        var scan = ProcessScan()
        if scan.content(of: pid) == .library {
            // What turned the socket off is respected: the memory is the library's.
            warn(
                "\(lastComponent(of: path)) (\(text)): the Tweaks library is in it and does not listen, so its memory is "
                    + "left alone; this is about its overrides file")
        }
        return try OfflineProgram(path: path, warn: warn)
    }

    /// Those whose memory is read. Processes of others are passed over.
    private func inMemory(_ isMeant: (String) -> Bool) throws(Failure) -> [MemoryProgram] {
        var programs: [MemoryProgram] = []
        for process in ProcessEntry.all where process.executable.map(isMeant) == true {
            // One that ends meanwhile is none.
            do throws(Failure) {
                if let program = try MemoryProgram(pid: process.pid, warn: warn) { programs.append(program) }
            } catch  where error.kind == .unavailable {
                continue
            }
        }
        return programs.sorted { $0.processID < $1.processID }
    }

    private func listening(_ isMeant: (String) -> Bool) throws(Failure) -> [LiveProgram] {
        var programs: [LiveProgram] = []
        for running in RunningProgram.all()
        where (running.executable ?? said(by: running)).map(isMeant) == true {
            if let program = try LiveProgram(running, patience) { programs.append(program) }
        }
        return programs
    }

    /// The same, and those that have just been started.
    private func listeningSoon(_ isMeant: (String) -> Bool) throws(Failure) -> [LiveProgram] {
        while true {
            let programs = try listening(isMeant)
            guard programs.isEmpty, isWaited(for: { $0.executable.map(isMeant) == true }) else {
                return programs
            }
        }
    }

    /// Waits a little if a process may listen soon: with the library that is a quarter of a second after its start.
    private func isWaited(for isMeant: (ProcessEntry) -> Bool) -> Bool {
        var scan = ProcessScan()
        let isStarting = ProcessEntry.all.contains { process in
            guard isMeant(process), let age = process.age, age < .seconds(1) else { return false }
            // The dynamic linker may not have come to the library.
            return age < .milliseconds(100) || scan.content(of: process.pid) == .library
        }
        if isStarting { usleep(20_000) }
        return isStarting
    }

    /// What a program says that its executable is. The kernel does not show that of one which has become this user.
    private func said(by running: RunningProgram) -> String? {
        guard running.otherUser == nil, let program = try? LiveProgram(running, .short) else { return nil }
        return try? program.description.program
    }

    private func application(_ name: String, checkingValues: Bool) throws(Failure) -> OfflineProgram {
        let directory = try failing { try OverridesFile(application: name).directory }
        guard !name.isEmpty, access(directory, F_OK) == 0 else {
            let running = RunningProgram.all().compactMap { $0.executable.map(lastComponent) }
            let kept = directoryEntries(String(directory.dropLast(name.utf8.count))).filter {
                !$0.hasPrefix(".")
            }
            throw Failure(
                "\(name): no program of this name runs, and there is no such file"
                    + didYouMean(Set(running + kept).nearest(to: name)), .missing)
        }
        guard !checkingValues else {
            throw Failure(
                "\(name): it does not run, and its executable is not known; give the path", .missing)
        }
        return try OfflineProgram(application: name, warn: warn)
    }
}

/// What is kept of a tweak that nothing declares. Its JSON form is a promise to scripts.
package struct UndeclaredValue: Encodable, Sendable {
    package let tweak: TweakKey
    package let value: JSONValue?
}

extension OverridesDocument {
    /// What an overrides file has besides these tweaks; nothing if it is another user's.
    package init(undeclaredIn path: String, besides tweaks: [JSONTweak]) {
        self.init()
        guard let status = stat(path: path), status.st_uid == geteuid(),
            let document = try? OverridesFile(path: path).load()
        else { return }
        self = document
        for tweak in tweaks { set(nil, for: tweak.declaration.key) }
    }

    /// The entries, sorted by name.
    package var undeclaredValues: [UndeclaredValue] {
        keys.sorted().map { UndeclaredValue(tweak: $0, value: self[$0]) }
    }

    /// Which of the values tweaks take.
    ///
    /// - Parameter check: Whether a value that the declaration takes can be set.
    /// - Returns: What is said about it, and what is to be set; `nil` if nothing is, since not all could be.
    func decide(
        for declarations: [TweakDeclaration], allOrNothing: Bool,
        check: (TweakValue, TweakDeclaration) throws -> Void = { _, _ in }
    ) -> (answer: SetManyTweaks.Answer, values: [TweakKey: TweakValue]?) {
        let known = Dictionary(declarations.map { ($0.key, $0) }) { first, _ in first }
        var values: [TweakKey: TweakValue] = [:]
        var answer = SetManyTweaks.Answer(applied: [], clamped: [], unknown: [], refused: [])
        for key in keys.sorted() {
            guard let declaration = known[key] else {
                answer.unknown.append(key)
                continue
            }
            do {
                guard let admission = try admission(for: declaration) else { continue }
                try check(admission.value, declaration)
                values[key] = admission.value
                answer.applied.append(key)
                if admission.wasClamped { answer.clamped.append(key) }
            } catch {
                answer.refused.append(.init(tweak: key, message: "\(error)"))
            }
        }
        guard allOrNothing, !answer.unknown.isEmpty || !answer.refused.isEmpty else {
            return (answer, values)
        }
        (answer.applied, answer.clamped) = ([], [])
        return (answer, nil)
    }
}
