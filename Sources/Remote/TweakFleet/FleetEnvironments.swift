// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import RemoteValues
import Synchronization
import TweakClient
import TweakFormats
import TweakProtocol
import TweakRecords
import TweakSystem

extension FleetDiff { func perform() throws(Failure) { try Fleet.diff(self) } }
extension FleetPromote { func perform() throws(Failure) { try Fleet.promote(self) } }
extension FleetApplications { func perform() throws(Failure) { try Fleet.applications(self) } }

extension Fleet {
    // MARK: - Comparing

    static func diff(_ options: FleetDiff) throws(Failure) {
        let environments = options.environments
        let (first, second) = (
            environments.options(in: environments.from), environments.options(in: environments.to)
        )
        let (one, other) = (try contents(first), try contents(second))
        warn(one.strangers + other.strangers)
        for options in [first, second] where !hasEnvironment(options) {
            warn(missingEnvironment(options).message)
        }
        let values = FleetDifference.all(one, other).map { DifferenceForm($0) }
        let kills = try differentKills(first, second).map { DifferenceForm($0, isKill: true) }
        let all = kills + values
        switch environments.cluster.format {
        case .json:
            try failing {
                try printJSON(
                    DifferencesForm(
                        application: environments.application, from: environments.from, to: environments.to,
                        differences: values, kills: kills.isEmpty ? nil : kills))
            }
        case .table where all.isEmpty: print(printable("\(environments.application): no differences"))
        case .table:
            let header = ["TWEAK"] + [environments.from, environments.to].map { $0.uppercased() }
            print(TextTable(header: header, rows: all.map(\.row)).text)
        }
        guard !options.isCheck || all.isEmpty else {
            throw Failure(
                "\(environments.application): " + counted(values.count, "value differs", "values differ")
                    + (kills.isEmpty ? "" : ", and " + counted(kills.count, "kill", "kills")), .negative)
        }
    }

    /// The kills that differ; none if the user may only read values.
    private static func differentKills(
        _ first: FleetOptions, _ second: FleetOptions
    ) throws(Failure) -> [FleetDifference] {
        var kills: [FleetContents] = []
        for options in [first, second] {
            do throws(Failure) {
                kills.append(
                    try asking(options, .kills) { (editor) async throws(FleetProblem) in
                        try await editor.contents()
                    })
            } catch {
                guard error.kind == .forbidden else { throw error }
                warn("kills are not compared: \(error.message)")
                return []
            }
        }
        return FleetDifference.all(kills[0], kills[1])
    }

    // MARK: - Promoting

    static func promote(_ options: FleetPromote) throws(Failure) {
        let environments = options.environments
        let target = environments.options(in: environments.to)
        let names = try options.tweaks.map { (text) throws(Failure) in try TweakName(text) }
        let source = try contents(
            environments.options(in: environments.from), isWithHistory: options.ifRevision != nil)
        warn(source.strangers)
        let from = environments.options(in: environments.from)
        guard hasEnvironment(from) else { throw missingEnvironment(from) }
        let isNew = try isNewEnvironment(target, options.creation)
        let promotion = Promotion(
            environments: environments, names: names, source: source,
            declared: options.isForced ? nil : try published(target), isRemoving: options.isRemoving,
            revision: options.ifRevision)
        var making = options.change
        making.author.why =
            "promoted from \(environments.from)" + (making.author.why.map { ": \($0)" } ?? "")
        let first = Mutex<(revision: Int, left: [TweakKey])?>(nil)
        /// The newest change of both environments. In a dry run, changes of the source after it was read are not shown.
        let newest = Mutex(0)
        let change = try commit(target, .values, making, nil, isWithHistory: true) {
            (contents, _) throws(FleetProblem) in
            let left = promotion.left(contents)
            newest.withLock {
                $0 = min(
                    max(source.newestRevision, contents.newestRevision), source.revision,
                    contents.revision)
            }
            // Called again after a conflict.
            let start = first.withLock { state in
                let known = state ?? (contents.revision, left)
                state = known
                return known.revision
            }
            return try promotion.changes(contents, since: start)
        }
        try show(change, target, making, revision: making.isDryRun ? newest.withLock { $0 } : nil)
        if isNew, change != nil { tellOfNewEnvironment(target, isDryRun: making.isDryRun) }
        promotion.tell(of: first.withLock { $0?.left } ?? [])
        warnIfHidden(change, target)
    }

