// SPDX-License-Identifier: BSD-3-Clause

/// The comparison of the best points with the values before the sweep. Their results so far do not count, because those
/// selected them.
///
/// In each round every point and the reference are measured once, in random order, so that whatever else changes meets
/// all of them. After an eighth, a quarter, half and all of the rounds, the points that are worse beyond the noise, and
/// the worse half of the others, are left out. It ends when one is better beyond the noise. All these tests together are
/// wrong with the probability that the confidence leaves (Bonferroni): each look has a part of it, the later ones more,
/// and each point an equal part of that.
struct Finals: Sendable {
    /// The rounds without a budget.
    private static let usualRounds = 16
    /// The number of points that are compared.
    private static let mostContenders = 4
    private static let mostRounds = 1000
    /// The parts of the rounds before each look, and the parts of the probability of an error in it.
    private static let looks: [(part: Int, error: Double)] = [(8, 0.1), (4, 0.2), (2, 0.3), (1, 0.4)]

    /// The point that is better than the reference, or has a result where that has none.
    private(set) var winner: SearchPoint?
    /// The last known difference of each point that was tested.
    private(set) var differences: [SearchPoint: Difference] = [:]
    /// The mean of the reference.
    private(set) var level = 0.0

    private let reference: SearchPoint
    private let options: Sweep.Options
    private let contenderCount: Int
    private let rounds: Int
    /// The points that are still in the comparison.
    private var contenders: [SearchPoint]
    private var random: SeededRandom
    /// The points of this round that are due, the last one first.
    private var due: [SearchPoint] = []
    /// The indices of the measurements of each complete round, and of the current one.
    private var indices: [[SearchPoint: Int]] = []
    private let start: Double

    /// - Parameters:
    ///   - ranking: The points, best first.
    ///   - trials: The measurements so far, which say how long one takes.
    init(_ ranking: [SearchPoint], _ reference: SearchPoint, after trials: Trials, _ options: Sweep.Options) {
        (self.reference, self.options) = (reference, options)
        contenders = Array(ranking.lazy.filter { $0 != reference }.prefix(Self.mostContenders))
        contenderCount = contenders.count
        random = SeededRandom(seed: options.seed)
        start = trials.measurements.last?.time ?? 0
        rounds = Self.rounds(after: trials, contenderCount, options)
        beginRound()
    }

    private static func rounds(after trials: Trials, _ contenders: Int, _ options: Sweep.Options) -> Int {
        guard let budget = options.budget else { return usualRounds }
        guard let last = trials.measurements.last, last.time > 0 else { return mostRounds }
        let mean = last.time / Double(trials.measurements.count)
        let round = mean * Double(measurements(contenders, mostRounds)) / Double(mostRounds)
        return Int(min(max(budget / round, Double(PairedDifferences.fewest)), Double(mostRounds)))
    }

    /// The number of measurements, at most, that a comparison after these takes.
    static func measurements(after trials: Trials, _ options: Sweep.Options) -> Int {
        measurements(mostContenders, rounds(after: trials, mostContenders, options))
    }

    /// - Parameter done: The number of rounds that are over.
    private static func measurements(_ contenders: Int, _ rounds: Int, after done: Int = 0) -> Int {
        var (count, contenders, round) = (0, contenders, done)
        while round < rounds, contenders > 0 {
            round += 1
            count += contenders + 1
            if look(after: round, of: rounds) != nil { contenders = (contenders + 1) / 2 }
        }
        return count
    }

    private static func look(after round: Int, of rounds: Int) -> (part: Int, error: Double)? {
        looks.last { look in round == max(1, rounds / look.part) }
    }

    /// The number of measurements that are left, at most.
    var remaining: Int {
        due.isEmpty ? 0 : due.count + Self.measurements(contenders.count, rounds, after: indices.count)
    }

    /// The next point to measure; `nil` at the end.
    var next: SearchPoint? { due.last }

    /// Takes the last measurement, which is of the point ``next``.
    mutating func add(_ trials: Trials) {
        guard let point = due.popLast(), let last = trials.measurements.last else { return }
        indices[indices.count - 1][point] = trials.measurements.count - 1
        // Repeats do not help a point that failed.
        if last.value?.isFinite != true {
            if point == reference { return win(contenders) }
            contenders.removeAll { $0 == point }
        }
        guard due.isEmpty else { return }
        let isLate = options.budget.map { last.time - start > $0 } ?? false
        let isLast = indices.count >= (isLate ? PairedDifferences.fewest : rounds)
        if let look = isLast ? Self.looks.last : Self.look(after: indices.count, of: rounds) {
            decide(trials, error: (1 - options.confidence) * look.error / Double(max(contenderCount, 1)))
        }
        if winner == nil, !isLast { beginRound() }
    }

    /// Ends the comparison with the first of the points.
    private mutating func win(_ points: [SearchPoint]) {
        winner = points.first
        due = []
    }

    private mutating func beginRound() {
        guard !contenders.isEmpty else { return }
        indices.append([:])
        due = (contenders + [reference]).shuffled(using: &random)
    }

    private mutating func decide(_ trials: Trials, error: Double) {
        func result(_ point: SearchPoint, _ round: [SearchPoint: Int]) -> Double {
            round[point].flatMap { trials.corrected(trials.measurements[$0]) } ?? .nan
        }
        let references = indices.map { result(reference, $0) }
        level = references.reduce(0, +) / Double(references.count)
        var ranked: [(loss: Double, point: SearchPoint)] = []
        for point in contenders {
            let values = zip(indices, references).map { result(point, $0) - $1 }
            let paired = PairedDifferences(values)
            ranked.append((options.isMaximizing ? -paired.center : paired.center, point))
            guard values.count >= PairedDifferences.fewest else { continue }
            differences[point] = paired.interval(error: error, least: abs(level) * 1e-9)
        }
        contenders = ranked.sorted { $0.loss < $1.loss }.map(\.point)
        win(contenders.filter { isBetter(differences[$0]) == true })
        let rest = contenders.filter { isBetter(differences[$0]) != false }
        contenders = Array(rest.prefix((rest.count + 1) / 2))
    }

    /// - Returns: `nil` if that is unknown.
    private func isBetter(_ difference: Difference?) -> Bool? {
        guard let difference, difference.isBeyondNoise else { return nil }
        return (difference.estimate < 0) != options.isMaximizing
    }
}
