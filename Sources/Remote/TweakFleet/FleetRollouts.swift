// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandCompletion
import CommandSupport
import Dispatch
import Foundation
package import RemoteValues
import TweakClient
import TweakFormats
import TweakJSON
import TweakRecords
import TweakSystem

extension FleetRollout { func perform() throws(Failure) { try Fleet.rollOut(self) } }
extension FleetRollouts { func perform() throws(Failure) { try Fleet.rollouts(self) } }
extension FleetPause { func perform() throws(Failure) { try Fleet.pause(self) } }
extension FleetResume { func perform() throws(Failure) { try Fleet.resume(self) } }
extension FleetAbort { func perform() throws(Failure) { try Fleet.abort(self) } }

extension Fleet {
    // MARK: - Planning

    static func rollOut(_ options: FleetRollout) throws(Failure) {
        let name = try TweakName(options.feature)
        let filters = try options.filters.map { (text) throws(Failure) in try self.filters(text) }
        let isNew = try isNewEnvironment(options.fleet, options.creation)
        let declared = options.isForced ? nil : try published(options.fleet)
        let start = try options.at.map { (text) throws(Failure) in try self.start(text) }
        let editor = try editor(options.fleet)
        let by = author(options.author, editor)
        let plan = try awaiting { () async throws(Failure) in
            do throws(FleetProblem) {
                let contents = try await editor.contents()
                let known = (declared?.tweaks ?? []).union(contents.values.map(\.tweak))
                let tweak = try key(ofFeature: name, known)
                let value = try newValue(
                    options.value, of: tweak, contents, declared, of: options.fleet.application,
                    isForced: options.isForced)
                let old = try? contents[tweak]?.value.get()
                if let old, old.value == value, old.filters == nil {
                    throw .impossible("\(tweak): all hosts have this value already")
                }
                let plan: RolloutPlan
                do throws(FormatError) {
                    plan = try RolloutPlan(
                        of: tweak, value, filters: filters, steps: options.steps.percentages,
                        every: Int(options.every.seconds.rounded(.up)), check: options.check,
                        isAttended: options.attendance.isAttended, by: by, why: options.author.why ?? "",
                        at: timeText(.now), start: start.map { timeText($0) })
                } catch {
                    throw .impossible("\(error)")
                }
                if old?.otherwise != nil {
                    throw .impossible(
                        "\(tweak): another rollout has not reached all hosts; set the value first")
                }
                let seconds = start.map { Int($0.timeIntervalSinceNow.rounded(.up)) }
                try await editor.add(plan, startIn: seconds)
                return plan
            } catch {
                throw Failure(error)
            }
        }
        if isNew { tellOfNewEnvironment(options.fleet) }
        if start != nil || !plan.isAttended {
            try show(plan, nil, options.fleet, nextIn: start.map { max(0, Int($0.timeIntervalSinceNow)) })
            fflush(nil)
        }
        guard plan.isAttended else { return try end(editor) }
        try attend(plan, options.attendance, options.fleet, editor)
    }

    /// Parses the time of the first step.
    private static func start(_ text: String) throws(Failure) -> Date {
        if let time = instant(text) {
            let date = Date(timeIntervalSince1970: Double(time.components.seconds))
            guard date > .now else {
                throw Failure("--at: \(text) has passed; without --at the rollout begins now", .usage)
            }
            return date
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.count == 2 ? Int(part) : nil }
        if parts.count == 2, numbers.count == 2, 0..<24 ~= numbers[0], 0..<60 ~= numbers[1],
            let date = Calendar(identifier: .gregorian).nextDate(
                after: .now, matching: DateComponents(hour: numbers[0], minute: numbers[1]),
                matchingPolicy: .nextTime)
        {
            return date
        }
        throw Failure(
            "--at: \"\(text)\" is not a time; write it as 22:30 or as 2026-11-25T22:30:00Z", .usage)
    }

    private static func timeText(_ date: Date) -> String { date.ISO8601Format() }

    private static func end(_ editor: FleetEditor) throws(Failure) {
        try awaiting { () async throws(Failure) in await editor.end() }
    }

    // MARK: - Showing

