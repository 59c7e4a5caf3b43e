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

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record the changes of a program's tweaks, and monitors, in a file.",
        discussion: """
            The file starts with the program and the values and defaults of all tweaks. Timestamped changes, marks and \
            samples follow, until the program ends or the command is interrupted. A file whose name ends in .mcap is \
            written as MCAP, with JSON on the topics /program, /snapshot, /changes, /tweaks, /monitors and /marks, for \
            PlotJuggler, Lichtblick, Foxglove and Python's mcap; in other files each line is a JSON object with a type. \
            The file can be read at any time. tweak replay repeats the changes, and with --check compares the monitors.

            For example:

              tweak record motor run.mcap --monitors 'State/*' --duration 30s
            """)

    @Option(
        parsing: .upToNextOption,
        help: "Monitors and other numbers to sample; * stands for any characters, as in 'Motor/*'.")
    var monitors: [String] = []

    @Option(help: "The number of samples per second, at most 1000.")
    var rate = 100.0

    @Option(help: ArgumentHelp("Stop after this time, in seconds or with a unit.", valueName: "time"))
    var duration: DurationArgument?

    @OptionGroup var target: ProcessOptions

    @Argument(help: "The file to write.", completion: .file())
    var file: String

    func validate() throws {
        guard ControlLimits.sampleRates.contains(rate) else {
            throw ValidationError("--rate must be between 0.001 and 1000 samples per second.")
        }
    }

    func run() throws {
        try target.forEachRunning { program throws(Failure) in try record(program) }
    }

    private func record(_ program: LiveProgram) throws(Failure) {
        if !monitors.isEmpty { program.warnAboutForks() }
        var samples = try LiveSamples(program, try chosen(program), rate: rate)
        var recording = try Recording(to: file, of: program, samples)
        let end = duration.map { ContinuousClock.now + .seconds($0.seconds) }
        var hasEnded = false
        while !hasEnded {
            let rest = end.map { ($0 - .now) / .seconds(1) } ?? NewHistory.period
            let batch = try samples.next(within: min(rest, NewHistory.period))
            hasEnded = batch?.hasEnded ?? false || rest <= 0
            try recording.add(batch ?? SampleBatch(), samples.changes, isLast: hasEnded)
        }
        if recording.lostChanges > 0 { warnOfLostChanges(recording.lostChanges) }
        if samples.skipped > 0 { warn("\(samples.skipped) samples were not taken in time", .lost) }
        guard isatty(STDERR_FILENO) == 1 else { return }
        printMessage(
            counted(recording.changes, "change", "changes")
                + (monitors.isEmpty ? "" : ", " + counted(recording.samples, "sample", "samples")))
    }

    /// The monitors and tweaks that fit a pattern.
    private func chosen(_ program: LiveProgram) throws(Failure) -> [JSONTweak] {
        guard !monitors.isEmpty else { return [] }
        var chosen = try program.tweaks(fitting: monitors, where: \.declaration.canBeSampled)
        var known: Set<TweakKey> = []
        chosen.removeAll { !known.insert($0.declaration.key).inserted }
        if let other = chosen.first(where: { !$0.declaration.canBeSampled }) {
            throw Failure(
                "\(other.declaration.key): \(other.declaration.typeWithArticle) cannot be sampled; numbers and Bools can",
                .invalid)
        }
        for tweak in chosen where try program.isAdopted(tweak.declaration.key) {
            throw Failure(
                "\(tweak.declaration.key): the program does not store this variable, so it cannot record it; tweak watch --output can",
                .invalid)
        }
        return chosen
    }
}

extension ListHistory.Change {
    /// A change that a program without a history reports.
    init(_ change: ChangedTweaks.Change) {
        self.init(
            number: 0, tweak: change.tweak, oldValue: change.oldValue, newValue: change.newValue,
            source: change.source, by: change.by ?? "unknown", time: change.time,
            monotonicTime: secondsOfMonotonicClock())
    }
}

/// Says that changes are missing in a recording.
func warnOfLostChanges(_ count: Int) {
    warn(
        counted(count, "change was lost", "changes were lost") + ", because the program's history overflowed",
        .lost)
}

/// The time of the monotonic clock, in seconds.
func secondsOfMonotonicClock() -> Double { Double(nanoseconds(of: CLOCK_MONOTONIC)) / 1e9 }
