// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakOverrides
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSystem

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show changes and monitors as they happen, until the program ends.",
        discussion: """
            Each line has the time, the tweak, the old and the new value, and the provider of the new value; in JSON it is \
            an object. Changes that arrive faster than they can be shown are merged per tweak.

            With --rate, or if a monitor is named, the command samples the named monitors and tweaks, by default all \
            monitors, and shows changes of tweaks between the samples. CSV has the time in seconds since 1970, the values \
            and the change, for spreadsheets, PlotJuggler and pandas. A file whose name ends in .mcap is written as MCAP, \
            as by tweak record.

            --to sends the samples, and the values of all tweaks that are numbers or Bools, as UDP datagrams: JSON for \
            PlotJuggler, with times in the field timestamp, or lines for Teleplot. Datagrams that cannot be sent at once \
            are dropped, and counted at the end.

            For example:

              tweak watch motor
              tweak watch motor 'State/*' --rate 100 --output run.mcap
            """)

    @Option(help: "The output format; csv is for samples.")
    var format: WatchFormat = .table

    @Option(help: "The samples per second, at most 1000 (default: 10).")
    var rate: Double?

    @Option(
        name: .shortAndLong, help: "Write the samples to this file.", completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Send the samples to a viewer instead of printing them, such as udp://127.0.0.1:9870.",
            valueName: "address"))
    var to: StreamAddress?

    @Option(name: .customLong("as"), help: "The format for the viewer (default: plotjuggler).")
    var form: StreamForm?

    @Flag(help: "Allow another machine as destination. Anyone on the network path can read the values.")
    var allowRemote = false

    @Option(
        help: ArgumentHelp("Stop sampling after this time, in seconds or with a unit.", valueName: "time"))
    var duration: DurationArgument?

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: """
            The tweaks, as Category/Collection/Name or shorter, or patterns such as 'Motor/*'; by default all.
            """,
        completion: .custom(completeTweaks))
    var tweaks: [String] = []

    func validate() throws {
        if let rate, !ControlLimits.sampleRates.contains(rate) {
            throw ValidationError("--rate must be between 0.001 and 1000 samples per second.")
        }
        let isSampling = rate != nil || duration != nil || output != nil || to != nil || format == .csv
        guard !target.allProcesses || !isSampling else {
            throw ValidationError("Only one process can be sampled; give its process id.")
        }
        guard to != nil || form == nil && !allowRemote else {
            throw ValidationError("--as and --allow-remote need --to.")
        }
        guard format == .table || !isMCAP else {
            throw ValidationError("A file whose name ends in .mcap is written as MCAP; omit --format.")
        }
    }

    private var isMCAP: Bool { output?.hasSuffix(Recording.suffix) ?? false }

    func run() throws {
        var watched: [WatchedProgram] = []
        try target.forEach(.json) { program throws(Failure) in
            let named = try program.tweaks(fitting: tweaks)
            if try samples(named, of: program) {
                program.warnAboutForks()
                let rate = rate ?? 10
                var samples = try program.samples(of: sampled(of: program), rate: rate)
                try write(&samples, of: program, rate)
            } else {
                watched.append(try WatchedProgram(target.running(program), named))
            }
        }
        let showsTitles = watched.count > 1
        var exitCode: Int32?
        while !watched.isEmpty {
            var remaining: [WatchedProgram] = []
            for program in watched {
                do throws(Failure) {
                    if try program.forEachChange({ show($0, of: program, showsTitles) }) {
                        remaining.append(program)
                    }
                } catch {
                    error.write()
                    exitCode = exitCode ?? error.exitCode
                }
            }
            fflush(nil)
            watched = remaining
            wait(for: watched)
        }
        if let exitCode { throw ExitCode(exitCode) }
    }

    /// Returns whether to sample. A process without the library announces no changes, and none those of adopted
    /// variables.
    private func samples(_ named: [JSONTweak], of program: any Program) throws(Failure) -> Bool {
        guard !target.allProcesses else { return false }
        let isAsked =
            rate != nil || duration != nil || output != nil || to != nil || format == .csv
            || program is MemoryProgram || named.contains(where: \.declaration.isMonitor)
        guard !isAsked, let program = program as? LiveProgram else { return isAsked }
        return try program.isAdopted(anyOf: named)
    }

    /// The monitors and tweaks to sample.
    private func sampled(of program: any Program) throws(Failure) -> [JSONTweak] {
        if !tweaks.isEmpty {
            return try program.tweaks(fitting: tweaks, where: \.declaration.canBeSampled)
        }
        // A stream and a recording have the values of the tweaks in any case.
        guard to != nil || isMCAP else { return try program.monitors() }
        return try program.tweaks().filter(\.declaration.isMonitor)
    }

    private func write(
        _ samples: inout some SampleSource<Failure> & ChangeSource, of program: any Program, _ rate: Double
    ) throws(Failure) {
        let stream = try stream(samples.series, of: program)
        var outputs: [any SampleSink] = stream.map { [$0] } ?? []
        var recording: Recording?
        if let output, isMCAP {
            recording = try Recording(to: output, of: program, samples)
        } else if stream == nil || output != nil || format != .table {
            outputs.append(
                try SampleOutput(
                    to: output, as: format, of: samples.series, rate: rate,
                    isUnicode: TerminalLook().isUnicode))
        }
        // The counts are printed before a signal ends the command.
        let interruption = stream.map { _ in HeldSignals.unlessIgnored }
        let end = duration.map { ContinuousClock.now + .seconds($0.seconds) }
        // The longest time between two calls of an output, in seconds.
        let period = recording != nil ? NewHistory.period : stream != nil ? 1 : 3600
        var (taken, dropped) = (0, 0)
        while end.map({ .now < $0 }) ?? true, interruption?.isPending != true {
            let rest = end.map { ($0 - .now) / .seconds(1) } ?? period
            let batch = try samples.next(within: min(rest, period))
            try recording?.add(batch ?? SampleBatch(), samples.changes)
            guard batch != nil || stream != nil else { continue }
            for index in outputs.indices { try outputs[index].add(batch ?? SampleBatch(), samples.changes) }
            guard let batch else { continue }
            (taken, dropped) = (taken + batch.times.count, dropped + batch.dropped)
            if batch.hasEnded { break }
        }
        stream?.finish()
        try recording?.add(isLast: true)
        if let lost = recording?.lostChanges, lost > 0 { warnOfLostChanges(lost) }
        let unsent = stream?.lost ?? 0
        if dropped + samples.skipped + unsent > 0
            || (output != nil || stream != nil) && isatty(STDERR_FILENO) == 1
        {
            let text =
                counted(taken, "sample", "samples")
                + (dropped == 0 ? "" : ", \(dropped) dropped")
                + (samples.skipped == 0 ? "" : ", \(samples.skipped) not taken in time")
                + (unsent == 0 ? "" : ", " + counted(unsent, "datagram", "datagrams") + " lost")
            if format == .json {
                Warning(text, .lost, skipped: samples.skipped).write()
            } else {
                printMessage(text)
            }
        }
        interruption?.release()
    }

    private func stream(
        _ series: [PlotSeries], of program: any Program
    ) throws(Failure) -> TweakStream? {
        guard let to else { return nil }
        return try TweakStream(
            to: to, as: form ?? .plotjuggler, allowsRemote: allowRemote, of: series, program.tweaks())
    }

    private func wait(for programs: [WatchedProgram]) {
        guard !programs.isEmpty else { return }
        var entries = programs.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        poll(&entries, nfds_t(entries.count), -1)
    }

    private func show(_ change: ChangedTweaks.Change, of program: WatchedProgram, _ showsTitle: Bool) {
        switch format {
        case .table:
            let title = showsTitle ? "\(program.title)  " : ""
            print(printable("\(localTime(change.time))  \(title)") + program.text(of: change))
        case .json, .csv:
            // Everything that was received as JSON can be encoded.
            try? printJSONLine(WatchedChange(pid: program.pid, change: change))
        }
    }
}

