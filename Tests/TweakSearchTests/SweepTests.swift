// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakGenerators
import TweakRecords

@testable import TweakSearch

/// The spring of the example: the integral of the deviation, weighted by time.
private func springBadness(stiffness: Double, damping: Double) -> Double {
    var (position, velocity, sum) = (1.0, 0.0, 0.0)
    for step in 0..<1000 {
        velocity += (-stiffness * position - damping * velocity) * 0.004
        position += velocity * 0.004
        sum += Double(step) * 0.004 * abs(position) * 0.004
    }
    return sum
}

@Suite struct `A sweep` {
    @Test func `tries all combinations, the reference between them, and the best ones again`() throws {
        var experiment = try Experiment(
            [axis(0, 2, count: 3, "A"), axis(0, 10, count: 5, "B")], from: [7, 7])
        experiment.run { numbers, _ in numbers[0] * 100 + abs(numbers[1] - 5) }
        #expect(
            experiment.tried()
                == [0.0, 1, 2].flatMap { first in [0, 2.5, 5, 7.5, 10].map { [first, $0] } })
        #expect(experiment.asked.map(\.purpose).firstIndex(of: .reference) == 0)
        // Four points in two rounds, and two in two more, each with the reference.
        #expect(experiment.tried(.reference) == [[Double]](repeating: [7, 7], count: 1 + 1 + 4))
        #expect(Set(experiment.tried(.final)) == [[0, 5], [0, 2.5], [0, 7.5], [0, 0]])
        #expect(experiment.tried(.final).count == 12)
        #expect(Set(experiment.tried(.final)[8...]) == [[0, 5], [0, 2.5]])
        #expect(experiment.best == [0, 5])
    }

    @Test func `repeats in rounds, shuffled if that is asked for, and the same for the same seed`() throws {
        func order(_ seed: UInt64, isShuffled: Bool = true) throws -> [[Double]] {
            var experiment = try Experiment([axis(0, 19, count: 20)], from: [3]) {
                ($0.repeats, $0.isShuffled, $0.seed) = (2, isShuffled, seed)
            }
            experiment.run { numbers, _ in numbers[0] }
            return experiment.tried()
        }
        let sorted = (0..<20).map { [Double($0)] }
        #expect(try order(1, isShuffled: false) == sorted + sorted)
        let shuffled = try order(1)
        for round in [shuffled[..<20], shuffled[20...]] {
            #expect(Array(round) != sorted && round.sorted { $0[0] < $1[0] } == sorted)
        }
        #expect(try order(1) == shuffled && order(2) != shuffled)
    }

    @Test func `tries different random points, or all of a small space`() throws {
        var wide = try Experiment([axis(0, 1), axis(5, 6, "B")], from: [0, 5]) {
            $0.method = .random(count: 50)
        }
        wide.run { numbers, _ in numbers[0] }
        #expect(wide.tried().count == 50 && Set(wide.tried()).count == 50)
        #expect(wide.tried().allSatisfy { 0...1 ~= $0[0] && 5...6 ~= $0[1] })
        var small = try Experiment([axis(0, 1, count: 4)], from: [0]) { $0.method = .random(count: 50) }
        small.run { numbers, _ in numbers[0] }
        #expect(small.tried().count == 4 && Set(small.tried()).count == 4)
    }

    @Test func `maximizes, and leaves out points without a result`() throws {
        var experiment = try Experiment([axis(0, 4, count: 5)], from: [1]) { $0.isMaximizing = true }
        experiment.run { numbers, _ in numbers[0] == 4 ? nil : numbers[0] == 3 ? .nan : numbers[0] }
        #expect(experiment.best == [2])
        var hopeless = try Experiment([axis(0, 4, count: 5)], from: [1])
        hopeless.run { _, _ in nil }
        #expect(hopeless.sweep.best == nil && hopeless.tried(.final).isEmpty)
    }

    @Test func `measures a lucky point again, and then the next`() throws {
        var experiment = try Experiment([axis(0, 9, count: 10)], from: [0]) { $0.referenceInterval = nil }
        var seen: Set<Double> = []
        // The first results of four bad points are the best.
        experiment.run { numbers, _ in
            let isFirst = seen.insert(numbers[0]).inserted
            return numbers[0] < 4 && isFirst ? 1 : numbers[0] < 4 ? 100 : numbers[0]
        }
        #expect(experiment.best == [4])
        #expect(experiment.tried(.final).contains([4]))
    }

    @Test func `has too large a grid`() throws {
        let axes = try (0..<6).map { try axis(0, 1, "\($0)") }
        #expect(Sweep(axes, from: SearchPoint(axes.map { _ in 0.0 }), Sweep.Options()) == nil)
    }

    @Test(arguments: [nil, 100, 1]) func `knows how many measurements are left`(budget: Double?) throws {
        var experiment = try Experiment([axis(0, 1, count: 30)], from: [0]) {
            ($0.repeats, $0.budget) = (2, budget)
        }
        let expected = experiment.sweep.remaining
        // The sum of these differences is 0.
        experiment.run { numbers, time in Int(time).isMultiple(of: 2) ? 1 : -1 }
        #expect(experiment.sweep.remaining == 0 && experiment.sweep.best == nil)
        if budget == nil { #expect(abs(experiment.asked.count - expected) <= 1) }
    }

    // MARK: Drift

    @Test(arguments: [1.0, 0]) func `corrects drift that the reference shows`(offset: Double) throws {
        var experiment = try Experiment([axis(0, 1, count: 41)], from: [0])
        // The offset 0 has results of both signs.
        experiment.run { numbers, time in
            let result = offset + (numbers[0] - 0.8) * (numbers[0] - 0.8)
            return offset > 0 ? result * (1 + time / 20) : result - 9 + time / 20
        }
        #expect(experiment.best == [0.8])
        #expect(experiment.sweep.trials.drift != nil)
    }

    @Test func `sees no drift where there is none`() throws {
        var falseAlarms = 0
        for seed in 1...100 {
            var random = SeededGenerator(seed: UInt64(seed))
            var experiment = try Experiment([axis(0, 1, count: 50)], from: [0])
            experiment.run { _, _ in 1 + 0.1 * random.normal() }
            if experiment.sweep.trials.drift != nil { falseAlarms += 1 }
        }
        #expect(falseAlarms <= 5)
    }
}