    // MARK: - Mistyped names

    /// Whether an environment has something of any application, as far as the user may see that.
    private static func hasEnvironment(_ options: FleetOptions) -> Bool {
        let found = try? asking(options) { (editor) async throws(FleetProblem) in
            try await editor.hasEnvironment()
        }
        return found ?? true
    }

    /// - Parameter hint: How to go on nevertheless.
    private static func missingEnvironment(_ options: FleetOptions, _ hint: String = "") -> Failure {
        let name = options.environment ?? ""
        let found = try? asking(options) { (editor) async throws(FleetProblem) in
            try await editor.environments()
        }
        var known = Set(found ?? [])
        if let own = configuredEnvironment(options) { known.insert(own) }
        known.remove(name)
        return Failure(
            "\(name): no such environment" + hint + didYouMean(known.sorted().nearest(to: name)),
            .invalid)
    }

    private static func configuredEnvironment(_ options: FleetOptions) -> String? {
        (try? editor(options.cluster, nil, nil))?.environment
    }

    /// Whether an environment was named that has nothing. The one in the configuration is not mistyped.
    private static func namesNewEnvironment(_ options: FleetOptions) -> Bool {
        guard let name = options.environment, name != configuredEnvironment(options) else { return false }
        return !hasEnvironment(options)
    }

    /// Whether a change is the first one in the environment that was named.
    ///
    /// - Parameter situation: The state of the application, if it was read.
    /// - Throws: ``Failure`` if that is not allowed, because the name may be mistyped.
    static func isNewEnvironment(
        _ options: FleetOptions, _ creation: FleetCreation, _ situation: FleetSituation? = nil
    ) throws(Failure) -> Bool {
        guard situation?.isKnown != true, namesNewEnvironment(options) else { return false }
        guard creation.isAllowed else {
            throw missingEnvironment(
                options, FleetWording.choose("; create it with --create"))
        }
        return true
    }

    /// Says that a change was, or would be, the first one in its environment.
    static func tellOfNewEnvironment(_ options: FleetOptions, isDryRun: Bool = false) {
        let state = isDryRun ? "no such environment yet" : "this environment is new"
        printMessage("\(options.environment ?? ""): \(state)", of: command)
    }

    /// Warns if an environment was named that has nothing.
    static func warnOfMissingEnvironment(_ options: FleetOptions) {
        if namesNewEnvironment(options) { warn(missingEnvironment(options).message) }
    }

    // MARK: - Listing

    static func applications(_ options: FleetApplications) throws(Failure) {
        let given = options.environment
        let (own, names, refusal) = try asking(try editor(options.cluster, given, nil)) {
            (editor) async throws(FleetProblem) in
            guard given == nil else { return (editor.environment, [editor.environment], nil as String?) }
            do throws(FleetProblem) {
                return (editor.environment, try await editor.environments(), nil)
            } catch {
                guard case .refused(let reason) = error else { throw error }
                return (editor.environment, [editor.environment], reason)
            }
        }
        if let refusal { warn("only \(own) is shown: \(refusal)") }
        let environments = try names.map { (name) throws(Failure) in
            EnvironmentForm(
                environment: name,
                applications: try asking(try editor(options.cluster, name, nil)) {
                    (editor) async throws(FleetProblem) in try await editor.applications()
                }.map { ApplicationForm(application: $0.name, declared: $0.isDeclared) })
        }
        switch options.cluster.format {
        case .json:
            try failing { try printJSON(ApplicationsForm(environment: own, environments: environments)) }
        case .table:
            let rows = environments.flatMap { environment in
                environment.applications.map {
                    [environment.environment, $0.application, $0.declared ? "published" : ""]
                }
            }
            guard !rows.isEmpty else { return print("no applications") }
            let header = ["ENVIRONMENT", "APPLICATION", "BUILDS"]
            print(TextTable(header: header, rows: rows).text)
        }
    }
}

