// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CTweakSystem
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSearch
import TweakSystem

struct SweepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep", abstract: "Try values of tweaks, measure, and find the best.",
        discussion: """
            A tweak without a range is tried within its limits, or with all of its choices. NAME=A..B is a range, \
            NAME=A..B/N takes N values from it, and NAME=A,B,C lists the values. By default all combinations are tried, \
            with 5 values per range. --random tries random points; --search runs coordinate descent from the current \
            values and takes a step only if the improvement exceeds the noise of the repeats.

            The result is a statistic of a monitor, as for tweak measure, the time that a command takes, or a number \
            that it prints. The shell runs the command, with the values in its environment for the programs that it \
            starts; so tweaks that need a restart can be swept, and PROGRAM need not be running.

            If the program has forked, --sum or --max sets the values in all of its processes and measures them at the same \
            time; otherwise give the id of one process.

            In a running program the values are leased: the previous values return at the end, at Ctrl-C, when a guard \
            fails, and if this command is killed. The values from before the sweep are measured in between, and the \
            results are corrected for their drift. Then the best points alternate with the values from before, until one \
            is better at the given --confidence or --budget is used up. Nothing is kept without --keep or --preset; with \
            them, the exit status is 3 if no point is better.

            For example:

              tweak sweep motor Gain=0..2/9 --measure Speed --for 2s
              tweak sweep motor Gain=1,2,4 --command ./benchmark --keep best
            """)

    @Option(
        help: ArgumentHelp(
            "The statistic to minimize, such as p95(Motor/State/Error); a name alone is its mean.",
            valueName: "statistic"))
    var measure: MeasureArgument?

    @Flag(exclusivity: .exclusive)
    var combination: Combination?

    @Option(help: "The command whose time to minimize.", completion: .file())
    var command: String?

    @Option(
        help: ArgumentHelp(
            "Minimize a number that the command prints: the first group in the last match of this extended regular expression (no back-references).",
            valueName: "regex"))
    var valueFrom: String?

    @Flag(help: "Maximize instead of minimizing.")
    var maximize = false

    @Flag(help: "Search from the current values by coordinate descent.")
    var search = false

    @Flag(help: "Try random points.")
    var random = false

    @Option(help: "The number of points of --search or --random (default: 60).")
    var trials: Int?

    @Option(name: .customLong("repeat"), help: "Measure each point this many times.")
    var repeats = 1

    @Flag(help: "Measure in random order.")
    var shuffle = false

    @Option(help: "The seed of random points and orders.")
    var seed: UInt64 = 1

    @Option(
        help: "Measure the values from before the sweep after this many measurements; 0: only at the end.")
    var reference = 10

    @Option(
        help: ArgumentHelp(
            "How long to compare the best points with the values from before (default: 16 rounds; at least 4).",
            valueName: "time"))
    var budget: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "The confidence level, in percent: the chance that no point is reported as better if none is.",
            valueName: "percent"))
    var confidence = 95.0

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "How long to sample, in seconds or with a unit (default: 1s).", valueName: "time"))
    var time: DurationArgument?

    @Option(
        help: ArgumentHelp("How long to wait before each measurement.", valueName: "time"))
    var settle: DurationArgument?

    @Option(help: "Samples and guard checks per second, at most 1000.")
    var rate = 100.0

    @Option(
        name: .customLong("guard"),
        help: ArgumentHelp(
            "A guard: end the sweep when this fails, such as Speed<8000. Can be repeated.",
            valueName: "condition"))
    var guards: [GuardArgument] = []

    @Option(help: "Keep the best values.")
    var keep: KeptPoint?

    @Option(
        help: ArgumentHelp("Save the best values as a preset.", valueName: "name"),
        completion: .custom(completePresets))
    var preset: String?

    @Option(help: "The output format; csv has each measurement.")
    var format: WatchFormat = .table

    @Option(
        name: .shortAndLong, help: "Also write each measurement to this CSV file.", completion: .file())
    var output: String?

    @OptionGroup var target: ProcessOptions

    @Argument(
        help: "The tweaks, as Category/Collection/Name or shorter, with =A..B, =A..B/N or =A,B,C.",
        completion: .custom(completeSettableTweaks))
    var tweaks: [String]

    func validate() throws {
        guard (measure == nil) != (command == nil) else {
            throw ValidationError("Give either --measure or --command.")
        }
        guard valueFrom == nil || command != nil else {
            throw ValidationError("--value-from needs --command.")
        }
        guard combination == nil || measure != nil else {
            throw ValidationError("--sum and --max need --measure.")
        }
        guard time == nil || command == nil else { throw ValidationError("--for needs --measure.") }
        guard !search || !random else { throw ValidationError("Give either --search or --random, not both.") }
        guard !search || !shuffle else {
            throw ValidationError("--shuffle cannot be combined with --search.")
        }
        guard trials == nil || search || random else {
            throw ValidationError("--trials needs --search or --random; a grid measures each of its points.")
        }
        guard 1...Sweep.most ~= trials ?? 1 else {
            throw ValidationError("--trials must be between 1 and \(Sweep.most).")
        }
        guard 1...1000 ~= repeats else { throw ValidationError("--repeat must be between 1 and 1000.") }
        guard confidence >= 50, confidence < 100 else {
            throw ValidationError("--confidence must be at least 50 and below 100 percent.")
        }
        guard reference >= 0 else { throw ValidationError("--reference must be at least 0.") }
        guard ControlLimits.sampleRates.contains(rate) else {
            throw ValidationError("--rate must be between 0.001 and 1000 samples per second.")
        }
    }

    func run() throws {
        try target.forEach(checkingValues: true, .json, isForNextStart: false) { program throws(Failure) in
            try checkForks(of: program)
            if let obstacle = (program as? OfflineProgram)?.obstacle {
                throw Failure(
                    "it \(obstacle), so no value would reach it", about: program.title, .unavailable)
            }
            var axes: [SearchAxis] = []
            var before: [TweakValue] = []
            for word in tweaks {
                let (axis, tweak) = try SearchAxis.parse(word, in: program)
                guard !axes.contains(where: { $0.tweak.key == axis.tweak.key }) else {
                    throw Failure("\(axis.tweak.key): it is named twice", .usage)
                }
                try check(axis.tweak, in: program)
                axes.append(axis)
                before.append(tweak.nextValue ?? axis.tweak.defaultValue)
            }
            guard let sweep = Sweep(axes, from: SearchPoint(before), options) else {
                throw Failure(
                    "the grid has more than \(Sweep.most) points; give fewer values, --random or --search",
                    .usage)
            }
            if let preset {
                // Before the sweep, which may take hours.
                var values = OverridesDocument()
                for axis in axes { values.set(axis.tweak.defaultValue, for: axis.tweak.key) }
                if let conflict = try PresetFolder(of: program).conflict(values, as: preset) {
                    throw Self.failure(conflict)
                }
            }
            let pattern = try valueFrom.map { text throws(Failure) in try ResultPattern(text) }
            let watch = try SweepWatch(guards, of: program, rate: rate)
            defer { watch.end() }
            let measurement: any SweepMeasurement
            if let command {
                measurement = CommandMeasurement(
                    command: command, pattern: pattern, settle: settle?.seconds ?? 0)
            } else if let measure {
                measurement = try SampledMeasurement(
                    measure, of: program, combining: combination, settle: settle?.seconds ?? 0,
                    for: time?.seconds ?? 1, rate: rate)
            } else {
                return
            }
            try run(SweepRunner(program, axes, sweep, watch, measurement))
        }
    }

    private static func failure(_ conflict: PresetConflict) -> Failure {
        conflict.failure("choose another name, or remove the preset")
    }

    private var options: Sweep.Options {
        var options = Sweep.Options()
        let count = trials ?? 60
        options.method = search ? .search(count: count) : random ? .random(count: count) : .grid
        (options.repeats, options.isShuffled, options.seed) = (repeats, shuffle, seed)
        options.referenceInterval = reference > 0 ? reference : nil
        options.isMaximizing = maximize
        (options.confidence, options.budget) = (confidence / 100, budget?.seconds)
        return options
    }

    /// Throws if the program has forked, unless one process of it is named, or all are measured.
    private func checkForks(of program: any Program) throws(Failure) {
        guard let program = program as? LiveProgram else { return }
        guard program.forks.isEmpty || combination != nil else {
            let processes = [program] + program.forks
            let option = measure == nil ? "" : ", or --sum or --max for all"
            throw Failure(
                "\(processes.count) of its processes are running, and a sweep uses one; give its process "
                    + "id\(option)",
                details: processes.map(\.title),
                about: program.title, .usage)
        }
        guard target.processID != nil, case let count = program.running.forks.count, count > 0 else { return }
        warn(
            "\(program.title): \(counted(count, "forked process keeps its", "forked processes keep their")) values"
        )
    }

    /// Throws if the tweak cannot be tried this way.
    private func check(_ tweak: TweakDeclaration, in program: any Program) throws(Failure) {
        if command == nil, tweak.needsRestart {
            throw Failure(
                "\(tweak.key): it takes effect at the next start, so only a --command that starts the program can "
                    + "measure it", .invalid)
        }
        guard program.pid == nil else { return }
        if measure != nil || !guards.isEmpty {
            throw Failure(
                "it is not running, or does not accept connections; a --command can start it",
                about: program.title, .unavailable)
        }
    }

    // MARK: The sweep

    private func run(_ runner: SweepRunner) throws(Failure) {
        var runner = runner
        var outputs: [SweepCSV] = []
        if format == .csv { outputs.append(try SweepCSV(to: nil, runner.axes)) }
        if let output { outputs.append(try SweepCSV(to: output, runner.axes)) }
        var progress = SweepProgress()
        var failure: Failure?
        do throws(Failure) {
            let names = runner
            try runner.run { (measurement, sweep) throws(Failure) in
                for output in outputs { try output.add(measurement) }
                let result = measurement.value.map(SweepReport.text) ?? "failed"
                progress.show(remaining: sweep.remaining, "\(names.text(of: measurement.point)): \(result)")
            }
        } catch {
            failure = error
        }
        // First of all, for a guard that is breached.
        do throws(Failure) { try runner.release() } catch { failure = failure ?? error }
        progress.clear()
        let report = SweepReport(
            sweep: runner.sweep, axes: runner.axes, measure: measureText,
            isMaximizing: maximize, confidence: confidence)
        try show(report, of: runner.program, isComplete: failure == nil)
        if let failure { throw failure }
        guard !runner.sweep.trials.ranking(.trial).isEmpty else {
            throw Failure("no point has a result", .invalid)
        }
        guard let best = runner.sweep.best else {
            guard keep != nil || preset != nil else { return warn(report.reasonAgainst) }
            throw Failure("nothing is kept, because \(report.reasonAgainst)", .negative, exitCode: 3)
        }
        try keep(runner.values(of: best), runner.text(of: best), in: runner.program)
    }

    private var measureText: String {
        guard let measure else { return command ?? "" }
        return (combination.map { "\($0.rawValue) of " } ?? "") + measure.text
    }

    private func show(
        _ report: SweepReport, of program: any Program, isComplete: Bool
    ) throws(Failure) {
        guard !report.sweep.trials.measurements.isEmpty else { return }
        switch format {
        case .csv: return
        case .json: try target.show(report.form(isComplete: isComplete), of: program, as: .json) { "" }
        case .table:
            print(report.table)
            let look = TerminalLook()
            guard look.isScreen else { return }
            var (columns, rows) = (CInt(0), CInt(0))
            fbtweak__screen_size(&columns, &rows)
            for line in report.pictures(columns: Int(columns), isUnicode: look.isUnicode) { print(line) }
        }
    }

    /// Keeps the best values, as far as that was asked for.
    private func keep(
        _ values: OverridesDocument, _ text: String, in program: any Program
    ) throws(Failure) {
        if let preset {
            if let conflict = try PresetFolder(of: program).save(values, as: preset, replacing: false) {
                throw Self.failure(conflict)
            }
            printMessage("the preset \(preset) has \(text)")
        }
        guard keep != nil else { return }
        let answer = try program.apply(values, resettingOthers: false, allOrNothing: true)
        guard answer.problems.isEmpty else {
            throw Failure("the best values cannot be kept:", details: answer.problems, .invalid)
        }
        printMessage("kept: \(text)")
        try program.reportIneffective(answer.ineffective)
    }
}

/// The point of a sweep whose values are kept.
enum KeptPoint: String, Keyword {
    case best
}
