// SPDX-License-Identifier: BSD-3-Clause

/// The difference of a point from the values before the sweep, with the interval that contains it.
package struct Difference: Sendable {
    package let estimate: Double
    package let low, high: Double

    /// Whether the noise does not explain it.
    package var isBeyondNoise: Bool { low > 0 || high < 0 }
}

/// The differences between two points that were measured side by side, one of each round.
///
/// Without a real difference both signs are equally likely, whatever the noise. Two intervals are made of them: that of
/// Student's t-test, and that of Wilcoxon's signed ranks, which a few extreme results hardly move. The first may be wrong
/// with three quarters of the allowed probability, the second with one, so either may decide.
struct PairedDifferences {
    private let differences: [Double]

    /// The fewest differences for an interval.
    static let fewest = 4

    /// - Parameter differences: Finite numbers, at least ``fewest``.
    init(_ differences: [Double]) { self.differences = differences }

    /// The interval that contains the real difference, except with a probability.
    ///
    /// - Parameter least: A difference that is none, for the rounding errors of simulations.
    func interval(error: Double, least: Double) -> Difference {
        let mean = meanInterval(error: error * 3 / 4, least)
        guard !mean.isBeyondNoise, let ranks = rankInterval(error: error / 4, least), ranks.isBeyondNoise
        else { return mean }
        return ranks
    }

    /// The median of the means of all pairs, by Hodges and Lehmann: as good as the mean in normal noise, and better than
    /// it in noise with extreme results.
    var center: Double { Self.median(pairMeans) }

    private func meanInterval(error: Double, _ least: Double) -> Difference {
        let summary = Summary(differences)
        let (mean, deviation) = (summary.mean ?? .nan, summary.deviation ?? .infinity)
        let width =
            deviation / Double(summary.count).squareRoot()
            * StudentDistribution.quantile(1 - error, summary.count - 1)
        return Difference(estimate: mean, low: mean - width - least, high: mean + width + least)
    }

    /// - Returns: `nil` if there are too few differences for the probability.
    private func rankInterval(error: Double, _ least: Double) -> Difference? {
        guard let rank = Self.lowRank(differences.count, error: error) else { return nil }
        let means = pairMeans
        return Difference(
            estimate: Self.median(means), low: means[rank] - least,
            high: means[means.count - 1 - rank] + least)
    }

    /// The means of each pair of differences, and the differences themselves, ascending.
    private var pairMeans: [Double] {
        differences.indices.flatMap { first in
            differences[first...].map { ($0 + differences[first]) / 2 }
        }.sorted()
    }

    /// The number of pair means outside the interval, on each side.
    ///
    /// Source: Hollander and Wolfe, Nonparametric Statistical Methods, 3.3. Above 60 the sum of ranks counts as normal.
    private static func lowRank(_ count: Int, error: Double) -> Int? {
        let most = count * (count + 1) / 2
        guard count <= 60 else {
            let variance = Double(most) * Double(2 * count + 1) / 12
            let width = variance.squareRoot() * StudentDistribution.quantile(1 - error, 1000)
            return Int(Double(most) / 2 - width) - 1
        }
        // The probabilities of the sums of the ranks with a positive sign.
        var probabilities = [1] + [Double](repeating: 0, count: most)
        for rank in 1...count {
            for sum in stride(from: most, through: 0, by: -1) {
                probabilities[sum] = (probabilities[sum] + (sum >= rank ? probabilities[sum - rank] : 0)) / 2
            }
        }
        var (total, rank) = (0.0, -1)
        while total + probabilities[rank + 1] <= error / 2 {
            rank += 1
            total += probabilities[rank]
        }
        return rank < 0 ? nil : rank
    }

    private static func median(_ ascending: [Double]) -> Double {
        let middle = ascending.count / 2
        return ascending.count % 2 == 1 ? ascending[middle] : (ascending[middle - 1] + ascending[middle]) / 2
    }
}
