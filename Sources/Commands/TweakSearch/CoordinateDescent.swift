// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A search that changes one tweak at a time, in steps that double after a success and halve after a failure, from the
/// current values, and then from random points.
///
/// It knows the noise of its repeats: a step is a success only if it is an improvement beyond the noise. Until that is
/// clear, both points are measured again.
package struct CoordinateDescent: Sendable {
    private let axes: [SearchAxis]
    /// The number of measurements of a point before it is compared.
    private let repeats: Int
    private var random: SeededRandom
    private var current: Place
    private var candidate: Place?
    /// The places to compare with the current one before the axis is done.
    private var pending: [Place] = []
    private var axis = 0
    private var progress: [Progress]

    /// The positions on the axes, and the values there.
    private struct Place {
        var positions: [Double]
        var point: SearchPoint
    }

    /// The state of an axis.
    private struct Progress {
        /// The smallest step as a fraction of the axis.
        let units: Int
        /// The current step in units.
        var step: Int
        var isForward = true
        /// Whether smaller steps would be pointless.
        var isSettled = false
        /// Whether a step since the last change of the axis was lost in noise.
        var isNoisy = false

        init(_ axis: SearchAxis) {
            units = min(max(1, (axis.count ?? .max) - 1), 512)
            step = max(1, units / 4)
        }
    }

    /// The measurements of a point, as a multiple of the repeats, after which a difference counts as none.
    private static let mostVisits = 4
    /// The step, as a fraction of an axis, below which other axes are not searched again.
    private static let notable = 64

    /// - Parameters:
    ///   - start: The point to start from; values that are not on their axis begin at its lower end.
    ///   - repeats: The number of measurements of each point, at least 1.
    package init(_ axes: [SearchAxis], from start: SearchPoint, repeats: Int, seed: UInt64) {
        (self.axes, self.repeats, random) = (axes, repeats, SeededRandom(seed: seed))
        progress = axes.map(Progress.init)
        let positions = zip(axes, start.values).map { axis, value in
            axis.position(of: value) ?? (value.number.map { $0 > axis.highest ? 1 : 0 } ?? 0)
        }
        let values = zip(zip(axes, start.values), positions).map { pair, position in
            pair.0.position(of: pair.1) == nil ? pair.0.value(at: position) : pair.1
        }
        current = Place(positions: positions, point: SearchPoint(values))
        beginAxis()
    }

    /// The point to measure next.
    ///
    /// - Parameter trials: All measurements so far.
    /// - Returns: `nil` if there is nothing more to find.
    package mutating func next(after trials: Trials) -> SearchPoint? {
        // A small space is exhausted without further measurements.
        for _ in 0..<1000 {
            if isOwed(current, trials) { return current.point }
            guard let candidate else {
                advance()
                continue
            }
            if isOwed(candidate, trials) { return candidate.point }
            switch trials.comparison(candidate.point, current.point) {
            case .better: move(to: candidate)
            case .worse: self.candidate = nil
            case .unclear:
                let visits = [candidate, current].map { (trials.summary(of: $0.point).count, $0.point) }
                let rarest = visits[0].0 <= visits[1].0 ? visits[0] : visits[1]
                if rarest.0 < Self.mostVisits * repeats { return rarest.1 }
                progress[axis].isNoisy = true
                self.candidate = nil
            }
        }
        return nil
    }

    private func isOwed(_ place: Place, _ trials: Trials) -> Bool {
        let summary = trials.summary(of: place.point)
        // Repeats do not help a point that failed.
        return summary.count == 0 || summary.mean != nil && summary.count < repeats
    }

    private mutating func move(to place: Place) {
        let isForward = place.positions[axis] > current.positions[axis]
        current = place
        candidate = nil
        guard axes[axis].isOrdered else { return }
        let (units, step) = (progress[axis].units, progress[axis].step)
        if step * Self.notable >= units { reopen(except: axis) }
        progress[axis].isForward = isForward
        progress[axis].step = min(step * 2, max(1, units / 4))
        pending = [neighbour(isForward)].compactMap(\.self)
    }

    private mutating func reopen(except moved: Int) {
        for index in progress.indices where index != moved && progress[index].isSettled {
            progress[index].isSettled = false
            progress[index].isNoisy = false
            progress[index].step = max(progress[index].step, 1)
        }
    }

    /// Takes the next candidate; when the axis has none, the next axis; when all are settled, another start.
    private mutating func advance() {
        if !pending.isEmpty {
            candidate = pending.removeFirst()
            return
        }
        if !axes[axis].isOrdered || progress[axis].isNoisy || progress[axis].step == 1 {
            progress[axis].isSettled = true
        } else {
            progress[axis].step /= 2
        }
        if let next = (1...axes.count).map({ (axis + $0) % axes.count }).first(where: {
            !progress[$0].isSettled
        }) {
            axis = next
        } else {
            restart()
        }
        beginAxis()
    }

    private mutating func restart() {
        let positions = axes.map { _ in Double.random(in: 0...1, using: &random) }
        current = Place(
            positions: positions, point: SearchPoint(zip(axes, positions).map { $0.value(at: $1) }))
        progress = axes.map(Progress.init)
        axis = 0
    }

    private mutating func beginAxis() {
        progress[axis].isNoisy = false
        guard axes[axis].isOrdered, case let isForward = progress[axis].isForward else {
            let count = axes[axis].count ?? 1
            pending = (0..<count).compactMap { moved(to: Double($0) / Double(max(1, count - 1))) }
            return
        }
        pending = [neighbour(isForward), neighbour(!isForward)].compactMap(\.self)
    }

    /// The place one step away; `nil` at the end of the axis.
    private func neighbour(_ isForward: Bool) -> Place? {
        let step = Double(progress[axis].step) / Double(progress[axis].units)
        return moved(to: current.positions[axis] + (isForward ? step : -step))
    }

    /// The place with another position on the current axis; `nil` if the value is the same.
    private func moved(to position: Double) -> Place? {
        var place = current
        place.positions[axis] = min(max(position, 0), 1)
        var values = current.point.values
        values[axis] = axes[axis].value(at: place.positions[axis])
        place.point = SearchPoint(values)
        return place.point == current.point ? nil : place
    }
}

extension SearchAxis {
    fileprivate var highest: Double { value(at: 1).number ?? 0 }
}
