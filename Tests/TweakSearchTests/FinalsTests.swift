// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import TweakSearch

/// What is kept of noise, and what is found in it.
@Suite struct `The best point of a sweep` {
    /// The number of sweeps.
    private static let count = isLong ? 1000 : 40

    enum Noise: CaseIterable {
        /// A normal distribution.
        case normal
        /// Times, of which a few are extremely long.
        case latencies
        /// The sum of all steps before.
        case wandering
        /// Two results, as of a counter.
        case counts

        mutating func next(_ random: inout SeededGenerator, after last: inout Double) -> Double {
            let normal = random.normal()
            switch self {
            case .normal: return normal
            case .latencies: return 1 / Double.random(in: 1e-6...1, using: &random)
            case .wandering:
                last += normal
                return last
            case .counts: return normal > 0 ? 1 : 0
            }
        }
    }

    private struct Outcome {
        var kept: [[Double]] = []
        var mostMeasurements = 0
        var measurements = 0
    }

    /// Sweeps five values, of which 5 is the current one.
    ///
    /// - Parameter effect: The change of the result of 7.5.
    private func sweeps(
        _ noise: Noise, effect: Double = 0, _ change: (inout Sweep.Options) -> Void = { _ in }
    ) throws -> Outcome {
        var outcome = Outcome()
        for seed in 1...Self.count {
            var (random, last, noise) = (SeededGenerator(seed: UInt64(seed)), 0.0, noise)
            var experiment = try Experiment([axis(0, 10, count: 5)], from: [5]) {
                $0.seed = UInt64(seed)
                change(&$0)
            }
            experiment.run { numbers, _ in
                noise.next(&random, after: &last) + (numbers[0] == 7.5 ? effect : 0)
            }
            if !experiment.best.isEmpty { outcome.kept.append(experiment.best) }
            outcome.measurements += experiment.asked.count
            outcome.mostMeasurements = max(outcome.mostMeasurements, experiment.asked.count)
        }
        return outcome
    }

    @Test(arguments: Noise.allCases, [nil, 120]) func `is none in noise`(
        noise: Noise, budget: Double?
    ) throws {
        let outcome = try sweeps(noise) { $0.budget = budget }
        #expect(outcome.kept.count <= Self.count / 20, "\(outcome)")
    }

    /// A t-test that knew the point would need 22 measurements of each for nine of ten.
    @Test(arguments: [true, false])
    func `is found in noise as large as its effect, with three times the least measurements`(
        isMaximizing: Bool
    ) throws {
        let outcome = try sweeps(.normal, effect: isMaximizing ? 1 : -1) {
            ($0.budget, $0.isMaximizing) = (125, isMaximizing)
        }
        // Of forty, five more may be missed by chance.
        let least = Self.count * 9 / 10 - (isLong ? 0 : 5)
        #expect(outcome.kept.count { $0 == [7.5] } >= least, "\(outcome)")
        #expect(outcome.mostMeasurements <= 3 * 2 * 22)
    }

    /// Where the mean has no limit.
    @Test func `is found among latencies by their ranks`() throws {
        let outcome = try sweeps(.latencies, effect: -3) { $0.budget = 125 }
        #expect(outcome.kept.count { $0 == [7.5] } >= Self.count / 2, "\(outcome)")
    }

    @Test func `is found sooner the clearer it is`() throws {
        let outcome = try sweeps(.normal, effect: -10)
        #expect(outcome.kept.count == Self.count)
        #expect(outcome.measurements <= 35 * Self.count)
    }

    @Test func `is none if all are worse, which is known early`() throws {
        var experiment = try Experiment([axis(1, 5, count: 5)], from: [0])
        experiment.run { numbers, _ in numbers[0] }
        #expect(experiment.best.isEmpty)
        #expect(experiment.tried(.final).count == 12)
        let difference = try #require(experiment.sweep.difference(of: SearchPoint([1.0])))
        #expect(difference.isBeyondNoise && abs(difference.estimate - 1) < 1e-9)
    }

    @Test func `is none that fails when it is measured again`() throws {
        var experiment = try Experiment([axis(1, 5, count: 5)], from: [0])
        var seen: Set<Double> = []
        experiment.run { numbers, _ in
            seen.insert(numbers[0]).inserted || numbers[0] != 5 ? -numbers[0] : nil
        }
        #expect(experiment.best == [4])
    }

    @Test func `needs at least four rounds, and ends with the budget`() throws {
        var experiment = try Experiment([axis(1, 5, count: 5)], from: [0]) { $0.budget = 0.001 }
        experiment.run { numbers, _ in -numbers[0] }
        #expect(experiment.best == [5])
        // Of the first measurements nobody can tell that the later ones take longer.
        var slow = try Experiment([axis(1, 5, count: 5)], from: [0]) { $0.budget = 100 }
        var (time, count) = (0.0, 0)
        while let (purpose, _) = slow.sweep.next() {
            time += purpose == .trial ? 1 : 30
            count += 1
            slow.sweep.add(Double(count % 7), at: time)
        }
        #expect(count < 25)
    }
}

@Suite struct `The interval of differences` {
    @Test(arguments: [
        (0.95, 1, 12.706204736), (0.95, 2, 4.302652730), (0.99, 3, 5.840909310), (0.999, 30, 3.645958635),
        (0.9999, 7, 7.884584262), (0.95, 1000, 1.962339081),
    ])
    func `has the quantiles of Student's distribution`(probability: Double, freedom: Int, value: Double) {
        #expect(abs(StudentDistribution.quantile(probability, freedom) - value) < 1e-8)
    }

    /// As SciPy has it.
    @Test func `is that of the t-test, where that decides`() {
        let paired = PairedDifferences([-1.3, 0.4, 2.2, 3.1, 0.9, 1.7, -0.2, 2.8, 1.1, 0.6])
        let interval = paired.interval(error: 0.05 / 0.75, least: 0)
        #expect(abs(interval.estimate - 1.13) < 1e-9 && abs(paired.center - 1.1) < 1e-9)
        #expect(abs(interval.low - 0.156104048) < 1e-8 && abs(interval.high - 2.103895952) < 1e-8)
    }

    @Test(arguments: [30, 100]) func `is that of the ranks, where extreme results hide the mean`(count: Int) {
        let paired = PairedDifferences((0..<count).map { $0 == 7 ? 9000 : -5 + Double($0) / 100 })
        let interval = paired.interval(error: 0.01, least: 0)
        #expect(interval.isBeyondNoise && interval.low >= -5 && interval.high < -4 + Double(count) / 100)
        #expect(interval.estimate == paired.center)
    }

    @Test func `has no size in a simulation, whose rounding errors do not count`() {
        let same = PairedDifferences([0.5, 0.5, 0.5, 0.5]).interval(error: 0.001, least: 0)
        #expect(same.low == 0.5 && same.high == 0.5 && same.isBeyondNoise)
        #expect(
            !PairedDifferences([1e-12, 1e-12, 1e-12, 1e-12]).interval(error: 0.05, least: 1e-9).isBeyondNoise)
    }
}
