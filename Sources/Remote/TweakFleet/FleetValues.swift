// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import Dispatch
import Glibc
import RemoteValues
import Synchronization
import TweakClient
import TweakFormats
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

extension FleetList { func perform() throws(Failure) { try Fleet.list(self) } }
extension FleetGet { func perform() throws(Failure) { try Fleet.get(self) } }
extension FleetSet { func perform() throws(Failure) { try Fleet.set(self) } }
extension FleetReset { func perform() throws(Failure) { try Fleet.reset(self) } }
extension FleetWatch { func perform() throws(Failure) { try Fleet.watch(self) } }
extension FleetHistory { func perform() throws(Failure) { try Fleet.history(self) } }
extension FleetRollback { func perform() throws(Failure) { try Fleet.rollback(self) } }

/// The commands of `tweak fleet`.
package enum Fleet {
    // MARK: - Reading

    static func list(_ options: FleetList) throws(Failure) {
        let contents = try contents(options.fleet)
        warn(contents.strangers)
        let killed = kills(options.fleet)
        let kills = killed?.values.map { ValueForm($0, isKill: true) } ?? []
        if !kills.isEmpty, let declared = declarations(options.fleet) { warnOfKills(killed, declared) }
        let forms = contents.values.map { ValueForm($0) }
        switch options.fleet.format {
        case .json:
            try failing {
                try printJSON(
                    ListForm(
                        application: options.fleet.application, revision: contents.revision,
                        newestRevision: max(contents.newestRevision, killed?.newestRevision ?? 0),
                        tweaks: forms, kills: kills.isEmpty ? nil : kills))
            }
        case .table:
            let forms = kills + forms
            guard !forms.isEmpty else {
                warnIfUnknown(options.fleet)
                return print(printable("\(options.fleet.application): no values"))
            }
            let table = TextTable(
                header: ["TWEAK", "VALUE", "FOR", "REVISION", "AT", "BY", "WHY"],
                rows: forms.map(\.row))
            print(table.text)
        }
    }

    static func get(_ options: FleetGet) throws(Failure) {
        let name = try TweakName(options.tweak)
        let contents = try contents(options.fleet)
        let kills = kills(options.fleet)
        lazy var declared = declarations(options.fleet)
        let tweak = try key(of: name, contents, kills, declared)
        var killed: String?
        if let kill = try? kills?[tweak]?.value.get(), !warnOfVainKill(kill, of: tweak, declared) {
            killed = "it is \(kill.reason(in: .kills))"
        }
        guard let found = contents.values.first(where: { $0.tweak == tweak }) else {
            throw Failure("\(tweak): it has no value" + (killed.map { "; \($0)" } ?? ""), .invalid)
        }
        if let killed { warn("\(tweak): \(killed)", .hidden, tweak: tweak) }
        let form = ValueForm(found)
        switch options.fleet.format {
        case .json: try failing { try printJSON(form) }
        case .table:
            guard let value = form.value else { throw Failure(form.problem ?? "", .invalid) }
            print(printable("\(value)"))
        }
    }

    static func history(_ options: FleetHistory) throws(Failure) {
        let contents = try contents(options.fleet, isWithHistory: true)
        warn(contents.strangers)
        var changes = contents.changes
        if let name = options.tweak {
            let name = try TweakName(name)
            let known = changes.flatMap { $0.parts.map(\.tweak) }
            let tweak = try key(of: name, among: Swift.Set(known))
            changes = changes.filter { $0.parts.contains { $0.tweak == tweak } }
        }
        let forms = changes.suffix(options.last ?? Int.max).map { FleetChangeForm($0) }
        switch options.fleet.format {
        case .json: try failing { try printJSON(["changes": forms]) }
        case .table:
            guard !forms.isEmpty else {
                warnIfUnknown(options.fleet)
                return print(printable("\(options.fleet.application): no changes"))
            }
            let rows = forms.flatMap { form in
                form.all.enumerated().map { index, change in
                    (index == 0 ? ["\(form.revision)", form.at, form.by] : ["", "", ""])
                        + ["\(change.tweak)", change.text, index == 0 ? form.why ?? "" : ""]
                }
            }
            let table = TextTable(
                header: ["REVISION", "AT", "BY", "TWEAK", "CHANGE", "WHY"], rows: rows)
            print(table.text)
        }
    }

    static func watch(_ options: FleetWatch) throws(Failure) {
        let editor = try editor(options.fleet)
        let format = options.fleet.format
        try awaiting { () async throws(Failure) in
            let contents: FleetContents
            do throws(FleetProblem) { contents = try await editor.contents() } catch { throw Failure(error) }
            await editor.watch(after: contents.revision) { change in
                let form = FleetChangeForm(change)
                switch format {
                case .json: try? printJSONLine(form)
                case .table:
                    for part in form.all {
                        let why = form.why.map { "  \($0)" } ?? ""
                        print(
                            printable(
                                "\(form.at)  \(form.revision)  \(form.by)  \(part.tweak): \(part.text)\(why)")
                        )
                    }
                }
                fflush(nil)
            } problem: { problem in
                printMessage(problem, of: command)
            }
        }
    }

    // MARK: - Changing

    static func set(_ options: FleetSet) throws(Failure) {
        let filters = try options.filters.map { (text) throws(Failure) in try self.filters(text) }
        let name = try TweakName(options.tweak)
        // With a program, its names can be abbreviated too.
        let declaration = try options.program.map { (program) throws(Failure) in
            try self.declaration(of: name, in: program)
        }
        let situation = try situation(options.fleet)
        let isNew = try isNewEnvironment(options.fleet, options.creation, situation)
        let declared = options.isForced ? nil : try published(options.fleet, situation)
        if let filters { warnOfHosts(filters, situation, options.fleet) }
        try change(options.fleet, options.change, options.ifRevision, situation) {
            (contents, _) throws(FleetProblem) in
            let tweak: TweakKey
            if let key = declaration?.key { tweak = key } else { tweak = try key(name, contents, declared) }
            let value: TweakValue
            if let declaration {
                let old = try? contents[tweak]?.value.get()
                value = try admit(
                    options.value, to: declaration, current: old?.value, isForced: options.isForced)
                try declared?.check(value, for: tweak)
            } else {
                value = try newValue(
                    options.value, of: tweak, contents, declared, of: options.fleet.application,
                    isForced: options.isForced)
            }
            let new = FleetValue(value, filters: filters)
            // An invalid filter is not written.
            do throws(FormatError) {
                _ = try FleetValue(json: new.json(), of: tweak)
                try new.checkFilters(for: tweak)
            } catch {
                throw .impossible("\(error)")
            }
            return [tweak: new]
        }
        if isNew { tellOfNewEnvironment(options.fleet, isDryRun: options.change.isDryRun) }
    }

    /// Parses a value, and checks it against the published declarations.
    static func newValue(
        _ text: String, of tweak: TweakKey, _ contents: FleetContents, _ declared: FleetDeclarations?,
        of application: String, isForced: Bool
    ) throws(FleetProblem) -> TweakValue {
        let old = try? contents[tweak]?.value.get()
        let value: TweakValue
        if let build = declared?.newestBuild(declaring: tweak), let declaration = build.tweaks[tweak] {
            value = try admit(text, to: declaration, by: build, current: old?.value)
        } else {
            if let declared { try expect(tweak, declared, contents, of: application) }
            value = try read(text, of: tweak, before: old, isForced: isForced)
        }
        try declared?.check(value, for: tweak)
        return value
    }

    static func reset(_ options: FleetReset) throws(Failure) {
        let name = try TweakName(options.tweak)
        let situation = try situation(options.fleet)
        let declared = situation?.declarations ?? declarations(options.fleet)
        try change(options.fleet, options.change, options.ifRevision, situation) {
            (contents, _) throws(FleetProblem) in
            // Tweaks with a value first: another one may have a similar name.
            let hasValue = !name.meant(among: contents.values.map(\.tweak)).isEmpty
            let tweak = try key(name, contents, hasValue ? nil : declared)
            guard contents[tweak] == nil else { return [tweak: nil] }
            try expectKnown(tweak, declared, "it has no value", contents)
            return [:]
        }
    }

    /// Throws if there is nothing to remove because the name was mistyped, as far as the published builds tell.
    static func expectKnown(
        _ tweak: TweakKey, _ declared: FleetDeclarations?, _ state: String, _ contents: FleetContents
    ) throws(FleetProblem) {
        guard let declared, !declared.builds.isEmpty, !declared.tweaks.contains(tweak) else { return }
        throw .impossible(
            "\(tweak): \(state), and no published build declares it"
                + didYouMean(contents.values.map(\.tweak).nearest(to: tweak).map(\.description)))
    }

    static func rollback(_ options: FleetRollback) throws(Failure) {
        let name = try options.tweak.map { (text) throws(Failure) in try TweakName(text) }
        let declared = options.isForced ? nil : try published(options.fleet)
        var making = options.change
        making.author.why = making.author.why ?? "back to revision \(options.revision)"
        try change(options.fleet, making, nil, revisited: options.revision) {
            (contents, then) throws(FleetProblem) in
            let tweak = try name.map { (name) throws(FleetProblem) in
                let known =
                    contents.changes.flatMap { $0.parts.map(\.tweak) }
                    + (contents.values + (then?.values ?? [])).map(\.tweak)
                do throws(Failure) { return try key(of: name, among: Swift.Set(known)) } catch {
                    throw FleetProblem(error)
                }
            }
            let wanted = try FleetEditor.rollback(to: options.revision, of: tweak, contents, then)
            if let start = options.ifRevision {
                try expect(wanted.keys, contents.changed(after: start), since: start)
            }
            try check(wanted, contents, declared, of: options.fleet.application)
            return wanted
        }
    }

    /// Makes a change and prints the result; see ``commit(_:_:_:_:revisited:isWithHistory:_:)``.
    private static func change(
        _ options: FleetOptions, _ making: FleetChangeOptions, _ revision: Int?,
        _ situation: FleetSituation? = nil, revisited: Int? = nil,
        _ make:
            @escaping @Sendable (FleetContents, _ then: FleetContents?) throws(FleetProblem)
            -> [TweakKey: FleetValue?]
    ) throws(Failure) {
        let rollouts = sensitiveRollouts(options, situation)
        let change = try commit(
            options, .values, making, revision, revisited: revisited, known: situation?.contents, make)
        try show(change, options, making)
        // After a conflict there may be others.
        let isCurrent = change?.number == situation?.contents.nextChange
        warnIfHidden(change, options, isCurrent ? situation : nil)
        for plan in rollouts where change?.parts.contains(where: { $0.tweak == plan.tweak }) == true {
            warn(
                "\(plan.tweak): its \(plan.state) rollout ends when somebody changes the value",
                tweak: plan.tweak)
        }
    }

    /// Prints a change.
    ///
    /// - Parameters:
    ///   - above: The values that a kill overrides.
    ///   - revision: The revision to print; `nil` for that of the change.
    static func show(
        _ change: FleetChange?, _ options: FleetOptions, _ making: FleetChangeOptions,
        above: [HiddenValue]? = nil, revision: Int? = nil
    ) throws(Failure) {
        guard let change else { return showNothing(options) }
        let form = FleetChangeForm(change, above: above, revision: revision)
        switch options.format {
        case .json: try failing { try printJSON(form) }
        case .table:
            let note = "(\(making.isDryRun ? "dry run at " : "")revision \(form.revision))"
            for part in form.all { print(printable("\(part.tweak): \(part.text) \(note)")) }
            for hidden in above ?? [] { print(printable("  above \(hidden.text)")) }
        }
    }

    /// The author to record: the user of etcd, or else this user and host, with the name of `--by`.
    static func author(_ options: FleetAuthorOptions, _ editor: FleetEditor) -> String {
        let user = editor.user ?? author
        return options.by.map { "\(user) (\($0))" } ?? user
    }

    /// Reports that there was nothing to change.
    static func showNothing(_ options: FleetOptions) {
        warnOfMissingEnvironment(options)
        switch options.format {
        case .json: try? printJSON(FleetChangeForm?.none)
        case .table: print(printable("\(options.application): nothing had to be changed"))
        }
    }

    /// Warns if new values of a fleet have no effect, on any host or on this one.
    ///
    /// - Parameter situation: The kills and the declarations; read if `nil`.
    static func warnIfHidden(
        _ change: FleetChange?, _ options: FleetOptions, _ situation: FleetSituation? = nil
    ) {
        guard let new = change?.parts.filter({ $0.new != nil }), !new.isEmpty else { return }
        let kills = situation?.kills ?? kills(options)
        lazy var declared = situation?.declarations ?? declarations(options)
        for part in new {
            if let kill = try? kills?[part.tweak]?.value.get(),
                !warnOfVainKill(kill, of: part.tweak, declared)
            {
                warn(
                    "\(part.tweak): it is \(kill.reason(in: .kills)); the value takes effect "
                        + FleetWording.choose("after tweak fleet unkill", page: "when the kill has ended"),
                    .hidden, tweak: part.tweak)
            }
            warnIfHidden(part.tweak, of: options.application)
        }
    }

    /// Makes a change.
    ///
    /// - Parameters:
    ///   - revision: The required revision of the tweaks' last change.
    ///   - revisited: The revision to restore.
    ///   - known: The content as it was a moment ago; read if `nil`.
    ///   - isWithHistory: Whether `make` needs the recorded changes, as it does to restore a revision.
    ///   - make: Returns the new value of each tweak, given the current state and, as far as etcd knows it, the state
    ///     at that revision.
    /// - Returns: The change; `nil` if there was nothing to change.
    static func commit(
        _ options: FleetOptions, _ place: FleetPlace, _ making: FleetChangeOptions, _ revision: Int?,
        revisited: Int? = nil, isWithHistory: Bool = false, known: FleetContents? = nil,
        _ make:
            @escaping @Sendable (FleetContents, _ then: FleetContents?) throws(FleetProblem)
            -> [TweakKey: FleetValue?]
    ) throws(Failure) -> FleetChange? {
        let editor = try editor(options, place)
        let by = author(making.author, editor)
        let strangers = Outcome<[String]>()
        defer { warn(strangers.result.withLock { try? $0?.get() } ?? []) }
        return try awaiting { () async throws(Failure) in
            do throws(FleetProblem) {
                var then: FleetContents?
                if let revisited { then = try await editor.contents(at: revisited) }
                return try await editor.change(
                    by: by, why: making.author.why, isWithHistory: isWithHistory || revisited != nil,
                    isDryRun: making.isDryRun, known: known
                ) { [then] (contents) throws(FleetProblem) in
                    strangers.result.withLock { $0 = .success(contents.strangers) }
                    let wanted = try make(contents, then)
                    if let revision { try expect(wanted.keys, at: revision, contents) }
                    return wanted
                }
            } catch {
                throw Failure(error)
            }
        }
    }

    /// Warns if another provider overrides the fleet's value on this host.
    private static func warnIfHidden(_ tweak: TweakKey, of application: String) {
        for folder in ProvidedFolders.all(isPrivileged: false) {
            let path = "\(folder)/\(application)/\(TweakSource.remote).json"
            guard let json = try? KeptFile(path: path).read(),
                let file = try? ProvidedFile(json: json, path: path), let value = file.values[tweak]
            else { continue }
            return warn(
                "\(tweak): on this host \(TweakSource.remote) takes precedence over \(TweakSource.fleet): "
                    + "\(value.summary), from \(file.from ?? path)", .hidden, tweak: tweak)
        }
    }

    /// Throws unless the builds take a value that was not typed, as they must take one that is set.
    ///
    /// - Parameter declared: `nil` if only its filters are checked.
    static func check(
        _ value: FleetValue, of tweak: TweakKey, _ contents: FleetContents, _ declared: FleetDeclarations?,
        of application: String
    ) throws(FleetProblem) {
        if let declared, declared.newestBuild(declaring: tweak) == nil {
            try expect(tweak, declared, contents, of: application)
        }
        try (declared ?? FleetDeclarations()).check(value, for: tweak)
    }

    /// Throws with all values that are refused.
    private static func check(
        _ wanted: [TweakKey: FleetValue?], _ contents: FleetContents, _ declared: FleetDeclarations?,
        of application: String
    ) throws(FleetProblem) {
        var refusals: [String] = []
        for (tweak, value) in wanted.sorted(by: { $0.key < $1.key }) {
            guard let value else { continue }
            do throws(FleetProblem) {
                try check(value, of: tweak, contents, declared, of: application)
            } catch {
                refusals.append(error.message)
            }
        }
        guard refusals.isEmpty else { throw .refusals(refusals) }
    }

    /// Throws unless a revision is that of the tweaks' last change.
    private static func expect(
        _ tweaks: some Sequence<TweakKey>, at revision: Int, _ contents: FleetContents
    ) throws(FleetProblem) {
        for tweak in tweaks {
            let found = contents[tweak]
            guard found?.revision ?? 0 != revision else { continue }
            let who = found.flatMap { try? $0.value.get().by }.map { " by \($0)" } ?? ""
            throw .conflict(
                "\(tweak): it was changed\(who) at revision \(found?.revision ?? 0), and not at \(revision); "
                    + "nothing was changed")
        }
    }

    /// Throws if somebody changed one of the tweaks.
    static func expect(
        _ tweaks: some Sequence<TweakKey>, _ changed: Swift.Set<TweakKey>, since revision: Int
    ) throws(FleetProblem) {
        let touched = tweaks.filter(changed.contains).map(\.description).sorted()
        guard !touched.isEmpty else { return }
        throw .conflict(
            "\(touched.beginning.joined(separator: ", ")): somebody made a change after revision \(revision); "
                + "nothing was changed")
    }

    /// The key of a tweak by its full name, or by part of it if the tweak has a value or is declared.
    static func key(
        _ name: TweakName, _ contents: FleetContents, _ declared: FleetDeclarations? = nil
    ) throws(FleetProblem) -> TweakKey {
        if let key = name.key { return key }
        let known = (declared?.tweaks ?? []).union(contents.values.map(\.tweak))
        do throws(Failure) { return try key(of: name, among: known) } catch {
            // A feature without a value is named by its switch.
            if name.count == 2, let feature = name.feature { return feature }
            throw FleetProblem(error)
        }
    }

    /// The tweak with a name.
    ///
    /// - Throws: ``Failure`` if no tweak or several match.
    static func key(of name: TweakName, among known: Swift.Set<TweakKey>) throws(Failure) -> TweakKey {
        try name.key(among: known.sorted(), listedBy: "tweak fleet list")
    }

    /// The tweak that a name means. Those with a value or a kill come first: another one may have a similar name.
    static func key(
        of name: TweakName, _ contents: FleetContents, _ kills: FleetContents?,
        _ declared: @autoclosure () -> FleetDeclarations?
    ) throws(Failure) -> TweakKey {
        var known = Swift.Set((contents.values + (kills?.values ?? [])).map(\.tweak))
        if name.meant(among: known.sorted()).isEmpty { known.formUnion(declared()?.tweaks ?? []) }
        return try key(of: name, among: known)
    }

    private static func declaration(
        of name: TweakName, in program: String
    ) throws(Failure) -> TweakDeclaration {
        let found = try ProgramSearch(.usual) { $0.write(of: command) }
            .programs(named: program, checkingValues: true)
        guard let first = found.first else {
            throw Failure("\(program): no such program", .missing)
        }
        let tweak = try first.tweak(named: name.text)
        guard !tweak.isOnlyOfAgents else {
            throw Failure(
                "\(tweak.declaration.key): \(first.title) does not declare it, and only knows it from an agent",
                .invalid)
        }
        return tweak.declaration
    }

    private static func admit(
        _ text: String, to declaration: TweakDeclaration, by build: DeclaredBuild? = nil,
        current: TweakValue?, isForced: Bool = false
    ) throws(FleetProblem) -> TweakValue {
        func refusal(_ problem: String) -> FleetProblem { .impossible(build?.refusal(problem) ?? problem) }
        let admission: TweakDeclaration.Admission
        do throws(TweakValueError) {
            admission = try declaration.admit(text: text, current: current)
        } catch {
            throw refusal("\(error)")
        }
        guard admission.wasClamped else { return admission.value }
        let problem = outsideLimits("\(declaration.key): \(text)", allowed: declaration.allowed)
        guard isForced else {
            throw refusal(build == nil ? problem + FleetWording.choose("; --force sets it clamped") : problem)
        }
        warn(problem, .clamped, tweak: declaration.key)
        return admission.value
    }

    /// Parses a value whose type is known only from the old value, if at all.
    private static func read(
        _ text: String, of tweak: TweakKey, before: FleetValue?, isForced: Bool
    ) throws(FleetProblem) -> TweakValue {
        let parsed = (try? JSONParser.value(of: Array(text.utf8)))?.tweakValue
        // The type may be another one now.
        if isForced, let parsed { return parsed }
        switch (before?.value, parsed) {
        case (.bool, _),
            (nil, _) where PlacedFeature.key(of: [tweak.collection]) == tweak:
            let any = TweakDeclaration(key: tweak, type: .bool, defaultValue: false)
            return try admit(text, to: any, current: before?.value)
        // Quotation marks are optional if the old value is a text.
        case (.string, .string(let text)?): return .string(text)
        case (.string, _): return .string(text)
        case (.integer, .integer?), (.integer, .double?), (.double, .integer?), (.double, .double?),
            (nil, _?):
            return parsed ?? .string(text)
        case (let before?, _):
            let any = TweakDeclaration(key: tweak, type: before.naturalType, defaultValue: before)
            return try admit(text, to: any, current: before)
        case (nil, nil):
            throw .impossible(
                "\(tweak): its type is unknown, so \(text) must be true, false, a number or a text in "
                    + "quotation marks; --program supplies the type")
        }
    }

    static func filters(_ text: String) throws(Failure) -> JSONObject {
        do throws(JSONError) {
            if case .object(let filters) = try JSONParser.value(of: Array(text.utf8)) { return filters }
        } catch {
            throw Failure("--for: \(error.reason)", .usage)
        }
        throw Failure("--for: an object is expected, as '{ \"percentage\": 10 }'", .usage)
    }

    /// The user and the host.
    package static var author: String {
        let user =
            getpwuid(geteuid()).flatMap { $0.pointee.pw_name.map { String(cString: $0) } } ?? "\(geteuid())"
        var name = utsname()
        uname(&name)
        let host = withUnsafeBytes(of: &name.nodename) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        return "\(user)@\(host)"
    }

    // MARK: - The cluster

    static let command = "tweak fleet"

    static let mostWarnings = 10

    static func warn(_ message: String, _ kind: Warning.Kind = .other, tweak: TweakKey? = nil) {
        Warning(message, kind, tweak: tweak).write(of: command)
    }

    /// Warns about keys that are ignored.
    static func warn(_ strangers: [String]) {
        for stranger in strangers.prefix(mostWarnings) { warn(stranger) }
        let more = strangers.count - mostWarnings
        if more > 0 { warn("\(more) more keys are ignored") }
    }

    static func editor(
        _ options: FleetOptions, _ place: FleetPlace = .values
    ) throws(Failure) -> FleetEditor {
        try editor(options.cluster, options.environment, options.application, place)
    }

    /// - Parameters:
    ///   - environment: `nil` for the one in the configuration.
    ///   - application: `nil` for an editor that only lists applications.
    static func editor(
        _ options: FleetClusterOptions, _ environment: String?, _ application: String?,
        _ place: FleetPlace = .values
    ) throws(Failure) -> FleetEditor {
        let path = try agentConfiguration(options.configurationPath)
        let bytes: [UInt8]
        do throws(Failure) { bytes = try readInput(path, isNamed: false) } catch {
            let isDefault = options.configurationPath == nil
            let hint = isDefault ? FleetWording.choose("; --configuration names another file") : ""
            throw Failure(error.message + hint, error.kind)
        }
        var cluster: EtcdCluster?
        do throws(FormatError) { cluster = try EtcdCluster(ofConfiguration: bytes, path: path) } catch {
            throw Failure("\(error)", .misconfigured)
        }
        guard var cluster else { throw Failure("\(path): etcd: it is missing", .misconfigured) }
        for (name, text) in [("the environment", environment), ("the application", application)] {
            guard let text, !EtcdCluster.isName(text) else { continue }
            throw Failure("\(name): it has 1 to 200 bytes and no slash; this is \"\(text)\"", .usage)
        }
        cluster.environment = environment ?? cluster.environment
        let settings = EtcdSettings(name: application ?? "", cluster: cluster)
        do throws(FetchProblem) {
            return try FleetEditor(settings, place, sharing: resources, whenWaiting: sayThatWaiting)
        } catch {
            throw Failure(error.message, .misconfigured)
        }
    }

    private static let isWaitingSaid = Atomic(false)

    /// Says once why a command waits for the cluster; a page shows that it loads.
    @Sendable private static func sayThatWaiting(_ message: String) {
        guard !FleetWording.isOfPage, !isWaitingSaid.exchange(true, ordering: .relaxed) else { return }
        printMessage(message, of: command)
    }

    /// The connections of this process, which stay open until it ends.
    private static let resources = SharedResources()

    /// Reads the state against which a change is checked; `nil` if that takes several requests.
    static func situation(_ options: FleetOptions) throws(Failure) -> FleetSituation? {
        try asking(options) { (editor) async throws(FleetProblem) in try await editor.situation() }
    }

    static func contents(
        _ options: FleetOptions, isWithHistory: Bool = false
    ) throws(Failure) -> FleetContents {
        try asking(options) { (editor) async throws(FleetProblem) in
            try await editor.contents(isWithHistory: isWithHistory)
        }
    }

    /// Blocks until a request to the cluster is answered.
    static func asking<Value: Sendable>(
        _ options: FleetOptions, _ place: FleetPlace = .values,
        _ body: @escaping @Sendable (FleetEditor) async throws(FleetProblem) -> Value
    ) throws(Failure) -> Value {
        try asking(try editor(options, place), body)
    }

    static func asking<Value: Sendable>(
        _ editor: FleetEditor,
        _ body: @escaping @Sendable (FleetEditor) async throws(FleetProblem) -> Value
    ) throws(Failure) -> Value {
        try awaiting { () async throws(Failure) in
            do throws(FleetProblem) {
                return try await body(editor)
            } catch {
                throw Failure(error)
            }
        }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, Failure>?>(nil)
    }

    /// Blocks until an asynchronous function returns.
    static func awaiting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let (end, outcome) = (DispatchSemaphore(value: 0), Outcome<Value>())
        Task {
            let result: Result<Value, Failure>
            do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.result.withLock { $0 = result }
            end.signal()
        }
        end.wait()
        guard let result = outcome.result.withLock({ $0 }) else {
            throw Failure("nothing was done", .failed)
        }
        return try result.get()
    }
}