    /// The rollouts that end when somebody else changes their values; none if they cannot be read.
    static func sensitiveRollouts(
        _ options: FleetOptions, _ situation: FleetSituation?
    ) -> [RolloutPlan] {
        let found =
            situation?.plans
            ?? (try? asking(options) { (editor) async throws(FleetProblem) in try await editor.rollouts() })?
            .rollouts.map(\.plan)
        return found?.filter { $0.done > 0 && !$0.state.isEnd } ?? []
    }

    static func rollouts(_ options: FleetRollouts) throws(Failure) {
        let (forms, strangers) = try asking(options.fleet) { (editor) async throws(FleetProblem) in
            let (rollouts, strangers) = try await editor.rollouts()
            var forms: [RolloutForm] = []
            for rollout in rollouts {
                let seconds =
                    rollout.plan.state == .running ? await editor.secondsToStep(of: rollout) ?? 0 : nil
                forms.append(RolloutForm(rollout.plan, leader: rollout.leader?.by, nextIn: seconds))
            }
            return (forms, strangers)
        }
        warn(strangers)
        switch options.fleet.format {
        case .json: try failing { try printJSON(["rollouts": forms]) }
        case .table:
            guard !forms.isEmpty else {
                warnIfUnknown(options.fleet)
                return print(printable("\(options.fleet.application): no rollouts"))
            }
            let table = TextTable(
                header: [
                    "TWEAK", "VALUE", "STEP", "SHARE", "STATE", "NEXT", "LEADER", "BY", "WHY", "REASON",
                ],
                rows: forms.map(\.row))
            print(table.text)
        }
    }

    /// Prints a plan, and the change of the value if there was one.
    ///
    /// - Parameter nextIn: The seconds until the first step; `nil` if it is due, or if one was made.
    private static func show(
        _ plan: RolloutPlan, _ change: FleetChange?, _ options: FleetOptions, nextIn: Int? = nil
    ) throws(Failure) {
        switch options.format {
        case .json where plan.isAttended: try failing { try printJSONLine(RolloutForm(plan, nextIn: nextIn)) }
        case .json: try failing { try printJSON(RolloutForm(plan, nextIn: nextIn, change: change)) }
        case .table:
            let time = nextIn.map { ", in \(durationText(Double($0)))" } ?? ""
            print(printable(RolloutText(.moved(plan, change)).text + time))
        }
    }

    // MARK: - Changing

    static func pause(_ options: FleetPause) throws(Failure) {
        let rollout = options.rollout
        try change(rollout) { reason, _ in { plan, _ in plan.paused(because: reason) } }
    }

    static func abort(_ options: FleetAbort) throws(Failure) {
        let fleet = options.rollout.fleet
        if !options.isForced {
            try checkGoingBack(fleet, TweakName(options.rollout.feature), published(fleet))
        }
        try change(options.rollout) { reason, _ in
            { plan, found in plan.aborted(found, because: reason) }
        }
    }

    static func resume(_ options: FleetResume) throws(Failure) {
        let rollout = options.rollout
        let name = try TweakName(rollout.feature)
        let found = try asking(rollout.fleet) { (editor) async throws(FleetProblem) in
            try await self.rollout(name, editor)
        }
        let (plan, isAttended) = (found.plan, options.attendance.isAttended)
        guard !plan.state.isEnd else {
            throw Failure("\(plan.tweak): the rollout is \(plan.state.rawValue)", .invalid)
        }
        guard plan.isAttended || !isAttended else {
            throw Failure("\(plan.tweak): agents run this rollout", .invalid)
        }
        guard !plan.isAttended || isAttended || found.leader != nil else {
            throw Failure(
                "\(plan.tweak): no process is running it; add --attend or --until-failing", .usage)
        }
        if plan.state == .paused || !isAttended {
            try change(rollout) { reason, hosts in
                { plan, _ in
                    plan.resumed(
                        because: "resumed by \(reason)", silent: plan.hosts(among: hosts).silent)
                }
            }
        }
        guard isAttended else { return }
        try attend(plan, options.attendance, rollout.fleet, try editor(rollout.fleet))
    }

    private typealias Transition =
        @Sendable (RolloutPlan, RolloutPlan.Found) -> RolloutPlan.Transition?

