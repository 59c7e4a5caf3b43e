// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import RemoteValues
import TweakClient
import TweakFormats
import TweakJSON
import TweakRecords
import TweakSystem

extension FleetStatus { func perform() throws(Failure) { try Fleet.status(self) } }

extension Fleet {
    static func status(_ options: FleetStatus) throws(Failure) {
        let tweak = try options.tweak.map { (text) throws(Failure) in
            try key(
                of: TweakName(text), contents(options.fleet), kills(options.fleet),
                declarations(options.fleet))
        }
        let (found, holdings) = try asking(options.fleet) {
            (editor) async throws(FleetProblem) -> (FleetHosts, (TweakKey, [FleetHolding])?) in
            let found = try await editor.fleetHosts()
            guard let tweak else { return (found, nil) }
            return (found, (tweak, try await editor.holdings(of: tweak, on: found)))
        }
        warn(found.strangers)
        let form = StatusForm(found, holdings, of: options.fleet.application)
        switch options.fleet.format {
        case .json: try failing { try printJSON(form) }
        case .table:
            if form.known == 0, form.newest == 0 { warnIfUnknown(options.fleet) }
            for text in form.texts(isOfAll: options.all) { print(text) }
        }
        guard options.check, form.current < form.known else { return }
        let missing = counted(form.known - form.current, "host lacks", "hosts lack")
        throw Failure("\(form.application): \(missing) the newest change or a value of it", .negative)
    }
}

/// The JSON form of the hosts of an application. Scripts rely on its keys.
private struct StatusForm: Encodable {
    let application: String
    /// The number of the newest change.
    let newest: Int
    /// Its revision, which names a change everywhere else; `nil` if there is none.
    let newestRevision: Int?
    /// The number of hosts.
    let known: Int
    /// The tweak of which each host's ``HostForm/has`` tells.
    let tweak: TweakKey?
    /// The number of hosts that have the newest change and refuse nothing.
    let current: Int
    let hosts: [HostForm]

    init(_ found: FleetHosts, _ holdings: (TweakKey, [FleetHolding])?, of application: String) {
        (self.application, newest, known) = (application, found.newest, found.hosts.count)
        newestRevision = found.newestRevision
        tweak = holdings?.0
        hosts = found.hosts.enumerated().map { HostForm($1, holdings?.1[$0], newest: found.newest) }
        current = hosts.count { $0.state == .current }
    }

    private func hosts(_ state: HostForm.State) -> [HostForm] { hosts.filter { $0.state == state } }

    /// The text for people, in parts.
    func texts(isOfAll: Bool) -> [String] {
        guard known > 0 else { return [printable("\(application): no host has reported")] }
        let share = "\(current) of \(counted(known, "known host", "known hosts"))"
        let text =
            newestRevision.map { "\(share) \(current == 1 ? "has" : "have") revision \($0)" }
            ?? "\(share) \(current == 1 ? "follows" : "follow") it; there are no changes"
        var texts = [printable("\(application): \(text)")]
        func list(_ hosts: [HostForm], _ one: String, _ several: String, _ table: ([HostForm]) -> TextTable) {
            guard !hosts.isEmpty else { return }
            texts.append("\n\(counted(hosts.count, one, several)):\n\(table(hosts).text)")
        }
        if isOfAll {
            let table = TextTable(
                header: ["HOST", "STATE", "REVISION", "LOADED", "PROCESSES", "AGENT", "BUILDS"],
                rows: hosts.map(\.row))
            texts.append("\n\(table.text)")
        }
        if let tweak {
            let table = TextTable(
                header: ["HOST", "STATE", "\(tweak)"],
                rows: hosts.map { [$0.host, $0.state.rawValue, $0.hasText] })
            texts.append("\n\(table.text)")
        }
        list(
            hosts.filter { !$0.isSilent && !$0.refused.isEmpty }, "host refuses values", "hosts refuse values"
        ) {
            TextTable(
                header: ["HOST", "TWEAK", "REASON", "BUILD"],
                rows: $0.flatMap(\.refusalRows))
        }
        list(hosts(.behind), "host lacks the newest change", "hosts lack the newest change") { hosts in
            TextTable(
                header: ["HOST", "REVISION", "LOADED"],
                rows: hosts.map { [$0.host, $0.revisionText, $0.loaded ?? ""] })
        }
        list(hosts(.silent), "host is silent", "hosts are silent") { hosts in
            TextTable(
                header: ["HOST", "SINCE", "REVISION"],
                rows: hosts.map { [$0.host, $0.silentSince ?? "not known", $0.revisionText] })
        }
        list(
            hosts.filter { !$0.isSilent && $0.sources.contains { $0.problem != nil } },
            "host cannot load from a source",
            "hosts cannot load from a source"
        ) { hosts in
            TextTable(header: ["HOST", "SOURCE", "PROBLEM"], rows: hosts.flatMap(\.problemRows))
        }
        return texts
    }
}

private struct HostForm: Encodable {
    enum State: String, Encodable {
        /// It has the newest change, and takes all values as they are.
        case current
        case refuses, behind, silent
    }

    let host: String
    let state: State
    let version, revision: Int
    /// The revision of the newest change on the host; `nil` if there is none, or if it is no longer in the history.
    let newestRevision: Int?
    let loaded, silentSince: String?
    let processes: Int?
    let refused: [Refusal]
    /// The number of refusals that are not listed.
    let more: Int?
    let sources: [Source]
    let agent: String?
    let builds: [Build]
    /// The fleet's value on this host for the tweak of `--tweak`.
    let has: FleetHolding?

    struct Build: Encodable {
        let program, build: String
    }

    struct Refusal: Encodable {
        let tweak, reason: String
        let build: String?
    }

    struct Source: Encodable {
        let source, kind: String
        let loaded, problem: String?
    }

    var isSilent: Bool { state == .silent }

    init(_ report: HostReport, _ holding: FleetHolding?, newest: Int) {
        (host, version, revision) = (report.host, report.version, report.revision)
        newestRevision = report.newestRevision
        (loaded, silentSince, processes) = (report.loaded, report.silentSince, report.processes)
        refused = report.refused.map { Refusal(tweak: $0.tweak, reason: $0.reason, build: $0.build) }
        more = report.unlistedRefusals == 0 ? nil : report.unlistedRefusals
        sources = report.sources.map {
            Source(source: $0.name, kind: $0.kind, loaded: $0.loaded, problem: $0.problem)
        }
        agent = report.agent
        builds = report.builds.map { Build(program: $0.program, build: $0.id) }
        has = holding
        state =
            if report.isSilent { .silent } else if report.version < newest { .behind } else {
                report.refused.isEmpty ? .current : .refuses
            }
    }

    var revisionText: String { newestRevision.map { "\($0)" } ?? (version == 0 ? "none" : "older") }

    var row: [String] {
        [
            host, state.rawValue, revisionText, loaded ?? "", processes.map { "\($0)" } ?? "not known",
            agent ?? "",
            builds.map { "\(lastComponent(of: $0.program)) \($0.build.prefix(12))" }.joined(separator: ", "),
        ]
    }

    var hasText: String {
        switch has ?? .unknown {
        case .value(let value): value.line
        case .killed: "off: killed"
        case .none: "none"
        case .unknown: "not known"
        }
    }

    var refusalRows: [[String]] {
        refused.map { [host, $0.tweak, $0.reason, $0.build ?? ""] }
            + (more.map { [[host, "", "and \($0) more", ""]] } ?? [])
    }

    var problemRows: [[String]] {
        sources.compactMap { source in
            source.problem.map { [host, "\(source.source) (\(source.kind))", $0] }
        }
    }
}
#endif