extension Failure {
    init(_ problem: FleetProblem) {
        let kind: Kind =
            switch problem {
            case .unreachable: .unavailable
            case .refused: .forbidden
            case .conflict: .busy
            case .impossible: .invalid
            }
        self.init(problem.message, details: problem.details, kind)
    }
}

extension FleetProblem {
    init(_ failure: Failure) { self = .impossible(failure.message, details: failure.details) }

    /// The refusals of several values.
    static func refusals(_ reasons: [String]) -> FleetProblem {
        let lines = reasons.beginning
        return .impossible(lines.first ?? "", details: Array(lines.dropFirst()))
    }
}

// MARK: - JSON: scripts rely on the keys

private struct ListForm: Encodable {
    let application: String
    /// The revision of etcd.
    let revision: Int
    /// The revision of the newest change; 0 if there is none.
    let newestRevision: Int
    let tweaks: [ValueForm]
    let kills: [ValueForm]?
}

struct ValueForm: Encodable {
    let tweak: TweakKey
    let value: TweakValue?
    let problem: String?
    let `for`, otherwise: JSONValue?
    let revision: Int
    let at, by, why: String?
    private let isKill: Bool

    private enum CodingKeys: CodingKey { case tweak, value, problem, `for`, otherwise, revision, at, by, why }

