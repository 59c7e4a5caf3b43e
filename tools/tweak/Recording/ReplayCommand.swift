// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Make the changes of a recording again, at their times.",
        discussion: """
            The values are set as by tweak set, and kept; what was reset is reset, and what changed gradually does so again. \
            Changes made together are made together. Values that the program clamps or refuses and tweaks that it does not \
            have are reported, and the rest is done.
            """)

    @Option(help: "The speed: 2 is twice as fast, 0.5 half as fast.")
    var speed = 1.0

    @Option(help: "Only replay this many seconds of the recording.")
    var until: Double?

    @Argument(help: "A file of tweak record.", completion: .file())
    var file: String

    @OptionGroup var target: ProcessOptions

    func validate() throws {
        guard speed > 0, speed.isFinite else { throw ValidationError("The speed is more than 0.") }
        if let until, !(until >= 0) { throw ValidationError("The time is at least 0 seconds.") }
    }

    func run() throws {
        try target.forEachRunning { program throws(Failure) in
            let recorded = try RecordedChanges(path: file)
            var replay = try Replay(program, try program.tweaks(), speed: speed)
            try replay.run(steps(of: recorded, in: &replay))
            try program.reportIneffective(replay.ineffective.isEmpty ? nil : Array(replay.ineffective.values))
            if replay.problems > 0 {
                throw Failure("\(counted(replay.problems, "change was", "changes were")) not made", .invalid)
            }
        }
    }

    /// The changes by time since the start; changes made together are one step.
    private func steps(of recorded: RecordedChanges, in replay: inout Replay) -> [Replay.Step] {
        let start = recorded.program?.monotonicTime ?? recorded.changes.first?.monotonicTime ?? 0
        var steps: [Replay.Step] = []
        var lastNumber = 0
        for change in recorded.changes {
            let time = max(0, change.monotonicTime - start)
            if let until, time > until { continue }
            guard replay.has(change) else { continue }
            if change.number == lastNumber, change.number > 0, let last = steps.indices.last {
                steps[last].changes.append(change)
            } else {
                steps.append(Replay.Step(time: time, changes: [change]))
            }
            lastNumber = change.number
        }
        return steps
    }
}

/// Sends the changes of a recording to a program.
private struct Replay {
    /// Changes that are made together.
    struct Step {
        /// The seconds since the start.
        let time: Double
        var changes: [ListHistory.Change]
    }

    private let program: LiveProgram
    private let known: [TweakKey: TweakDeclaration]
    private let speed: Double
    /// Whether the program evaluates several changes in one request, as older libraries do not.
    private let hasChange: Bool
    /// The requests without an answer yet.
    private var waiting: [RequestID: ChangeTweaks] = [:]
    private var missing: Set<TweakKey> = []
    /// The number of failed changes.
    private(set) var problems = 0
    /// The tweaks that do not have the value of their last change.
    private(set) var ineffective: [TweakKey: IneffectiveValue] = [:]

    init(_ program: LiveProgram, _ tweaks: [JSONTweak], speed: Double) throws(Failure) {
        (self.program, self.speed) = (program, speed)
        hasChange = try program.ask(DescribeProgram()).methods?.contains(ChangeTweaks.name) ?? false
        known = Dictionary(tweaks.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
    }

    /// Returns whether the program has the tweak of a change, and otherwise warns once.
    mutating func has(_ change: ListHistory.Change) -> Bool {
        // The value was too long for the history, or its feature was removed.
        guard change.isShortened != true, change.newValue != .null else {
            warn("\(change.tweak): the recording does not have the value of change \(change.number)")
            problems += 1
            return false
        }
        if known[change.tweak] != nil { return true }
        if missing.insert(change.tweak).inserted { warn("\(change.tweak): the program has no such tweak") }
        problems += 1
        return false
    }

    mutating func run(_ steps: [Step]) throws(Failure) {
        let start = secondsOfMonotonicClock()
        for step in steps {
            try wait(until: start + step.time / speed)
            try send(step.changes)
        }
        while !waiting.isEmpty { try receive(within: 30) }
    }

    /// Waits, and meanwhile reads answers. The program answers some changes only when they are on disk.
    private mutating func wait(until time: Double) throws(Failure) {
        // The last millisecond without poll(2), which wakes up late.
        while true {
            let rest = time - secondsOfMonotonicClock() - 0.001
            guard rest > 0, !waiting.isEmpty else { break }
            try receive(within: rest)
        }
        let rest = time - secondsOfMonotonicClock()
        guard rest > 0 else {
            // The program reads at most 128 requests ahead of its answers.
            while waiting.count >= ControlLimits.waitingRequests / 2 { try receive(within: 30) }
            return
        }
        var pause = timespec(tv_sec: Int(rest), tv_nsec: Int((rest - rest.rounded(.down)) * 1e9))
        while withUnsafeMutablePointer(to: &pause, { nanosleep($0, $0) }) != 0, errno == EINTR {}
    }

    private mutating func send(_ changes: [ListHistory.Change]) throws(Failure) {
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
                SetDurations(ramp: ramp.flatMap(durationOfRamp)))
            guard hasChange else {
                note(try program.change(request), to: request)
                continue
            }
            do throws(ConnectionError) {
                waiting[try program.connection.send(request)] = request
            } catch {
                throw error.failure(of: program.title)
            }
        }
    }

    /// The time of a recorded ramp at the speed of the replay; `nil` if it is too short for one.
    private func durationOfRamp(_ seconds: Double) -> Double? {
        let limits = ControlLimits.rampDurations
        let duration = seconds / speed
        guard duration >= limits.lowerBound else { return nil }
        if duration > limits.upperBound {
            warn("a gradual change takes at most \(limits.upperBound / 60) min")
        }
        return min(duration, limits.upperBound)
    }

    private mutating func receive(within seconds: Double) throws(Failure) {
        var entry = pollfd(fd: program.connection.descriptor, events: Int16(POLLIN), revents: 0)
        let result = poll(&entry, 1, CInt(min(seconds * 1000, 60_000).rounded(.up)))
        guard result > 0 else {
            if seconds >= 30, result == 0 { throw ConnectionError.silent.failure(of: program.title) }
            return
        }
        do throws(ConnectionError) {
            try program.connection.receive()
            while let message = try program.connection.nextMessage() { try take(message) }
        } catch {
            throw error.failure(of: program.title)
        }
    }

    private mutating func take(_ message: ProgramMessage) throws(ConnectionError) {
        guard case .answer(let answer) = message, let request = waiting.removeValue(forKey: answer.id) else {
            return
        }
        do throws(ConnectionError) {
            guard
                let answer = try program.connection.answer(message, to: answer.id, of: ChangeTweaks.self)
            else { return }
            note(answer, to: request)
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
