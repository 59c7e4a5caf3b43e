// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import RemoteValues
import Synchronization
import TweakFleet
import TweakRecords

/// Carries out rollouts that no other agent carries out, of applications whose configuration permits it.
struct RolloutAgent: Sendable {
    private let applications: [EtcdSettings]
    private let resources: SharedResources
    private let say: @Sendable (String, _ application: String) -> Void

    /// The polling intervals of plans: while a rollout runs, and otherwise.
    private static let (interval, longInterval): (Duration, Duration) = (.seconds(1), .seconds(5))

    /// The maximum number of concurrent rollouts of an application.
    private static let mostPlans = 100
    private static let pauseAfterFailure: Duration = .seconds(10)

    /// - Parameter say: Called with messages for people.
    init(
        _ fleet: [EtcdSettings], _ resources: SharedResources,
        say: @escaping @Sendable (String, _ application: String) -> Void
    ) {
        applications = fleet.filter { $0.rollouts != nil }
        (self.resources, self.say) = (resources, say)
    }

    /// Carries out plans until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for settings in applications {
                group.addTask { await run(settings, settings.rollouts?.checks ?? [:]) }
            }
        }
    }

    private func run(_ settings: EtcdSettings, _ checks: [String: String]) async {
        let editor: FleetEditor
        do throws(FetchProblem) { editor = try FleetEditor(settings, sharing: resources) } catch {
            return say("its rollouts are not running: \(error.message)", settings.name)
        }
        let leader = RolloutLeader(editor, by: Fleet.author) { plan in
            guard let name = plan.check else { return nil }
            // Only the name comes from etcd.
            guard let path = checks[name] else { return "no check \(name) is configured" }
            return await RolloutCheck.executable(path, name: name).run()
        } tell: { event in
            say(RolloutText(event).text, settings.name)
        }
        var carrying: [TweakKey: Task<Void, Never>] = [:]
        let ended = Ends()
        /// The last message.
        var problem: String?
        while !Task.isCancelled {
            for tweak in ended.removeAll() { carrying[tweak] = nil }
            var isRunning = false
            do throws(FleetProblem) {
                let (rollouts, strangers) = try await editor.rollouts()
                if let stranger = strangers.first, stranger != problem { say(stranger, settings.name) }
                problem = strangers.first
                let ours = rollouts.filter { isOurs($0.plan, checks) }.prefix(Self.mostPlans)
                isRunning = !ours.isEmpty
                for rollout in ours where rollout.leader == nil && carrying[rollout.plan.tweak] == nil {
                    let plan = rollout.plan
                    carrying[plan.tweak] = Task {
                        do throws(FleetProblem) { _ = try await leader.carryOut(plan) } catch {
                            if !Task.isCancelled { say(error.message, settings.name) }
                            try? await Task.sleep(for: Self.pauseAfterFailure)
                        }
                        ended.insert(plan.tweak)
                    }
                }
            } catch {
                if !Task.isCancelled, problem != error.message {
                    say("its rollouts cannot be read: \(error.message)", settings.name)
                }
                problem = error.message
            }
            try? await Task.sleep(for: isRunning ? Self.interval : Self.longInterval)
        }
        for task in carrying.values { task.cancel() }
        for task in carrying.values { await task.value }
    }

    /// Returns whether this agent may carry a plan out.
    private func isOurs(_ plan: RolloutPlan, _ checks: [String: String]) -> Bool {
        plan.state == .running && !plan.isAttended && plan.check.map { checks[$0] != nil } ?? true
    }

    /// The tweaks whose rollouts were carried out, as far as possible, since the last call.
    private final class Ends: Sendable {
        private let tweaks = Mutex<[TweakKey]>([])

        func insert(_ tweak: TweakKey) { tweaks.withLock { $0.append(tweak) } }

        func removeAll() -> [TweakKey] {
            tweaks.withLock { tweaks in
                defer { tweaks = [] }
                return tweaks
            }
        }
    }
}
#endif
