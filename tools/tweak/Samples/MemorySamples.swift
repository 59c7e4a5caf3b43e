// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSystem

/// Samples read from the memory of a process without the library. Tweaks whose values differ from the last look are
/// changes.
struct MemorySamples: SampleSource, ChangeSource {
    let series: [PlotSeries]
    private let types: [TweakType]
    private let sampling: MemorySampling
    private let tweaks: MemorySampler
    /// The longest time between two looks at the tweaks, and the longest delay of samples.
    private static let patience: Duration = .milliseconds(50)
    /// The delay of samples: small batches stay below the size that malloc returns to the kernel each time.
    private let pause: Duration
    private var lastLook: ContinuousClock.Instant
    private var known: [TweakValue?]
    private(set) var skipped = 0
    private(set) var changes: [ChangedTweaks.Change] = []

    /// - Parameters:
    ///   - sampled: The tweaks to sample.
    ///   - watched: The tweaks whose changes are marks.
    ///   - rate: The samples per second.
    init(
        _ program: MemoryProgram, _ sampled: [JSONTweak], watching watched: [JSONTweak], rate: Double
    ) throws(Failure) {
        series = sampled.map { PlotSeries($0.declaration) }
        types = sampled.map(\.declaration.type)
        tweaks = try program.sampler(for: watched.map(\.declaration.key))
        pause = min(Self.patience, .seconds(1) / rate * max(6000 / (sampled.count + 1), 1))
        lastLook = .now
        known = try tweaks.read()
        sampling = try .start(program.sampler(for: sampled.map(\.declaration.key)), rate: rate)
    }

    mutating func next(within seconds: Double) throws(Failure) -> SampleBatch? {
        changes = []
        guard sleep(until: .now + min(.seconds(min(max(seconds, 0), 1)), pause)) else { return nil }
        let taken = sampling.read()
        var batch = SampleBatch(dropped: taken.dropped)
        skipped += taken.skipped
        TakenSamples.forEachSample(in: taken.frames.span.bytes, types) { time, values in
            batch.times.append(time)
            batch.values.append(values)
        }
        do throws(Failure) {
            if let problem = taken.problem { throw problem }
            if .now - lastLook >= Self.patience { try look(&batch) }
        } catch {
            guard error.kind == .unavailable else { throw error }
            batch.hasEnded = true
            return batch
        }
        return batch.times.isEmpty && batch.marks.isEmpty && batch.dropped == 0 ? nil : batch
    }

    /// Finds the tweaks that have changed.
    private mutating func look(_ batch: inout SampleBatch) throws(Failure) {
        lastLook = .now
        let values = try tweaks.read()
        for (index, declaration) in tweaks.declarations.enumerated() where values[index] != known[index] {
            let change = ChangedTweaks.Change(
                tweak: declaration.key, oldValue: .scalar(known[index] ?? .nothing),
                newValue: .scalar(values[index] ?? .nothing), source: "\(TweakSource.memory)",
                time: Duration.since1970 / .seconds(1))
            changes.append(change)
            batch.marks.append(SampleMark(time: change.time, label: change.text(declaration)))
        }
        known = values
    }
}

/// A thread that takes samples, so that processing them does not delay it. Everything that is not guarded belongs to
/// the thread.
private final class MemorySampling: @unchecked Sendable {
    struct Taken: Sendable {
        var frames: ArraySlice<UInt64>
        var dropped: Int
        var skipped: Int
        /// The reason why the samples ended.
        var problem: Failure?
    }

    private struct State {
        var waiting: WaitingSamples
        var problem: Failure?
    }

    private let sampler: MemorySampler
    private let state: Mutex<State>

    private init(_ sampler: MemorySampler, rate: Double) {
        self.sampler = sampler
        state = Mutex(State(waiting: WaitingSamples(of: sampler.declarations.count, rate: rate, at: .now)))
    }

    /// - Throws: ``Failure`` of the kind ``Failure/Kind/system`` if no thread can be started.
    static func start(_ sampler: MemorySampler, rate: Double) throws(Failure) -> MemorySampling {
        let sampling = MemorySampling(sampler, rate: rate)
        if let problem = startThread({ sampling.run() }) {
            throw Failure("a thread: \(systemMessage(problem))", .system)
        }
        return sampling
    }

    func read() -> Taken {
        state.withLock { state in
            let (frames, dropped, skipped) = state.waiting.read(.max)
            return Taken(frames: frames, dropped: dropped, skipped: skipped, problem: state.problem)
        }
    }

    private func run() {
        var words: [UInt64] = []
        while true {
            sleep(until: state.withLock { $0.waiting.next })
            // First, because the next samples are due from the moment at which the first is.
            let time = Duration.since1970 / .seconds(1)
            let isDue = state.withLock { $0.waiting.isDue(at: .now) }
            guard isDue else { continue }
            words.removeAll(keepingCapacity: true)
            words.append(time.bitPattern)
            do throws(Failure) {
                try sampler.readBits(into: &words)
                state.withLock { $0.waiting.frames += words }
            } catch {
                return state.withLock { $0.problem = error }
            }
        }
    }
}

/// - Returns: `false` if a signal has ended it before.
@discardableResult
private func sleep(until instant: ContinuousClock.Instant) -> Bool {
    let rest = instant - .now
    guard rest > .zero else { return true }
    let (seconds, attoseconds) = rest.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    return nanosleep(&time, nil) == 0
}
