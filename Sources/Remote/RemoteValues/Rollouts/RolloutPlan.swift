// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import TweakFormats
package import TweakJSON
package import TweakRecords

/// The plan and the progress of a rollout: a value for more and more hosts.
///
/// A plan is under `plans/Category/Collection/Name`, so a tweak has at most one:
///
///     { "value": true, "steps": [1, 10, 50, 100], "every": 600, "state": "running", "done": 2, "by": "ann", … }
///
/// Its functions only compute changes. A transition is one transaction, which requires that the plan is as it was read,
/// and writes plan and value together. So the process that carries a plan out can be killed at any point: the next one
/// finds the state either before or after a step.
package struct RolloutPlan: Hashable, Sendable {
    package enum State: String, Sendable {
        /// It is in progress, or waits for its start.
        case running
        /// It makes no steps until it is resumed.
        case paused
        /// All steps were made, and nothing failed after the last one.
        case finished
        /// The value before was restored.
        case aborted
        /// The value was changed otherwise, and is left as it is.
        case stopped

        /// Whether there is nothing more to do.
        package var isEnd: Bool { self != .running && self != .paused }
    }

    package let tweak: TweakKey
    package let value: TweakValue
    /// The hosts and programs of which the steps are percentages; `nil` for all.
    package let filters: JSONObject?
    /// The percentages of hosts, in ascending order.
    package let steps: [Double]
    /// The seconds between steps, and after the last one.
    package let every: Int
    /// The name of a check in the configuration of the agent that carries the plan out.
    package let check: String?
    /// Whether a command in the foreground carries it out instead of an agent.
    package let isAttended: Bool
    /// The author.
    package let by: String
    package let why: String
    /// The time of planning, in the format of RFC 3339.
    package let at: String
    /// The planned time of the first step, in the format of RFC 3339; `nil` if that was at once.
    package let start: String?

    package private(set) var state = State.running
    /// The reason for the state, for people.
    package private(set) var reason: String?
    /// The number of steps made.
    package private(set) var done = 0
    /// The value before the first step; `nil` if there was none.
    package private(set) var before: FleetValue.Alternative?
    /// The number of the change that made the first step; `nil` before it.
    package private(set) var firstChange: Int?
    /// The number of hosts that were silent when somebody resumed the plan.
    package private(set) var silent = 0

    package static let shares: ClosedRange<Double> = 0...100
    package static let mostSteps = 100
    /// The seconds between steps: up to 30 days.
    package static let pauses = 1...2_592_000
    private static let percentage = "percentage"
    private static let salt = "salt"

    package init(
        of tweak: TweakKey, _ value: TweakValue, filters: JSONObject?, steps: [Double], every: Int,
        check: String? = nil, isAttended: Bool = false, by: String, why: String, at: String,
        start: String? = nil
    ) throws(FormatError) {
        (self.tweak, self.value, self.filters) = (tweak, value, filters)
        (self.steps, self.every, self.check, self.isAttended) = (steps, every, check, isAttended)
        (self.by, self.why, self.at, self.start) = (by, why, at, start)
        try validate()
    }

    private func validate() throws(FormatError) {
        let place = JSONPlace<FormatError>(path: tweak.description)
        guard 1...Self.mostSteps ~= steps.count, steps.first ?? 0 > 0,
            steps.allSatisfy({ Self.shares ~= $0 }), zip(steps, steps.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            throw place.inside("steps").invalid(
                "1 to \(Self.mostSteps) ascending percentages above 0 and up to 100 are expected")
        }
        if filters?[Self.percentage] != nil {
            throw place.inside("for").inside(Self.percentage).invalid("the steps are the percentages")
        }
        if let check, !Self.isCheck(check) {
            throw place.inside("check").invalid("\"\(check)\" is not the name of a check")
        }
        _ = try FleetValue(json: share(100).json(), of: tweak)
        try share(100).checkFilters(for: tweak)
    }

    /// Returns whether a text can be the name of a check: 1 to 100 letters, digits, periods, hyphens and underscores.
    package static func isCheck(_ name: String) -> Bool {
        1...100 ~= name.utf8.count
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
                    || [".", "-", "_"].contains($0)
            }
    }

    // MARK: - Values

    /// The value for a share of the hosts. Others keep the one before.
    private func share(_ percentage: Double) -> FleetValue {
        var filters = filters ?? [:]
        if percentage < 100 {
            filters[Self.percentage] = .scalar(
                Int128(exactly: percentage).map { .integer($0) } ?? .double(percentage))
        } else {
            filters[Self.salt] = nil
        }
        guard !filters.isEmpty else { return FleetValue(value) }
        return FleetValue(value, filters: filters, otherwise: before)
    }

    /// The value after the steps made so far; `nil` before the first one.
    package var current: FleetValue? { done == 0 ? nil : share(steps[done - 1]) }

    /// The share of hosts after the steps made so far; `nil` before the first one.
    package var percentage: Double? { done == 0 ? nil : steps[done - 1] }

    /// A percentage for people.
    package static func text(_ percentage: Double) -> String {
        (Int(exactly: percentage).map { "\($0)" } ?? "\(percentage)") + " %"
    }

    // MARK: - Transitions

    /// The changes that one transaction makes.
    package struct Transition: Hashable, Sendable {
        package var plan: RolloutPlan
        /// The tweak's new value, which may be none, and the reason; `nil` to leave the value.
        package var change: Change?
        /// The seconds until the next step is due; `nil` to leave the time as it is.
        package var wait: Int?

        package struct Change: Hashable, Sendable {
            package let value: FleetValue?
            package let why: String
        }
    }

    /// The tweak's value in etcd.
    package struct Found: Sendable {
        /// `nil` if there is none.
        let value: Result<FleetValue, FormatError>?
        /// The reason of the tweak's kill; `nil` if there is none.
        let kill: String?

        package init(_ value: Result<FleetValue, FormatError>?, kill: String? = nil) {
            (self.value, self.kill) = (value, kill)
        }
    }

    /// The next step, or the end after the last one.
    ///
    /// - Returns: `nil` unless the plan is running.
    package func next(_ found: Found) -> Transition? {
        guard state == .running else { return nil }
        if let kill = found.kill { return Transition(plan: with(.paused, kill)) }
        var plan = self
        if done == 0 {
            do throws(FormatError) {
                guard try plan.note(found.value?.get()) else {
                    let reason = "another rollout has not reached all hosts; set the value first"
                    return Transition(plan: with(.stopped, reason))
                }
            } catch {
                return Transition(plan: with(.stopped, "the previous value is invalid: \(error)"))
            }
        } else if let stopped = stopped(found) {
            return stopped
        }
        guard done < steps.count else { return Transition(plan: with(.finished, nil)) }
        (plan.done, plan.reason) = (done + 1, nil)
        let share = Self.text(steps[done])
        let change = Transition.Change(
            value: plan.current, why: "\(why) (step \(plan.done) of \(steps.count): \(share))")
        return Transition(plan: plan, change: change, wait: every)
    }

    /// Notes the value before the first step.
    ///
    /// - Returns: `false` if it cannot be kept for hosts that do not have the new one yet.
    private mutating func note(_ value: FleetValue?) throws(FormatError) -> Bool {
        before = value.map { FleetValue.Alternative($0.value, filters: $0.filters) }
        return value?.otherwise == nil
    }

    /// The plan without more steps, back at the value before.
    ///
    /// - Returns: `nil` if the plan has ended already.
    package func aborted(_ found: Found, because reason: String) -> Transition? {
        guard !state.isEnd else { return nil }
        guard done > 0 else { return Transition(plan: with(.aborted, reason)) }
        if let stopped = stopped(found) { return stopped }
        let value = before.map { FleetValue($0.value, filters: $0.filters) }
        let change = Transition.Change(value: value, why: "\(why) (aborted: \(reason))")
        return Transition(plan: with(.aborted, reason), change: change)
    }

    /// - Returns: `nil` unless the plan is running.
    package func paused(because reason: String) -> Transition? {
        state == .running ? Transition(plan: with(.paused, reason)) : nil
    }

    /// The plan with its next step after a full pause; before the first step at the planned time.
    ///
    /// - Parameter silent: The number of silent hosts, which do not pause it again.
    /// - Returns: `nil` unless the plan is paused.
    package func resumed(because reason: String, silent: Int = 0) -> Transition? {
        guard state == .paused else { return nil }
        var plan = with(.running, reason)
        plan.silent = silent
        return Transition(plan: plan, wait: done > 0 ? every : nil)
    }

    /// Notes the number of a change that made a step.
    mutating func note(_ change: Int) { firstChange = firstChange ?? change }

    /// The end of a plan whose value somebody else has changed; `nil` if the value is that of the last step.
    private func stopped(_ found: Found) -> Transition? {
        let value = try? found.value?.get()
        guard value?.content != current?.content else { return nil }
        let who = value.map { $0.reason(in: .values) } ?? (found.value == nil ? "removed" : "made invalid")
        return Transition(plan: with(.stopped, "the value was \(who)"))
    }

    private func with(_ state: State, _ reason: String?) -> RolloutPlan {
        var plan = self
        (plan.state, plan.reason) = (state, reason)
        return plan
    }

    // MARK: - JSON

    /// Parses a plan. Unknown members are refused, because they may restrict what is to be done.
    ///
    /// - Throws: ``FormatError`` with the place.
    package init(json: [UInt8], of tweak: TweakKey) throws(FormatError) {
        let path = "the rollout of \(tweak)"
        var members = try Members(try JSONParser.value(of: json, at: path), JSONPlace(path: path))
        self.tweak = tweak
        let main = try FleetValue.Alternative(consuming: &members)
        (value, filters) = (main.value, main.filters)
        steps = try members.array("steps", "an array of percentages") { (place, value) throws(FormatError) in
            try place.number(value, Self.shares, "a percentage")
        }
        every = try members.required("every", members.integer("every", Self.pauses), "a number of seconds")
        check = try members.text("check")
        isAttended = try members.flag("attended") ?? false
        (by, why) = (try members.anyText("by") ?? "", try members.anyText("why") ?? "")
        (at, start) = (try members.anyText("at") ?? "", try members.anyText("start"))
        let name = try members.required("state", members.text("state"), "the state")
        guard let state = State(rawValue: name) else {
            throw members.invalid("state", "unknown state \"\(name)\"")
        }
        self.state = state
        reason = try members.anyText("reason")
        done = try members.integer("done", 0...steps.count) ?? 0
        firstChange = try members.integer("firstChange", 1...Int.max)
        silent = try members.integer("silent", 0...Int.max) ?? 0
        if var before = try members.object("before") {
            self.before = try FleetValue.Alternative(consuming: &before)
            try before.end()
        }
        try members.end()
        try validate()
    }

    package func json() -> [UInt8] {
        var members = FleetValue.Alternative(value, filters: filters).content
        members["steps"] = .array(steps.map { .scalar(.double($0)) })
        members["every"] = .scalar(.integer(Int128(every)))
        if isAttended { members["attended"] = .scalar(.bool(true)) }
        members["state"] = .scalar(.string(state.rawValue))
        members["done"] = .scalar(.integer(Int128(done)))
        if let firstChange { members["firstChange"] = .scalar(.integer(Int128(firstChange))) }
        if silent > 0 { members["silent"] = .scalar(.integer(Int128(silent))) }
        if let before { members["before"] = .object(before.content) }
        for (name, text) in [
            ("check", check), ("by", by), ("why", why), ("at", at), ("start", start), ("reason", reason),
        ] {
            if let text { members[name] = .scalar(.string(text)) }
        }
        return JSONValue.object(members).json()
    }
}
#endif
