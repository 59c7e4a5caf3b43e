// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import Glibc
package import TweakFormats
package import TweakJSON
internal import TweakMemory
package import TweakOverrides
package import TweakProtocol
package import TweakRecords
internal import TweakSystem

/// A program whose tweaks are shown and changed, running or not.
package protocol Program: AnyObject {
    /// The process id; `nil` if the program is not running.
    var pid: pid_t? { get }
    /// A title that tells the program from others: `spring (123)`, or the path of the executable.
    var title: String { get }
    /// The beginning of the program's JSON form.
    var description: ProgramDescription { get throws(Failure) }

    /// All tweaks, in the order of declaration.
    func tweaks() throws(Failure) -> [JSONTweak]
    /// The tweak with this name, or `nil`.
    func tweak(_ key: TweakKey) throws(Failure) -> JSONTweak?
    /// Changes tweaks as one change, with names and texts as people type them.
    ///
    /// - Returns: What happened, with the changes that were refused.
    /// - Throws: ``Failure`` if the program cannot be changed at all.
    func change(_ request: ChangeTweaks) throws(Failure) -> ChangeTweaks.Answer
    /// The overrides, with those of undeclared tweaks as far as they are known.
    var overrides: OverridesDocument { get throws(Failure) }
    /// The opinion of each provider about the value of a tweak.
    func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer
}

/// The JSON form of a program. Scripts rely on its keys.
package struct ProgramDescription: Encodable {
    /// The path of the executable; `nil` if only the application's name is known.
    package let program: String?
    /// The last component of that path, which names the files of overrides and presets.
    package let application: String
    /// The path of the overrides file; `nil` if values are not kept.
    package let overrides: String?
    /// The process id; `nil` if the program is not running.
    package let pid: Int32?
}

extension Program {
    package func apply(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool
    ) throws(Failure) -> SetManyTweaks.Answer {
        try apply(
            values, resettingOthers: resettingOthers, allOrNothing: allOrNothing, SetDurations())
    }

    /// The user that the program runs as, if it is another one than ours.
    package var otherUser: String? { pid.flatMap { otherUserName(of: $0) } }

    /// The tweak with this name, see ``TweakName``.
    package func tweak(named text: String) throws(Failure) -> JSONTweak {
        let name = try TweakName(text)
        // One request is enough for most, and a program may have many tweaks.
        if let key = name.key, let tweak = try tweak(key) { return tweak }
        return try tweak(named: name, among: tweaks())
    }

    /// The tweak with this name.
    ///
    /// - Parameter tweaks: All tweaks of the program.
    package func tweak(named name: TweakName, among tweaks: [JSONTweak]) throws(Failure) -> JSONTweak {
        guard !tweaks.isEmpty else {
            throw Failure("it has no tweaks" + hintAtMissingTweaks, about: title, .invalid)
        }
        let key = try name.key(among: tweaks.map(\.declaration.key))
        guard let tweak = tweaks.first(where: { $0.declaration.key == key }) else { throw gone(key) }
        return tweak
    }

    /// The likely reason why it has no tweaks, after the words that it has none; empty if there is none.
    package var hintAtMissingTweaks: String {
        guard self is LiveProgram || (self as? OfflineProgram)?.hasLibrary == true else { return "" }
        return
            "; the Tweaks library is in it, so it was probably compiled without DEBUG or FB_TWEAK_ENABLED=1"
    }

    /// A tweak that existed a moment ago.
    package func tweakAgain(_ key: TweakKey) throws(Failure) -> JSONTweak {
        guard let tweak = try tweak(key) else { throw gone(key) }
        return tweak
    }

    /// The opinion of each provider about the value of a tweak, and the files they come from.
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

    /// Throws if the overrides cannot be read, so that what is read of a program that does not run is not what was set.
    ///
    /// - Parameter includingRunning: Whether to check the file of a running program, too.
    package func checkOverrides(includingRunning: Bool = false) throws(Failure) {
        guard pid == nil || includingRunning, otherUser == nil, let path = try description.overrides else {
            return
        }
        _ = try failing { try OverridesFile(path: path).load() }
    }

