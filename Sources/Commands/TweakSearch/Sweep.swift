// SPDX-License-Identifier: BSD-3-Clause
internal import TweakGenerators
internal import TweakRecords

/// The state of a sweep: it returns the next point to measure, and receives the result.
///
/// The reference, the values before the sweep, is measured first, in between, and after the points. The best points are
/// then compared with it, because the best of many noisy results was also lucky.
package struct Sweep: Sendable {
    /// The points to try.
    package enum Method: Sendable {
        /// All combinations of values.
        case grid
        case random(count: Int)
        /// Coordinate descent with at most this many points.
        case search(count: Int)
    }

    package struct Options: Sendable {
        package var method = Method.grid
        /// The number of measurements of each point.
        package var repeats = 1
        /// Whether the points are measured in random order.
        package var isShuffled = false
        /// The number of measurements between two of the reference; `nil` for no reference.
        package var referenceInterval: Int? = 10
        package var isMaximizing = false
        package var seed: UInt64 = 1
        /// The probability with which no difference is found where there is none, below 1.
        package var confidence = 0.95
        /// The seconds for the comparison of the best points with the reference; `nil` for a fixed number of rounds.
        package var budget: Double?

        package init() {}
    }

    package private(set) var trials: Trials
    package let reference: SearchPoint
    private let options: Options
    private var points: Points
    private var finals: Finals?
    /// The number of measurements of points to try, at most.
    private let budget: Int
    private var tried = 0
    private var sinceReference = 0
    /// The measurements of the reference that are due.
    private var dueReferences: Int
    private var asked: (purpose: Trials.Purpose, point: SearchPoint)?

    private enum Points {
        case rounds(Rounds)
        case descent(CoordinateDescent)
    }

    /// The default number of values of a numeric range in a grid.
    package static let usualCount = 5
    /// The largest number of points.
    package static let most = 10_000

    /// - Parameters:
    ///   - axes: At least one.
    ///   - reference: The values before the sweep.
    /// - Returns: `nil` if a grid would have more than ``most`` points.
    package init?(_ axes: [SearchAxis], from reference: SearchPoint, _ options: Options) {
        (self.reference, self.options) = (reference, options)
        trials = Trials(isMaximizing: options.isMaximizing)
        var random = SeededRandom(seed: options.seed)
        switch options.method {
        case .grid:
            guard let grid = Self.grid(axes, most: Self.most) else { return nil }
            points = .rounds(Rounds(of: grid, options, &random))
        case .random(let count):
            points = .rounds(Rounds(of: Self.random(axes, count, &random), options, &random))
        case .search:
            points = .descent(
                CoordinateDescent(axes, from: reference, repeats: options.repeats, seed: options.seed))
        }
        if case .rounds(let rounds) = points {
            budget = rounds.count
        } else if case .search(let count) = options.method {
            budget = count * options.repeats
        } else {
            budget = 0
        }
        dueReferences = options.referenceInterval == nil ? 0 : options.repeats
    }

    /// The number of measurements that are left, at most.
    package var remaining: Int {
        let left = budget - tried
        let finals = self.finals?.remaining ?? Finals.measurements(after: trials, options)
        let between = options.referenceInterval.map { (sinceReference + left) / $0 } ?? 0
        return dueReferences + (self.finals == nil ? left + between : 0) + finals
    }

    /// The next measurement; `nil` at the end.
    package mutating func next() -> (purpose: Trials.Purpose, point: SearchPoint)? {
        asked = asked ?? choose()
        return asked
    }

    /// Adds the result of the measurement that ``next()`` returned.
    ///
    /// - Parameters:
    ///   - value: `nil` if there was none.
    ///   - time: In seconds.
    package mutating func add(_ value: Double?, at time: Double) {
        guard let (purpose, point) = asked else { return }
        asked = nil
        trials.add(purpose, point, value, at: time)
        finals?.add(trials)
    }

    /// The point that is better than the reference, beyond what the noise explains. Known at the end.
    package var best: SearchPoint? { finals?.winner }

    /// The difference of a point from the reference; `nil` unless they were compared.
    package func difference(of point: SearchPoint) -> Difference? { finals?.differences[point] }

    /// Whether a sweep ends if the reference has no result: it was asked for before the end.
    package var needsReference: Bool { options.referenceInterval != nil }

    /// The mean of the reference in the comparison.
    package var level: Double { finals?.level ?? 0 }

    private mutating func choose() -> (purpose: Trials.Purpose, point: SearchPoint)? {
        if dueReferences > 0 {
            dueReferences -= 1
            return (.reference, reference)
        }
        if finals == nil {
            if let interval = options.referenceInterval, sinceReference >= interval {
                sinceReference = 0
                return (.reference, reference)
            }
            if tried < budget, let point = nextPoint() {
                tried += 1
                sinceReference += 1
                return (.trial, point)
            }
            finals = Finals(trials.ranking(.trial), reference, after: trials, options)
        }
        return finals?.next.map { ($0 == reference ? .reference : .final, $0) }
    }

    private mutating func nextPoint() -> SearchPoint? {
        switch points {
        case .rounds(var rounds):
            let point = rounds.next()
            points = .rounds(rounds)
            return point
        case .descent(var descent):
            let point = descent.next(after: trials)
            points = .descent(descent)
            return point
        }
    }

    // MARK: Points

    /// All combinations, the first axis slowest; `nil` if there are too many.
    private static func grid(_ axes: [SearchAxis], most: Int) -> [SearchPoint]? {
        var points: [[TweakValue]] = [[]]
        for axis in axes {
            let values = axis.grid(usualCount)
            guard values.count <= most / max(1, points.count) else { return nil }
            points = points.flatMap { point in values.map { point + [$0] } }
        }
        return points.map(SearchPoint.init)
    }

    /// Different random points; all points of a space that has no more.
    private static func random(
        _ axes: [SearchAxis], _ count: Int, _ random: inout SeededRandom
    ) -> [SearchPoint] {
        var points: [SearchPoint] = []
        var known: Set<SearchPoint> = []
        // In a small space most attempts find a known point.
        for _ in 0..<count * 100 where points.count < count {
            let point = SearchPoint(
                axes.map { $0.value(at: Self.position(on: $0, &random)) })
            if known.insert(point).inserted { points.append(point) }
        }
        return points
    }

    private static func position(on axis: SearchAxis, _ random: inout SeededRandom) -> Double {
        guard let count = axis.count, count > 1 else { return .random(in: 0...1, using: &random) }
        if case .integers(_, _, let isLogarithmic) = axis.values, isLogarithmic {
            return .random(in: 0...1, using: &random)
        }
        // Otherwise the values at both ends would be half as frequent.
        return Double(Int.random(in: 0..<count, using: &random)) / Double(count - 1)
    }
}

/// Points that are all measured once, then all again.
private struct Rounds: Sendable {
    private var order: [SearchPoint] = []

    init(of points: [SearchPoint], _ options: Sweep.Options, _ random: inout SeededRandom) {
        for _ in 0..<options.repeats {
            order += options.isShuffled ? points.shuffled(using: &random) : points
        }
        order.reverse()
    }

    /// The number of measurements that are left.
    var count: Int { order.count }

    mutating func next() -> SearchPoint? { order.popLast() }
}
