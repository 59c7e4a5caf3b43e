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

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Repeat the changes of a recording at their original times.",
        discussion: """
            Values are set and kept as by tweak set, and resets, ramps and marks are repeated. Changes made together are \
            made together again. A lease ends when the recorded one did, or with the replay if the recording stops \
            earlier. Values that the program clamps or refuses, and tweaks that it does not declare, are reported; the \
            rest is replayed.

            With --check the recorded monitors are sampled during the replay and compared with the recording: each sample \
            must be within the tolerance of a value that the other run had within the --shift, in both directions. The \
            exit status is 0 if all monitors match, 1 if one deviates or has too few samples, and 65 if changes could \
            not be made. Start the program from the same state; tweaks whose values differ from the start of the \
            recording are reported.

            For example:

              tweak replay run.mcap motor --check
            """)

    @Option(help: "The speed: 2 is twice as fast, 0.5 half as fast.")
    var speed = 1.0

    @Option(help: "Only replay this many seconds of the recording.")
    var until: Double?

    @Flag(help: "Compare the monitors with the recording.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "The allowed deviation: a number, or a percentage of the monitor's recorded range, or of its value if it is constant (default: 5%).",
            valueName: "deviation"))
    var tolerance: ToleranceArgument?

    @Option(
        help: ArgumentHelp(
            "How much earlier or later a value may occur (default: the sampling interval, at least 10ms).",
            valueName: "time"))
    var shift: DurationArgument?

    @Option(help: "The format of the result of --check (default: table).")
    var format: OutputFormat?

    @Argument(help: "A file written by tweak record.", completion: .file())
    var file: String

    @OptionGroup var target: ProcessOptions

    func validate() throws {
        let program = target.program
        guard isAccessible(file, F_OK) || !program.hasSuffix(".mcap") || !isAccessible(program, R_OK) else {
            throw ValidationError("\(program) is a recording; write the recording before the program.")
        }
        guard speed > 0, speed.isFinite else { throw ValidationError("--speed must be greater than 0.") }
        if let until, !(until >= 0) { throw ValidationError("--until must be at least 0 seconds.") }
        guard check || tolerance == nil && shift == nil && format == nil else {
            throw ValidationError("--tolerance, --shift and --format need --check.")
        }
        guard !check || speed == 1 else {
            throw ValidationError("--check replays at the recorded speed; omit --speed.")
        }
    }

    func run() throws {
        try target.forEachRunning(format ?? .table) { program throws(Failure) in
            let recorded = try RecordedRun(path: file, readingSamples: check)
            let check = check ? try ReplayCheck(of: recorded, file, until: until, tolerance, shift) : nil
            let tweaks = try program.tweaks()
            let plan = ReplaySteps(of: recorded, until: until, for: Set(tweaks.map(\.declaration.key)))
            check?.warnOfOtherValues(tweaks, than: recorded.tweaks)
            var replay = try Replay(
                program, tweaks, speed: speed, monitors: try check?.monitors(in: program, tweaks))
            let end = min(recorded.duration, until ?? .infinity)
            try replay.run(plan, until: end)
            if let check, let monitors = replay.monitors {
                let result = check.compare(monitors, endOfProgram: replay.endOfProgram)
                try target.show(result, of: program, as: format ?? .table) { result.table }
                fflush(nil)
                try result.check(about: program.title)
            }
            if let time = replay.endOfProgram, !replay.isComplete {
                throw Failure(
                    "it ended after \(seconds(time)), before all changes were made", about: program.title,
                    .unavailable)
            }
            if replay.endOfProgram == nil { try replay.reportIneffective() }
            let problems = plan.problems + replay.problems
            if problems > 0 {
                throw Failure("\(counted(problems, "change was", "changes were")) not made", .invalid)
            }
        }
    }
}