    /// The values in the form of a preset.
    ///
    /// - Parameter includingDefaults: Whether to include tweaks that have their default.
    package func values(includingDefaults: Bool) throws(Failure) -> OverridesDocument {
        try checkOverrides()
        var values = OverridesDocument()
        for tweak in try tweaks() where tweak.declaration.type != .action && !tweak.declaration.isReadOnly {
            if includingDefaults || tweak.isSet && tweak.lastingValue != tweak.declaration.defaultValue {
                values.set(tweak.lastingValue, for: tweak.declaration.key)
            }
        }
        return values
    }

    /// The overrides of undeclared tweaks, such as those of another build. Unknown for a program of another user.
    ///
    /// - Parameter tweaks: All tweaks that the program declares; `nil` to ask it if needed.
    package func undeclared(besides tweaks: [JSONTweak]? = nil) throws(Failure) -> OverridesDocument {
        let description = try description
        guard otherUser == nil, description.program != nil, let path = description.overrides,
            access(path, F_OK) == 0
        else {
            // Root must not change its own files because of what the program reports.
            return OverridesDocument()
        }
        let declared: [JSONTweak]
        if let tweaks { declared = tweaks } else { declared = try self.tweaks() }
        return OverridesDocument(undeclaredIn: path, besides: declared)
    }

    /// The same tweaks, with those marked whose overrides were baked and have not become defaults of the binary.
    package func markingBaked(_ tweaks: [JSONTweak]) throws(Failure) -> [JSONTweak] {
        guard otherUser == nil, let path = try description.overrides,
            let overrides = try? OverridesFile(path: path).load()
        else { return tweaks }
        let baked = Set(overrides.bakedKeys)
        guard !baked.isEmpty else { return tweaks }
        return tweaks.map { tweak in
            var tweak = tweak
            tweak.waitsForBuild =
                baked.contains(tweak.declaration.key)
                && (try? overrides.admission(for: tweak.declaration))?.value != tweak.declaration.defaultValue
            return tweak
        }
    }

    /// Removes the overrides of undeclared tweaks.
    package func forget(_ keys: [TweakKey]) throws(Failure) {
        guard let path = try description.overrides, !keys.isEmpty else { return }
        let changes = Dictionary(keys.map { ($0, nil as TweakValue?) }) { first, _ in first }
        _ = try OverridesFile(path: path).change(changes)
    }

    private func gone(_ key: TweakKey) -> Failure {
        Failure("\(key): the tweak no longer exists; its library was unloaded", .unavailable)
    }
}

extension JSONTweak {
    /// Whether only an agent's file has it, perhaps because somebody mistyped its name.
    package var isOnlyOfAgents: Bool { introducedBy.map { TweakSource($0).isOfAgents } ?? false }

    /// Whether its value is not the program's own: that of a variable that the program has stored itself.
    package var isSet: Bool { source != "\(TweakSource.program)" || pendingValue != nil }

    /// The value at the program's next start.
    package var nextValue: TweakValue? { pendingValue ?? value }

    /// The value when leases and ramps have ended, after the program's next start.
    package var lastingValue: TweakValue? {
        (lease?.hiddenValue ?? ramp?.target).flatMap { $0.value(of: declaration.type) } ?? nextValue
    }
}

