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
            square), sd (sample standard deviation) and iae (integral of the absolute value, in seconds). JSON includes \
            all of the usual ones.

            A sample is lost if the program could not take it, or this command could not read it, in time. An update of \
            a monitor is visible only if a sample differs from the previous one; storing an equal value is not detected. \
            A warning reports fewer samples or updates than the statistic needs, such as 20 for p95.

            If the program has forked, all of its processes are measured at the same time and printed on one line each, \
            or combined with --sum or --max. Give a process id to measure one process.

            For example:

              tweak measure motor Speed --for 5s --stat p95
            """)

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long to measure, in seconds or with a unit (default: 1s).", valueName: "time")
    )
    var time: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "How long to wait before measuring, so that a change can settle.", valueName: "time"))
    var settle: DurationArgument?

    @Option(name: .customLong("stat"), help: "The statistic.")
    var statistic = StatisticArgument(name: "mean", statistic: .mean)

    @Option(help: "The samples per second, at most 1000.")
    var rate = 100.0

    @Flag(exclusivity: .exclusive)
    var combination: Combination?

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @OptionGroup var target: AwaitedProgramOptions

    @Argument(
        help: "The monitor or tweak, as Category/Collection/Name or shorter; a number or a Bool.",
        completion: .custom(completeNumbers))
    var tweak: String

    func validate() throws {
        guard ControlLimits.sampleRates.contains(rate) else {
            throw ValidationError("--rate must be between 0.001 and 1000 samples per second.")
        }
    }

    func run() throws {
        try target.together { programs throws(Failure) in
            let processes = MeasuredProcess.measure(
                tweak, of: programs, after: settle?.seconds ?? 0, for: time?.seconds ?? 1, rate: rate)
            var results: [Result] = []
            var status: Int32?
            for process in processes {
                if let problem = process.problem {
                    problem.write(about: programs.count > 1 ? process.program.title : nil)
                    status = status ?? problem.exitCode
                } else if let (tweak, samples) = process.result {
                    results.append((process.program, tweak, samples))
                }
            }
            for result in results { warn(about: result, isOneOfSeveral: programs.count > 1) }
            if !results.isEmpty { try show(results, isOneOfSeveral: programs.count > 1) }
            return status
        }
    }

    private typealias Result = (program: any Program, tweak: TweakDeclaration, samples: MeasuredSamples)

    private func warn(about result: Result, isOneOfSeveral: Bool) {
        let (key, samples) = (result.tweak.key, result.samples)
        func warn(_ text: String, _ kind: Warning.Kind = .other) {
            let title = isOneOfSeveral ? "\(result.program.title): " : ""
            Warning("\(title)\(key): \(text)", kind, tweak: key, process: result.program.pid).write()
        }
        if samples.hasEnded { warn("the program ended before the measurement was complete") }
        if samples.lost > 0 {
            warn(
                "\(samples.lost) of \(counted(samples.due, "sample", "samples")) lost: not taken or not read in time",
                .lost)
        }
        let shortage = samples.shortage(
            for: statistic.statistic, named: statistic.name, isUpdated: result.tweak.isMonitor)
        if let shortage { warn(shortage, .few) }
    }

    private func show(_ results: [Result], isOneOfSeveral: Bool) throws(Failure) {
        let numbers = results.map { $0.samples(statistic.statistic) }
        guard let combination else {
            for (result, number) in zip(results, numbers) {
                switch format {
                case .table:
                    let title = isOneOfSeveral ? printable(result.program.title) + ": " : ""
                    print("\(title)\(TweakValue.double(number))")
                case .json:
                    let form = MeasuredForm(result.tweak, result.samples, statistic)
                    try target.printJSON(form, of: result.program, isOneOfSeveral: isOneOfSeveral)
                }
            }
            return
        }
        let value = TweakValue.double(combination(numbers))
        switch format {
        case .table: print("\(value)")
        case .json:
            let form = CombinedForm(
                statistic: statistic.name, combination: combination.rawValue, value: .scalar(value),
                processes: results.map {
                    OfProcess(pid: $0.program.pid, result: MeasuredForm($0.tweak, $0.samples, statistic))
                })
            do { try printJSON(form) } catch { throw Failure("\(error)", .failed) }
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
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
    var defaultValueDescription: String { name }
}

/// A process that is measured, with the reason if it cannot be.
private struct MeasuredProcess {
    let program: any Program
    private(set) var problem: Failure?
    /// The tweak and its samples; `nil` if it could not be measured.
    var result: (tweak: TweakDeclaration, samples: MeasuredSamples)? {
        problem == nil ? tweak.map { ($0.declaration, samples) } : nil
    }

    private var tweak: JSONTweak?
    private var source: (any SampleSource<Failure> & ChangeSource)?
    private var samples: MeasuredSamples

    private init(_ program: any Program, _ samples: MeasuredSamples) {
        (self.program, self.samples) = (program, samples)
    }

    /// Measures processes at the same time. A problem of one does not affect the others.
    ///
    /// - Parameters:
    ///   - name: The monitor or tweak.
    ///   - pause: The seconds after the first sample that are left out.
    ///   - seconds: The following seconds, which count.
    ///   - rate: The samples per second.
    static func measure(
        _ name: String, of programs: [any Program], after pause: Double, for seconds: Double, rate: Double
    ) -> [MeasuredProcess] {
        let samples = MeasuredSamples(after: pause, for: seconds, rate: rate)
        var processes = programs.map { MeasuredProcess($0, samples) }
        // The requests before, so that the spans begin at the same time.
        for index in processes.indices {
            processes[index].attempt { process throws(Failure) in
                process.tweak = try process.program.tweak(named: name)
            }
        }
        for index in processes.indices {
            processes[index].attempt { process throws(Failure) in
                process.source = try process.tweak.map { tweak throws(Failure) in
                    try process.program.samples(of: [tweak], rate: rate)
                }
            }
        }
        // A program that is stopped sends nothing.
        let deadline = ContinuousClock.now + .seconds(pause + seconds + max(2, 2 / rate))
        while .now < deadline {
            let awaited = processes.indices.filter { processes[$0].isAwaited }
            guard !awaited.isEmpty else { break }
            let rest = (deadline - .now) / .seconds(1)
            for index in awaited {
                processes[index].read(within: turn(ofOneIn: awaited.count, atMost: rest))
            }
        }
        for index in processes.indices {
            processes[index].attempt { process throws(Failure) in try process.finish() }
        }
        return processes
    }

    private var isAwaited: Bool { problem == nil && !samples.isComplete && !samples.hasEnded }

    private mutating func attempt(_ body: (inout MeasuredProcess) throws(Failure) -> Void) {
        guard problem == nil else { return }
        do throws(Failure) { try body(&self) } catch { problem = error }
    }

    private mutating func read(within seconds: Double) {
        attempt { process throws(Failure) in
            guard let batch = try process.source?.next(within: seconds) else { return }
            process.samples.add(batch, skipped: process.source?.skipped ?? 0)
        }
    }

    /// - Throws: ``Failure`` if there are no samples.
    private mutating func finish() throws(Failure) {
        samples.finish()
        guard samples.values.isEmpty, let tweak else { return }
        throw Failure(
            "\(tweak.declaration.key): "
                + (samples.hasEnded ? "the program has ended" : "the program sends no samples"),
            samples.hasEnded ? .unavailable : .busy)
    }
}

/// The JSON form of a measurement. Scripts rely on its keys.
private struct MeasuredForm: Encodable {
    let tweak: String
    let unit: String?
    let samples: Int
    let lost: Int
    let seconds: Double
    /// The samples whose value differs from the one before, and their number per second.
    let changes: Int
    let changesPerSecond: Double?
    let statistics: JSONValue
    /// The names of the statistics for which there are too few samples or updates.
    let insufficient: [String]

    init(_ tweak: TweakDeclaration, _ measured: MeasuredSamples, _ statistic: StatisticArgument) {
        (self.tweak, unit) = ("\(tweak.key)", tweak.unit)
        (samples, lost) = (measured.values.count, measured.lost)
        (seconds, changes, changesPerSecond) = (measured.duration, measured.changes, measured.changeRate)
        var statistics: JSONObject = [:]
        var insufficient: [String] = []
        for name in Statistic.usualNames.filter({ $0 != statistic.name }) + [statistic.name] {
            guard let statistic = Statistic(name: name) else { continue }
            statistics[name] = .scalar(.double(measured(statistic)))
            if measured.shortage(for: statistic, named: name, isUpdated: tweak.isMonitor) != nil {
                insufficient.append(name)
            }
        }
        (self.statistics, self.insufficient) = (.object(statistics), insufficient)
    }
}

/// The JSON form of one number for several processes. Scripts rely on its keys.
private struct CombinedForm: Encodable {
    let statistic: String
    /// `sum` or `max`.
    let combination: String
    let value: JSONValue
    let processes: [OfProcess<MeasuredForm>]
}
