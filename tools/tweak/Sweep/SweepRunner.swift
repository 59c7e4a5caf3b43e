// SPDX-License-Identifier: BSD-3-Clause
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSearch

/// Tries the points of a sweep in a program. The values are leased, so that they are restored however this command ends.
struct SweepRunner {
    let program: any Program
    let axes: [SearchAxis]
    private(set) var sweep: Sweep
    var watch: SweepWatch
    var measurement: any SweepMeasurement
    /// The time since the start of the sweep.
    private let start = ContinuousClock.now

    /// The timeout for values that wait for a gate.
    private static let gatePatience: Duration = .seconds(2)

    init(
        _ program: any Program, _ axes: [SearchAxis], _ sweep: Sweep, _ watch: SweepWatch,
        _ measurement: any SweepMeasurement
    ) {
        (self.program, self.axes, self.sweep) = (program, axes, sweep)
        (self.watch, self.measurement) = (watch, measurement)
    }

    /// Measures until the sweep has ended.
    ///
    /// - Parameter report: Called with each measurement.
    /// - Throws: ``Failure`` if the sweep cannot go on: a signal has come, a guard is breached, or the program or its
    ///   reference cannot be measured. The values are still leased.
    mutating func run(_ report: (Trials.Measurement, Sweep) throws(Failure) -> Void) throws(Failure) {
        var hasFailed = false
        while let (purpose, point) = sweep.next() {
            let values = values(of: point)
            // Before anything is changed.
            try watch.check()
            try hold(values)
            let result = try measurement.measure(values, &watch)
            try checkForks()
            if case .failed(let reason) = result {
                if purpose == .reference, sweep.needsReference {
                    throw Failure("with the values before the sweep, \(reason)", .failed)
                }
                if !hasFailed { warn("\(text(of: point)): \(reason)") }
                hasFailed = true
            }
            sweep.add(result.value, at: (ContinuousClock.now - start) / .seconds(1))
            if let last = sweep.trials.measurements.last { try report(last, sweep) }
        }
    }

    /// Restores the values.
    func release() throws(Failure) {
        (program as? MemoryProgram)?.endLeases()
        try (program as? LiveProgram)?.endLeases()
    }

    func values(of point: SearchPoint) -> OverridesDocument {
        var values = OverridesDocument()
        for (axis, value) in zip(axes, point.values) { values.set(value, for: axis.tweak.key) }
        return values
    }

    /// A point for people: `Gain=2.5 Mode=fast`.
    func text(of point: SearchPoint) -> String {
        zip(axes, point.values).map { "\($0.tweak.key.name)=\($1)" }.joined(separator: " ")
    }

    /// Leases values in the program and its forks, if it is running, and waits until they take effect.
    private mutating func hold(_ values: OverridesDocument) throws(Failure) {
        guard program.pid != nil else { return }
        var leased = values
        for axis in axes where axis.tweak.needsRestart { leased.set(nil, for: axis.tweak.key) }
        guard !leased.isEmpty else { return }
        // The guard process of values in memory restores those first.
        (program as? MemoryProgram ?? (program as? LiveProgram)?.adopted)?.endLeases()
        let answer = try program.apply(
            leased, resettingOthers: false, allOrNothing: true, SetDurations(until: .closed))
        guard answer.problems.isEmpty else {
            throw Failure("the values cannot be tried:", details: answer.problems, .invalid)
        }
        if let (fork, problem) = (program as? LiveProgram)?.missedForks.first {
            throw Failure(
                "the values cannot be tried: \(problem.message)", details: problem.details, about: fork.title,
                problem.kind)
        }
        let deadline = ContinuousClock.now + Self.gatePatience
        for process in program.withForks {
            for axis in axes where !axis.tweak.needsRestart {
                try awaitValue(of: axis, in: process, values, until: deadline)
            }
        }
    }

    /// Waits until the value of a tweak takes effect.
    private mutating func awaitValue(
        of axis: SearchAxis, in process: any Program, _ values: OverridesDocument,
        until deadline: ContinuousClock.Instant
    ) throws(Failure) {
        while true {
            let tweak = try process.tweakAgain(axis.tweak.key)
            if tweak.awaitedGate == nil { return try check(tweak, values) }
            guard .now < deadline else {
                let reason = process.waitingText(tweak) ?? ""
                throw Failure(
                    "\(axis.tweak.key): its value \(reason)",
                    about: program.withForks.count > 1 ? process.title : nil, .unavailable)
            }
            try watch.wait(until: .now + .milliseconds(1))
        }
    }

    /// Throws if other processes run than at the start of a sweep in all of them, because new ones do not have the values.
    private func checkForks() throws(Failure) {
        guard let program = program as? LiveProgram, !program.forks.isEmpty else { return }
        let known = Set(program.forks.map(\.running.pid))
        let forks = program.running.forks
        guard forks == known else {
            throw Failure(
                "its processes have changed: \(counted(forks.subtracting(known).count, "new one", "new ones")), "
                    + "\(known.subtracting(forks).count) gone", about: program.title, .unavailable)
        }
    }

    private func check(_ tweak: JSONTweak, _ values: OverridesDocument) throws(Failure) {
        let (key, wanted) = (tweak.declaration.key, values.value(of: tweak.declaration.key))
        guard tweak.value == wanted else {
            let source = tweak.leaseText ?? tweak.source ?? "another source"
            throw Failure(
                "\(key): \(wanted.map { tweak.declaration.text(of: $0) } ?? "") cannot be tried, because \(source) takes "
                    + "precedence with \(tweak.value.map { tweak.declaration.text(of: $0) } ?? "nothing")",
                .invalid)
        }
    }
}

/// The progress of a running sweep, as a line on a terminal.
struct SweepProgress {
    private let isShown: Bool
    private let start = ContinuousClock.now
    private var done = 0

    init() { isShown = isatty(STDERR_FILENO) == 1 && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false }

    /// Shows the number of measurements and the time that is left, at most, if all take equally long.
    ///
    /// - Parameter details: The last result.
    mutating func show(remaining: Int, _ details: String) {
        done += 1
        guard isShown else { return }
        let seconds = (ContinuousClock.now - start) / .seconds(1) / Double(done) * Double(remaining)
        let left = remaining > 0 ? ", \(durationText(seconds)) left" : ""
        write("\(done) of \(done + remaining)\(left)  \(details)")
    }

    /// Removes the line.
    func clear() { if isShown, done > 0 { write("") } }

    private func write(_ text: String) {
        // Without reaching the last column, where some terminals begin a new line.
        let line = "\r" + printable(text).prefix(78) + "\u{1B}[K"
        let bytes = Array(line.utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
