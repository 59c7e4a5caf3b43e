// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import Glibc

/// The vertical scale of a panel, with its labels.
struct PlotScale {
    struct Tick: Equatable {
        /// The position, from 0 at the bottom to 1 at the top.
        let place: Double
        let label: String
    }

    /// The values at the bottom and at the top, finite and ascending.
    let bottom, top: Double
    private(set) var ticks: [Tick] = []
    /// The smallest visible difference.
    let resolution: Double
    /// The values of the states in order, if the scale shows states.
    private var states: [Double] = []
    /// Whether the labels are names of states, not numbers.
    var hasStates: Bool { !states.isEmpty }

    /// Makes a scale of numbers.
    ///
    /// - Parameters:
    ///   - range: The range to show at least; `nil` to follow the values.
    ///   - extent: The range of the values.
    ///   - most: The largest number of labels.
    init(range: ClosedRange<Double>?, extent: PlotHistory.Extent, most: Int) {
        let limits = Self.limits(range, extent)
        let intervals = max(1, min(most, 50) - 1)
        var (bottom, top) = (limits.lowerBound, limits.upperBound)
        // With few labels, a scale that ended at a label would leave half of the picture empty.
        let outer = Self.step(of: top - bottom, intervals: max(4, intervals))
        // The ends of a given range are kept.
        if bottom != range?.lowerBound { bottom = Self.multiple(bottom, outer, .down) }
        if top != range?.upperBound { top = Self.multiple(top, outer, .up) }
        (self.bottom, self.top) = (bottom, top)
        let step = Self.step(of: top - bottom, intervals: intervals)
        resolution = min(step, outer) / 10
        let form = NumberForm(resolution: step, largest: max(abs(bottom), abs(top)))
        var value = Self.multiple(bottom, step, .up)
        for _ in 0...intervals + 2 where value <= top {
            // Adding up steps would not give exactly 0.
            let exact = Self.multiple(value, step, .toNearestOrAwayFromZero)
            if let place = place(of: exact) { ticks.append(Tick(place: place, label: form.text(of: exact))) }
            guard exact + step > value else { break }
            value = exact + step
        }
        guard ticks.count < 2 else { return }
        let ends = NumberForm(resolution: outer, largest: max(abs(bottom), abs(top)))
        ticks = [Tick(place: 0, label: ends.text(of: bottom)), Tick(place: 1, label: ends.text(of: top))]
    }

    /// Makes a scale of states, evenly spaced whatever their values are.
    init(states: [PlotSeries.State]) {
        var names: [Double: String] = [:]
        for state in states where state.value.isFinite && names[state.value] == nil {
            names[state.value] = state.name
        }
        let values = names.keys.sorted()
        (bottom, top, resolution) = (0, Double(max(1, values.count - 1)), 1)
        self.states = values
        ticks = values.map { Tick(place: place(of: $0) ?? 0, label: names[$0] ?? "") }
    }

    /// The position of a value; `nil` if it is not finite.
    func place(of value: Double) -> Double? {
        guard value.isFinite else { return nil }
        let value = states.isEmpty ? value : position(among: value)
        // Halves, because the span may exceed the largest number.
        let place = (value / 2 - bottom / 2) / (top / 2 - bottom / 2)
        return place.isNaN ? nil : min(max(place, 0), 1)
    }

    /// The index of a state; fractional for a value between two states.
    private func position(among value: Double) -> Double {
        guard let above = states.firstIndex(where: { $0 >= value }) else { return Double(states.count - 1) }
        guard above > 0, states[above] > value else { return Double(above) }
        let (low, high) = (states[above - 1], states[above])
        return Double(above - 1) + (value / 2 - low / 2) / (high / 2 - low / 2)
    }

    // MARK: Numbers that people like

    private static let largest = Double.greatestFiniteMagnitude / 4

    private static func limits(_ range: ClosedRange<Double>?, _ extent: PlotHistory.Extent) -> ClosedRange<
        Double
    > {
        var all = extent
        for end in [range?.lowerBound, range?.upperBound] {
            if let end, end.isFinite { all.add(end) }
        }
        guard !all.isEmpty else { return 0...1 }
        let all0 = min(max(all.minimum, -largest), largest)
        let all1 = min(max(all.maximum, -largest), largest)
        // A smaller difference would show nothing but rounding errors.
        let least = max(max(abs(all0), abs(all1)).ulp * 64, Double.leastNormalMagnitude * 1024)
        guard all1 - all0 < least else { return all0...all1 }
        let around = max(abs(all0) / 10, least)
        return all0 == 0 && all1 == 0 ? -1...1 : (all0 - around)...(all1 + around)
    }

    /// 1, 2 or 5 times a power of ten, so that the span has at most this many intervals.
    static func step(of span: Double, intervals: Int) -> Double {
        let least = span / Double(max(1, intervals))
        let power = pow(10, log10(least).rounded(.down))
        for factor in [1.0, 2, 5, 10] where factor * power >= least * 0.999_999 && (factor * power).isFinite {
            return factor * power
        }
        return least
    }

    private static func multiple(_ value: Double, _ step: Double, _ rule: FloatingPointRoundingRule) -> Double
    {
        // Rounding errors in the last digits do not count.
        let count = value / step
        let whole = count.rounded()
        let rounded = abs(count - whole) < 1e-6 ? whole * step : count.rounded(rule) * step
        return rounded.isFinite ? rounded : value
    }
}

/// A number format that shows differences in little space.
struct NumberForm {
    private let decimals: Int
    private let isScientific: Bool

    /// - Parameters:
    ///   - resolution: The smallest visible difference.
    ///   - largest: The largest number to write.
    init(resolution: Double, largest: Double) {
        guard resolution.isFinite, resolution > 0, largest.isFinite else {
            (decimals, isScientific) = (6, true)
            return
        }
        let last = (log10(resolution) + 1e-9).rounded(.down)
        let before = largest > 0 ? (log10(largest) + 1e-9).rounded(.down) : last
        isScientific = last < -6 || before >= 7
        decimals = Int(min(max(isScientific ? before - last : -last, 0), isScientific ? 6 : 9))
    }

    /// - Parameter precision: The number of decimals.
    init(precision: Int) { (decimals, isScientific) = (min(max(precision, 0), 17), false) }

    func text(of number: Double) -> String {
        guard number.isFinite else { return number.isNaN ? "NaN" : number < 0 ? "-inf" : "inf" }
        let isShort = !isScientific && abs(number) < 1e15
        let text = formatted(isShort ? "%.*f" : "%.*e", Int32(decimals), number)
        // A zero has no sign, and an exponent no leading zeros.
        guard !isShort else {
            return text.allSatisfy { "-0.".contains($0) } ? text.drop { $0 == "-" }.description : text
        }
        let parts = text.split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]) else { return text }
        return number == 0 ? "0" : "\(parts[0])e\(exponent)"
    }
}