    /// Throws if a build refuses the value before a rollout, which the abortion would restore.
    private static func checkGoingBack(
        _ options: FleetOptions, _ name: TweakName, _ declared: FleetDeclarations
    ) throws(Failure) {
        try asking(options) { (editor) async throws(FleetProblem) in
            let plan = try await rollout(name, editor).plan
            guard !plan.state.isEnd, plan.done > 0, let before = plan.before else { return }
            let value = FleetValue(before.value, filters: before.filters)
            try check(value, of: plan.tweak, try await editor.contents(), declared, of: options.application)
        }
    }

    /// Changes a plan, and prints it.
    ///
    /// - Parameter make: Makes the transition, given author and reason as text and the reports of hosts.
    private static func change(
        _ options: RolloutArguments, _ make: @escaping @Sendable (String, [HostReport]) -> Transition
    ) throws(Failure) {
        let name = try TweakName(options.feature)
        let done = try asking(options.fleet) { (editor) async throws(FleetProblem) in
            let by = author(options.author, editor)
            let reason = by + (options.author.why.map { ": \($0)" } ?? "")
            let tweak = try await rollout(name, editor).plan.tweak
            let hosts = (try? await editor.hosts()) ?? []
            return try await editor.change(rolloutOf: tweak, by: by, make(reason, hosts))
        }
        guard let (plan, change) = done else { return showNothing(options.fleet) }
        try show(plan, change, options.fleet)
    }

    /// The rollout of a tweak by its name, which may be short.
    private static func rollout(
        _ name: TweakName, _ editor: FleetEditor
    ) async throws(FleetProblem) -> StoredRollout {
        let (rollouts, strangers) = try await editor.rollouts()
        let tweak = try key(ofFeature: name, Swift.Set(rollouts.map(\.plan.tweak)))
        guard let found = rollouts.first(where: { $0.plan.tweak == tweak }) else {
            throw .impossible("\(tweak): no rollout", details: strangers)
        }
        return found
    }

    // MARK: - Attending

    /// Carries a rollout out until it ends. A signal pauses it.
    private static func attend(
        _ plan: RolloutPlan, _ attendance: RolloutAttendance, _ options: FleetOptions, _ editor: FleetEditor
    ) throws(Failure) {
        let check = attendance.untilFailing.map { RolloutCheck.command($0, every: plan.every) }
        let format = options.format
        let leader = RolloutLeader(editor, by: author) { _ in
            await check?.run()
        } tell: { event in
            switch (event, format) {
            case (.problem(let problem), _): printMessage(problem, of: command)
            case (.moved(let plan, let change), .json): try? printJSONLine(RolloutForm(plan, change: change))
            case (.moved, .table): print(printable(RolloutText(event).text))
            }
            fflush(nil)
        }
        let (last, number) = try awaiting { () async throws(Failure) in
            let interruption = Interruption()
            let carrying = Task { () -> Result<RolloutPlan?, FleetProblem> in
                do throws(FleetProblem) { return .success(try await carryOut(plan, leader)) } catch {
                    return .failure(error)
                }
            }
            let number = await interruption.caught(during: carrying)
            do throws(FleetProblem) {
                var last = try await carrying.value.get()
                if number != nil, last != nil {
                    let paused = try await editor.change(rolloutOf: plan.tweak, by: author) { plan, _ in
                        plan.paused(because: "interrupted at \(author)")
                    }
                    last = paused?.plan ?? last
                }
                await editor.end()
                return (last, number)
            } catch {
                await editor.end()
                throw Failure(error)
            }
        }
        guard let last else {
            throw Failure("\(plan.tweak): another process is running it", .busy)
        }
        if let number {
            throw Failure(
                "\(plan.tweak): the rollout is \(last.state.rawValue); tweak fleet resume continues it, "
                    + "and tweak fleet abort rolls it back", .busy, exitCode: 128 + number)
        }
        guard last.state == .finished else {
            throw Failure(
                "\(plan.tweak): the rollout was \(last.state.rawValue)"
                    + (last.reason.map { ": \($0)" } ?? ""),
                .negative)
        }
    }

    /// The number of attempts, a second apart, to take over from a killed process, whose lease may still last.
    private static let attempts = 20

