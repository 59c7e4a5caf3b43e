// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
internal import TweakTargeting

/// The values of one application in etcd: reads all, and then watches changes.
///
/// A small query to the same member, which needs a majority to answer it, regularly verifies that no change was missed.
/// After any doubt everything is read again, from the next member.
final class EtcdSource: ValueSource {
    private struct Known {
        var entries: EtcdEntries
        /// Whether the watch has started.
        var isWatching = false
        /// The number of consecutive watches that ended at once.
        var shortWatches = 0
    }

    private let settings: EtcdSettings
    private let client: EtcdClient
    private let resources: SharedResources
    private let keys: FleetKeys
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
        keys = FleetKeys(settings)
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

    /// Watches until the watch ends, and then pauses briefly.
    func wait(_ schedule: inout CheckSchedule, _ updates: RemoteUpdates) async {
        let (endpoint, start) = (members.current, ContinuousClock.now)
        let problem = await watch(updates, at: endpoint)
        if Task.isCancelled { return }
        members.moveOn()
        guard start.duration(to: .now) <= Self.shortest else {
            known.withLock { $0.shortWatches = 0 }
            _ = schedule.succeeded()
            // The other clients of this member also move on.
            try? await Task.sleep(for: .milliseconds(.random(in: 0...1000)))
            return
        }
        let count = known.withLock { known in
            known.shortWatches += 1
            return known.shortWatches
        }
        if count == Self.tooManyShort {
            updates.say(
                "watching fails, so the values are polled: \(endpoint): \(problem.message)")
        }
        // Reading works, so it replaces the watch at the interval of checks.
        try? await Task.sleep(for: min(schedule.failed(), settings.cluster.interval))
    }

    private func readAll(_ updates: RemoteUpdates, at endpoint: String) async throws(FetchProblem) {
        let (range, header) = try await client.values(EtcdClient.RangeQuery(keys.values), at: endpoint)
        guard range.count == range.entries.count else {
            throw FetchProblem(message: "it has \(range.count) keys, and sent \(range.entries.count)")
        }
        let facts = facts
        try update(updates) { (entries, state) throws(FetchProblem) in
            try entries.take(range, header, facts, &state)
        }
    }

    /// Applies changes until the watch ends.
    ///
    /// - Returns: The reason for the end.
    private func watch(_ updates: RemoteUpdates, at endpoint: String) async -> FetchProblem {
        let revision = known.withLock { known in
            known.isWatching = false
            return known.entries.revision
        }
        return await withTaskGroup(of: FetchProblem.self) { group in
            group.addTask { [self] in
                let facts = facts
                do throws(FetchProblem) {
                    try await client.watchValues(keys.values, from: revision + 1, at: endpoint) {
                        [self] (messages) throws(FetchProblem) in
                        known.withLock { $0.isWatching = true }
                        try take(messages, facts, updates)
                    }
                    return FetchProblem(message: "the watch was ended")
                } catch { return error }
            }
            group.addTask { [self] in await check(updates, at: endpoint) }
            defer { group.cancelAll() }
            return await group.next() ?? FetchProblem(message: "cancelled")
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

    /// Regularly verifies that no change was missed: a member that hangs, is cut off or has lost its leader does not
    /// report that on its watch.
    ///
    /// - Returns: The problem.
    private func check(_ updates: RemoteUpdates, at endpoint: String) async -> FetchProblem {
        let cluster = settings.cluster
        guard (try? await Task.sleep(for: cluster.timeout)) != nil else {
            return FetchProblem(message: "cancelled")
        }
        guard known.withLock({ $0.isWatching }) else {
            return FetchProblem(message: "there is no watch within \(cluster.timeout)")
        }
        var schedule = CheckSchedule(interval: cluster.interval)
        do throws(FetchProblem) {
            while (try? await Task.sleep(for: schedule.succeeded())) != nil {
                guard try await isBehind(at: endpoint) else {
                    let facts = facts
                    try update(updates) { entries, state in entries.tell(facts, &state) }
                    continue
                }
                let revision = known.withLock { $0.entries.revision }
                // The change may be in transit.
                try? await Task.sleep(for: Self.lateness)
                guard known.withLock({ $0.entries.revision }) == revision else { continue }
                throw FetchProblem(message: "the watch missed changes")
            }
            return FetchProblem(message: "cancelled")
        } catch { return error }
    }

    /// Returns whether there are newer entries than the known ones.
    private func isBehind(at endpoint: String) async throws(FetchProblem) -> Bool {
        var query = EtcdClient.RangeQuery(keys.values)
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
