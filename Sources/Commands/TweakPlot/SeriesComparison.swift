// SPDX-License-Identifier: BSD-3-Clause
/// Values of one monitor or tweak at ascending times.
package struct SampledSeries: Sendable, Equatable {
    /// The times in seconds.
    package private(set) var times: [Double] = []
    /// The values; any may be infinite or NaN.
    package private(set) var values: [Double] = []

    package init() {}

    /// Appends a sample. One that is not later than the last, as after the clock was set back, is ignored.
    package mutating func append(_ value: Double, at time: Double) {
        guard time.isFinite, time > times.last ?? -.infinity else { return }
        times.append(time)
        values.append(value)
    }

    /// The samples until a time, this included.
    package func prefix(until end: Double) -> SampledSeries {
        var series = self
        let count = times.firstIndex { $0 > end } ?? times.count
        series.times.removeLast(times.count - count)
        series.values.removeLast(values.count - count)
        return series
    }

    /// The median time between two samples; `nil` with fewer than two.
    package var period: Double? {
        guard times.count > 1 else { return nil }
        let periods = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
        return periods[periods.count / 2]
    }
}

/// How far a value may be from the expected one.
package enum Tolerance: Sendable, Equatable {
    /// In the unit of the values, at least 0.
    case absolute(Double)
    /// A fraction of the range of all expected values, or of the value itself if they are all the same; at least 0.
    case relative(Double)

    /// The largest deviation from expected values.
    package func allowed(for expected: SampledSeries) -> Double {
        switch self {
        case .absolute(let limit): return limit
        case .relative(let fraction):
            let finite = expected.values.filter(\.isFinite)
            guard let low = finite.min(), let high = finite.max() else { return 0 }
            return fraction * (low < high ? high - low : abs(high))
        }
    }
}

/// A comparison of two series of one monitor, such as a recorded one and another of the same run again.
///
/// Samples of two runs are not taken at the same moments, and an event is earlier or later by some milliseconds. So a
/// sample is compared with all values that the other series has within ``shift``: its deviation is the distance from
/// the range of these. This is done in both directions, because a range of the actual values alone would hide a short
/// peak among them. NaN deviates infinitely from anything but NaN.
package struct SeriesComparison: Sendable, Equatable {
    /// The number of expected samples.
    package let expected: Int
    /// The number of expected samples near which there is an actual one.
    package private(set) var compared = 0
    /// The largest deviation; `nil` if nothing could be compared.
    package private(set) var deviation: Double?
    /// The time of the largest deviation, the first one if there are several.
    package private(set) var time: Double?
    /// The deviation that is allowed.
    package let allowed: Double

    /// The fraction of the expected samples that must have been compared.
    package static let leastCompared = 0.95

    package var hasEnoughSamples: Bool {
        compared > 0 && Double(compared) >= Self.leastCompared * Double(expected)
    }

    /// Whether enough samples were compared, and none deviates too much.
    package var holds: Bool { hasEnoughSamples && deviation.map { $0 <= allowed } ?? false }

    /// Compares two series, which have their times since the start of either run.
    ///
    /// - Parameter shift: The seconds by which the same value may be earlier or later, at least the period of the
    ///   slower series.
    package init(_ actual: SampledSeries, with expected: SampledSeries, _ tolerance: Tolerance, shift: Double)
    {
        self.expected = expected.times.count
        allowed = tolerance.allowed(for: expected)
        compared = compare(expected, with: actual, shift)
        _ = compare(actual, with: expected, shift)
    }

    /// - Returns: The number of samples near which the others have one.
    private mutating func compare(
        _ samples: SampledSeries, with others: SampledSeries, _ shift: Double
    ) -> Int {
        var near = SlidingRange(of: others, within: shift)
        var count = 0
        for (time, value) in zip(samples.times, samples.values) {
            guard let distance = near.distance(of: value, at: time) else { continue }
            count += 1
            if distance > deviation ?? -1 || distance == deviation && time < self.time ?? .infinity {
                (deviation, self.time) = (distance, time)
            }
        }
        return count
    }
}

/// The range of the values within a span around a time that only moves forwards.
private struct SlidingRange {
    private let series: SampledSeries
    private let shift: Double
    /// The index of the first sample after the span.
    private var next = 0
    /// The indices of the samples that are the least or the greatest from there to the end of the span.
    private var lows = IndexQueue(), highs = IndexQueue()
    /// The time of the last NaN before the end of the span.
    private var lastUndefined = -Double.infinity

    init(of series: SampledSeries, within shift: Double) { (self.series, self.shift) = (series, shift) }

    /// The distance of a value from the range around a time; `nil` if the span has no samples.
    mutating func distance(of value: Double, at time: Double) -> Double? {
        let values = series.values
        while next < values.count, series.times[next] <= time + shift {
            let new = values[next]
            if new.isNaN {
                lastUndefined = series.times[next]
            } else {
                lows.append(next) { values[$0] >= new }
                highs.append(next) { values[$0] <= new }
            }
            next += 1
        }
        let times = series.times
        lows.removeFirst { times[$0] < time - shift }
        highs.removeFirst { times[$0] < time - shift }
        let hasUndefined = lastUndefined >= time - shift
        guard let low = lows.first, let high = highs.first else {
            return hasUndefined ? (value.isNaN ? 0 : .infinity) : nil
        }
        if value.isNaN { return hasUndefined ? 0 : .infinity }
        if value < values[low] { return values[low] - value }
        return value > values[high] ? value - values[high] : 0
    }
}

/// Indices of which those at both ends can be removed.
private struct IndexQueue {
    private var indices: [Int] = []
    private var start = 0

    var first: Int? { start < indices.count ? indices[start] : nil }

    /// Appends an index in place of those at the end that are not needed any more.
    mutating func append(_ index: Int, replacing isReplaced: (Int) -> Bool) {
        while indices.count > start, let last = indices.last, isReplaced(last) { indices.removeLast() }
        indices.append(index)
    }

    mutating func removeFirst(while isOver: (Int) -> Bool) {
        while let first, isOver(first) { start += 1 }
        guard start > 1024, start > indices.count / 2 else { return }
        indices.removeFirst(start)
        start = 0
    }
}
