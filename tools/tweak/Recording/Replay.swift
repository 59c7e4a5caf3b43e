// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords

/// Makes the steps of a recording in a program.
struct Replay {
    /// A connection to the program, with the requests that are not answered yet.
    private struct Channel {
        let program: LiveProgram
        var waiting: [RequestID: Request] = [:]
    }

    private enum Request {
        case change(ChangeTweaks)
        case reset(ResetTweaks)
        case mark(MarkHistory)
    }

    private let known: [TweakKey: TweakDeclaration]
    private let speed: Double
    /// Whether the program evaluates several changes in one request, as older libraries do not.
    private let hasChange: Bool
    /// The client that keeps values, and if there are leases, the one that holds them: a client that keeps a value ends
    /// its own lease, and one that ends has no leases left.
    private var channels: [Channel]
    private static let (keeper, holder) = (0, 1)
    /// The monitors to compare; `nil` for none.
    private(set) var monitors: ReplayedMonitors?
    /// The number of failed changes.
    private(set) var problems = 0
    /// The tweaks that do not have the value of their last change.
    private var ineffective: [TweakKey: IneffectiveValue] = [:]
    /// Whether all steps were made.
    private(set) var isComplete = false
    /// The seconds after which the program ended; `nil` if it did not.
    private(set) var endOfProgram: Double?

    private var program: LiveProgram { channels[Self.keeper].program }

