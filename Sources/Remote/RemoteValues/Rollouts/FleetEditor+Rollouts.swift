// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import TweakFormats
package import TweakRecords

// The keys of the rollout of a tweak:
//
//     plans/Category/Collection/Name            the plan, see RolloutPlan
//     plans.leader/Category/Collection/Name     the process that carries it out, with a lease that ends if it dies
//     plans.wait/Category/Collection/Name       exists until the next step is due, with a lease of that duration
//
// The lease is a timer that all hosts share, so that their clocks need not agree.

/// The parts of a rollout in etcd.
private enum RolloutPlace: String, CaseIterable {
    case plan = "plans/"
    case leader = "plans.leader/"
    case wait = "plans.wait/"
}

/// The rollout of a tweak as it is in etcd.
package struct StoredRollout: Sendable {
    package let plan: RolloutPlan
    /// The revision of the plan.
    package let revision: Int
    /// The process that carries it out.
    package let leader: (by: String, revision: Int)?
    /// The lease that ends when the next step is due; `nil` if it is due.
    let wait: Int?

    package var isDue: Bool { wait == nil }

    /// - Throws: ``FormatError`` if the plan is malformed.
    fileprivate init(
        of tweak: TweakKey, _ entry: EtcdEntry, leader: EtcdEntry?, wait: EtcdEntry?
    ) throws(FormatError) {
        (plan, revision) = (try RolloutPlan(json: entry.value, of: tweak), entry.modified)
        self.leader = leader.map { (String(decoding: $0.value, as: UTF8.self), $0.modified) }
        self.wait = wait?.lease
    }
}

/// The right to carry out a rollout.
struct RolloutLeadership: Sendable {
    let tweak: TweakKey
    let lease: Int
    /// The revision of its key.
    let revision: Int
}

extension FleetKeys {
    fileprivate func key(_ place: RolloutPlace, of tweak: TweakKey) -> [UInt8] {
        Array((root + place.rawValue + tweak.description).utf8)
    }

    /// The tweak whose rollout a key belongs to; `nil` for other keys.
    fileprivate func rolledOut(_ place: RolloutPlace, _ key: [UInt8]) -> TweakKey? {
        let prefix = root + place.rawValue
        guard key.starts(with: prefix.utf8) else { return nil }
        return TweakKey(spelled: key.dropFirst(prefix.utf8.count))
    }
}

extension FleetEditor {
    // MARK: - Reading

    /// Reads all rollouts of the application, sorted by tweak.
    ///
    /// - Returns: The rollouts, and messages about unreadable plans.
    package func rollouts() async throws(FleetProblem) -> (rollouts: [StoredRollout], strangers: [String]) {
        let range = try await onSomeMember { (endpoint) throws(FetchProblem) in
            try await client.range(EtcdClient.RangeQuery(keys.rollouts), at: endpoint).0
        }
        return rollouts(range)
    }

    /// The rollouts in a range.
    func rollouts(_ range: EtcdRange) -> (rollouts: [StoredRollout], strangers: [String]) {
        let entries = Dictionary(range.entries.map { ($0.key, $0) }) { first, _ in first }
        var (rollouts, strangers): ([StoredRollout], [String]) = ([], [])
        for entry in range.entries {
            do throws(FormatError) {
                guard let tweak = keys.rolledOut(.plan, entry.key) else { continue }
                rollouts.append(
                    try StoredRollout(
                        of: tweak, entry, leader: entries[keys.key(.leader, of: tweak)],
                        wait: entries[keys.key(.wait, of: tweak)]))
            } catch {
                strangers.append("\(error)")
            }
        }
        return (rollouts.sorted { $0.plan.tweak < $1.plan.tweak }, strangers)
    }

    /// Reads the rollout of a tweak; `nil` if there is none.
    package func rollout(of tweak: TweakKey) async throws(FleetProblem) -> StoredRollout? {
        let queries = RolloutPlace.allCases.map { EtcdClient.RangeQuery(key: keys.key($0, of: tweak)) }
        let found = try await onSomeMember { (endpoint) throws(FetchProblem) in
            try await client.ranges(queries, at: endpoint).0.map(\.entries.first)
        }
        guard let plan = found[0] else { return nil }
        do throws(FormatError) {
            return try StoredRollout(of: tweak, plan, leader: found[1], wait: found[2])
        } catch {
            throw .impossible("\(error)")
        }
    }