    init(
        _ entry: (tweak: TweakKey, value: Result<FleetValue, FormatError>, revision: Int),
        isKill: Bool = false
    ) {
        self.isKill = isKill
        (tweak, revision) = (entry.tweak, entry.revision)
        switch entry.value {
        case .success(let value):
            (self.value, problem, `for`) = (value.value, nil, value.filters.map { .object($0) })
            otherwise = value.otherwise.map { .object($0.content) }
            (at, by, why) = (value.at, value.by, value.why)
        case .failure(let error):
            (value, problem, `for`, otherwise) = (nil, "\(error)", nil, nil)
            (at, by, why) = (nil, nil, nil)
        }
    }

    init?(_ tweak: TweakKey, _ state: FleetDifference.State?, isKill: Bool) {
        guard let state else { return nil }
        self.init((tweak, state.value, state.revision), isKill: isKill)
    }

    /// The value, and the hosts that use it.
    var text: String {
        guard let value else { return problem ?? "" }
        return isKill ? "killed" : FleetChangeForm.Part.text(value, `for`, otherwise)
    }

    var row: [String] {
        [
            "\(tweak)", value.map { isKill ? "killed" : "\($0)" } ?? problem ?? "",
            (`for`?.line ?? "") + (otherwise.map { ", otherwise \($0.alternativeText)" } ?? ""),
            "\(revision)", at ?? "",
            by ?? "", why ?? "",
        ]
    }
}

