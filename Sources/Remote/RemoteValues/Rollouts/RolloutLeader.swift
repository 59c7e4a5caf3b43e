// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import TweakRecords

/// Carries out the rollouts of an application that no other process carries out.
package struct RolloutLeader: Sendable {
    /// An event to report to people.
    package enum Event: Sendable {
        /// The plan has changed, possibly together with the value.
        case moved(RolloutPlan, FleetChange?)
        case problem(String)
    }

    /// Runs the check of a plan.
    ///
    /// - Returns: The reason of its failure; `nil` if it succeeded.
    package typealias Check = @Sendable (RolloutPlan) async -> String?

    private let editor: FleetEditor
    /// The user and host of this process.
    private let by: String
    private let check: Check
    private let tell: @Sendable (Event) -> Void

    /// The polling interval of a plan.
    private static let interval: Duration = .seconds(1)
    /// The seconds after which another process takes over if this one dies.
    private static let leases = 2...15

    package init(
        _ editor: FleetEditor, by: String, check: @escaping Check, tell: @escaping @Sendable (Event) -> Void
    ) {
        (self.editor, self.by, self.check, self.tell) = (editor, by, check, tell)
    }

    /// Carries out a rollout if no other process does, until it ends or is paused.
    ///
    /// - Parameter isStaying: Whether to wait while it is paused.
    /// - Returns: The last state of the plan; `nil` if another process is running it.
    /// - Throws: ``FleetProblem`` if the role cannot be taken.
    package func carryOut(
        _ plan: RolloutPlan, isStaying: Bool = false
    ) async throws(FleetProblem) -> RolloutPlan? {
        let seconds = min(max(plan.every / 2, Self.leases.lowerBound), Self.leases.upperBound)
        guard let role = try await editor.lead(rolloutOf: plan.tweak, by: by, seconds: seconds) else {
            return nil
        }
        let keeping = Task { await editor.keep(role, every: .milliseconds(seconds * 300)) }
        let last = await carryOut(plan, as: role, isStaying: isStaying)
        keeping.cancel()
        // Even if this task is cancelled.
        await Task { await editor.end(role.lease) }.value
        return last
    }

    private func carryOut(
        _ plan: RolloutPlan, as role: RolloutLeadership, isStaying: Bool
    ) async -> RolloutPlan? {
        var (last, isSaid) = (plan, false)
        var health = RolloutHealth(editor, check, every: plan.every)
        while !Task.isCancelled {
            do throws(FleetProblem) {
                guard let rollout = try await editor.rollout(of: plan.tweak),
                    rollout.leader?.revision == role.revision
                else { return nil }
                if rollout.plan.state != last.state { tell(.moved(rollout.plan, nil)) }
                last = rollout.plan
                switch last.state {
                case .running: last = try await look(at: rollout, as: role, &health) ?? last
                case .paused where isStaying: break
                default: return last
                }
                isSaid = false
            } catch {
                if Task.isCancelled { break }
                if !isSaid { tell(.problem(error.message)) }
                isSaid = true
            }
            if last.state.isEnd { return last }
            try? await Task.sleep(for: Self.interval)
        }
        return last
    }

    /// Takes the next step if it is due.
    ///
    /// - Returns: The new plan; `nil` if nothing was done.
    private func look(
        at rollout: StoredRollout, as role: RolloutLeadership, _ health: inout RolloutHealth
    ) async throws(FleetProblem) -> RolloutPlan? {
        let verdict = try await health.verdict(on: rollout.plan, isDue: rollout.isDue)
        guard !Task.isCancelled, verdict != nil || rollout.isDue else { return nil }
        let (user, planner) = (editor.user ?? by, rollout.plan.by)
        let author = user == planner ? user : "\(user) for \(planner)"
        let outcome = try await editor.advance(rollout, by: author, as: role) { plan, found in
            switch verdict {
            case nil: plan.next(found)
            case .pause(let reason): plan.paused(because: reason)
            case .abort(let reason): plan.aborted(found, because: reason)
            }
        }
        guard case .done(let plan, let change) = outcome else { return nil }
        tell(.moved(plan, change))
        return plan
    }
}

/// Judges a rollout by its check and by the hosts.
private struct RolloutHealth {
    enum Verdict {
        case pause(String)
        case abort(String)
    }

    private let editor: FleetEditor
    private let check: RolloutLeader.Check
    private let pause: Duration
    private var due = ContinuousClock.now

    /// The number of checks between two steps, at most a minute apart.
    private static let checks = 10
    private static let longestPause: Duration = .seconds(60)

    init(_ editor: FleetEditor, _ check: @escaping RolloutLeader.Check, every seconds: Int) {
        (self.editor, self.check) = (editor, check)
        pause = min(.seconds(seconds) / Self.checks, Self.longestPause)
    }

    /// Checks before each step, and from time to time between steps.
    ///
    /// - Parameter isDue: Whether the next step is due.
    /// - Returns: `nil` if the rollout may go on.
    mutating func verdict(on plan: RolloutPlan, isDue: Bool) async throws(FleetProblem) -> Verdict? {
        // A plan is not judged before its start.
        guard isDue || (plan.done > 0 && due <= .now) else { return nil }
        defer { due = .now + pause }
        if let reason = await check(plan) { return .abort(reason) }
        guard plan.done > 0 else { return nil }
        let hosts = try await plan.hosts(among: editor.hosts())
        if let reason = hosts.refusal { return .abort(reason) }
        return hosts.silence.map { .pause($0) }
    }
}

/// The hosts in the first step of a rollout, whose reports may be its effect.
package struct RolloutHosts: Sendable {
    /// The number of silent hosts.
    package let silent: Int
    /// A message about a host that refuses the value; `nil` if none does.
    package let refusal: String?
    /// A message about too many silent hosts; `nil` if there are not.
    package let silence: String?
}

extension RolloutPlan {
    /// In a large fleet, some hosts are always restarting: one of this many may be silent.
    private static let hostsPerSilent = 200

    /// Judges the reports of hosts. Those that fell silent or refused the value before the first step do not count.
    package func hosts(among reports: [HostReport]) -> RolloutHosts {
        let affected = reports.filter { $0.version >= firstChange ?? .max }
        let silent = affected.filter(\.isSilent)
        let refusing = affected.lazy.compactMap { report in
            report.refused.first { $0.tweak == tweak.description }.map { (report.host, $0.reason) }
        }.first
        let most = max(self.silent, affected.count / Self.hostsPerSilent)
        let names = silent.prefix(3).map(\.host).joined(separator: ", ")
        let more = silent.count > 3 ? " and \(silent.count - 3) more" : ""
        return RolloutHosts(
            silent: silent.count, refusal: refusing.map { "\($0.0) refuses it: \($0.1)" },
            silence: silent.count > most ? "\(names)\(more) fell silent" : nil)
    }
}
#endif
