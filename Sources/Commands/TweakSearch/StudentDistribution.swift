// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc

/// Student's t-distribution.
enum StudentDistribution {
    /// The number that a value of the distribution exceeds in neither direction with a probability.
    ///
    /// - Parameters:
    ///   - probability: Above 0, below 1.
    ///   - freedom: The degrees of freedom, at least 1.
    static func quantile(_ probability: Double, _ freedom: Int) -> Double {
        var angles = 0..<Double.pi / 2
        // The value is the tangent of the angle, so that the search is in a finite range.
        for _ in 0..<60 {
            let middle = (angles.lowerBound + angles.upperBound) / 2
            angles =
                self.probability(middle, freedom) < probability
                ? middle..<angles.upperBound : angles.lowerBound..<middle
        }
        return Double(freedom).squareRoot() * tan(angles.lowerBound)
    }

    /// The probability within ± √freedom · tan(angle).
    ///
    /// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    private static func probability(_ angle: Double, _ freedom: Int) -> Double {
        let square = cos(angle) * cos(angle)
        let isOdd = freedom % 2 == 1
        var (term, sum) = (isOdd ? cos(angle) : 1, 0.0)
        for index in stride(from: isOdd ? 3 : 2, through: freedom, by: 2) {
            sum += term
            term *= square * Double(index - 1) / Double(index)
        }
        return isOdd ? (angle + sin(angle) * sum) * 2 / .pi : sin(angle) * sum
    }
}
