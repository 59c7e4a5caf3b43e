// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import TweakRecords

/// The samples of the first series of a source in a span of time, which begins with the first sample.
package struct MeasuredSamples: Sendable {
    private let pause, seconds, rate: Double
    private var span: Range<Double>?
    /// The time of the last sample, also of one that does not count.
    private var newest: Double?
    /// The number of samples in the span, also of those without a value because the tweak did not exist.
    private var taken = 0
    /// The losses since the last sample, and those that may lie in the span.
    private var (unplaced, reported) = (0, 0)
    private var skipped = 0

    /// The times of the samples in the span, in seconds since 1970.
    package private(set) var times: [Double] = []
    package private(set) var values: [Double] = []
    /// The number of samples whose value differs from the one before. The program has stored at least as many values:
    /// an equal value looks as if nothing was stored.
    package private(set) var changes = 0
    /// The number of samples that were due in the span and could not be taken or sent.
    package private(set) var lost = 0
    /// Whether the program ended before the span did.
    package private(set) var hasEnded = false
    /// Whether all samples have arrived.
    package private(set) var isComplete = false

    /// - Parameters:
    ///   - pause: The seconds after the first sample that are left out.
    ///   - seconds: The following seconds, which count.
    ///   - rate: The samples per second.
    package init(after pause: Double, for seconds: Double, rate: Double) {
        (self.pause, self.seconds, self.rate) = (pause, seconds, rate)
    }

    /// Adds the samples that lie in the span.
    ///
    /// - Parameter skipped: The number of samples that the source could not take in time, since its start.
    package mutating func add(_ batch: SampleBatch, skipped: Int) {
        unplaced += batch.dropped + skipped - self.skipped
        self.skipped = skipped
        guard let first = batch.times.first, let last = batch.times.last else {
            hasEnded = batch.hasEnded
            return
        }
        let span = span ?? (first + pause)..<(first + pause + seconds)
        self.span = span
        // Losses are between the last sample of the former batch and that of this one.
        if last >= span.lowerBound, newest ?? first < span.upperBound { reported += unplaced }
        (unplaced, newest) = (0, last)
        for (time, row) in zip(batch.times, batch.values) where span.contains(time) {
            taken += 1
            guard let value = row.first ?? nil else { continue }
            if let before = values.last, value != before, !(value.isNaN && before.isNaN) { changes += 1 }
            times.append(time)
            values.append(value)
        }
        isComplete = last >= span.upperBound
        hasEnded = batch.hasEnded && !isComplete
    }

    /// Counts the lost samples, when no more are awaited.
    package mutating func finish() {
        guard let span, let newest else { return }
        guard isComplete || hasEnded else {
            // Nothing has reported the others.
            lost = max(0, due - taken)
            return
        }
        let time = min(newest, span.upperBound) - span.lowerBound
        let due = isComplete ? due : time < 0 ? 0 : Int(time * rate) + 1
        // Others were due before or after.
        lost = min(reported, max(0, due - taken))
    }

    /// The number of samples that are due in the span.
    package var due: Int { Int((seconds * rate - 1e-6).rounded(.up)) }

    /// The time from the first to the last sample in the span.
    package var duration: Double { (times.last ?? 0) - (times.first ?? 0) }

    /// The changes per second, which are at most the updates; `nil` if there are not two samples.
    package var changeRate: Double? { duration > 0 ? Double(changes) / duration : nil }

    package func callAsFunction(_ statistic: Statistic) -> Double { statistic(values, at: times) }

    /// The reason why the samples are too few for a statistic, for people; `nil` if they are enough.
    ///
    /// - Parameters:
    ///   - name: The name of the statistic.
    ///   - isUpdated: Whether the program updates the value all the time, so that there must be enough updates, too.
    package func shortage(for statistic: Statistic, named name: String, isUpdated: Bool) -> String? {
        let needed = statistic.neededCount
        func text(_ unit: String, _ count: Int) -> String {
            "\(name) needs \(needed) \(unit), but there \(count == 1 ? "is" : "are") \(count)"
        }
        guard values.count >= needed else { return text("samples", values.count) }
        // An integral has a time, whatever the updates.
        guard isUpdated, statistic != .integralOfAbsolute, changes + 1 < needed else { return nil }
        let rate = changeRate.map { formatted(" (%.3g changes per second)", $0) } ?? ""
        return text("updates", changes + 1)
            + " in \(counted(values.count, "sample", "samples"))\(rate), unless some stored an equal value"
    }
}