@Suite struct `A search` {
    @Test(arguments: 1...(isLong ? 20 : 3) as ClosedRange<UInt64>)
    func `finds the best damping of the spring in 60 trials`(seed: UInt64) throws {
        var experiment = try Experiment([axis(0, 50)], from: [1.5]) {
            ($0.method, $0.seed) = (.search(count: 60), seed)
        }
        experiment.run { numbers, _ in springBadness(stiffness: 120, damping: numbers[0]) }
        let ideal = try #require(
            (100...220).map { springBadness(stiffness: 120, damping: Double($0) / 10) }.min())
        #expect(experiment.tried().count <= 60)
        #expect(springBadness(stiffness: 120, damping: try #require(experiment.best.first)) <= 1.05 * ideal)
    }

    @Test func `finds the best stiffness and damping of the spring in 60 trials`() throws {
        var experiment = try Experiment(
            [axis(1, 1000, "Stiffness"), axis(0, 50, "Damping")], from: [120, 1.5]
        ) {
            $0.method = .search(count: 60)
        }
        experiment.run { numbers, _ in springBadness(stiffness: numbers[0], damping: numbers[1]) }
        var ideal = Double.infinity
        for stiffness in stride(from: 100.0, through: 1000, by: 50) {
            for damping in stride(from: 5.0, through: 50, by: 0.5) {
                ideal = min(ideal, springBadness(stiffness: stiffness, damping: damping))
            }
        }
        let best = experiment.best
        #expect(springBadness(stiffness: best[0], damping: best[1]) <= 1.05 * ideal)
    }

    /// The right one of 11 values or a neighbour of it, in 18 of 20.
    @Test(arguments: [true, false]) func `is right in spite of 10 % noise`(isSearch: Bool) throws {
        let count = isLong ? 200 : 20
        var right = 0
        for seed in 1...count {
            var random = SeededGenerator(seed: UInt64(seed))
            let place = Double.random(in: 0.3...0.9, using: &random)
            func result(_ number: Double) -> Double { 1 + (number - place) * (number - place) / 0.09 }
            var experiment = try Experiment([axis(0, 1, count: 11)], from: [0]) {
                ($0.method, $0.repeats) = (isSearch ? .search(count: 60) : .grid, 3)
                $0.seed = UInt64(seed)
            }
            experiment.run { numbers, _ in result(numbers[0]) * (1 + 0.1 * random.normal()) }
            let ideal = (place * 10).rounded()
            if abs((experiment.best[0] * 10).rounded() - ideal) <= 1 { right += 1 }
        }
        #expect(right >= count * 9 / 10, "\(right) of \(count)")
    }

    @Test func `takes no step into noise`() throws {
        var random = SeededGenerator(seed: 7)
        var experiment = try Experiment([axis(0, 1)], from: [0.5]) {
            ($0.method, $0.repeats) = (.search(count: 12), 3)
        }
        experiment.run { _, _ in 1 + 0.1 * random.normal() }
        // Both neighbours at the first distance, instead of a walk.
        #expect(Set(experiment.tried()).isSuperset(of: [[0.5], [0.75], [0.25]]))
        let again = experiment.tried().count { $0 == [0.5] }
        #expect(again > 3)
    }

    @Test func `tries texts one by one, and ends in a small space`() throws {
        let mode = SearchAxis(tweak("Mode"), .choices(["a", "b", "c"]))
        let gain = try axis(0, 4, count: 5)
        var options = Sweep.Options()
        (options.method, options.referenceInterval) = (.search(count: 1000), nil)
        var sweep = try #require(Sweep([mode, gain], from: SearchPoint(["a", 0.0]), options))
        var count = 0
        while let (_, point) = sweep.next() {
            count += 1
            let isBest: Double = point.values[0] == "c" ? 0 : 10
            sweep.add(isBest + abs((point.values[1].number ?? 0) - 3), at: Double(count))
        }
        #expect(sweep.best == SearchPoint(["c", 3.0]))
        #expect(count < 100)
    }

    @Test func `starts at the nearest end if the current value is not on the axis`() throws {
        for (start, first) in [(-5.0, 0.0), (9, 1)] {
            var experiment = try Experiment([axis(0, 1)], from: [start]) { $0.method = .search(count: 5) }
            experiment.run { numbers, _ in numbers[0] }
            #expect(experiment.tried().first == [first])
        }
    }

    @Test func `goes on after a failure at its start`() throws {
        var experiment = try Experiment([axis(0, 1)], from: [0]) {
            ($0.method, $0.referenceInterval) = (.search(count: 40), nil)
        }
        experiment.run { numbers, _ in numbers[0] < 0.2 ? nil : abs(numbers[0] - 0.6) }
        #expect(abs(experiment.best[0] - 0.6) < 0.02)
    }
}