    /// The seconds until the next step of a rollout; `nil` if it is due.
    package func secondsToStep(of rollout: StoredRollout) async -> Int? {
        guard let wait = rollout.wait else { return nil }
        let time = try? await onSomeMember { (endpoint) throws(FetchProblem) in
            try await client.timeToLive(of: wait, at: endpoint)
        }
        return time.map { Int($0.remaining / .seconds(1)) }
    }

    // MARK: - Changing plans

    /// Writes a new plan.
    ///
    /// - Parameter seconds: The time until its first step; `nil` for none.
    /// - Throws: ``FleetProblem`` if the tweak has an unfinished rollout.
    package func add(_ plan: RolloutPlan, startIn seconds: Int?) async throws(FleetProblem) {
        let key = keys.key(.plan, of: plan.tweak)
        let known = try await onSomeMember { (endpoint) throws(FetchProblem) in
            try await client.range(EtcdClient.RangeQuery(key: key), at: endpoint).0.entries.first
        }
        if let known {
            let old = try? RolloutPlan(json: known.value, of: plan.tweak)
            guard old?.state.isEnd ?? true else {
                throw .impossible(
                    "\(plan.tweak): a rollout is \(old?.state.rawValue ?? ""); tweak fleet abort ends it")
            }
        }
        var transaction = EtcdClient.Transaction()
        transaction.conditions = [(key, known?.modified ?? 0)]
        transaction.put(key, plan.json())
        if let seconds, seconds > 0 {
            try await addWait(seconds, of: plan.tweak, to: &transaction)
        } else {
            transaction.remove(keys.key(.wait, of: plan.tweak))
        }
        guard try await commit(transaction) != nil else {
            throw .conflict("\(plan.tweak): somebody else has planned a rollout; nothing was changed")
        }
    }

    /// Pauses, resumes or aborts a rollout.
    ///
    /// - Parameter make: Returns the transition; `nil` for none.
    /// - Returns: The new plan and the change of the value; `nil` if there was nothing to do.
    package func change(
        rolloutOf tweak: TweakKey, by: String,
        _ make: (RolloutPlan, RolloutPlan.Found) -> RolloutPlan.Transition?
    ) async throws(FleetProblem) -> (plan: RolloutPlan, change: FleetChange?)? {
        for _ in 0..<Self.mostRolloutAttempts {
            guard let rollout = try await rollout(of: tweak) else {
                throw .impossible("\(tweak): no rollout")
            }
            switch try await advance(rollout, by: by, make) {
            case .nothing: return nil
            case .conflict: continue
            case .done(let plan, let change): return (plan, change)
            }
        }
        throw .conflict("\(tweak): too many concurrent changes; nothing was changed")
    }

    private static let mostRolloutAttempts = 10

    /// The outcome of ``advance(_:by:as:_:)``.
    enum RolloutOutcome {
        /// There was nothing to do.
        case nothing
        /// Somebody else was faster; nothing was changed.
        case conflict
        case done(RolloutPlan, FleetChange?)
    }