    private static func carryOut(
        _ plan: RolloutPlan, _ leader: RolloutLeader
    ) async throws(FleetProblem) -> RolloutPlan? {
        for _ in 0..<attempts where !Task.isCancelled {
            if let last = try await leader.carryOut(plan, isStaying: true) { return last }
            try? await Task.sleep(for: .seconds(1))
        }
        return nil
    }
}

/// Signals that cancel this process's task and then end it.
private struct Interruption {
    private let signals: AsyncStream<CInt>
    private let continuation: AsyncStream<CInt>.Continuation
    private let sources: [any DispatchSourceSignal]

    init() {
        let (signals, continuation) = AsyncStream.makeStream(of: CInt.self)
        (self.signals, self.continuation) = (signals, continuation)
        // Ignored signals stay ignored, as with nohup.
        sources = [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) }.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
    }

    /// Waits for the end of a task, which a signal cancels.
    ///
    /// - Returns: The signal; `nil` if none came.
    func caught<Value: Sendable>(during task: Task<Value, Never>) async -> CInt? {
        let waiting = Task { [signals] () -> CInt? in
            for await number in signals {
                task.cancel()
                return number
            }
            return nil
        }
        _ = await task.value
        continuation.finish()
        let number = await waiting.value
        withExtendedLifetime(sources) {}
        return number
    }
}

/// The message for an event of a rollout.
package struct RolloutText {
    package let text: String

    package init(_ event: RolloutLeader.Event) {
        switch event {
        case .problem(let problem): text = problem
        case .moved(let plan, let change):
            let step = plan.done == 0 ? "no step yet" : "step \(plan.done) of \(plan.steps.count)"
            let share = plan.percentage.map { ", \(RolloutPlan.text($0))" } ?? ""
            let start =
                plan.done == 0 && !plan.state.isEnd ? plan.start.map { ", begins at \($0)" } ?? "" : ""
            let reason = plan.reason.map { ": \($0)" } ?? ""
            let revision = change.map { " (revision \($0.revision))" } ?? ""
            text = "\(plan.tweak): \(plan.state), \(step)\(share)\(start)\(reason)\(revision)"
        }
    }
}

/// A rollout in JSON. Scripts rely on its keys.
private struct RolloutForm: Encodable {
    let tweak: TweakKey
    let value: TweakValue
    let `for`: JSONValue?
    let steps: [Double]
    let every, done: Int
    let percentage: Double?
    let state: String
    let reason: String?
    let isAttended: Bool
    let check, leader: String?
    let nextIn: Int?
    let by, why, at: String
    let start: String?
    let change: FleetChangeForm?

    private enum CodingKeys: String, CodingKey {
        case tweak, value, `for`, steps, every, done, percentage, state, reason, check, leader, nextIn, by,
            why,
            at, start, change
        case isAttended = "attended"
    }

    init(
        _ plan: RolloutPlan, leader: String? = nil, nextIn: Int? = nil, change: FleetChange? = nil
    ) {
        (tweak, value, `for`) = (plan.tweak, plan.value, plan.filters.map { .object($0) })
        (steps, every, done, percentage) = (plan.steps, plan.every, plan.done, plan.percentage)
        (state, reason) = (plan.state.rawValue, plan.reason)
        (isAttended, check, self.leader, self.nextIn) = (plan.isAttended, plan.check, leader, nextIn)
        (by, why, at, start) = (plan.by, plan.why, plan.at, plan.start)
        self.change = change.map { FleetChangeForm($0) }
    }

    var row: [String] {
        // Nobody makes its steps.
        let isOrphan = state == "running" && leader == nil
        return [
            "\(tweak)", "\(value)", "\(done)/\(steps.count)",
            percentage.map { RolloutPlan.text($0) } ?? "0 %",
            isOrphan ? isAttended ? "unattended" : "no agent yet" : state,
            nextIn.map { seconds in
                let time = done == 0 ? start.map { "\($0), " } ?? "" : ""
                return seconds > 0 ? "\(time)in \(durationText(Double(seconds)))" : "now"
            } ?? "",
            leader ?? "", by, why, reason ?? "",
        ]
    }
}
#endif
