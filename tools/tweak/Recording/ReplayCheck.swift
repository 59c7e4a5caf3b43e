// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSystem

/// A tolerance as a person types it: `0.5` or `5%`.
struct ToleranceArgument: ExpressibleByArgument {
    let tolerance: Tolerance

    init?(argument: String) {
        let isRelative = argument.hasSuffix("%")
        guard let number = Double(typed: isRelative ? String(argument.dropLast()) : argument), number >= 0
        else { return nil }
        tolerance = isRelative ? .relative(number / 100) : .absolute(number)
    }
}

/// The comparison of the monitors of a replay with those of the recording.
struct ReplayCheck {
    private let recorded: [(key: TweakKey, series: SampledSeries)]
    private let tolerance: Tolerance
    private let shift: Double
    /// The samples per second.
    private let rate: Double

    private static let usualTolerance = Tolerance.relative(0.05)
    /// In seconds. A program that works in a loop takes new values some milliseconds earlier or later.
    private static let leastUsualShift = 0.01

    /// - Parameters:
    ///   - end: The seconds since the start after which nothing is compared; `nil` for all of the recording.
    ///   - tolerance: `nil` for the usual one.
    ///   - shift: `nil` for the usual one.
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/invalid`` if the recording has no samples.
    init(
        of run: RecordedRun, _ path: String, until end: Double?, _ tolerance: ToleranceArgument?,
        _ shift: DurationArgument?
    ) throws(Failure) {
        recorded = run.samples.map { ($0, $1.prefix(until: end ?? .infinity)) }.sorted { $0.0 < $1.0 }
        guard let period = recorded.compactMap(\.series.period).min(), period > 0 else {
            throw Failure(
                recorded.isEmpty
                    ? "\(path): it has no monitors to compare; record them with --monitors"
                    : "\(path): its monitors have too few samples to compare", .invalid)
        }
        let rates = ControlLimits.sampleRates
        rate = min(max(1 / period, rates.lowerBound), rates.upperBound)
        self.tolerance = tolerance?.tolerance ?? Self.usualTolerance
        self.shift = shift?.seconds ?? max(period, Self.leastUsualShift)
        // Samples of a monitor jitter, too.
        guard self.shift >= 0.9 * period else {
            throw Failure(
                "a shift of \(seconds(self.shift)) is less than the time between two samples of the recording, "
                    + seconds(period), .usage)
        }
    }

    /// Says which tweaks have other values than the recorded program had at its start.
    func warnOfOtherValues(_ tweaks: [JSONTweak], than recorded: [JSONTweak]) {
        // Leases and ramps of that moment begin with the replay.
        let before = Dictionary(
            recorded.filter { $0.lease == nil && $0.ramp == nil }.map { ($0.declaration.key, $0) }
        ) { first, _ in first }
        let different = tweaks.compactMap { tweak -> String? in
            let declaration = tweak.declaration
            guard !declaration.isMonitor, let value = tweak.value,
                let old = before[declaration.key]?.value, old != value
            else { return nil }
            return "\(declaration.key) is \(declaration.text(of: value)), not \(declaration.text(of: old))"
        }
        guard !different.isEmpty else { return }
        warn(
            "the recording starts with other values: "
                + different.beginning { "\($0)" }.joined(separator: "; "))
    }

    /// Starts to sample the recorded monitors that a program has.
    func monitors(in program: LiveProgram, _ tweaks: [JSONTweak]) throws(Failure) -> ReplayedMonitors {
        let keys = Set(recorded.map(\.key))
        var sampled: [JSONTweak] = []
        for tweak in tweaks where keys.contains(tweak.declaration.key) && tweak.declaration.canBeSampled {
            if try !program.isAdopted(tweak.declaration.key) { sampled.append(tweak) }
        }
        let known = Set(tweaks.map(\.declaration.key)).intersection(keys)
        return try ReplayedMonitors(program.again(), sampled, known: known, rate: rate)
    }

    func compare(_ monitors: ReplayedMonitors, endOfProgram: Double?) -> CheckedReplay {
        CheckedReplay(
            monitors: recorded.map { key, series in
                let actual = monitors.series[key]
                let comparison = SeriesComparison(
                    actual ?? SampledSeries(), with: series, tolerance, shift: shift)
                var problem: CheckedReplay.Problem?
                if actual == nil {
                    problem = monitors.known.contains(key) ? .notSampled : .missing
                } else if !comparison.hasEnoughSamples {
                    problem = .tooFewSamples
                } else if !comparison.holds {
                    problem = .deviates
                }
                return CheckedReplay.Monitor(key, comparison, problem)
            }, shift: shift, endOfProgram: endOfProgram)
    }
}

