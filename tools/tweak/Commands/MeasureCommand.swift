// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords

struct MeasureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure", abstract: "Print a statistic of a monitor or tweak over some time.",
        discussion: """
            The statistics are mean, min, max, last, percentiles such as p50 or p99.9 (interpolated), rms (root mean \
            square), sd (standard deviation of a sample) and iae (integral of the absolute value, in seconds). The JSON \
            form has all usual ones.
            """)

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long to measure, in seconds or with a unit (default: 1s).", valueName: "time")
    )
    var time: DurationArgument?

    @Option(
        help: ArgumentHelp("How long to wait before, so that a change has settled.", valueName: "time"))
    var settle: DurationArgument?

    @Option(name: .customLong("stat"), help: "The statistic.")
    var statistic = StatisticArgument(name: "mean", statistic: .mean)

    @Option(help: "The samples per second, at most 1000.")
    var rate = 100.0

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The monitor or tweak, as Category/Collection/Name or shorter; a number or a Bool.",
        completion: .custom(completeNumbers))
    var tweak: String

    func validate() throws {
        guard ControlLimits.sampleRates.contains(rate) else {
            throw ValidationError("The rate is from 0.001 to 1000 samples per second.")
        }
    }

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            let tweak = try program.tweak(named: tweak)
            var samples = try program.samples(of: [tweak], rate: rate)
            let measured = try MeasuredSamples(
                &samples, after: settle?.seconds ?? 0, for: time?.seconds ?? 1, rate: rate)
            let key = tweak.declaration.key
            guard !measured.values.isEmpty else {
                throw Failure(
                    "\(key): "
                        + (measured.hasEnded ? "the program has ended" : "the program gives no samples"),
                    measured.hasEnded ? .unavailable : .busy)
            }
            if measured.hasEnded { warn("\(key): the program ended before the time was over") }
            if measured.lost > 0 {
                warn("\(key): \(counted(measured.lost, "sample", "samples")) lost", .lost, key)
            }
            let names = Statistic.usualNames.filter { $0 != statistic.name } + [statistic.name]
            let form = MeasuredForm(tweak: tweak.declaration, measured, names: names)
            try target.show(form, of: program, as: format) {
                "\(TweakValue.double(measured(statistic.statistic)))"
            }
        }
    }
}

struct StatisticArgument: ExpressibleByArgument {
    let name: String
    let statistic: Statistic

    init(name: String, statistic: Statistic) { (self.name, self.statistic) = (name, statistic) }

    init?(argument: String) {
        guard let statistic = Statistic(name: argument) else { return nil }
        self.init(name: argument, statistic: statistic)
    }

    static var allValueStrings: [String] { Statistic.usualNames }
    var defaultValueDescription: String { name }
}

/// Samples of one series in a span of time.
struct MeasuredSamples {
    private(set) var times: [Double] = []
    private(set) var values: [Double] = []
    /// The number of samples that are missing.
    private(set) var lost = 0
    /// Whether the program has ended before.
    private(set) var hasEnded = false

    /// Waits for the samples.
    ///
    /// - Parameters:
    ///   - pause: The seconds after the first sample that are left out.
    ///   - seconds: The following seconds, which count.
    ///   - rate: The samples per second.
    init(
        _ samples: inout some SampleSource<Failure> & ChangeSource, after pause: Double, for seconds: Double,
        rate: Double
    ) throws(Failure) {
        // A program that is stopped sends nothing.
        let patience = Duration.seconds(pause + seconds + max(2, 2 / rate))
        let deadline = ContinuousClock.now + patience
        var span: Range<Double>?
        while .now < deadline {
            guard let batch = try samples.next(within: (deadline - .now) / .seconds(1)) else { continue }
            if span == nil, let first = batch.times.first {
                span = (first + pause)..<(first + pause + seconds)
            }
            for (time, row) in zip(batch.times, batch.values) {
                guard let span, span.contains(time), let value = row.first ?? nil else { continue }
                times.append(time)
                values.append(value)
            }
            lost += batch.dropped
            hasEnded = batch.hasEnded
            if let span, let last = batch.times.last, last >= span.upperBound { break }
            if hasEnded { break }
        }
        // Others were due before or after.
        let due = Int((seconds * rate).rounded(.up))
        lost = min(lost + samples.skipped, max(0, due - values.count))
    }

    func callAsFunction(_ statistic: Statistic) -> Double { statistic(values, at: times) }
}

/// The JSON form of a measurement. Scripts rely on its keys.
private struct MeasuredForm: Encodable {
    let tweak: String
    let unit: String?
    let samples: Int
    let lost: Int
    let seconds: Double
    let statistics: JSONValue

    init(tweak: TweakDeclaration, _ measured: MeasuredSamples, names: [String]) {
        (self.tweak, unit) = ("\(tweak.key)", tweak.unit)
        (samples, lost) = (measured.values.count, measured.lost)
        seconds = (measured.times.last ?? 0) - (measured.times.first ?? 0)
        var statistics: JSONObject = [:]
        for name in names {
            guard let statistic = Statistic(name: name) else { continue }
            statistics[name] = .scalar(.double(measured(statistic)))
        }
        self.statistics = .object(statistics)
    }
}
