// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
internal import TweakTargeting

/// The values of one application in etcd: reads all, and then watches changes.
///
/// A small query to the same member, which needs a majority to answer it, regularly verifies that no change was missed.
/// After any doubt everything is read again, from the next member.
final class EtcdOrigin: RemoteOrigin {
    private struct Known {
        var entries: EtcdEntries
        var watch: Watch?
        /// The number of the last watch, which distinguishes it from former ones.
        var lastWatch = 0
        /// The number of consecutive watches that ended at once.
        var shortWatches = 0
        /// The time of the next read after the end of a watch.
        var next = ContinuousClock.now
        /// The kinds of values that the user may read.
        var places = FleetPlace.all
    }

    private struct Watch {
        let number: Int
        let endpoint: String
        let start = ContinuousClock.now
        /// The time of the next check.
        var due: ContinuousClock.Instant
        /// The schedule of the checks after the first one, which is whether the watch has started.
        var checks: CheckSchedule?
        var hasStarted = false
        /// The reason for the end.
        var problem: FetchProblem?
        var handle: EtcdWatch?
    }

    private let settings: EtcdSettings
    private let client: EtcdClient
    private let resources: SharedResources
    private let members: EtcdEndpoints
    /// Locked inside an update, never the other way round.
    private let known: Mutex<Known>

    /// The minimum duration of a working watch.
    private static let shortest: Duration = .seconds(10)
    /// The number of consecutive short watches to report.
    private static let tooManyShort = 3
    /// The maximum delay of a change after the response to a query.
    private static let lateness: Duration = .seconds(1)

    init(_ settings: EtcdSettings, _ client: EtcdClient, _ resources: SharedResources) {
        (self.settings, self.client, self.resources) = (settings, client, resources)
        members = EtcdEndpoints(settings.cluster)
        known = Mutex(Known(entries: EtcdEntries(settings)))
    }

    private var facts: HostFacts { resources.facts(settings.name, settings.version) }

    /// The interval never exceeds the timeout of a request.
    var schedule: CheckSchedule { CheckSchedule(interval: min(.seconds(1), settings.cluster.timeout)) }

    /// Updates the known entries and the values for programs.
    private func update(
        _ updates: RemoteUpdates,
        _ body: (inout EtcdEntries, inout RemoteState) throws(FetchProblem) -> Void
    ) throws(FetchProblem) {
        try updates.update { (state) throws(FetchProblem) in
            try known.withLock { (known) throws(FetchProblem) in try body(&known.entries, &state) }
        }
    }

    // MARK: - Reading

    /// Reads all from the first member that answers.
    func read(_ updates: RemoteUpdates) async throws(FetchProblem) {
        var (last, older) = ("", 0)
        for _ in 0..<members.count {
            let endpoint = members.current
            do throws(FetchProblem) { return try await readAll(updates, at: endpoint) } catch {
                if Task.isCancelled { throw error }
                members.moveOn()
                if error.isOlder { older += 1 }
                last = "\(endpoint): \(error.message)"
            }
        }
        let others = members.count == 1 ? "" : "none of \(members.count) members can be read; "
        let isOlder = older > members.count / 2
        // Older values are accepted if they are still the same after the interval.
        throw FetchProblem(
            message: others + last, retryWithin: isOlder ? settings.cluster.interval : nil, isOlder: isOlder)
    }

    /// Watches changes, until a check finds a problem.
    func wait(
        _ schedule: inout CheckSchedule, _ updates: RemoteUpdates
    ) async -> ContinuousClock.Instant { watch(updates, at: members.current) }

    func check(
        _ schedule: inout CheckSchedule, _ updates: RemoteUpdates
    ) async -> ContinuousClock.Instant? {
        guard let watch = known.withLock({ $0.watch }) else {
            let next = known.withLock { $0.next }
            return next > .now ? next : nil
        }
        do throws(FetchProblem) {
            if let problem = watch.problem { throw problem }
            return watch.due > .now ? watch.due : try await verify(watch, updates)
        } catch {
            if Task.isCancelled { return nil }
            watch.handle?.cancel()
            if error.isForbidden, case .shared? = watch.handle {
                return self.watch(updates, at: watch.endpoint)
            }
            let next = ContinuousClock.now + pause(after: watch, error, &schedule, updates)
            known.withLock { ($0.watch, $0.next) = (nil, next) }
            return next
        }
    }

    func end() async { known.withLock { $0.watch?.handle }?.cancel() }

    /// The pause after the end of a watch.
    private func pause(
        after watch: Watch, _ problem: FetchProblem, _ schedule: inout CheckSchedule,
        _ updates: RemoteUpdates
    ) -> Duration {
        members.moveOn()
        guard watch.start.duration(to: .now) <= Self.shortest else {
            known.withLock { $0.shortWatches = 0 }
            _ = schedule.succeeded()
            // The other clients of this member also move on.
            return .milliseconds(.random(in: 0...1000))
        }
        let count = known.withLock { known in
            known.shortWatches += 1
            return known.shortWatches
        }
        if count == Self.tooManyShort {
            updates.say(
                "watching fails, so the values are polled: \(watch.endpoint): \(problem.message)")
        }
        // Reading works, so it replaces the watch at the interval of checks.
        return min(schedule.failed(), settings.cluster.interval)
    }