/// The monitors of a program, sampled while a recording is replayed.
struct ReplayedMonitors {
    /// The monitors that the program has, also those that cannot be sampled.
    let known: Set<TweakKey>
    /// The samples, with times since the start of the replay.
    private(set) var series: [TweakKey: SampledSeries] = [:]
    private let program: LiveProgram
    private let keys: [TweakKey]
    private let period: Double
    private var samples: LiveSamples
    /// The start of the replay, in seconds since 1970, as samples have their times.
    private var start = 0.0
    private var lastTime = -Double.infinity

    var descriptor: CInt { samples.descriptor }

    /// - Parameter program: A connection of its own.
    init(
        _ program: LiveProgram, _ tweaks: [JSONTweak], known: Set<TweakKey>, rate: Double
    ) throws(Failure) {
        (self.program, self.known, period) = (program, known, 1 / rate)
        keys = tweaks.map(\.declaration.key)
        for key in keys { series[key] = SampledSeries() }
        samples = try LiveSamples(program, tweaks, rate: rate)
    }

    /// Notes that the replay starts now.
    mutating func begin() { start = Duration.since1970 / .seconds(1) }

    /// Reads the samples that have come.
    ///
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/unavailable`` if the program has ended.
    mutating func read(within seconds: Double = 0) throws(Failure) {
        guard let batch = try samples.next(within: seconds) else { return }
        for (time, values) in zip(batch.times, batch.values) {
            lastTime = time - start
            for (key, value) in zip(keys, values) {
                if let value { series[key]?.append(value, at: lastTime) }
            }
        }
        if batch.hasEnded { throw ConnectionError.closed.failure(of: program.title) }
    }

    /// Waits for the samples until a time since the start, which come in batches, but not for those of a program that
    /// is stopped.
    mutating func finish(at end: Double) throws(Failure) {
        let deadline = ContinuousClock.now + .seconds(max(2, 2 * period))
        while !keys.isEmpty, lastTime < end, .now < deadline {
            try read(within: (deadline - .now) / .seconds(1))
        }
    }
}

/// The result of a check.
struct CheckedReplay: Encodable {
    /// Why a monitor does not hold.
    enum Problem: String, Encodable {
        case missing, notSampled, tooFewSamples, deviates

        var text: String {
            switch self {
            case .missing: "not declared by the program"
            case .notSampled: "cannot be sampled"
            case .tooFewSamples: "too few samples"
            case .deviates: "deviates"
            }
        }
    }

    /// The JSON form of a monitor. Scripts rely on the keys.
    struct Monitor: Encodable {
        let tweak: String
        let holds: Bool
        /// The number of recorded samples, and of those that could be compared.
        let recorded, compared: Int
        let deviation: Double?
        /// The time of the largest deviation, in seconds since the start.
        let time: Double?
        let allowed: Double
        let problem: Problem?

        init(_ key: TweakKey, _ comparison: SeriesComparison, _ problem: Problem?) {
            (tweak, holds, self.problem) = ("\(key)", problem == nil, problem)
            (recorded, compared) = (comparison.expected, comparison.compared)
            (deviation, time, allowed) = (comparison.deviation, comparison.time, comparison.allowed)
        }
    }

    let holds: Bool
    let monitors: [Monitor]
    /// In seconds.
    let shift: Double
    /// The seconds after which the program ended; `nil` if it did not.
    let endOfProgram: Double?

    init(monitors: [Monitor], shift: Double, endOfProgram: Double?) {
        (self.monitors, self.shift, self.endOfProgram) = (monitors, shift, endOfProgram)
        holds = monitors.allSatisfy(\.holds)
    }

    /// The table, without a newline at the end.
    var table: String {
        let rows = monitors.map { monitor in
            [
                monitor.tweak, "\(monitor.compared) of \(monitor.recorded)",
                monitor.deviation.map { formatted("%.4g", $0) } ?? "", formatted("%.4g", monitor.allowed),
                monitor.deviation.map { $0 > 0 } ?? false ? monitor.time.map(seconds) ?? "" : "",
                monitor.problem?.text ?? "ok",
            ]
        }
        return TextTable(
            header: ["MONITOR", "SAMPLES", "DEVIATION", "ALLOWED", "AT", "RESULT"],
            emphasized: monitors.map { !$0.holds }, rows: rows
        ).text
    }

    /// - Throws: ``Failure`` of the kind ``Failure/Kind/negative`` unless all monitors hold.
    func check(about title: String) throws(Failure) {
        if let endOfProgram { warn("\(title): it ended after \(seconds(endOfProgram))") }
        let failed = monitors.count { !$0.holds }
        guard failed > 0 else { return }
        throw Failure(
            "not as recorded: \(failed) of \(counted(monitors.count, "monitor", "monitors"))", .negative)
    }
}

/// A time since the start, with milliseconds.
func seconds(_ time: Double) -> String { formatted("%.3f s", time) }
