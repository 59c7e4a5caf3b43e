// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords

/// A source of samples with further information.
protocol ChangeSource {
    /// The changes that the marks of the last batch stand for.
    var changes: [ChangedTweaks.Change] { get }
    /// The number of samples that the program could not take in time.
    var skipped: Int { get }
}

/// Samples taken by a running program, with the changes of its tweaks as marks.
struct LiveSamples: SampleSource, ChangeSource {
    let series: [PlotSeries]
    private let program: LiveProgram
    private let types: [TweakType]
    private let subscription: Int
    private let declarations: [TweakKey: TweakDeclaration]
    private(set) var skipped = 0
    private(set) var changes: [ChangedTweaks.Change] = []

    var descriptor: CInt { program.connection.descriptor }

    /// Requests the samples.
    ///
    /// - Parameters:
    ///   - tweaks: The monitors, and the tweaks that are numbers or Bools, to sample. Without any there are only changes.
    ///   - rate: The samples per second.
    init(_ program: LiveProgram, _ tweaks: [JSONTweak], rate: Double) throws(Failure) {
        self.program = program
        series = tweaks.map { PlotSeries($0.declaration) }
        let all = try program.tweaks()
        declarations = Dictionary(all.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
        _ = try program.ask(SubscribeToChanges())
        guard !tweaks.isEmpty else {
            (subscription, types) = (0, [])
            return
        }
        let answer = try program.ask(SampleTweaks(tweaks: tweaks.map(\.declaration.key), rate: rate))
        subscription = answer.subscription
        types = answer.types.compactMap { TweakType($0) }
        guard types.count == tweaks.count else {
            throw Failure(
                "it samples other tweaks than requested", about: program.title, .garbled)
        }
    }

    mutating func next(within seconds: Double) throws(Failure) -> SampleBatch? {
        do throws(ConnectionError) {
            if let batch = try read() { return batch }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, CInt(min(max(seconds * 1000, 0).rounded(.up), 1e9))) > 0 else { return nil }
            do throws(ConnectionError) { try program.connection.receive() } catch .closed {
                return try read(hasEnded: true) ?? SampleBatch(hasEnded: true)
            }
            return try read()
        } catch {
            throw error.failure(of: program.title)
        }
    }

    /// Reads the available samples.
    private mutating func read(hasEnded: Bool = false) throws(ConnectionError) -> SampleBatch? {
        var batch = SampleBatch(hasEnded: hasEnded)
        changes = []
        while let message = try program.connection.nextMessage() {
            switch message {
            case .sampled(let samples) where samples.subscription == subscription:
                batch.dropped += samples.dropped
                skipped += samples.skipped
                samples.forEachSample(types) { time, values in
                    batch.times.append(time)
                    batch.values.append(values)
                }
            case .changed(let changed):
                changes += changed.changes
                batch.marks += changed.changes.map { change in
                    SampleMark(time: change.time, label: change.text(declarations[change.tweak]))
                }
            case .sampled, .answer: break
            }
        }
        let isEmpty = batch.times.isEmpty && batch.marks.isEmpty && batch.dropped == 0
        return isEmpty && !hasEnded ? nil : batch
    }
}

extension ChangedTweaks.Change {
    /// The change as text for people, which may contain text of others: `Spring/Physics/Mass: 1.0 kg → 2.0 kg
    /// (override)`.
    func text(_ declaration: TweakDeclaration?) -> String {
        let parts = parts(declaration)
        return parts.before + parts.value + parts.source
    }

    /// The parts of the text.
    func parts(_ declaration: TweakDeclaration?) -> (before: String, value: String, source: String) {
        // A new feature had no value, and a removed one has none.
        func text(_ value: JSONValue) -> String {
            value == .null ? "nothing" : declaration?.text(of: value) ?? value.summary
        }
        return ("\(tweak): \(text(oldValue)) \(Signs.shown.arrow) ", text(newValue), " (\(source))")
    }
}

extension PlotSeries {
    /// The series of a monitor or tweak.
    init(_ tweak: TweakDeclaration) {
        var range: ClosedRange<Double>?
        if let minimum = tweak.minimum?.number, let maximum = tweak.maximum?.number, minimum < maximum {
            range = minimum...maximum
        }
        let states = tweak.choices.compactMap { choice in
            choice.value.number.map { State($0, choice.name) }
        }
        self.init(
            name: "\(tweak.key)", unit: tweak.unit, precision: tweak.precision, range: range,
            states: tweak.type == .bool ? .switched : states)
    }
}

extension TweakValue {
    /// The value as a point of a curve; `nil` for texts and colours.
    var number: Double? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): Double(number)
        case .double(let number): number
        case .string, .color, .nothing: nil
        }
    }
}
