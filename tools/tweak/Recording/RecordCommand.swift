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
            The file begins with the program and the values and defaults of all tweaks; changes and samples follow with \
            their times, until the program ends or the command is interrupted. If the name of the file ends in .mcap, it \
            is one of MCAP, with JSON on the topics /program, /snapshot, /changes, /tweaks and /monitors, which \
            PlotJuggler, Lichtblick, Foxglove and Python's mcap read; otherwise each line is an object of JSON with a \
            type. It can be read at every moment. tweak replay makes the changes again.
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
            throw ValidationError("The rate is from 0.001 to 1000 samples per second.")
        }
    }

    func run() throws {
        try target.forEachRunning { program throws(Failure) in try record(program) }
    }

    private func record(_ program: LiveProgram) throws(Failure) {
        // Changes are fetched from the history, which has their numbers and times; notifications only announce them. A second
        // connection, so that these requests lose no samples.
        guard let inquiry = try LiveProgram(program.running) else {
            throw Failure(
                "it is no longer running, or does not accept connections", about: program.title, .unavailable)
        }
        if !monitors.isEmpty { program.warnAboutForks() }
        var samples = try LiveSamples(program, try chosen(program), rate: rate)
        // Without a history, as in programs with an older library, the notifications are recorded instead.
        let known = try? inquiry.askHistory(ListHistory(since: .max))
        var last = known?.last ?? 0
        let tweaks = try inquiry.tweaks()
        let start = (Duration.since1970 / .seconds(1), secondsOfMonotonicClock())
        var recording = try Recording(
            to: file, of: try RecordedProgram(inquiry, at: start), tweaks,
            monitors: samples.series.map(\.name))
        let end = duration.map { ContinuousClock.now + .seconds($0.seconds) }
        var lost = 0
        var hasEnded = false
        while !hasEnded, end.map({ .now < $0 }) ?? true {
            let rest = min(end.map { ($0 - .now) / .seconds(1) } ?? 1, 1)
            guard let batch = try samples.next(within: rest) else { continue }
            hasEnded = batch.hasEnded
            var new: [ListHistory.Change] = []
            if known == nil {
                new = samples.changes.map(ListHistory.Change.init)
            } else if !samples.changes.isEmpty, !hasEnded {
                do throws(Failure) {
                    let history = try inquiry.askHistory(ListHistory(since: last))
                    lost += max(0, (history.first ?? 0) - last - 1)
                    (new, last) = (history.changes, history.last)
                } catch {
                    guard error.kind == .unavailable else { throw error }
                    hasEnded = true
                }
            }
            try recording.add(new, batch)
        }
        if lost > 0 { warn("\(lost) changes were lost, because the program's history overflowed", .lost) }
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

/// The time of the monotonic clock, in seconds.
func secondsOfMonotonicClock() -> Double { Double(nanoseconds(of: CLOCK_MONOTONIC)) / 1e9 }
