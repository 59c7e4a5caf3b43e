#if Remote
internal import Synchronization
package import TweakOverrides
internal import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// Follows the values of one application in etcd: reads all, and then what changes.
///
/// A change is told at once. That none was missed is seen again and again by a small question to the same member, which it
/// can only answer with the majority behind it. After any doubt everything is read again, from the next member.
package struct FleetFollower: Sendable {
    private let application: FleetApplication
    private let client: EtcdClient
    private let keys: FleetKeys
    private let resources: SharedResources
    private let isAlone: Bool

    /// A watch that ends sooner was none.
    private static let shortest: Duration = .seconds(10)
    /// As many of them in a row are said.
    private static let tooManyShort = 3
    /// By how much a change may come later than the answer that tells of it.
    private static let lateness: Duration = .seconds(1)
    /// From one writing of the file to the next. The first change of a burst is written at once, and the pauses double as long
    /// as it lasts: each writing is of all values, and wakes all programs.
    private static let pauses: ClosedRange<Duration> = .milliseconds(2)...(.milliseconds(50))

    /// Makes one that is alone.
    ///
    /// - Throws: ``FetchProblem`` if what it needs cannot be used.
    package init(_ application: FleetApplication) throws(FetchProblem) {
        let resources = SharedResources()
        self.init(application, try EtcdClient(application.cluster, resources), resources, isAlone: true)
    }

    /// - Parameters:
    ///   - client: The client of the application's cluster.
    ///   - resources: What this shares with others, which ends later.
    package init(
        _ application: FleetApplication, _ client: EtcdClient, sharing resources: SharedResources
    ) {
        self.init(application, client, resources, isAlone: false)
    }

    private init(
        _ application: FleetApplication, _ client: EtcdClient, _ resources: SharedResources, isAlone: Bool
    ) {
        (self.application, self.client, keys) = (application, client, FleetKeys(application))
        (self.resources, self.isAlone) = (resources, isAlone)
    }

    /// What is known, and what is to be written and said. One task reads, another one writes: what arrives while a file is
    /// written is written together.
    private final class Shared: Sendable {
        struct Guarded {
            var state: FleetState
            /// The watch has begun.
            var isWatching = false
            var outcome = RemoteState.Outcome.unchanged
            var messages: [String] = []
            /// Something is to be told that has not been.
            var isNew = false
        }

        let guarded: Mutex<Guarded>
        let (news, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

        init(_ state: FleetState) { guarded = Mutex(Guarded(state: state)) }

        /// Changes what is known, and has it told.
        func update(
            _ body: (inout FleetState) throws(FetchProblem) -> [String]
        ) throws(FetchProblem) {
            try guarded.withLock { (guarded) throws(FetchProblem) in
                // Not the whole file, which would be copied by the first change of it.
                let before = (loaded: guarded.state.file.loaded, version: guarded.state.file.version)
                let messages = try body(&guarded.state)
                guarded.messages += messages
                if guarded.state.file.problem != nil {
                    guarded.outcome = .failed
                } else if before.loaded != guarded.state.file.loaded
                    || before.version != guarded.state.file.version
                {
                    guarded.outcome = .loaded
                } else if guarded.outcome == .failed {
                    guarded.outcome = .unchanged
                }
                guarded.isNew = true
            }
            continuation.yield()
        }

        func say(_ message: String) {
            guarded.withLock { guarded in
                guarded.messages.append(message)
                guarded.isNew = true
            }
            continuation.yield()
        }
    }

    private var facts: HostFacts { resources.facts(application.name, application.version) }

    /// Follows until the task is cancelled.
    ///
    /// - Parameters:
    ///   - last: What an earlier agent has left.
    ///   - isOnce: Whether it is read once only.
    ///   - keep: Tells the programs. It is called if something is new.
    ///   - report: Is called after every change and every check.
    package func follow(
        from last: ProvidedFile?, isOnce: Bool = false,
        keep: @escaping @Sendable (ProvidedFile) throws(OverridesError) -> Void,
        report: @escaping @Sendable (RemoteFollower.Report) -> Void
    ) async {
        let shared = Shared(FleetState(application, last: last))
        await withTaskGroup { group in
            group.addTask { await tell(shared, last, keep, report) }
            group.addTask {
                await read(shared, isOnce)
                shared.continuation.finish()
            }
        }
        if isAlone { await resources.end() }
    }

    private func tell(
        _ shared: Shared, _ last: ProvidedFile?, _ keep: (ProvidedFile) throws(OverridesError) -> Void,
        _ report: (RemoteFollower.Report) -> Void
    ) async {
        var kept = last
        var isKeepingSaid = false
        var pause = Self.pauses.lowerBound
        for await _ in shared.news {
            var (file, outcome, messages) = shared.guarded.withLock { guarded in
                defer {
                    guarded.messages = []
                    guarded.isNew = false
                    if guarded.outcome == .loaded { guarded.outcome = .unchanged }
                }
                return (guarded.state.file, guarded.outcome, guarded.messages)
            }
            var notKept: OverridesError?
            if kept?.content != file.content {
                do throws(OverridesError) {
                    try keep(file)
                    kept = file
                    if isKeepingSaid { messages.append("its file can be written again") }
                    isKeepingSaid = false
                } catch {
                    if !isKeepingSaid { messages.append("\(error)") }
                    isKeepingSaid = true
                    notKept = error
                }
            }
            report(
                RemoteFollower.Report(
                    application: application.name, source: .fleet, outcome: outcome, file: file,
                    messages: messages, notKept: notKept, time: .since1970))
            try? await Task.sleep(for: pause)
            let isBurst = shared.guarded.withLock { $0.isNew }
            pause = isBurst ? min(pause * 2, Self.pauses.upperBound) : Self.pauses.lowerBound
        }
    }

    // MARK: - Reading

    private func read(_ shared: Shared, _ isOnce: Bool) async {
        let endpoints = application.cluster.endpoints
        // Agents that all begin with the first one would leave the others without work.
        var next = Int.random(in: endpoints.indices)
        var (untried, older) = (endpoints.count, 0)
        var shortWatches = 0
        // Who does not want to wait for an answer does not want to wait for the next question either.
        var schedule = CheckSchedule(interval: min(.seconds(1), application.cluster.timeout))
        while !Task.isCancelled {
            let endpoint = endpoints[next % endpoints.count]
            var pause: Duration
            do throws(FetchProblem) {
                try await readAll(shared, at: endpoint)
                (untried, older) = (endpoints.count, 0)
                if isOnce { return }
                let start = ContinuousClock.now
                let problem = await watch(shared, at: endpoint)
                if Task.isCancelled { return }
                next += 1
                if start.duration(to: .now) > Self.shortest {
                    shortWatches = 0
                    _ = schedule.succeeded()
                    // The others that were with this member go elsewhere too.
                    pause = .milliseconds(.random(in: 0...1000))
                } else {
                    shortWatches += 1
                    if shortWatches == Self.tooManyShort {
                        shared.say(
                            "changes are not told, so it is read again and again: \(endpoint): \(problem.message)"
                        )
                    }
                    // It can be read, and so it is as often as it would be looked at.
                    pause = min(schedule.failed(), application.cluster.interval)
                }
            } catch {
                // What was broken off by the end of the agent is nobody's failure.
                if Task.isCancelled { return }
                next += 1
                untried -= 1
                if error.isOlder { older += 1 }
                guard untried <= 0 else { continue }
                let others = endpoints.count == 1 ? "" : "none of \(endpoints.count) members can be read; "
                let message = "\(others)\(endpoint): \(error.message)"
                let isOlder = older > endpoints.count / 2
                try? shared.update { state in state.fail(message, isOlder: isOlder) }
                if isOnce { return }
                (untried, older) = (endpoints.count, 0)
                pause = schedule.failed()
                // It is believed if it is still so then.
                if isOlder { pause = min(pause, application.cluster.interval) }
            }
            try? await Task.sleep(for: pause)
        }
    }

    private func readAll(_ shared: Shared, at endpoint: String) async throws(FetchProblem) {
        let (range, header) = try await client.range(EtcdClient.RangeQuery(keys.values), at: endpoint)
        guard range.count == range.entries.count else {
            throw FetchProblem(message: "it has \(range.count) keys, and sent \(range.entries.count)")
        }
        let facts = facts
        try shared.update { (state) throws(FetchProblem) in try state.take(range, header, facts: facts) }
    }

    /// Takes what changes, until that ends.
    ///
    /// - Returns: Why it has ended.
    private func watch(_ shared: Shared, at endpoint: String) async -> FetchProblem {
        shared.guarded.withLock { $0.isWatching = false }
        let revision = shared.guarded.withLock { $0.state.revision }
        return await withTaskGroup(of: FetchProblem.self) { group in
            group.addTask {
                let facts = facts
                do throws(FetchProblem) {
                    try await client.watch(keys.values, from: revision + 1, at: endpoint) {
                        (messages) throws(FetchProblem) in
                        shared.guarded.withLock { $0.isWatching = true }
                        try take(messages, shared, facts)
                    }
                    return FetchProblem(message: "the watch was ended")
                } catch { return error }
            }
            group.addTask { await check(shared, at: endpoint) }
            defer { group.cancelAll() }
            return await group.next() ?? FetchProblem(message: "it was given up")
        }
    }

    private func take(
        _ messages: [EtcdWatchMessage], _ shared: Shared, _ facts: HostFacts
    ) throws(FetchProblem) {
        for message in messages {
            if Task.isCancelled { throw FetchProblem(message: "it was given up") }
            switch message {
            case .ended: break
            case .created(let header):
                // A member of another cluster, or of one that was put back, would be silent until it gets as far.
                try shared.guarded.withLock { (guarded) throws(FetchProblem) in
                    try guarded.state.expect(header, notBefore: guarded.state.revision)
                }
            case .compacted: throw FetchProblem(message: "what has changed was compacted away")
            case .changes(let changes, let header):
                try shared.update { (state) throws(FetchProblem) in
                    try state.take(changes, upTo: header, facts: facts)
                }
            }
        }
    }

    /// Sees again and again that nothing was missed: a member that stands still, is cut off or has lost its leader does not
    /// say so on its watch.
    ///
    /// - Returns: What was found.
    private func check(_ shared: Shared, at endpoint: String) async -> FetchProblem {
        let cluster = application.cluster
        guard (try? await Task.sleep(for: cluster.timeout)) != nil else {
            return FetchProblem(message: "it was given up")
        }
        guard shared.guarded.withLock({ $0.isWatching }) else {
            return FetchProblem(message: "there is no watch within \(cluster.timeout)")
        }
        var schedule = CheckSchedule(interval: cluster.interval)
        do throws(FetchProblem) {
            while (try? await Task.sleep(for: schedule.succeeded())) != nil {
                guard try await isBehind(shared, at: endpoint) else {
                    let facts = facts
                    try shared.update { state in
                        state.tell(facts)
                        return []
                    }
                    continue
                }
                let revision = shared.guarded.withLock { $0.state.revision }
                // It may be on the way.
                try? await Task.sleep(for: Self.lateness)
                guard shared.guarded.withLock({ $0.state.revision }) == revision else { continue }
                throw FetchProblem(message: "changes were not told")
            }
            return FetchProblem(message: "it was given up")
        } catch { return error }
    }

    /// Whether there is something newer than what is known.
    private func isBehind(_ shared: Shared, at endpoint: String) async throws(FetchProblem) -> Bool {
        var query = EtcdClient.RangeQuery(keys.values)
        (query.limit, query.newestFirst, query.isWithoutValues) = (1, .modified, true)
        let known = shared.guarded.withLock { $0.state.revision }
        let (newest, header) = try await client.range(query, at: endpoint)
        try shared.guarded.withLock { (guarded) throws(FetchProblem) in
            try guarded.state.expect(header, notBefore: known)
        }
        let (revision, count) = shared.guarded.withLock { ($0.state.revision, $0.state.count) }
        let isNewer = newest.entries.contains { $0.modified > revision }
        return isNewer || header.revision >= revision && newest.count != count
    }
}
#endif
