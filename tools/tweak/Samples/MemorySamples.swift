import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords

/// Samples that are taken from outside, of a process that does not have the library. What of its tweaks is another value
/// than before is a change.
struct MemorySamples: SampleSource, ChangeSource {
    let series: [PlotSeries]
    private let sampler: MemorySampler
    private let tweaks: MemorySampler
    private let period: Duration
    /// When the next sample is due.
    private var due: ContinuousClock.Instant
    /// How long what has come is kept together, and tweaks are not looked at.
    private static let patience: Duration = .milliseconds(50)
    private var lastLook: ContinuousClock.Instant
    private var known: [TweakValue?]
    private(set) var skipped = 0
    private(set) var changes: [ChangedTweaks.Change] = []

    /// - Parameters:
    ///   - sampled: What is sampled.
    ///   - watched: The tweaks whose changes are marks.
    ///   - rate: How many samples are taken in a second.
    init(
        _ program: MemoryProgram, _ sampled: [JSONTweak], watching watched: [JSONTweak], rate: Double
    ) throws(Failure) {
        series = sampled.map { PlotSeries($0.declaration) }
        sampler = try program.sampler(for: sampled.map(\.declaration.key))
        tweaks = try program.sampler(for: watched.map(\.declaration.key))
        period = .seconds(1) / rate
        due = .now
        lastLook = .now
        known = try tweaks.read()
    }

    mutating func next(within seconds: Double) throws(Failure) -> SampleBatch? {
        let start = ContinuousClock.now
        let end = start + .seconds(min(max(seconds, 0), 1e9))
        var batch = SampleBatch()
        changes = []
        var numbers: [Double] = []
        // The last of them may have come long after the first.
        while ContinuousClock.now < min(end, start + max(Self.patience, batch.times.isEmpty ? period : .zero))
        {
            guard sleep(until: min(due, end)) else { break }
            guard due <= .now else { break }
            do throws(Failure) {
                try sampler.readNumbers(into: &numbers)
                if .now - lastLook >= Self.patience { try look(&batch) }
            } catch {
                guard error.exitCode == EX_UNAVAILABLE else { throw error }
                batch.hasEnded = true
                return batch
            }
            if !series.isEmpty {
                batch.times.append(secondsSince1970())
                batch.values.append(numbers.map { $0 })
            }
            let late = ((.now - due) / period).rounded(.down)
            skipped += Int(min(late, 1e9))
            due += period * (late + 1)
        }
        return batch.times.isEmpty && batch.marks.isEmpty ? nil : batch
    }

    /// Finds the tweaks that have changed.
    private mutating func look(_ batch: inout SampleBatch) throws(Failure) {
        lastLook = .now
        let values = try tweaks.read()
        for (index, declaration) in tweaks.declarations.enumerated() where values[index] != known[index] {
            let change = ChangedTweaks.Change(
                tweak: declaration.key, oldValue: .scalar(known[index] ?? .nothing),
                newValue: .scalar(values[index] ?? .nothing), source: "\(TweakSource.memory)",
                time: secondsSince1970())
            changes.append(change)
            batch.marks.append(SampleMark(time: change.time, label: change.text(declaration)))
        }
        known = values
    }
}

/// - Returns: Whether no signal has ended it before.
private func sleep(until instant: ContinuousClock.Instant) -> Bool {
    let rest = instant - .now
    guard rest > .zero else { return true }
    let (seconds, attoseconds) = rest.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    return nanosleep(&time, nil) == 0
}

private func secondsSince1970() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