/// Finds programs by what the user typed.
package struct ProgramSearch {
    private let patience: Patience
    private let warn: (Warning) -> Void

    /// - Parameters:
    ///   - patience: The timeouts for a running program.
    ///   - warn: Called with problems in the files of a program that is not running.
    package init(_ patience: Patience = .usual, warn: @escaping (Warning) -> Void) {
        (self.patience, self.warn) = (patience, warn)
    }

    /// The programs with a name: a process id, a path or an application.
    ///
    /// A text is a path if it contains a slash or if there is such a file, and no folder; a program running from it is
    /// asked. The tweaks of a process without the library are read from its memory. A program that is not running, or
    /// does not listen, is found by its file: an application by the search path, or else by its overrides alone. A name
    /// is that of an executable, or else the one that running programs report.
    ///
    /// - Parameter checkingValues: Whether the caller must know which values the tweaks take.
    /// - Returns: The programs; several only if they are running.
    package func programs(
        named name: String, checkingValues: Bool = false
    ) throws(Failure) -> [any Program] {
        if isProcessID(name) { return [try program(withID: name)] }
        let running = try running(named: name, isWaiting: false)
        if !running.isEmpty { return running }
        if isPath(name) { return [try OfflineProgram(path: realPath(name) ?? name, warn: warn)] }
        if let path = try? findExecutable(named: name) { return [try OfflineProgram(path: path, warn: warn)] }
        return [try application(name, checkingValues: checkingValues)]
    }

    /// Waits until a program runs.
    ///
    /// - Parameters:
    ///   - name: As in ``programs(named:checkingValues:)``. A process of which it is the id must run already.
    ///   - seconds: The time after which it gives up.
    /// - Returns: The processes of the program; `nil` if none was running in time.
    package func programs(named name: String, within seconds: Double) throws(Failure) -> [any Program]? {
        if isProcessID(name) { return [try program(withID: name)] }
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let running = try running(named: name, isWaiting: true)
            if !running.isEmpty { return running }
            guard ContinuousClock.now < end else { return nil }
            usleep(50_000)
        }
    }

    private func isProcessID(_ name: String) -> Bool {
        !name.isEmpty && name.allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// The most programs of unknown name that are warned of one by one. The others are counted in one more warning.
    private static let mostUnknown = 3

    /// The running programs with a path or a name. Warns of those that do not tell their name.
    ///
    /// - Parameter isWaiting: Whether the caller asks again and again until one runs. Then there are no warnings.
    private func running(named name: String, isWaiting: Bool) throws(Failure) -> [any Program] {
        if isPath(name) {
            let path = realPath(name) ?? name
            let listening = try listeningSoon { $0 == path }
            return listening.isEmpty ? try inMemory { $0 == path } : listening
        }
        let listening = try listeningSoon { lastComponent(of: $0) == name }
        if !listening.isEmpty { return listening }
        var named: [LiveProgram] = []
        var unknown = 0
        let isPatient = !isWaiting && patience.silence > Patience.short.silence
        for entry in Survey(isPatient: isPatient).entries {
            if !isWaiting, entry.description == nil, let problem = entry.problem {
                unknown += 1
                if unknown <= Self.mostUnknown {
                    warn(Warning("\(entry.running.title): \(problem); it may be \(name)"))
                }
            }
            guard entry.description?.application == name else { continue }
            if let program = try LiveProgram(entry.running, patience, warn: warn) { named.append(program) }
        }
        if unknown > Self.mostUnknown {
            let others = counted(unknown - Self.mostUnknown, "other program", "other programs")
            warn(Warning("\(others) may be \(name), too; list them with tweak ps"))
        }
        return named.isEmpty ? try inMemory { lastComponent(of: $0) == name } : named
    }

    private func program(withID text: String) throws(Failure) -> any Program {
        guard let pid = pid_t(text), kill(pid, 0) == 0 || errno == EPERM else {
            throw Failure("\(text): no such process", .unavailable)
        }
        repeat {
            if let running = RunningProgram(pid: pid),
                let program = try LiveProgram(running, patience, warn: warn)
            {
                return program
            }
        } while isWaited(for: { $0.pid == pid })
        let user = ProcessEntry(pid: pid)?.user
        let other = user == geteuid() ? nil : user.map(userName)
        if let other, geteuid() != 0 {
            throw Failure(
                "\(text): the process belongs to \(other); only \(other == "root" ? "" : "\(other) and ")root can connect "
                    + "to it",
                .forbidden)
        }
        if let program = try MemoryProgram(pid: pid, warn: warn) { return program }
        // Its overrides belong to its user.
        if let other {
            let place = RunningProgram.isConfined ? ControlDirectory.ofUser?.path : nil
            throw Failure(
                "\(text): the process belongs to \(other), and has no listening socket"
                    + (place.map { " in \($0); unset XDG_RUNTIME_DIR to search elsewhere, too" }
                        ?? ""),
                .unavailable)
        }
        guard let path = executablePath(of: text) else {
            throw Failure("\(text): the process does not accept connections", .unavailable)
        }
        var scan = ProcessScan()
        let isLibraryUsed = ProcessEntry(pid: pid).map { $0.runsLibrary || $0.refusesRequests } ?? false
        if isLibraryUsed, scan.content(of: pid) == .library {
            // The user turned the socket off, so the library's memory is left alone.
            let title = "\(lastComponent(of: path)) (\(text))"
            warn(
                """
                \(title): it contains the Tweaks library but does not listen, so its memory is left alone; using its \
                overrides file instead
                """)
            return try OfflineProgram(path: path, warn: warn)
        }
        let program = try OfflineProgram(path: path, warn: warn)
        // The file's value may differ from the process's.
        guard program.tweaks().isEmpty else {
            throw Failure(
                "the process has no tweaks"
                    + (executableIsReplaced(of: text)
                        ? ", but \(path), which was rebuilt since it started, has some; restart it, or "
                            + "give the path of the file"
                        : " in its memory; to change those of its file, give the path \(path)"),
                about: "\(lastComponent(of: path)) (\(text))", .unavailable)
        }
        return program
    }

    /// The matching processes without the library, whose memory is read. Those of other users are left out.
    private func inMemory(_ isMeant: (String) -> Bool) throws(Failure) -> [MemoryProgram] {
        var programs: [MemoryProgram] = []
        for process in ProcessEntry.all where process.executable.map(isMeant) == true {
            // The process may end meanwhile.
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
            if let program = try LiveProgram(running, patience, warn: warn) { programs.append(program) }
        }
        return programs
    }

    /// The matching programs, including those that have just been started.
    private func listeningSoon(_ isMeant: (String) -> Bool) throws(Failure) -> [LiveProgram] {
        while true {
            let programs = try listening(isMeant)
            guard programs.isEmpty, isWaited(for: { $0.executable.map(isMeant) == true }) else {
                return programs
            }
        }
    }

    /// Waits briefly if a process may listen soon: the library does so a quarter of a second after the start, and on a
    /// busy machine later.
    private func isWaited(for isMeant: (ProcessEntry) -> Bool) -> Bool {
        var scan = ProcessScan()
        let isStarting = ProcessEntry.all.contains { process in
            guard isMeant(process), let age = process.age, age < .seconds(5), !process.refusesRequests else {
                return false
            }
            // The dynamic linker may not have reached the library yet.
            if age < .milliseconds(100) || process.isStarting { return true }
            return process.runsLibrary && scan.content(of: process.pid) == .library
        }
        if isStarting { usleep(20_000) }
        return isStarting
    }

    /// The executable that a program reports. The kernel does not show it for a process that changed its user to ours.
    private func said(by running: RunningProgram) -> String? {
        guard running.otherUser == nil, let program = try? LiveProgram(running, .short) else { return nil }
        return try? program.description.program
    }

    private static let hasNone = "the process has no tweaks, as in a release build"

    private func application(_ name: String, checkingValues: Bool) throws(Failure) -> OfflineProgram {
        let directory = try failing { try OverridesFile(application: name).directory }
        let bare = ProcessEntry.all.first { $0.executable.map(lastComponent) == name }
        let bareTitle = bare.map { "\(name) (\($0.pid))" }
        let isKept = !name.isEmpty && access(directory, F_OK) == 0
        if let bareTitle, !isKept || checkingValues {
            throw Failure(Self.hasNone, about: bareTitle, .unavailable)
        }
        guard isKept else {
            let running = RunningProgram.all().compactMap { $0.executable.map(lastComponent) }
            throw Failure(
                "\(name): no program of this name is running, and no such file exists"
                    + didYouMean(Set(running + KeptFiles.applications).nearest(to: name)), .missing)
        }
        guard !checkingValues else {
            throw Failure(
                "\(name): it is not running, and its executable is not known; give the path", .missing)
        }
        if let bareTitle { warn("\(bareTitle): \(Self.hasNone); using its overrides file instead") }
        return try OfflineProgram(application: name, warn: warn)
    }
}

/// An override of an undeclared tweak. Scripts rely on its JSON keys.
package struct UndeclaredValue: Encodable, Sendable {
    package let tweak: TweakKey
    package let value: JSONValue?
}

extension OverridesDocument {
    /// The overrides of a file apart from these tweaks; none if it is another user's.
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
}