    /// Makes one transition of a rollout, in one transaction with the change of the value and its record.
    ///
    /// - Parameters:
    ///   - rollout: The rollout as it was read.
    ///   - leadership: The role that this process must still have; `nil` if anybody may do this.
    func advance(
        _ rollout: StoredRollout, by: String, as leadership: RolloutLeadership? = nil,
        _ make: (RolloutPlan, RolloutPlan.Found) -> RolloutPlan.Transition?
    ) async throws(FleetProblem) -> RolloutOutcome {
        let tweak = rollout.plan.tweak
        let contents = try await contents()
        let kill = try await kill(of: tweak)
        let found = RolloutPlan.Found(contents[tweak]?.value, kill: kill)
        guard var transition = make(rollout.plan, found) else { return .nothing }
        var transaction = EtcdClient.Transaction()
        var change: FleetChange?
        if let wanted = transition.change {
            let values: [TweakKey: FleetValue?] = [tweak: wanted.value]
            let made = self.change(values, contents, by, wanted.why, Self.newID)
            transaction = self.transaction(made, values, contents)
            // A kill must not be overlooked. The end of a rollout restores the value below it.
            if kill == nil { transaction.conditions.append((killKey(of: tweak), 0)) }
            change = made
            transition.plan.note(made.number)
        }
        let key = keys.key(.plan, of: tweak)
        transaction.conditions.append((key, rollout.revision))
        if let leadership {
            transaction.conditions.append((keys.key(.leader, of: tweak), leadership.revision))
        }
        transaction.put(key, transition.plan.json())
        if let seconds = transition.wait { try await addWait(seconds, of: tweak, to: &transaction) }
        guard let revision = try await commit(transaction) else { return .conflict }
        return .done(transition.plan, change?.made(at: revision))
    }

    /// Starts the wait for the next step.
    private func addWait(
        _ seconds: Int, of tweak: TweakKey, to transaction: inout EtcdClient.Transaction
    ) async throws(FleetProblem) {
        let lease = try await onSomeMember { (endpoint) throws(FetchProblem) in
            try await client.grantLease(for: .seconds(seconds), at: endpoint)
        }
        transaction.put(keys.key(.wait, of: tweak), Array("\(seconds)".utf8), lease: lease)
    }

    /// Commits a transaction once, so that it is not made twice.
    ///
    /// - Returns: The revision; `nil` if the preconditions did not hold.
    private func commit(_ transaction: EtcdClient.Transaction) async throws(FleetProblem) -> Int? {
        do throws(FetchProblem) {
            let (isDone, header) = try await client.commit(transaction, at: members.current)
            return isDone ? header.revision : nil
        } catch {
            let message = "\(members.current): \(error.message)"
            if error.isRefusal { throw .refused(message) }
            members.moveOn()
            throw .unreachable(Self.uncertain(message))
        }
    }

    private func killKey(of tweak: TweakKey) -> [UInt8] { FleetKeys(settings, .kills).key(of: tweak) }

    /// The reason of a tweak's kill; `nil` if it is not killed.
    private func kill(of tweak: TweakKey) async throws(FleetProblem) -> String? {
        let entry = try await onSomeMember { (endpoint) throws(FetchProblem) in
            try await client.range(EtcdClient.RangeQuery(key: killKey(of: tweak)), at: endpoint).0.entries
                .first
        }
        return entry.map { entry in
            (try? FleetValue(json: entry.value, of: tweak))?.reason(in: .kills) ?? "killed"
        }
    }

    // MARK: - Leading

    /// Tries to become the process that carries out a rollout.
    ///
    /// - Parameter seconds: The time after which another process can take over if this one dies.
    /// - Returns: `nil` if another process has the role.
    func lead(
        rolloutOf tweak: TweakKey, by: String, seconds: Int
    ) async throws(FleetProblem) -> RolloutLeadership? {
        let lease = try await onSomeMember { (endpoint) throws(FetchProblem) in
            try await client.grantLease(for: .seconds(seconds), at: endpoint)
        }
        var transaction = EtcdClient.Transaction()
        let key = keys.key(.leader, of: tweak)
        transaction.conditions = [(key, 0)]
        transaction.put(key, Array(by.utf8), lease: lease)
        if let revision = try await commit(transaction) {
            return RolloutLeadership(tweak: tweak, lease: lease, revision: revision)
        }
        await end(lease)
        return nil
    }

    /// Gives a role back, so that another process can take over at once.
    func end(_ lease: Int) async {
        // It ends by itself, too.
        try? await onSomeMember(within: .zero) { (endpoint) throws(FetchProblem) in
            try await client.endLease(lease, at: endpoint)
        }
    }

    /// Keeps a role until the task is cancelled, or the role is lost.
    func keep(_ leadership: RolloutLeadership, every pause: Duration) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: pause)
            let isThere = try? await onSomeMember { (endpoint) throws(FetchProblem) in
                try await client.renewLease(leadership.lease, at: endpoint)
            }
            if isThere == false { return }
        }
    }
}
#endif