extension HeldSignals {
    /// The signals that end a command. Even an ignored one, as in the background of a script, is pending when blocked.
    fileprivate static var unlessIgnored: HeldSignals { HeldSignals(ending.filter { !isIgnored($0) }) }
}

enum WatchFormat: String, Keyword, FormatArgument {
    case table, json, csv
}

/// A running program that announces its changes.
private struct WatchedProgram {
    private let program: LiveProgram
    private let declarations: [TweakKey: TweakDeclaration]

    var pid: pid_t { program.running.pid }
    var title: String { program.title }
    var descriptor: CInt { program.connection.descriptor }

    /// - Parameter tweaks: The tweaks to watch; empty for all.
    init(_ program: LiveProgram, _ tweaks: [JSONTweak]) throws(Failure) {
        self.program = program
        let known = tweaks.isEmpty ? try program.tweaks() : tweaks
        declarations = Dictionary(known.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
        _ = try program.ask(SubscribeToChanges(tweaks: tweaks.isEmpty ? nil : tweaks.map(\.declaration.key)))
    }

    /// Calls `body` with each available change, without waiting.
    ///
    /// - Returns: Whether more may follow.
    func forEachChange(_ body: (ChangedTweaks.Change) -> Void) throws(Failure) -> Bool {
        do throws(ConnectionError) {
            var isOpen = true
            do throws(ConnectionError) { try program.connection.receive() } catch .closed { isOpen = false }
            while let message = try program.connection.nextMessage() {
                if case .changed(let changed) = message { changed.changes.forEach(body) }
            }
            return isOpen
        } catch {
            throw error.failure(of: title)
        }
    }

    /// The change as text for people.
    func text(of change: ChangedTweaks.Change) -> String {
        let parts = change.parts(declarations[change.tweak])
        return printable(parts.before) + emphasized(printable(parts.value)) + printable(parts.source)
    }
}

/// The JSON form of a change. Scripts rely on its keys.
private struct WatchedChange: Encodable {
    let pid: pid_t
    let change: ChangedTweaks.Change

    func encode(to encoder: any Encoder) throws {
        try change.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pid, forKey: .pid)
    }

    private enum CodingKeys: CodingKey { case pid }
}

/// The local time of day with milliseconds.
func localTime(_ secondsSince1970: Double) -> String {
    let (parts, milliseconds) = local(secondsSince1970)
    let fields = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0.digits(2) }
    return fields.joined(separator: ":") + "." + milliseconds.digits(3)
}

/// The local time of day, after the date if it is not today.
func localMoment(_ secondsSince1970: Double) -> String {
    let (now, then) = (local(Double(time(nil))).parts, local(secondsSince1970).parts)
    let isToday = (now.tm_year, now.tm_yday) == (then.tm_year, then.tm_yday)
    let fields = [(then.tm_year + 1900).digits(4), (then.tm_mon + 1).digits(2), then.tm_mday.digits(2)]
    return (isToday ? "" : fields.joined(separator: "-") + " ") + localTime(secondsSince1970)
}

private func local(_ secondsSince1970: Double) -> (parts: tm, milliseconds: Int) {
    // A program may report any number.
    let milliseconds = Int(exactly: (secondsSince1970 * 1000).rounded()) ?? 0
    var (seconds, parts) = (time_t(milliseconds / 1000), tm())
    localtime_r(&seconds, &parts)
    return (parts, abs(milliseconds % 1000))
}
