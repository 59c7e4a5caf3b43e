#if Remote
internal import Synchronization
internal import TweakTargeting

/// The values of one application in etcd: reads all, and then has changes told.
///
/// That none was missed is seen again and again by a small question to the same member, which it can only answer with the
/// majority behind it. After any doubt everything is read again, from the next member.
final class EtcdSource: ValueSource {
    private struct Known {
        var entries: EtcdEntries
        /// Whether the watch has begun.
        var isWatching = false
        /// How many watches in a row have ended at once.
        var shortWatches = 0
    }

    private let settings: EtcdSettings
    private let client: EtcdClient
    private let resources: SharedResources
    private let keys: FleetKeys
    private let members: EtcdEndpoints
    /// Locked inside an update, never the other way round.
    private let known: Mutex<Known>

    /// A watch that ends sooner was none.
    private static let shortest: Duration = .seconds(10)
    /// As many of them in a row are said.
    private static let tooManyShort = 3
    /// By how much a change may come later than the answer that tells of it.
    private static let lateness: Duration = .seconds(1)

    init(_ settings: EtcdSettings, _ client: EtcdClient, _ resources: SharedResources) {
        (self.settings, self.client, self.resources) = (settings, client, resources)
        keys = FleetKeys(settings)
        members = EtcdEndpoints(settings.cluster)
        known = Mutex(Known(entries: EtcdEntries(settings)))
    }

    private var facts: HostFacts { resources.facts(settings.name, settings.version) }

    /// Whoever does not want to wait for an answer does not want to wait for the next question either.
    var schedule: CheckSchedule { CheckSchedule(interval: min(.seconds(1), settings.cluster.timeout)) }

    /// Updates what is known and what programs are told.
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
        // It is believed if it is still so after the interval.
        throw FetchProblem(
            message: others + last, retryWithin: isOlder ? settings.cluster.interval : nil, isOlder: isOlder)
    }

    /// Has changes told until that ends, and waits a little.
    func wait(_ schedule: inout CheckSchedule, _ updates: RemoteUpdates) async {
        let (endpoint, start) = (members.current, ContinuousClock.now)
        let problem = await watch(updates, at: endpoint)
        if Task.isCancelled { return }
        members.moveOn()
        guard start.duration(to: .now) <= Self.shortest else {
            known.withLock { $0.shortWatches = 0 }
            _ = schedule.succeeded()
            // The others that were with this member go elsewhere too.
            try? await Task.sleep(for: .milliseconds(.random(in: 0...1000)))
            return
        }
        let count = known.withLock { known in
            known.shortWatches += 1
            return known.shortWatches
        }
        if count == Self.tooManyShort {
            updates.say(
                "changes are not told, so it is read again and again: \(endpoint): \(problem.message)")
        }
        // It can be read, and so it is as often as it would be looked at.
        try? await Task.sleep(for: min(schedule.failed(), settings.cluster.interval))
    }

    private func readAll(_ updates: RemoteUpdates, at endpoint: String) async throws(FetchProblem) {
        let (range, header) = try await client.range(EtcdClient.RangeQuery(keys.values), at: endpoint)
        guard range.count == range.entries.count else {
            throw FetchProblem(message: "it has \(range.count) keys, and sent \(range.entries.count)")
        }
        let facts = facts
        try update(updates) { (entries, state) throws(FetchProblem) in
            try entries.take(range, header, facts, &state)
        }
    }

    /// Takes what changes, until that ends.
    ///
    /// - Returns: Why it has ended.
    private func watch(_ updates: RemoteUpdates, at endpoint: String) async -> FetchProblem {
        let revision = known.withLock { known in
            known.isWatching = false
            return known.entries.revision
        }
        return await withTaskGroup(of: FetchProblem.self) { group in
            group.addTask { [self] in
                let facts = facts
                do throws(FetchProblem) {
                    try await client.watch(keys.values, from: revision + 1, at: endpoint) {
                        (messages) throws(FetchProblem) in
                        known.withLock { $0.isWatching = true }
                        try take(messages, facts, updates)
                    }
                    return FetchProblem(message: "the watch was ended")
                } catch { return error }
            }
            group.addTask { [self] in await check(updates, at: endpoint) }
            defer { group.cancelAll() }
            return await group.next() ?? FetchProblem(message: "it was given up")
        }
    }

    private func take(
        _ messages: [EtcdWatchMessage], _ facts: HostFacts, _ updates: RemoteUpdates
    ) throws(FetchProblem) {
        for message in messages {
            if Task.isCancelled { throw FetchProblem(message: "it was given up") }
            switch message {
            case .ended: break
            case .created(let header):
                // A member of another cluster, or of one that was put back, would be silent until it gets as far.
                try known.withLock { (known) throws(FetchProblem) in
                    try known.entries.expect(header, notBefore: known.entries.revision)
                }
            case .compacted: throw FetchProblem(message: "what has changed was compacted away")
            case .changes(let changes, let header):
                try update(updates) { (entries, state) throws(FetchProblem) in
                    try entries.take(changes, upTo: header, facts, &state)
                }
            }
        }
    }

    /// Sees again and again that nothing was missed: a member that stands still, is cut off or has lost its leader does not
    /// say so on its watch.
    ///
    /// - Returns: What was found.
    private func check(_ updates: RemoteUpdates, at endpoint: String) async -> FetchProblem {
        let cluster = settings.cluster
        guard (try? await Task.sleep(for: cluster.timeout)) != nil else {
            return FetchProblem(message: "it was given up")
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
                // It may be on the way.
                try? await Task.sleep(for: Self.lateness)
                guard known.withLock({ $0.entries.revision }) == revision else { continue }
                throw FetchProblem(message: "changes were not told")
            }
            return FetchProblem(message: "it was given up")
        } catch { return error }
    }

    /// Whether there is something newer than what is known.
    private func isBehind(at endpoint: String) async throws(FetchProblem) -> Bool {
        var query = EtcdClient.RangeQuery(keys.values)
        (query.limit, query.newestFirst, query.isWithoutValues) = (1, .modified, true)
        let before = known.withLock { $0.entries.revision }
        let (newest, header) = try await client.range(query, at: endpoint)
        return try known.withLock { (known) throws(FetchProblem) in
            try known.entries.expect(header, notBefore: before)
            let revision = known.entries.revision
            return newest.entries.contains { $0.modified > revision }
                || header.revision >= revision && newest.count != known.entries.count
        }
    }
}
#endif