struct FleetChangeForm: Encodable {
    let revision: Int
    let at, by: String
    let why: String?
    let changes: [Part]
    let kills: [Part]?
    let above: [HiddenValue]?

    /// The changes and the kills.
    var all: [Part] { changes + (kills ?? []) }

    struct Part: Encodable {
        let tweak: TweakKey
        let oldValue, newValue: TweakValue?
        let oldFor, newFor: JSONValue?
        let oldOtherwise, newOtherwise: JSONValue?
        let oldProblem: String?
        let oldRevision: Int?
        let isKill: Bool

        private enum CodingKeys: CodingKey {
            case tweak, oldValue, newValue, oldFor, newFor, oldOtherwise, newOtherwise, oldProblem,
                oldRevision
        }

        init(_ part: FleetChange.Part) {
            (tweak, oldProblem, isKill) = (part.tweak, part.oldProblem, part.isKill)
            oldRevision = part.oldRevision
            (oldValue, oldFor) = (part.old?.value, part.old?.filters.map { .object($0) })
            (newValue, newFor) = (part.new?.value, part.new?.filters.map { .object($0) })
            oldOtherwise = part.old?.otherwise.map { .object($0.content) }
            newOtherwise = part.new?.otherwise.map { .object($0.content) }
        }

        var text: String {
            if isKill, newValue == false || newValue == nil {
                return newValue == nil ? "no longer killed" : "killed"
            }
            return (oldProblem == nil ? Self.text(oldValue, oldFor, oldOtherwise) : "unusable")
                + " \(Signs.shown.arrow) " + Self.text(newValue, newFor, newOtherwise)
        }

        static func text(_ value: TweakValue?, _ filters: JSONValue?, _ otherwise: JSONValue?) -> String {
            guard let value else { return "none" }
            return value.quoted + (filters.map { " for \($0.line)" } ?? "")
                + (otherwise.map { ", otherwise \($0.alternativeText)" } ?? "")
        }
    }

    init(_ change: FleetChange, above: [HiddenValue]? = nil, revision: Int? = nil) {
        (self.revision, at, by, why) = (revision ?? change.revision, change.at, change.by, change.why)
        let parts = change.parts.map { Part($0) }
        changes = parts.filter { !$0.isKill }
        kills = parts.contains(where: \.isKill) ? parts.filter(\.isKill) : nil
        self.above = above
    }
}

extension JSONValue {
    var line: String { String(decoding: json(), as: UTF8.self) }

    /// The value for other hosts: `200`, or `200 for {"only-os":["debian"]}`.
    fileprivate var alternativeText: String {
        guard case .object(let members) = self, let value = members["value"]?.tweakValue else { return line }
        return value.quoted + (members["for"].map { " for \($0.line)" } ?? "")
    }
}
#endif
