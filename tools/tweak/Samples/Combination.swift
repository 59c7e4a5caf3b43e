// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser

/// The way to make one number of the statistics of several processes.
enum Combination: String, EnumerableFlag {
    case sum, max

    static func help(for combination: Combination) -> ArgumentHelp? {
        switch combination {
        case .sum: "Of a program that has forked: the sum of the statistics of all its processes."
        case .max: "Of a program that has forked: the largest of the statistics of all its processes."
        }
    }

    /// - Parameter numbers: At least one number.
    /// - Returns: NaN if a number is NaN.
    func callAsFunction(_ numbers: [Double]) -> Double {
        guard !numbers.contains(where: \.isNaN) else { return .nan }
        return switch self {
        case .sum: numbers.reduce(0, +)
        case .max: numbers.max() ?? .nan
        }
    }
}
