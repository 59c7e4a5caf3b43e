// SPDX-License-Identifier: BSD-3-Clause
import CTweakSystem
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSystem

/// The result of a measurement, or the reason why there is none.
enum MeasuredResult {
    case value(Double)
    case failed(reason: String)

    var value: Double? {
        if case .value(let value) = self { value } else { nil }
    }
}

/// The way to measure a point.
protocol SweepMeasurement {
    /// Measures the program with its current values.
    ///
    /// - Parameters:
    ///   - values: The current values, for a command that starts a program.
    ///   - watch: Polled during the measurement.
    mutating func measure(
        _ values: OverridesDocument, _ watch: inout SweepWatch
    ) throws(Failure) -> MeasuredResult
}

/// A statistic of samples of a running program, or of all its processes at the same time.
struct SampledMeasurement: SweepMeasurement {
    /// The samples of a process.
    private struct Process {
        /// The name of the tweak, and of the process if there are several, for messages.
        let title: String
        var samples: any SampleSource<Failure> & ChangeSource
        var span = 0.0..<0.0
        var times: [Double] = []
        var values: [Double] = []
        var isComplete = false
    }

    private let statistic: Statistic
    private let combination: Combination?
    private let settle, time: Double
    private let rate: Double
    private var processes: [Process] = []

    /// Starts sampling.
    ///
    /// - Parameters:
    ///   - combination: The way to make one number for the program and its forks; `nil` to sample only the program.
    ///   - settle: The seconds to discard first.
    ///   - time: The seconds to measure.
    init(
        _ measure: MeasureArgument, of program: any Program, combining combination: Combination?,
        settle: Double, for time: Double, rate: Double
    ) throws(Failure) {
        (statistic, self.combination) = (measure.statistic, combination)
        (self.settle, self.time, self.rate) = (settle, time, rate)
        let programs = combination == nil ? [program] : program.withForks
        for program in programs {
            let tweak = try program.tweak(named: measure.name)
            // On the connection of the leases, an answer would discard the samples before it.
            var source = program
            if let live = program as? LiveProgram {
                guard let second = try LiveProgram(live.running) else {
                    throw ConnectionError.refused.failure(of: program.title)
                }
                source = second
            }
            let title = programs.count > 1 ? "\(program.title): " : ""
            processes.append(
                Process(
                    title: "\(title)\(tweak.declaration.key)",
                    samples: try source.samples(of: [tweak], rate: rate)))
        }
    }

    mutating func measure(
        _ values: OverridesDocument, _ watch: inout SweepWatch
    ) throws(Failure) -> MeasuredResult {
        let start = Duration.since1970 / .seconds(1) + settle
        let deadline = ContinuousClock.now + .seconds(settle + time + max(2, 2 / rate))
        for index in processes.indices {
            processes[index].span = start..<(start + time)
            (processes[index].times, processes[index].values) = ([], [])
            processes[index].isComplete = false
        }
        while .now < deadline {
            let awaited = processes.indices.filter { !processes[$0].isComplete }
            guard !awaited.isEmpty else { break }
            for index in awaited {
                try watch.check()
                let patience = watch.patience / .seconds(1)
                try read(index, within: turn(ofOneIn: awaited.count, atMost: patience))
            }
        }
        var results: [Double] = []
        for process in processes {
            guard !process.values.isEmpty else {
                throw Failure("\(process.title): the program sends no samples", .busy)
            }
            let result = statistic(process.values, at: process.times)
            guard !result.isNaN else { return .failed(reason: "\(process.title) is NaN") }
            results.append(result)
        }
        return .value(combination?(results) ?? results.first ?? .nan)
    }

    /// Reads samples of a process.
    private mutating func read(_ index: Int, within seconds: Double) throws(Failure) {
        guard let batch = try processes[index].samples.next(within: seconds) else { return }
        for (time, row) in zip(batch.times, batch.values) where time >= processes[index].span.lowerBound {
            guard let value = row.first ?? nil else { continue }
            // On a busy machine a short span may pass without a sample. Then the next one begins another.
            if processes[index].values.isEmpty, time >= processes[index].span.upperBound {
                processes[index].span = time..<(time + self.time)
            }
            guard processes[index].span.contains(time) else { break }
            processes[index].times.append(time)
            processes[index].values.append(value)
        }
        guard !batch.hasEnded else {
            throw Failure("\(processes[index].title): the program has ended", .unavailable)
        }
        guard let last = batch.times.last else { return }
        processes[index].isComplete = last >= processes[index].span.upperBound
    }
}

/// The time that a command takes, or a number that it prints.
struct CommandMeasurement: SweepMeasurement {
    let command: String
    /// `nil` to measure the time.
    let pattern: ResultPattern?
    let settle: Double