    /// The keys to follow.
    private var range: FleetRange {
        FleetRange(root: settings.root, places: known.withLock { $0.places })
    }

    private func readAll(_ updates: RemoteUpdates, at endpoint: String) async throws(FetchProblem) {
        let (range, header): (EtcdRange, EtcdHeader)
        do throws(FetchProblem) {
            (range, header) = try await client.values(EtcdClient.RangeQuery(self.range), at: endpoint)
        } catch {
            // The user of an older agent may only be allowed to read the values.
            guard error.isForbidden, known.withLock({ $0.places }) != [.values] else { throw error }
            known.withLock { $0.places = [.values] }
            do throws(FetchProblem) { try await readAll(updates, at: endpoint) } catch let problem {
                known.withLock { $0.places = FleetPlace.all }
                throw problem
            }
            return updates.say("kills are not followed: \(endpoint): \(error.message)")
        }
        guard range.count == range.entries.count else {
            throw FetchProblem(message: "it has \(range.count) keys, and sent \(range.entries.count)")
        }
        let facts = facts
        try update(updates) { (entries, state) throws(FetchProblem) in
            try entries.take(range, header, facts, &state)
        }
    }

    // MARK: - Watching

    /// Starts a watch.
    ///
    /// - Returns: The time of its first check.
    private func watch(_ updates: RemoteUpdates, at endpoint: String) -> ContinuousClock.Instant {
        let due = ContinuousClock.now + settings.cluster.timeout
        let (number, revision) = known.withLock { known in
            known.lastWatch += 1
            known.watch = Watch(number: known.lastWatch, endpoint: endpoint, due: due)
            return (known.lastWatch, known.entries.revision)
        }
        let facts = resources.facts()
        let handle = client.watchValues(range, from: revision + 1, at: endpoint) {
            [self] (messages) throws(FetchProblem) in
            guard change(number, { $0.hasStarted = true }) else {
                throw FetchProblem(message: "cancelled")
            }
            try take(messages, facts.of(settings.name, settings.version), updates)
        } end: { [self] problem in
            if change(number, { $0.problem = problem }) { updates.wake() }
        }
        _ = change(number) { $0.handle = handle }
        return due
    }

    /// Changes the state of a watch.
    ///
    /// - Returns: Whether it is the current one.
    private func change(_ number: Int, _ body: (inout Watch) -> Void) -> Bool {
        known.withLock { known in
            guard var watch = known.watch, watch.number == number else { return false }
            body(&watch)
            known.watch = watch
            return true
        }
    }

    private func take(
        _ messages: [EtcdWatchMessage], _ facts: HostFacts, _ updates: RemoteUpdates
    ) throws(FetchProblem) {
        for message in messages {
            if Task.isCancelled { throw FetchProblem(message: "cancelled") }
            switch message {
            case .ended: break
            case .created(let header):
                // A member of another cluster, or of a restored one, would be silent until it reaches the revision.
                try known.withLock { (known) throws(FetchProblem) in
                    try known.entries.expect(header, notBefore: known.entries.revision)
                }
            case .compacted: throw FetchProblem(message: "the changes were compacted")
            case .changes(let changes, let header):
                try update(updates) { (entries, state) throws(FetchProblem) in
                    try entries.take(changes, upTo: header, facts, &state)
                }
            }
        }
    }

    /// Verifies that no change was missed: a member that hangs, is cut off or has lost its leader does not report that on
    /// its watch.
    ///
    /// - Returns: The time of the next check.
    /// - Throws: ``FetchProblem``, which ends the watch.
    private func verify(
        _ watch: Watch, _ updates: RemoteUpdates
    ) async throws(FetchProblem) -> ContinuousClock.Instant {
        let cluster = settings.cluster
        guard watch.hasStarted else {
            throw FetchProblem(message: "there is no watch within \(cluster.timeout)")
        }
        if watch.checks != nil, try await isBehind(at: watch.endpoint) {
            let revision = known.withLock { $0.entries.revision }
            // The change may be in transit.
            try? await Task.sleep(for: Self.lateness)
            guard known.withLock({ $0.entries.revision }) != revision else {
                throw FetchProblem(message: "the watch missed changes")
            }
        } else if watch.checks != nil {
            let facts = facts
            try update(updates) { entries, state in entries.tell(facts, &state) }
        }
        var checks = watch.checks ?? CheckSchedule(interval: cluster.interval)
        let due = ContinuousClock.now + checks.succeeded()
        _ = change(watch.number) { ($0.due, $0.checks) = (due, checks) }
        return due
    }

    /// Returns whether there are newer entries than the known ones.
    private func isBehind(at endpoint: String) async throws(FetchProblem) -> Bool {
        var query = EtcdClient.RangeQuery(self.range)
        (query.limit, query.newestFirst, query.isWithoutValues) = (1, .modified, true)
        let before = known.withLock { $0.entries.revision }
        let (newest, header) = try await client.values(query, at: endpoint)
        return try known.withLock { (known) throws(FetchProblem) in
            try known.entries.expect(header, notBefore: before)
            let revision = known.entries.revision
            return newest.entries.contains { $0.modified > revision }
                || header.revision >= revision && newest.count != known.entries.count
        }
    }
}
#endif