    /// - Parameter monitors: The monitors that are compared. Only then the end of the program is not an error.
    init(
        _ program: LiveProgram, _ tweaks: [JSONTweak], speed: Double, monitors: ReplayedMonitors?
    ) throws(Failure) {
        (self.speed, self.monitors) = (speed, monitors)
        channels = [Channel(program: program)]
        hasChange = try program.ask(DescribeProgram()).methods?.contains(ChangeTweaks.name) ?? false
        known = Dictionary(tweaks.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
    }

    /// Makes the steps at their times, and ends all leases.
    ///
    /// - Parameter end: The time until which leases last and monitors are sampled, in seconds since the start.
    mutating func run(_ plan: ReplaySteps, until end: Double) throws(Failure) {
        if plan.hasLeases { channels.append(Channel(program: try program.again())) }
        let start = secondsOfMonotonicClock()
        monitors?.begin()
        do throws(Failure) {
            for step in plan.steps {
                try wait(until: start + step.time / speed)
                try send(step)
            }
            isComplete = true
            if plan.leavesLeases || monitors != nil { try wait(until: start + end / speed) }
            try monitors?.finish(at: end)
            for index in channels.indices { try drain(index) }
            if plan.hasLeases { try channels[Self.holder].program.endLeases() }
        } catch {
            guard monitors != nil, error.kind == .unavailable else { throw error }
            endOfProgram = secondsOfMonotonicClock() - start
        }
    }

    /// Reports the tweaks that do not have their last value, unless only leases of the replay hid it.
    func reportIneffective() throws(Failure) {
        var rest = ineffective
        for value in ineffective.values where value.lease != nil {
            if let tweak = try program.tweak(value.tweak), tweak.lease == nil { rest[value.tweak] = nil }
        }
        try program.reportIneffective(rest.isEmpty ? nil : Array(rest.values))
    }

    // MARK: Sending

    private mutating func send(_ step: ReplayStep) throws(Failure) {
        if let mark = step.mark {
            return try send(MarkHistory(name: mark), on: Self.keeper) { .mark($0) }
        }
        try change(step.kept, on: Self.keeper)
        try change(step.keptByHolder, on: Self.holder)
        try change(step.leased, until: .closed, on: Self.holder)
        let ends =
            step.ended.count > 1 && step.endsAllLeases
            ? [ResetTweaks(all: true, leases: .own)]
            : step.ended.map { ResetTweaks(tweak: $0, leases: .own) }
        for end in ends { try send(end, on: Self.holder) { .reset($0) } }
    }

    /// - Parameter end: The end of the values; `nil` to keep them.
    private mutating func change(
        _ changes: [ListHistory.Change], until end: SetDurations.End? = nil, on index: Int
    ) throws(Failure) {
        // Those made together usually have the same ramp, or none.
        for ramp in Set(changes.map(\.ramp)) {
            let made = changes.filter { $0.ramp == ramp }.map { change in
                let isReset = change.source == "\(TweakSource.binary)"
                return ChangeTweaks.Change(
                    tweak: "\(change.tweak)", value: isReset ? nil : change.newValue,
                    reset: isReset ? true : nil)
            }
            let request = ChangeTweaks(
                made, exactNames: true, allOrNothing: false,
                SetDurations(until: end, ramp: ramp.flatMap(durationOfRamp)))
            if hasChange {
                try send(request, on: index) { .change($0) }
            } else {
                note(try channels[index].program.change(request), to: request)
            }
        }
    }

    private mutating func send<Method: ControlMethod>(
        _ method: Method, on index: Int, _ request: (Method) -> Request
    ) throws(Failure) {
        // The program keeps the order of each connection only.
        for other in channels.indices where other != index { try drain(other) }
        do throws(ConnectionError) {
            let id = try channels[index].program.connection.send(method)
            channels[index].waiting[id] = request(method)
        } catch {
            throw error.failure(of: program.title)
        }
    }

    /// The time of a recorded ramp at the speed of the replay; `nil` if it is too short for one.
    private func durationOfRamp(_ seconds: Double) -> Double? {
        let limits = ControlLimits.rampDurations
        let duration = seconds / speed
        guard duration >= limits.lowerBound else { return nil }
        if duration > limits.upperBound {
            warn("a ramp takes at most \(limits.upperBound / 60) min")
        }
        return min(duration, limits.upperBound)
    }

    // MARK: Waiting

    /// Waits, and meanwhile reads answers and samples. The program answers some changes only when they are on disk.
    private mutating func wait(until time: Double) throws(Failure) {
        // The last millisecond without poll(2), which wakes up late.
        while true {
            let rest = time - secondsOfMonotonicClock() - 0.001
            guard rest > 0, isWaiting || monitors != nil else { break }
            try receive(within: rest)
        }
        let rest = time - secondsOfMonotonicClock()
        guard rest > 0 else {
            // The program reads at most 128 requests ahead of its answers.
            for index in channels.indices { try drain(index, to: ControlLimits.waitingRequests / 2) }
            return
        }
        var pause = timespec(tv_sec: Int(rest), tv_nsec: Int((rest - rest.rounded(.down)) * 1e9))
        while withUnsafeMutablePointer(to: &pause, { nanosleep($0, $0) }) != 0, errno == EINTR {}
    }

    private var isWaiting: Bool { channels.contains { !$0.waiting.isEmpty } }

    /// Waits until fewer requests than `count` are unanswered.
    private mutating func drain(_ index: Int, to count: Int = 1) throws(Failure) {
        let patience = 30.0
        var deadline = secondsOfMonotonicClock() + patience
        while channels[index].waiting.count >= count {
            let before = channels[index].waiting.count
            try receive(within: max(0, deadline - secondsOfMonotonicClock()))
            let now = secondsOfMonotonicClock()
            if channels[index].waiting.count < before { deadline = now + patience }
            guard now < deadline else { throw ConnectionError.silent.failure(of: program.title) }
        }
    }

    private mutating func receive(within seconds: Double) throws(Failure) {
        var entries = channels.map {
            pollfd(fd: $0.program.connection.descriptor, events: Int16(POLLIN), revents: 0)
        }
        if let monitors { entries.append(pollfd(fd: monitors.descriptor, events: Int16(POLLIN), revents: 0)) }
        let timeout = CInt(min(max(seconds, 0) * 1000, 60_000).rounded(.up))
        guard poll(&entries, nfds_t(entries.count), timeout) > 0 else { return }
        if monitors != nil { try monitors?.read() }
        for index in channels.indices where entries[index].revents != 0 {
            let connection = channels[index].program.connection
            do throws(ConnectionError) {
                try connection.receive()
                while let message = try connection.nextMessage() { try take(message, on: index) }
            } catch {
                throw error.failure(of: program.title)
            }
        }
    }

    private mutating func take(_ message: ProgramMessage, on index: Int) throws(ConnectionError) {
        guard case .answer(let answer) = message,
            let request = channels[index].waiting.removeValue(forKey: answer.id)
        else { return }
        let program = channels[index].program
        func read<Method: ControlMethod>(_ method: Method) throws(ConnectionError) -> Method.Answer? {
            try program.connection.answer(message, to: answer.id, of: Method.self)
        }
        do throws(ConnectionError) {
            switch request {
            case .change(let request): if let answer = try read(request) { note(answer, to: request) }
            case .reset(let request): _ = try read(request)
            case .mark(let request): _ = try read(request)
            }
            program.passOnWarnings()
        } catch .answer(let error) {
            report(error.message)
        }
    }

    private mutating func note(_ answer: ChangeTweaks.Answer, to request: ChangeTweaks) {
        for changed in answer.changes {
            ineffective[changed.tweak] = nil
            if changed.clampedTo != nil { report(clamped: changed.tweak, request) }
        }
        for value in answer.ineffective ?? [] { ineffective[value.tweak] = value }
        for refusal in answer.refused { report(refusal.message) }
    }

    private mutating func report(_ problem: String) {
        warn(problem)
        problems += 1
    }

    private func report(clamped tweak: TweakKey, _ request: ChangeTweaks) {
        let value = request.changes.last { $0.tweak == "\(tweak)" }?.value
        warn(
            outsideLimits(
                "\(tweak)" + (value.map { ": \($0.summary)" } ?? ""),
                allowed: known[tweak]?.allowed ?? "other values"))
    }
}
