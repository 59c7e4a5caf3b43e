// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
internal import TweakJSON
internal import TweakOverrides
internal import TweakRecords
internal import TweakTargeting

/// Reports this host's state to etcd, see ``HostReport``.
///
/// A report is compared with the one in etcd before it is written, so that a restart of etcd or a lost answer costs no
/// write. All applications share the leases, and up to 30 share a request.
package final class HostReporter: Sendable {
    /// The state of one application.
    private struct Application {
        let keys: FleetKeys
        /// The executables of the configured programs, against whose builds values are checked.
        let programs: [String]
        var hasPrograms: Bool { !programs.isEmpty }
        /// The revision up to which programs have all changes.
        var knownRevision = 0
        var revision = 0
        var loaded: String?
        var sources: [TweakSource: HostReport.Source] = [:]
        /// The values to check; empty without programs.
        var files: [TweakSource: ProvidedFile] = [:]
        /// The builds, by the path of the executable.
        var builds: [String: DeclaredBuild] = [:]
        /// The last published build of each executable.
        var published: [String: String] = [:]
        /// The number of programs whose current builds are not published; `nil` without programs.
        var unpublished: Int? {
            guard hasPrograms else { return nil }
            return programs.count { published[$0] == nil || published[$0] != builds[$0]?.id }
        }
        var refused: [HostReport.Refusal] = []
        var targeted: JSONObject = [:]
        var processes: Int?
        /// Whether processes have been counted yet.
        var isCounted = false
        /// The number of hosts that report.
        var hosts = 0
        /// Whether the report must be compared with the one in etcd.
        var isWaiting = false
        /// The end of the pause after a refusal by etcd.
        var pause: ContinuousClock.Instant?
        var isRefusalSaid = false

        /// The content of a report.
        ///
        /// - Parameter changes: The newest changes of the history.
        func report(_ changes: EtcdRange, host: String, agent: String) -> HostReport {
            let numbers = changes.entries.compactMap { entry in
                keys.number(ofChange: entry).map { (number: $0, revision: entry.modified) }
            }
            // A host without any of these has at most the change before them.
            let known = numbers.filter { $0.revision <= knownRevision }.map(\.number).max()
            let version = known ?? max(0, (numbers.map(\.number).min() ?? 1) - 1)
            var report = HostReport(host: host, version: version, revision: revision)
            (report.loaded, report.processes, report.agent) = (loaded, processes, agent)
            (report.unpublished, report.targeted) = (unpublished, targeted)
            report.builds = builds.values.map { HostReport.Build(program: $0.program, id: $0.id) }
                .sorted { $0.program < $1.program }
            (report.refused, report.sources) = (refused, [.remote, .fleet].compactMap { sources[$0] })
            return report
        }

        /// Notes this host's values of tweaks that have targets.
        mutating func note(_ tweaks: Set<TweakKey>, in file: ProvidedFile) {
            targeted = [:]
            for tweak in tweaks.sorted().prefix(HostReport.mostTargeted) {
                let value = file.values[tweak] ?? .null
                // Part of a text would be another value.
                guard value.json().count <= HostReport.longestText else { continue }
                targeted[ByteText(tweak.description)] = value
            }
        }

        /// Checks the values against the builds.
        mutating func check() {
            let files = [files[.remote], files[.fleet]].compactMap(\.self)
            refused = builds.sorted { $0.key < $1.key }.flatMap { _, build in
                files.flatMap { build.refusals(of: $0.kills) + build.refusals(of: $0.values) }
            }
        }
    }

    private struct Leases {
        /// The lease of the `hosts.alive` keys, and its duration.
        var alive: (id: Int, time: Duration)?
        /// The lease of the reports.
        var reports: Int?
        var nextRenewal = ContinuousClock.now
    }

    private struct State {
        var applications: [String: Application] = [:]
        /// The names of the waiting applications, in order.
        var waiting: ArraySlice<String> = []
        var schedule = ReportSchedule()
        var leases = Leases()
        var nextCheck = ContinuousClock.now
        /// Whether etcd has refused an application since the last success.
        var isRefused = false
        /// The name from which the next comparison starts.
        var checked = 0
        var timer: (due: ContinuousClock.Instant, number: Int)?
        var isEnded = false
    }

    private let host: String
    private let agent: String
    private let names: [String]
    private let client: EtcdClient
    private let members: EtcdEndpoints
    private let timetable: Timetable
    private let say: @Sendable (String, _ application: String) -> Void
    private let state: Mutex<State>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// The lifetime of a report without its agent.
    private static let reportTime: Duration = .seconds(86_400)
    /// The maximum number of applications in a request, each with four keys to read: etcd allows 128.
    private static let most = 30
    /// The minimum time between comparisons with etcd, which also count the hosts.
    private static let checkInterval: Duration = .seconds(60)
    /// The pause after etcd has refused the report of an application.
    private static let refusalPause: Duration = .seconds(3600)
    /// The number of writes that the first report takes: two leases and the keys.
    private static let firstWrites = 3
    /// The number of hosts above which a first report waits for its turn.
    private static let manyHosts = 250

    /// - Parameters:
    ///   - fleet: Applications of one cluster.
    ///   - agent: The version of the agent.
    ///   - say: Called with messages for people.
    /// - Returns: `nil` if there is nothing to report.
    /// - Throws: ``FetchProblem`` if the certificates cannot be used, or if the host has no name.
    package init?(
        _ fleet: [EtcdSettings], agent: String, sharing resources: SharedResources,
        say: @escaping @Sendable (String, _ application: String) -> Void
    ) throws(FetchProblem) {
        guard let cluster = fleet.first?.cluster, cluster.isReporting else { return nil }
        guard let host = cluster.host ?? resources.facts()[.host], EtcdCluster.isName(host) else {
            throw FetchProblem(message: "this host has no name for reports; configure \"host\" in \"etcd\"")
        }
        (self.host, self.agent, self.say) = (host, agent, say)
        client = try resources.etcd(cluster)
        members = EtcdEndpoints(cluster)
        timetable = resources.timetable
        names = fleet.map(\.name)
        var state = State()
        for settings in fleet {
            state.applications[settings.name] = Application(
                keys: FleetKeys(settings), programs: settings.programs)
        }
        self.state = Mutex(state)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: - News

    /// Notes the state of a source.
    package func note(_ report: RemoteFollower.Report) {
        update(report.application) { application in
            let before = (application.knownRevision, application.revision, application.refused)
            let sources = application.sources
            application.sources[report.provider] = HostReport.Source(
                name: "\(report.provider)", kind: report.kind, loaded: report.file.loaded,
                problem: report.notKept.map { "\($0)" } ?? report.file.problem)
            // Without the file, programs keep their previous values.
            if report.notKept == nil {
                if report.provider == .fleet {
                    application.knownRevision = report.knownRevision ?? 0
                    (application.revision, application.loaded) = (
                        report.file.version ?? 0, report.file.loaded
                    )
                    application.note(report.targeted, in: report.file)
                }
                if application.hasPrograms {
                    application.files[report.provider] = report.file
                    application.check()
                }
            }
            if before != (application.knownRevision, application.revision, application.refused) {
                return .urgent
            }
            return sources == application.sources ? nil : .routine
        }
    }

    /// Notes the current declarations of an application's program.
    package func note(_ build: DeclaredBuild, of application: String) {
        update(application) { application in
            let before = (application.refused, application.unpublished)
            let known = application.builds.updateValue(build, forKey: build.program)
            application.check()
            if before != (application.refused, application.unpublished) { return .urgent }
            return known?.id == build.id ? nil : .routine
        }
    }

    /// Notes that a build is published.
    package func note(published build: DeclaredBuild, of application: String) {
        update(application) { application in
            let before = application.unpublished
            application.published[build.program] = build.id
            return before == application.unpublished ? nil : .urgent
        }
    }

    /// Notes the number of processes by application; `nil` if they cannot be seen.
    package func note(processes: [String: Int]?) {
        for name in names {
            update(name) { application in
                let (before, isFirst) = (application.processes, !application.isCounted)
                (application.processes, application.isCounted) = (processes.map { $0[name] ?? 0 }, true)
                if before == application.processes { return nil }
                return isFirst ? .urgent : .routine
            }
        }
    }

    private enum News { case urgent, routine }

    private func update(_ name: String, _ body: (inout Application) -> News?) {
        state.withLock { state in
            guard var application = state.applications[name] else { return }
            let news = body(&application)
            state.applications[name] = application
            // Before that, there is nothing to report.
            guard let news, application.sources[.fleet] != nil else { return }
            Self.queue(name, &state)
            plan(isUrgent: news == .urgent, &state)
        }
    }

    private static func queue(_ name: String, _ state: inout State) {
        guard state.applications[name]?.isWaiting == false else { return }
        state.applications[name]?.isWaiting = true
        state.waiting.append(name)
    }

    private func queueAll(except others: Set<String> = [], _ state: inout State) {
        for name in names where state.applications[name]?.sources[.fleet] != nil && !others.contains(name) {
            Self.queue(name, &state)
        }
    }

    private func plan(isUrgent: Bool, _ state: inout State) {
        let isFirst = state.leases.reports == nil || state.leases.alive == nil
        state.schedule.plan(isUrgent: isUrgent, writes: isFirst ? Self.firstWrites : 1)
        setTimer(&state)
    }

    /// Schedules the next step.
    private func setTimer(_ state: inout State) {
        guard !state.isEnded else { return }
        var due = state.schedule.due
        let hasLeases = state.leases.alive != nil || state.leases.reports != nil
        if hasLeases { due = min(due ?? state.leases.nextRenewal, state.leases.nextRenewal) }
        if hasLeases || state.isRefused { due = min(due ?? state.nextCheck, state.nextCheck) }
        guard let due, due != state.timer?.due else { return }
        if let timer = state.timer { timetable.cancel(timer.number) }
        state.timer = (due, timetable.call(at: due) { [wake] in wake.yield() })
    }

    // MARK: - Steps

    /// Reports until the task is cancelled.
    package func run() async {
        for await _ in wakes {
            if state.withLock({ $0.leases.nextRenewal <= .now }) { await renew() }
            queueCheck()
            if state.withLock({ $0.schedule.due.map { $0 <= .now } ?? false }) { await report() }
            state.withLock { state in
                state.timer = nil
                setTimer(&state)
            }
        }
        await end()
    }

    /// Removes the `hosts.alive` keys. The reports stay.
    private func end() async {
        let alive = state.withLock { state in
            state.isEnded = true
            if let timer = state.timer { timetable.cancel(timer.number) }
            return state.leases.alive?.id
        }
        guard let alive else { return }
        // This task is cancelled.
        await Task { [client, members] in try? await client.endLease(alive, at: members.current) }.value
    }

    /// Renews the leases, and plans new ones if they have ended. The age of that of the reports tells when the host was
    /// last heard, so both are renewed.
    private func renew() async {
        let leases = state.withLock { $0.leases }
        // Without an answer the leases may still exist.
        let isAlive = await isRenewed(leases.alive?.id)
        let isReported = await isRenewed(leases.reports)
        state.withLock { state in
            if !isAlive { state.leases.alive = nil }
            if !isReported { state.leases.reports = nil }
            let pause = min(
                state.schedule.renewal, state.leases.alive.map { $0.time / 3 } ?? state.schedule.renewal)
            state.leases.nextRenewal = .now + pause * Double.random(in: 0.9...1)
            guard !isAlive || !isReported else { return }
            queueAll(&state)
            plan(isUrgent: true, &state)
        }
    }

    private func isRenewed(_ lease: Int?) async -> Bool {
        guard let lease else { return true }
        let endpoint = members.current
        do throws(FetchProblem) { return try await client.renewLease(lease, at: endpoint) } catch {
            members.moveOn()
            return true
        }
    }

    /// Marks some applications for comparison with etcd, periodically.
    private func queueCheck() {
        state.withLock { state in
            guard state.nextCheck <= .now else { return }
            state.nextCheck = .now + max(Self.checkInterval, state.schedule.renewal)
            guard state.leases.reports != nil || state.isRefused else { return }
            for _ in 0..<min(Self.most, names.count) {
                let name = names[state.checked % names.count]
                state.checked = (state.checked + 1) % names.count
                if state.applications[name]?.sources[.fleet] != nil { Self.queue(name, &state) }
            }
            plan(isUrgent: false, &state)
        }
    }

    // MARK: - Reports

    /// The result of a comparison with etcd.
    private enum Outcome {
        case written, nothing
        /// The fleet is much larger than assumed when the first report was scheduled.
        case crowded
    }

    /// Reports the applications that have waited longest.
    private func report() async {
        let (names, hasMore) = state.withLock { state in
            let names = Array(state.waiting.prefix(Self.most))
            state.waiting.removeFirst(names.count)
            for name in names { state.applications[name]?.isWaiting = false }
            let allowed = names.filter { state.applications[$0]?.pause.map { $0 <= .now } ?? true }
            return (allowed, !state.waiting.isEmpty)
        }
        do throws(FetchProblem) {
            let outcome = try await report(names)
            state.withLock { state in
                switch outcome {
                case .written: state.schedule.succeeded(isPart: hasMore)
                case .nothing where hasMore: state.schedule.succeeded(isPart: true)
                case .nothing: state.schedule.hadNothing()
                case .crowded:
                    for name in names { Self.queue(name, &state) }
                    state.schedule.hadNothing()
                }
                // Others have begun to wait meanwhile.
                if !state.waiting.isEmpty { plan(isUrgent: true, &state) }
            }
        } catch {
            state.withLock { state in
                for name in names { Self.queue(name, &state) }
                state.schedule.failed()
            }
        }
    }

    /// Reports applications together, or one by one if etcd refuses that.
    private func report(_ names: [String]) async throws(FetchProblem) -> Outcome {
        guard !names.isEmpty else { return .nothing }
        let endpoint = members.current
        do throws(FetchProblem) { return try await report(names, at: endpoint) } catch {
            if error.isForbidden {
                guard names.count > 1 else {
                    for name in names { await refuse(name, error, at: endpoint) }
                    return .nothing
                }
                var outcome = Outcome.nothing
                for name in names { if try await report([name]) == .written { outcome = .written } }
                return outcome
            }
            if error.isLeaseMissing {
                state.withLock { $0.leases = Leases() }
            } else if !error.isRefusal {
                members.moveOn()
            }
            throw error
        }
    }

    private func refuse(_ name: String, _ error: FetchProblem, at endpoint: String) async {
        let (isNew, leases) = state.withLock { state -> (Bool, [Int]) in
            state.applications[name]?.pause = .now + Self.refusalPause
            state.isRefused = true
            defer { state.applications[name]?.isRefusalSaid = true }
            let isNew = state.applications[name]?.isRefusalSaid == false
            // A user without write permission needs no leases.
            guard state.applications.values.allSatisfy({ $0.pause != nil || $0.sources[.fleet] == nil })
            else {
                return (isNew, [])
            }
            defer { state.leases = Leases() }
            return (isNew, [state.leases.alive?.id, state.leases.reports].compactMap(\.self))
        }
        for lease in leases { try? await client.endLease(lease, at: endpoint) }
        if isNew { say("the state of this host is not reported: \(endpoint): \(error.message)", name) }
    }

    private func report(_ names: [String], at endpoint: String) async throws(FetchProblem) -> Outcome {
        let keys = names.compactMap { name in state.withLock { $0.applications[name]?.keys } }
        let queries = keys.flatMap { [$0.newestChanges, count($0)] + own($0) }
        let (ranges, _) = try await client.ranges(queries, at: endpoint)
        let isCrowded = state.withLock { state in
            for (index, name) in names.enumerated() {
                state.applications[name]?.hosts = ranges[4 * index + 1].count
            }
            let before = state.schedule.hosts
            state.schedule.hosts = state.applications.values.lazy.map(\.hosts).max() ?? 1
            return state.leases.reports == nil && state.schedule.hosts >= Self.manyHosts
                && before * 2 < state.schedule.hosts
        }
        if isCrowded { return .crowded }
        let (alive, reports) = try await leases(for: names, at: endpoint)
        var transaction = EtcdClient.Transaction()
        for (index, name) in names.enumerated() {
            guard let application = state.withLock({ $0.applications[name] }) else { continue }
            let (changes, report) = (ranges[4 * index], ranges[4 * index + 2].entries.first)
            let json = application.report(changes, host: host, agent: agent).json()
            if report?.lease != reports || report?.value != json {
                transaction.put(application.keys.key(ofReport: host), json, lease: reports)
            }
            if ranges[4 * index + 3].entries.first?.lease != alive {
                transaction.put(application.keys.key(ofAlive: host), [], lease: alive)
            }
        }
        if !transaction.operations.isEmpty { _ = try await client.commit(transaction, at: endpoint) }
        state.withLock { state in
            state.isRefused = false
            for name in names {
                state.applications[name]?.pause = nil
                state.applications[name]?.isRefusalSaid = false
            }
        }
        return transaction.operations.isEmpty ? .nothing : .written
    }

    private func count(_ keys: FleetKeys) -> EtcdClient.RangeQuery {
        var query = EtcdClient.RangeQuery(keys.hosts)
        (query.limit, query.isWithoutValues) = (1, true)
        return query
    }

    private func own(_ keys: FleetKeys) -> [EtcdClient.RangeQuery] {
        [
            EtcdClient.RangeQuery(key: keys.key(ofReport: host)),
            EtcdClient.RangeQuery(key: keys.key(ofAlive: host)),
        ]
    }

    /// The leases, granted anew if they are missing or their duration is far off. Applications not among these names
    /// then wait for a new report.
    private func leases(for names: [String], at endpoint: String) async throws(FetchProblem) -> (
        alive: Int, reports: Int
    ) {
        let (leases, time) = state.withLock { ($0.leases, $0.schedule.lifetime) }
        var alive = leases.alive
        if let known = alive, known.time >= time * 2 || known.time * 2 <= time { alive = nil }
        let newAlive = alive == nil ? try await client.grantLease(for: time, at: endpoint) : nil
        let reports: Int
        if let known = leases.reports {
            reports = known
        } else {
            reports = try await client.grantLease(for: Self.reportTime, at: endpoint)
        }
        return state.withLock { state in
            state.leases.reports = reports
            if let newAlive {
                state.leases.alive = (newAlive, time)
                state.leases.nextRenewal = .now + min(state.schedule.renewal, time / 3)
                queueAll(except: Set(names), &state)
            }
            return (state.leases.alive?.id ?? 0, reports)
        }
    }
}

extension DeclaredBuild {
    /// The values that this build refuses or clamps, sorted by tweak.
    fileprivate func refusals(of values: OverridesDocument) -> [HostReport.Refusal] {
        var refusals: [HostReport.Refusal] = []
        values.forEach { tweak, json in
            guard let declaration = tweaks[tweak] else { return }
            guard let reason = declaration.refusal(of: json) else { return }
            refusals.append(HostReport.Refusal(tweak: "\(tweak)", reason: reason, build: id))
        }
        return refusals.sorted { $0.tweak < $1.tweak }
    }
}

extension TweakDeclaration {
    /// The reason why a build refuses or clamps a value, or `nil`.
    fileprivate func refusal(of json: JSONValue) -> String? {
        guard let value = json.tweakValue else { return "\(json.summary) is not \(typeWithArticle)" }
        do throws(TweakValueError) {
            let admission = try admit(value)
            guard admission.wasClamped else { return nil }
            return outsideLimits("\(value)", allowed: allowed) + "; \(admission.value) is used"
        } catch {
            // It begins with the name, which the report has already.
            return String("\(error)".dropFirst("\(key): ".count))
        }
    }
}
#endif
