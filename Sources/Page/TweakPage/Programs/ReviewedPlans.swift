// SPDX-License-Identifier: BSD-3-Clause
import Synchronization

/// The plans under review. Each can be confirmed once, and only the last one of a program.
final class ReviewedPlans<Plan: Sendable>: Sendable {
    private let state = Mutex<(last: Int, plans: [String: (number: Int, plan: Plan)])>((0, [:]))

    /// - Returns: The name of the plan.
    func add(_ plan: Plan, for program: String) -> String {
        state.withLock { state in
            state.last += 1
            state.plans[program] = (state.last, plan)
            return "\(state.last)"
        }
    }

    /// - Returns: `nil` if it is not the last plan, or was confirmed already.
    func take(_ name: String, for program: String) -> Plan? {
        state.withLock { state in
            guard let known = state.plans[program], "\(known.number)" == name else { return nil }
            state.plans[program] = nil
            return known.plan
        }
    }
}
