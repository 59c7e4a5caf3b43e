// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc

/// A number that describes samples, defined as in NumPy.
package enum Statistic: Hashable, Sendable {
    case mean, minimum, maximum, last
    /// A percentile from 0 to 100, interpolated linearly between the two nearest samples.
    case percentile(Double)
    /// The square root of the mean of the squares.
    case rootMeanSquare
    /// The standard deviation of a sample, with n − 1 in the denominator.
    case standardDeviation
    /// The integral of the absolute value over time, in seconds, by the trapezoidal rule.
    case integralOfAbsolute

    private static let names: [(name: String, statistic: Statistic)] = [
        ("mean", .mean), ("min", .minimum), ("max", .maximum), ("last", .last), ("p50", .percentile(50)),
        ("p95", .percentile(95)), ("p99", .percentile(99)), ("rms", .rootMeanSquare),
        ("sd", .standardDeviation), ("iae", .integralOfAbsolute),
    ]

    /// The names of the usual statistics.
    package static var usualNames: [String] { names.map(\.name) }

    /// - Parameter name: One of ``usualNames``, or `p` with a percentile, such as `p99.9`.
    package init?(name: String) {
        if let (_, statistic) = Self.names.first(where: { $0.name == name }) {
            self = statistic
        } else if name.first == "p", let percentile = Double(name.dropFirst()), 0...100 ~= percentile {
            self = .percentile(percentile)
        } else {
            return nil
        }
    }

    /// The number of samples from which the statistic says something: for a percentile, so many that one is expected beyond
    /// it, as 20 for p95.
    package var neededCount: Int {
        switch self {
        case .mean, .minimum, .maximum, .last, .rootMeanSquare: return 1
        case .standardDeviation, .integralOfAbsolute: return 2
        case .percentile(let percentile):
            let tail = min(percentile, 100 - percentile)
            // Above 99.9, say, the difference is not exact.
            return tail > 0 ? Int((min(100 / tail, 1e15) * (1 - 1e-9)).rounded(.up)) : 1
        }
    }

    /// The statistic of samples; NaN if one of them is, or if they are too few.
    ///
    /// - Parameters:
    ///   - values: The samples.
    ///   - times: Their times in seconds, ascending.
    package func callAsFunction(_ values: [Double], at times: [Double]) -> Double {
        guard let last = values.last, !values.contains(where: \.isNaN) else { return .nan }
        switch self {
        case .mean: return values.mean
        case .minimum: return values.min() ?? .nan
        case .maximum: return values.max() ?? .nan
        case .last: return last
        case .percentile(let percentile):
            let sorted = values.sorted()
            let rank = percentile / 100 * Double(sorted.count - 1)
            let lower = Int(rank)
            guard sorted.indices.contains(lower + 1), sorted[lower] != sorted[lower + 1] else {
                return sorted[lower]
            }
            return sorted[lower] + (sorted[lower + 1] - sorted[lower]) * (rank - Double(lower))
        case .rootMeanSquare: return values.map { $0 * $0 }.mean.squareRoot()
        case .standardDeviation:
            let mean = values.mean
            let squares = values.map { ($0 - mean) * ($0 - mean) }
            return (squares.sum / Double(values.count - 1)).squareRoot()
        case .integralOfAbsolute:
            // By the trapezoidal rule.
            let areas = values.indices.dropFirst().map { (index: Int) -> Double in
                let height = (abs(values[index - 1]) + abs(values[index])) / 2
                return (times[index] - times[index - 1]) * height
            }
            return areas.sum
        }
    }
}

extension [Double] {
    /// The sum, compensated as by Neumaier, so that it does not depend on the number of terms.
    fileprivate var sum: Double {
        var (sum, lost) = (0.0, 0.0)
        for term in self {
            let new = sum + term
            lost += abs(sum) >= abs(term) ? (sum - new) + term : (term - new) + sum
            sum = new
        }
        return lost.isFinite ? sum + lost : sum
    }

    fileprivate var mean: Double { sum / Double(count) }
}
