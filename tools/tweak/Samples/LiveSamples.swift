import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords

/// What else a source of samples knows.
protocol ChangeSource {
    /// What the marks of the last batch are of.
    var changes: [ChangedTweaks.Change] { get }
    /// How many samples were due and could not be taken.
    var skipped: Int { get }
}

/// Samples that a running program takes itself, with the changes of its tweaks as marks.
struct LiveSamples: SampleSource, ChangeSource {
    let series: [PlotSeries]
    private let program: LiveProgram
    private let types: [TweakType]
    private let subscription: Int
    private let declarations: [TweakKey: TweakDeclaration]
    private(set) var skipped = 0
    private(set) var changes: [ChangedTweaks.Change] = []

    var descriptor: CInt { program.connection.descriptor }

    /// Asks for them.
    ///
    /// - Parameters:
    ///   - tweaks: What is sampled: monitors, and tweaks that are numbers or Bools.
    ///   - rate: How many are taken in a second.
    init(_ program: LiveProgram, _ tweaks: [JSONTweak], rate: Double) throws(Failure) {
        self.program = program
        series = tweaks.map { PlotSeries($0.declaration) }
        let all = try program.tweaks()
        declarations = Dictionary(all.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
        _ = try program.ask(SubscribeToChanges())
        let answer = try program.ask(SampleTweaks(tweaks: tweaks.map(\.declaration.key), rate: rate))
        subscription = answer.subscription
        types = answer.types.compactMap { TweakType($0) }
        guard types.count == tweaks.count else {
            throw Failure(
                "it samples something else than what was asked for", about: program.title, .garbled)
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

    /// What has come.
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
    /// The change as a person sees it, which may hold what others wrote: `Spring/Physics/Mass: 1.0 kg → 2.0 kg (override)`.
    func text(_ declaration: TweakDeclaration?) -> String {
        let parts = parts(declaration)
        return parts.before + parts.value + parts.source
    }

    /// The same, with the new value apart.
    func parts(_ declaration: TweakDeclaration?) -> (before: String, value: String, source: String) {
        // A feature that comes had no value, and one that goes has none.
        func text(_ value: JSONValue) -> String {
            value == .null ? "nothing" : declaration?.text(of: value) ?? value.summary
        }
        return ("\(tweak): \(text(oldValue)) → ", text(newValue), " (\(source))")
    }
}

extension PlotSeries {
    /// How a monitor or tweak is drawn.
    init(_ tweak: TweakDeclaration) {
        var range: ClosedRange<Double>?
        if let minimum = tweak.minimum?.number, let maximum = tweak.maximum?.number, minimum < maximum {
            range = minimum...maximum
        }
        let states = tweak.choices.compactMap { choice in
            choice.value.number.map { State($0, choice.label ?? "\(choice.value)") }
        }
        self.init(
            name: "\(tweak.key)", unit: tweak.unit, precision: tweak.precision, range: range,
            states: tweak.type == .bool ? .switched : states)
    }
}

extension TweakValue {
    fileprivate var number: Double? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): Double(number)
        case .double(let number): number
        case .string, .color, .nothing: nil
        }
    }
}
