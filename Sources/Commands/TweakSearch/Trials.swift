// SPDX-License-Identifier: BSD-3-Clause

/// The measurements of a sweep.
package struct Trials: Sendable {
    /// The reason for a measurement.
    package enum Purpose: String, Sendable {
        /// The values before the sweep.
        case reference
        /// One of the points to try.
        case trial
        /// One of the best points, compared with the reference.
        case final
    }

    package struct Measurement: Sendable {
        package let purpose: Purpose
        package let point: SearchPoint
        /// In seconds.
        package let time: Double
        /// The result; `nil` if there was none.
        package let value: Double?
    }

    package private(set) var measurements: [Measurement] = []
    /// The points in the order of their first measurement.
    package private(set) var points: [SearchPoint] = []
    /// The change of the reference with time; `nil` if it is not significant.
    package private(set) var drift: Drift?
    private let isMaximizing: Bool
    /// Whether all results are positive, as times are, so that drift is a factor.
    private var arePositive = true
    /// The indices of each point's measurements.
    private var indices: [SearchPoint: [Int]] = [:]

    package init(isMaximizing: Bool) { self.isMaximizing = isMaximizing }

    package mutating func add(_ purpose: Purpose, _ point: SearchPoint, _ value: Double?, at time: Double) {
        if indices[point] == nil { points.append(point) }
        indices[point, default: []].append(measurements.count)
        // NaN is no result.
        let value = value.flatMap { $0.isNaN ? nil : $0 }
        if let value, value <= 0 { arePositive = false }
        measurements.append(Measurement(purpose: purpose, point: point, time: time, value: value))
        if purpose == .reference {
            drift = Drift(measurements.filter { $0.purpose == .reference })
        }
    }

    /// The result, corrected for drift.
    package func corrected(_ measurement: Measurement) -> Double? {
        guard let drift, let value = measurement.value else { return measurement.value }
        let change = drift.change(at: measurement.time)
        let factor = 1 + change / drift.level
        return arePositive && factor > 0 ? value / factor : value - change
    }

    /// The statistics of a point's results.
    ///
    /// - Parameter purpose: The measurements that count; `nil` for all.
    package func summary(of point: SearchPoint, _ purpose: Purpose? = nil) -> Summary {
        let own = (indices[point] ?? []).lazy.map { measurements[$0] }
        return Summary(own.filter { purpose == nil || $0.purpose == purpose }.map(corrected))
    }

    /// The points with results, best first.
    ///
    /// - Parameter purpose: The measurements that count; `nil` for all.
    package func ranking(_ purpose: Purpose? = nil) -> [SearchPoint] {
        let means = points.enumerated().compactMap { index, point in
            summary(of: point, purpose).mean.map { (mean: loss($0), index: index) }
        }
        return means.sorted { $0 < $1 }.map { points[$0.index] }
    }

    /// Compares the first point with the second.
    package func comparison(_ first: SearchPoint, _ second: SearchPoint) -> Comparison {
        let (first, second) = (summary(of: first), summary(of: second))
        guard let mean = first.mean else { return .worse }
        guard let other = second.mean else { return .better }
        if !first.differs(from: second) { return .unclear }
        return loss(mean) < loss(other) ? .better : .worse
    }

    package enum Comparison: Sendable {
        case better, worse
        /// The noise hides a difference.
        case unclear
    }

    private func loss(_ value: Double) -> Double { isMaximizing ? -value : value }
}

/// The statistics of a point's results.
package struct Summary: Sendable {
    /// The number of measurements.
    package let count: Int
    /// The mean; `nil` if a measurement had no result, or there is none.
    package let mean: Double?
    /// The standard deviation of a sample; `nil` for fewer than two.
    package let deviation: Double?

    init(_ results: [Double?]) {
        count = results.count
        let values = results.compactMap { $0 }
        guard !results.isEmpty, values.count == results.count else {
            (mean, deviation) = (nil, nil)
            return
        }
        let mean = values.reduce(0, +) / Double(count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        self.mean = mean
        let deviation = count > 1 ? (squares / Double(count - 1)).squareRoot() : nil
        // The results of a simulation only have rounding errors.
        self.deviation = deviation.map { $0 > abs(mean) * 1e-12 ? $0 : 0 }
    }

    /// Returns whether the means differ by more than the noise, by Student's t-test at the 5 % level. Without repeats the
    /// noise counts as 0.
    func differs(from other: Summary) -> Bool {
        guard let mean, let second = other.mean else { return true }
        let freedom = count + other.count - 2
        let squares = [self, other].reduce(0.0) { sum, summary in
            let deviation = summary.deviation ?? 0
            return sum + deviation * deviation * Double(summary.count - 1)
        }
        guard freedom > 0, squares > 0 else { return true }
        let error = (squares / Double(freedom) * (1 / Double(count) + 1 / Double(other.count))).squareRoot()
        return abs(mean - second) > error * StudentDistribution.quantile(0.95, freedom)
    }
}

/// The linear change of the reference with time.
package struct Drift: Sendable {
    /// The change per second.
    package let slope: Double
    /// The time at which the drift is 0.
    package let start: Double
    /// The reference at that time.
    package let level: Double

    /// Fits a line to the results of a reference by least squares.
    ///
    /// - Returns: `nil` unless the slope differs from 0 at the 1 % level.
    init?(_ references: [Trials.Measurement]) {
        let results = references.compactMap { reference in reference.value.map { (reference.time, $0) } }
        guard results.count > 3, let start = results.first?.0 else { return nil }
        let count = Double(results.count)
        let (time, value) = (
            results.reduce(0) { $0 + $1.0 } / count, results.reduce(0) { $0 + $1.1 } / count
        )
        let spread = results.reduce(0) { $0 + ($1.0 - time) * ($1.0 - time) }
        guard spread > 0 else { return nil }
        let slope = results.reduce(0) { $0 + ($1.0 - time) * ($1.1 - value) } / spread
        let squares = results.reduce(0) { sum, result in
            let rest = result.1 - value - slope * (result.0 - time)
            return sum + rest * rest
        }
        let error = (squares / (count - 2) / spread).squareRoot()
        // The results of a simulation only have rounding errors.
        let least = abs(value) * 1e-9 / spread.squareRoot()
        guard abs(slope) > max(error * StudentDistribution.quantile(0.99, results.count - 2), least)
        else { return nil }
        (self.slope, self.start) = (slope, start)
        level = value + slope * (start - time)
    }

    /// The change since the start.
    func change(at time: Double) -> Double { slope * (time - start) }
}
