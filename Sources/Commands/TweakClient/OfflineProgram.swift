// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import Glibc
internal import TweakCompilation
package import TweakELF
internal import TweakFormats
internal import TweakJSON
internal import TweakMemory
package import TweakOverrides
package import TweakProtocol
package import TweakRecords
internal import TweakSystem

/// A program that is not running or does not answer, seen through its binary and its overrides file.
package final class OfflineProgram: Program {
    package let pid: pid_t? = nil
    package let title: String
    private let path: String?
    private let application: String
    /// The first declaration of each tweak, in the order of the running program.
    private let declarations: [TweakDeclaration]
    private lazy var indices = Dictionary(zip(declarations.map(\.key), declarations.indices)) { first, _ in
        first
    }
    /// The declarations of adopted variables, which have no records.
    private let adopted: [TweakDeclaration]
    /// The providers that introduced tweaks without records.
    private let introducers: [TweakKey: TweakSource]
    /// Whether the program has the Tweaks library, which stores the values of adopted variables at its start.
    package private(set) lazy var hasLibrary = path.map(Self.hasLibrary) ?? false
    private let overridesFile: OverridesFile
    package private(set) var overrides: OverridesDocument
    private let providers: OfflineProviders
    private let warn: (Warning) -> Void
    private var warnings: Set<String> = []
    private lazy var unread = UnreadTweaks(of: path)
    /// Whether values are kept even if no library of this machine can be loaded into the program to read them.
    package var keepsInVain = false

    /// - Parameters:
    ///   - path: The path of the executable.
    ///   - warn: Called with each problem of the binary or the overrides; the affected part is left out.
    package init(path: String, warn: @escaping (Warning) -> Void) throws(Failure) {
        // A symbolic link has the libraries and overrides of its target.
        let path = realPath(path) ?? path
        let content = try failing { try Self.content(of: path, warn) }
        application = ApplicationName.first(
            environment: nil, declared: content.applications, executable: path, problem: { warn(Warning($0)) }
        )
        title = path
        (self.path, self.warn) = (path, warn)
        (overridesFile, overrides) = try Self.overrides(of: application, warn)
        providers = OfflineProviders(path: path, application: application, warn)
        let declared = providers.declarations(besides: content.declarations)
        let own = Set(content.declarations.map(\.key))
        introducers = providers.introducers.filter { !own.contains($0.key) }
        adopted = AdoptedBuilds.load(of: application, warn).declarations(of: path, besides: declared, warn)
        declarations = declared + adopted
    }

    /// A program of which only the overrides are known, without types and defaults. Its values can be shown and reset.
    package init(application: String, warn: @escaping (Warning) -> Void) throws(Failure) {
        (title, self.application, path, adopted, introducers) = (application, application, nil, [], [:])
        self.warn = warn
        (overridesFile, overrides) = try Self.overrides(of: application, warn)
        providers = OfflineProviders(path: nil, application: application, warn)
        declarations = overrides.keys.sorted().compactMap { [overrides] key in
            overrides[key]?.tweakValue.map {
                TweakDeclaration(key: key, type: $0.likelyType, defaultValue: .nothing)
            }
        }
    }

    /// The tweaks that the executable and its libraries declare, each once.
    package static func content(
        of path: String, _ warn: (Warning) -> Void
    ) throws(ELFError) -> (declarations: [TweakDeclaration], applications: [String]) {
        var seen: Set<TweakKey> = []
        let (all, applications) = try everything(in: path, warn)
        return (all.filter { seen.insert($0.key).inserted }, applications)
    }

    /// The declarations in all records of the executable and its libraries: of a tweak, one for each place.
    package static func everything(
        in path: String, _ warn: (Warning) -> Void
    ) throws(ELFError) -> (declarations: [TweakDeclaration], applications: [String]) {
        let program = try ELFFile(path: path)
        var declarations: [TweakDeclaration] = []
        var applications: [String] = []
        for file in [program] + (try program.neededLibraries()) {
            try file.forEachObject { (object) throws(ELFError) in
                if let name = try object.application() { applications.append(name) }
                for range in try object.recordRanges() {
                    let section = try object.records(in: range)
                    for error in section.errors { warn("\(object.path): \(error)") }
                    declarations += section.tweaks.map(\.declaration)
                }
            }
        }
        return (declarations, applications)
    }

    /// The declarations in all records of the executable and its libraries, and where they were compiled, as far as there
    /// is debug information.
    ///
    /// - Parameter includesExecutable: Whether the folders of an executable without tweaks are wanted, which has adopted
    ///   variables.
    /// - Returns: For each declaration the working directory of the compiler of its unit, and those of all units.
    package static func compiled(
        in path: String, includesExecutable: Bool, _ warn: (Warning) -> Void
    ) throws(ELFError) -> (
        declarations: [(declaration: TweakDeclaration, folder: String?)], folders: [String]
    ) {
        let program = try ELFFile(path: path)
        var declarations: [(TweakDeclaration, String?)] = []
        var folders: [String] = []
        for (index, file) in ([program] + (try program.neededLibraries())).enumerated() {
            try file.forEachObject { (object) throws(ELFError) in
                var records: [(declaration: TweakDeclaration, address: UInt64)] = []
                for range in try object.recordRanges() {
                    let section = try object.records(in: range)
                    for error in section.errors { warn("\(object.path): \(error)") }
                    records += section.tweaks.map {
                        ($0.declaration, range.address &+ UInt64(clamping: $0.offset))
                    }
                }
                // Most libraries have no tweaks, but some have much debug information.
                guard !records.isEmpty || index == 0 && includesExecutable else { return }
                // An absolute path needs no folder.
                let relative = records.filter { $0.declaration.location?.hasPrefix("/") == false }
                let found = try object.compilationFolders(ofVariablesAt: Set(relative.map(\.address)))
                declarations += records.map { ($0.declaration, found.ofVariables[$0.address]) }
                folders += found.all.filter { !folders.contains($0) }
            }
        }
        return (declarations, folders)
    }

    /// The size in bytes of the records in the executable and its libraries, as far as they can be read.
    package static func recordSize(of path: String) -> Int {
        guard let program = try? ELFFile(path: path) else { return 0 }
        var size: UInt64 = 0
        for file in [program] + ((try? program.neededLibraries()) ?? []) {
            try? file.forEachObject(noting: { _ in }) { (object) throws(ELFError) in
                // There are some thousand libraries at most, each with at most 256 MB of records.
                size += try object.recordRanges().reduce(0) { $0 + $1.size }
            }
        }
        return Int(clamping: size)
    }

    /// The tweaks, with those that files declare, and the adopted variables.
    package static func declarations(
        of path: String, _ warn: (Warning) -> Void
    ) throws(ELFError) -> [TweakDeclaration] {
        let path = realPath(path) ?? path
        let (declarations, applications) = try content(of: path, warn)
        let application = ApplicationName.first(
            environment: environment(ApplicationName.variable), declared: applications, executable: path,
            problem: { warn(Warning($0)) })
        let declared = OfflineProviders(path: path, application: application, warn)
            .declarations(besides: declarations)
        return declared
            + AdoptedBuilds.load(of: application, warn).declarations(of: path, besides: declared, warn)
    }

    /// A corrupt file counts as empty here, as at the program's start. Nothing can be set then.
    private static func overrides(
        of application: String, _ warn: (Warning) -> Void
    ) throws(Failure) -> (file: OverridesFile, content: OverridesDocument) {
        try failing {
            let file = try OverridesFile(application: application)
            do {
                return (file, try file.load())
            } catch OverridesError.corrupt(let path, let reason) {
                warn("\(path): \(reason)")
                return (file, OverridesDocument())
            }
        }
    }

    package var description: ProgramDescription {
        ProgramDescription(program: path, application: application, overrides: overridesFile.path, pid: nil)
    }

    package func tweaks() -> [JSONTweak] { declarations.map { status(of: $0, in: overrides) } }

    package func tweak(_ key: TweakKey) -> JSONTweak? {
        declaration(key).map { status(of: $0, in: overrides) }
    }

    private func declaration(_ key: TweakKey) -> TweakDeclaration? { indices[key].map { declarations[$0] } }

    /// The tweak with its value at the program's start.
    private func status(of tweak: TweakDeclaration, in overrides: OverridesDocument) -> JSONTweak {
        var status = initial(tweak, overrides)
        status.introducedBy = introducers[tweak.key]?.name
        return status
    }

    private func initial(_ tweak: TweakDeclaration, _ overrides: OverridesDocument) -> JSONTweak {
        if let status = status(of: tweak, by: providers.above) { return status }
        do throws(TweakValueError) {
            if let admission = try overrides.admission(for: tweak) {
                return JSONTweak(tweak, value: admission.value, source: "\(TweakSource.overrides)")
            }
        } catch {
            let warning = "override ignored: \(error)"
            if warnings.insert(warning).inserted { warn(Warning(warning)) }
        }
        return status(of: tweak, by: providers.below)
            ?? JSONTweak(tweak, value: tweak.defaultValue, source: "\(TweakSource.binary)")
    }

    private func status(of tweak: TweakDeclaration, by files: [OfflineProviders.Provided]) -> JSONTweak? {
        for file in files {
            // `explain` reports problems of values.
            if let admission = try? file.values.admission(for: tweak) {
                return JSONTweak(tweak, value: admission.value, source: "\(file.source)")
            }
        }
        return nil
    }

    package func change(_ request: ChangeTweaks) throws(Failure) -> ChangeTweaks.Answer {
        guard request.durations.areNone else {
            throw Failure(
                "it is not running, or does not accept connections, so it can hold neither leases nor ramps",
                about: title, .unavailable)
        }
        if request.setsAny { try checkLibrary() }
        var names = ResolvedNames(of: request)
        let tweaks = KnownTweaks(keys: { [declarations] in declarations.map(\.key) }) { [unowned self] in
            tweak($0)
        } problem: { [unowned self] _, declaration in
            isKept(declaration) ? nil : ChangeProblem(.refusedTerms, Self.notKept(declaration.key))
        }
        if request.isAllOrNothing {
            for (index, change) in request.changes.enumerated() where change.reset != true {
                guard let key = try? names.key(of: index, in: tweaks), declaration(key).map(isKept) == false
                else { continue }
                throw Failure(Self.notKept(key), .unavailable)
            }
        }
        func evaluated() -> ChangeEvaluation {
            ChangeEvaluation(request, &names, in: tweaks) { [self] in
                status(of: $0, in: OverridesDocument()).value ?? .nothing
            }
        }
        var evaluation = evaluated()
        func isRefused() -> Bool { evaluation.isRefused(unless: request.isAllOrNothing) }
        // Without a change no file is made.
        guard !isRefused() else { return evaluation.answer }
        var changes: [TweakKey: TweakValue?] {
            Dictionary(evaluation.values.map { ($0.key, $0.value) }) { first, _ in first }
        }
        if request.dryRun != true {
            let problem = try overridesFile.change { [self] before in
                overrides = before
                evaluation = evaluated()
                return isRefused() ? [:] : changes
            }
            if let problem { warn(Warning(problem)) }
            if isRefused() { return evaluation.answer }
        }
        var after = overrides
        for (key, value) in changes { after.set(value, for: key) }
        if request.dryRun != true { overrides = after }
        evaluation.note { key in self.declaration(key).map { self.status(of: $0, in: after) } }
        var answer = evaluation.answer
        guard request.dryRun != true else { return answer }
        unread.warn(of: answer, warn)
        let keys = Set(changes.keys)
        let hidden = hidden(keys.contains)
        if !hidden.isEmpty { answer.ineffective = hidden }
        return answer
    }

    /// The tweaks among these that will not have their overrides or defaults, because a provider takes precedence.
    private func hidden(_ isMeant: (TweakKey) -> Bool) -> [IneffectiveValue] {
        guard !providers.above.isEmpty else { return [] }
        return declarations.filter { isMeant($0.key) }.compactMap { declaration in
            let kept = (try? overrides.admission(for: declaration))?.value ?? declaration.defaultValue
            guard let status = status(of: declaration, by: providers.above), status.value != kept else {
                return nil
            }
            return IneffectiveValue(status)
        }
    }

    private static func notKept(_ key: TweakKey) -> String {
        "\(key): it is an adopted variable, which can be set while the program runs"
    }

    /// Whether something would read the tweak's value at the next start.
    private func isKept(_ declaration: TweakDeclaration) -> Bool {
        hasLibrary || !adopted.contains { $0.key == declaration.key }
    }

    /// The reason why the program can never read values that are kept for it; `nil` if it can.
    package var obstacle: String? { path.flatMap { ProgramStart.obstacle(toLibraryIn: $0) } }

    private func checkLibrary() throws(Failure) {
        guard !keepsInVain, let obstacle else { return }
        throw Failure(
            "nothing was set: it \(obstacle), so it would never read the value; use --anyway to keep it "
                + "nevertheless",
            about: title, .unavailable)
    }

    private static func hasLibrary(_ path: String) -> Bool {
        guard let program = try? ELFFile(path: path) else { return false }
        let files = [program] + ((try? program.neededLibraries()) ?? [])
        return files.contains { ProcessScan.content(ofFile: $0.path) == .library }
    }

    package func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer {
        let tweak = try tweakAgain(key)
        var opinions: [ExplainTweak.Answer.Opinion] = []
        func add(_ source: TweakSource, _ values: OverridesDocument, at path: String?) {
            guard let entry = values[key] else { return }
            var opinion = ExplainTweak.Answer.Opinion(source: "\(source)", value: entry)
            opinion.location = path
            do throws(TweakValueError) {
                let admission = try values.admission(for: tweak.declaration)
                if admission?.wasClamped == true { opinion.given = entry }
                opinion.value = admission.map { .scalar($0.value) }
            } catch {
                opinion.error = "\(error)"
            }
            opinions.append(opinion)
        }
        func add(_ files: [OfflineProviders.Provided]) {
            for file in files where !opinions.contains(where: { $0.source == "\(file.source)" }) {
                add(file.source, file.values, at: file.path)
            }
        }
        add(providers.above)
        add(.overrides, overrides, at: nil)
        add(providers.below)
        opinions.append(
            .init(source: "\(TweakSource.binary)", value: .scalar(tweak.declaration.defaultValue)))
        var answer = ExplainTweak.Answer(
            tweak: key, value: .scalar(tweak.value ?? .nothing), source: tweak.source ?? "",
            opinions: opinions)
        for file in providers.fromAfar where !opinions.contains(where: { $0.source == "\(file.source)" }) {
            var silent = ExplainTweak.Answer.Opinion(source: "\(file.source)", value: nil)
            silent.location = file.path
            answer.silent = (answer.silent ?? []) + [silent]
        }
        return answer
    }
}

extension OverridesFile {
    /// Changes overrides without the program, see ``update(_:)``.
    func change(_ changes: [TweakKey: TweakValue?]) throws(Failure) -> String? {
        try change { _ in changes }
    }

    /// Changes the overrides that `changes` returns for those in the file, which no other process changes meanwhile.
    func change(
        _ changes: (OverridesDocument) -> [TweakKey: TweakValue?]
    ) throws(Failure) -> String? {
        do throws(OverridesError) {
            return try update(ifCorrupt: .refuse, changes).warnings.first.map { "\($0)" }
        } catch {
            guard case .corrupt = error else { throw Failure(error) }
            throw Failure(
                "\(error)", details: ["nothing was changed; fix the file, or move it away"], error.kind)
        }
    }
}

extension TweakValue {
    /// The type of a tweak with this JSON value, as far as can be told.
    fileprivate var likelyType: TweakType {
        switch self {
        case .bool: .bool
        case .integer(let number): Int64(exactly: number) == nil ? .uint64 : .int64
        case .double: .double
        case .string, .color, .nothing: .string
        }
    }
}