    mutating func measure(
        _ values: OverridesDocument, _ watch: inout SweepWatch
    ) throws(Failure) -> MeasuredResult {
        if settle > 0 { try watch.wait(until: .now + .seconds(settle)) }
        try StartValues(values).export()
        let start = ContinuousClock.now
        let run = try CommandRun(command, mask: watch.signalMask)
        let status: Int32
        do throws(Failure) {
            status = try run.wait(&watch)
        } catch {
            run.end()
            throw error
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if status != 0 {
            return .failed(
                reason: status > 128
                    ? "the command was killed by signal \(status - 128)"
                    : "the command exited with status \(status)")
        }
        guard let pattern else { return .value(seconds) }
        return try pattern.number(in: run.output, &watch)
    }
}

/// A command in a process group of its own, so that all its processes can be ended.
private final class CommandRun {
    private let process: ChildProcess
    private let stream: CInt
    private(set) var output: [UInt8] = []

    /// The number of bytes kept of the end of the output.
    private static let mostOutput = 16 << 20
    /// The time that a command has to end after SIGTERM.
    private static let patience: Duration = .seconds(2)

    init(_ command: String, mask: sigset_t) throws(Failure) {
        guard let ends = makePipe() else { throw Failure("a pipe: \(systemMessage())", .system) }
        let nothing = openFile("/dev/null", O_RDONLY)
        defer {
            close(nothing)
            close(ends.write)
        }
        closeReservedDescriptorsOnExec()
        do throws(ChildProcess.StartProblem) {
            process = try withUnsafePointer(to: mask) { mask throws(ChildProcess.StartProblem) in
                try ChildProcess(
                    ["sh", "-c", command].map { Array($0.utf8) }, of: "/bin/sh",
                    standard: [nothing, ends.write, -1], group: .own, signals: .inherited(blocked: mask))
            }
        } catch {
            close(ends.read)
            throw Failure("/bin/sh: it cannot be executed: \(error.message)", .notExecutable)
        }
        stream = ends.read
        _ = fcntl(stream, F_SETFL, O_NONBLOCK)
    }

    deinit { close(stream) }

    /// Waits for the end of the command, and reads its output meanwhile.
    ///
    /// - Returns: Its exit status, or 128 and the number of the signal that ended it.
    func wait(_ watch: inout SweepWatch) throws(Failure) -> Int32 {
        var isOpen = true
        while true {
            try watch.check()
            let (_, others) = waitForEnd(
                of: process.descriptor, or: [isOpen ? stream : -1], atMost: watch.patience)
            if others[0] { isOpen = read() }
            if let status = ended() {
                if isOpen { _ = read() }
                return status
            }
        }
    }

    /// Ends the command and its children.
    func end() { process.endGroup(after: Self.patience) }

    private func ended() -> Int32? { process.endedStatus().map { shellStatus(ofWait: $0) } }

    /// Reads the available output.
    ///
    /// - Returns: Whether there may be more.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(stream, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            output += buffer.prefix(count)
            if output.count > Self.mostOutput { output.removeFirst(output.count - Self.mostOutput / 2) }
        }
    }
}

/// An extended regular expression that finds a number in the output of a command.
struct ResultPattern {
    private let expression: RegularExpression
    private let text: String

    /// The checks, about a million steps apart, after which a search is given up.
    private static let mostChecks = 2000

    /// - Throws: ``Failure`` if the expression is malformed.
    init(_ text: String) throws(Failure) {
        self.text = text
        do throws(RegularExpression.Problem) { expression = try RegularExpression(text) } catch {
            throw Failure("--value-from: \(text): \(error.reason)", .usage)
        }
    }

    /// The number in the last match: its first group, or all of it.
    ///
    /// - Parameter watch: Checked during the search.
    func number(in output: [UInt8], _ watch: inout SweepWatch) throws(Failure) -> MeasuredResult {
        let scalars = String(decoding: output, as: UTF8.self).unicodeScalars.map(\.value)
        var checks = 0
        let match = try expression.lastMatch(in: scalars) { () throws(Failure) in
            try watch.check()
            checks += 1
            guard checks < Self.mostChecks else {
                throw Failure(
                    "--value-from: \(text): it takes too long on \(output.count) bytes of output; print less, or give an "
                        + "expression that matches less", .invalid)
            }
        }
        guard let match else { return .failed(reason: "nothing that the command printed matches \(text)") }
        var number = ""
        number.unicodeScalars.append(
            contentsOf: scalars[match.group ?? match.range].compactMap { Unicode.Scalar($0) })
        guard let value = Double(number), value.isFinite else {
            return .failed(reason: "\"\(number)\", which the command printed, is not a number")
        }
        return .value(value)
    }
}
