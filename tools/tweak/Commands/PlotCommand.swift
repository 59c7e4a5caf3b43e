// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakPlot
import TweakProtocol
import TweakRecords

struct PlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plot", abstract: "Draw monitors and tweaks while they change, until the program ends.",
        discussion: """
            Each has its own plot and scale; limits, if any, set the ends of the scale. A vertical line with a letter \
            marks a change of a tweak; the legend explains the letter. Keys: q quits, space pauses, + and - zoom, and \
            the arrows scroll. If standard output is not a terminal, one row per second is printed.

            For example:

              tweak plot motor Speed Temperature
            """)

    @Option(help: "The samples per second.")
    var rate = 50.0

    @Option(help: "The time span of the plot in seconds.")
    var window = 10.0

    @Option(help: ArgumentHelp("Stop after this time, in seconds or with a unit.", valueName: "time"))
    var duration: DurationArgument?

    @Flag(help: "Draw everything in one plot with one scale.")
    var together = false

    @OptionGroup var target: ProcessOptions

    @Argument(
        help:
            "The monitors and tweaks, as Category/Collection/Name or shorter; numbers and Bools can be drawn.",
        completion: .custom(completeNumbers))
    var names: [String]

    func validate() throws {
        guard ControlLimits.sampleRates.contains(rate) else {
            throw ValidationError("--rate must be between 0.001 and 1000 samples per second.")
        }
        guard 0.1...86_400 ~= window else {
            throw ValidationError("--window must be between 0.1 and 86400 seconds.")
        }
    }

    func run() throws {
        try target.forEach(.json) { program throws(Failure) in
            program.warnAboutForks()
            var samples = try program.samples(of: program.tweaks(named: names), rate: rate)
            try draw(&samples, of: program.title)
        }
    }

    private func draw(_ samples: inout some SampleSource<Failure>, of title: String) throws(Failure) {
        let look = TerminalLook()
        if look.isScreen {
            let plot = Plot(samples.series, window: window, layout: together ? .together : .stacked)
            var screen = PlotScreen(plot, title: title)
            try screen.run(&samples, duration: duration?.seconds)
        } else {
            try list(&samples, look)
        }
    }

    /// Prints rows instead of pictures.
    private func list(_ samples: inout some SampleSource<Failure>, _ look: TerminalLook) throws(Failure) {
        var rows = PlainRows(samples.series, unicode: look.isUnicode)
        print(rows.header)
        fflush(nil)
        let clock = ContinuousClock()
        let start = clock.now
        while true {
            let rest = duration.map { $0.seconds - (clock.now - start) / .seconds(1) } ?? 3600
            guard rest > 0 else { return }
            guard let batch = try samples.next(within: rest) else { continue }
            for row in rows.rows(of: batch) { print(row) }
            fflush(nil)
            guard !batch.hasEnded else { return }
        }
    }
}