/// The values to copy from one environment to another.
private struct Promotion: Sendable {
    let environments: FleetEnvironmentOptions
    /// Empty for all values that differ.
    let names: [TweakName]
    let source: FleetContents
    /// The declarations of the target's builds; `nil` if values are not checked.
    let declared: FleetDeclarations?
    let isRemoving: Bool
    /// The revision after which the values must not have changed; `nil` for any.
    let revision: Int?

    /// The values that stay although only the target has them.
    func left(_ target: FleetContents) -> [TweakKey] {
        guard names.isEmpty, !isRemoving else { return [] }
        return target.values.map(\.tweak).filter { source[$0] == nil }
    }

    func tell(of left: [TweakKey]) {
        guard !left.isEmpty else { return }
        printMessage(
            "\(environments.from) has no value for "
                + left.map(\.description).beginning.joined(separator: ", ")
                + "; the value in \(environments.to) stays"
                + FleetWording.choose("; --remove removes it"), of: Fleet.command)
    }

    /// The new values of the target.
    ///
    /// - Parameter start: The revision after which nobody else may have changed them.
    /// - Throws: ``FleetProblem`` with all values that are refused.
    func changes(
        _ target: FleetContents, since start: Int
    ) throws(FleetProblem) -> [TweakKey: FleetValue?] {
        let chosen = try chosen(target)
        var wanted: [TweakKey: FleetValue?] = [:]
        var refusals: [String] = []
        for difference in FleetDifference.all(source, target) {
            let tweak = difference.tweak
            guard chosen?.contains(tweak) ?? (difference.first != nil || isRemoving) else { continue }
            do throws(FleetProblem) { wanted[tweak] = .some(try value(difference, target)) } catch {
                refusals.append(error.message)
            }
        }
        guard refusals.isEmpty else { throw .refusals(refusals) }
        // Only the history tells which values were removed from the source.
        let isOther = revision.map { source.changed(after: $0) } ?? []
        let since = revision ?? start
        try Fleet.expect(wanted.keys, target.changed(after: since).union(isOther), since: since)
        return wanted
    }

    /// The tweaks with the names; `nil` for all.
    private func chosen(_ target: FleetContents) throws(FleetProblem) -> Set<TweakKey>? {
        guard !names.isEmpty else { return nil }
        let known = Set((source.values + target.values).map(\.tweak))
        var chosen: Set<TweakKey> = []
        for name in names {
            do throws(Failure) { chosen.insert(try Fleet.key(of: name, among: known)) } catch {
                throw FleetProblem(error)
            }
        }
        return chosen
    }

    /// The new value of a tweak; `nil` if it is removed.
    private func value(
        _ difference: FleetDifference, _ target: FleetContents
    ) throws(FleetProblem) -> FleetValue? {
        let tweak = difference.tweak
        let new: FleetValue
        switch difference.first?.value {
        case nil where isRemoving: return nil
        case nil:
            throw .impossible(
                "\(tweak): it has no value in \(environments.from)"
                    + FleetWording.choose("; --remove removes the one in \(environments.to)"))
        case .failure(let error)?:
            throw .impossible("\(tweak): its value in \(environments.from) is invalid: \(error)")
        case .success(var value)?:
            (value.by, value.why, value.at) = (nil, nil, nil)
            new = value
        }
        try Fleet.check(new, of: tweak, target, declared, of: environments.application)
        return new
    }
}

// MARK: - JSON: scripts rely on the keys

private struct DifferencesForm: Encodable {
    let application, from, to: String
    let differences: [DifferenceForm]
    let kills: [DifferenceForm]?
}

private struct DifferenceForm: Encodable {
    let tweak: TweakKey
    let from, to: ValueForm?

    init(_ difference: FleetDifference, isKill: Bool = false) {
        tweak = difference.tweak
        (from, to) = (
            ValueForm(difference.tweak, difference.first, isKill: isKill),
            ValueForm(difference.tweak, difference.second, isKill: isKill)
        )
    }

    var row: [String] { ["\(tweak)"] + [from, to].map { $0?.text ?? "none" } }
}

private struct ApplicationsForm: Encodable {
    /// The environment in the configuration.
    let environment: String
    let environments: [EnvironmentForm]
}

private struct EnvironmentForm: Encodable {
    let environment: String
    let applications: [ApplicationForm]
}

private struct ApplicationForm: Encodable {
    let application: String
    let declared: Bool
}
#endif
