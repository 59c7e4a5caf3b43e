// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakGenerators
package import TweakRecords

/// A tweak and the values to try.
///
/// A value has a position from 0, the lowest or first value, to 1; on a logarithmic scale the middle is the geometric
/// mean.
package struct SearchAxis: Sendable {
    package let tweak: TweakDeclaration
    package let values: SearchSpace.Values

    /// - Parameter values: Not empty.
    package init(_ tweak: TweakDeclaration, _ values: SearchSpace.Values) {
        (self.tweak, self.values) = (tweak, values)
    }

    /// Makes an axis of a number's range.
    ///
    /// - Parameter count: The number of values, at least 2; `nil` for all.
    /// - Returns: `nil` unless both ends are finite numbers and ascend.
    package init?(_ tweak: TweakDeclaration, from low: TweakValue, to high: TweakValue, count: Int?) {
        guard let whole = SearchSpace.Values(tweak, from: low, to: high) else { return nil }
        let axis = SearchAxis(tweak, whole)
        self.init(tweak, count.map { .choices(axis.grid($0)) } ?? whole)
    }

    /// Whether neighbouring values are alike: not those of a Bool, or of a list of texts.
    package var isOrdered: Bool {
        guard case .choices(let list) = values else { return true }
        return list.allSatisfy { $0.number != nil }
    }

    private static let mostCounted = 16e6

    /// The number of different values; `nil` for a continuous range, or if there are very many.
    package var count: Int? {
        let steps: Double
        switch values {
        case .choices(let list): return list.count
        case .integers(let range, let step, _):
            steps = Double((range.upperBound - range.lowerBound) / step)
        case .numbers(let range, let step?, _):
            // Rounding errors do not cost the last value.
            steps = ((range.upperBound - range.lowerBound) / step * (1 + 1e-12)).rounded(.down)
        case .numbers(_, nil, _): return nil
        }
        return steps < Self.mostCounted ? Int(steps) + 1 : nil
    }

    /// The value nearest to a position.
    package func value(at position: Double) -> TweakValue {
        let position = min(max(position, 0), 1)
        switch values {
        case .choices(let list):
            return list[Int((position * Double(list.count - 1)).rounded())]
        case .integers(let range, let step, let isLogarithmic):
            let (low, high) = (Double(range.lowerBound), Double(range.upperBound))
            let number = Self.number(at: position, low, high, isLogarithmic)
            let steps = Int128(((number - low) / Double(step)).rounded())
            return .integer(min(range.lowerBound + steps * step, range.upperBound))
        case .numbers(let range, let step, let isLogarithmic):
            let (low, high) = (range.lowerBound, range.upperBound)
            var number = Self.number(at: position, low, high, isLogarithmic)
            if let step {
                number = low + ((number - low) / step).rounded() * step
                if number > high { number -= step }
                number = Self.rounded(number, to: step / 1000)
            } else if position > 0, position < 1 {
                number = Self.rounded(number, to: (isLogarithmic ? number : high - low) / 10_000)
            }
            let value = TweakValue.double(min(max(number, low), high))
            return (try? tweak.admit(value))?.value ?? value
        }
    }

    /// The position of a value; `nil` if it is not on the axis.
    package func position(of value: TweakValue) -> Double? {
        switch values {
        case .choices(let list):
            return list.firstIndex(of: value).map { list.count > 1 ? Double($0) / Double(list.count - 1) : 0 }
        case .integers(let range, _, let isLogarithmic):
            return Self.position(
                of: value, Double(range.lowerBound), Double(range.upperBound), isLogarithmic)
        case .numbers(let range, _, let isLogarithmic):
            return Self.position(of: value, range.lowerBound, range.upperBound, isLogarithmic)
        }
    }

    /// Evenly spaced values including both ends; all values of a list.
    ///
    /// - Parameter count: The number of values, at least 2; fewer if there are not as many.
    package func grid(_ count: Int) -> [TweakValue] {
        if case .choices(let list) = values { return list }
        let count = min(count, self.count ?? count)
        guard count > 1 else { return [value(at: 0)] }
        var grid: [TweakValue] = []
        for index in 0..<count {
            let value = value(at: Double(index) / Double(count - 1))
            if grid.last != value { grid.append(value) }
        }
        return grid
    }

    private static func number(
        at position: Double, _ low: Double, _ high: Double, _ isLogarithmic: Bool
    ) -> Double {
        isLogarithmic && low > 0 ? low * pow(high / low, position) : low + (high - low) * position
    }

    private static func position(
        of value: TweakValue, _ low: Double, _ high: Double, _ isLogarithmic: Bool
    ) -> Double? {
        guard let number = value.number, low...high ~= number else { return nil }
        guard low < high else { return 0 }
        return isLogarithmic && low > 0
            ? log(number / low) / log(high / low) : (number - low) / (high - low)
    }

    /// Rounds to a decimal place, so that values are short to read.
    ///
    /// - Parameter resolution: The maximum error.
    private static func rounded(_ number: Double, to resolution: Double) -> Double {
        guard resolution > 0, case let power = pow(10, log10(resolution).rounded(.down)), power.isNormal
        else { return number }
        // The reciprocal of a negative power of ten is exact.
        let rounded =
            power < 1
            ? (number * (1 / power).rounded()).rounded() / (1 / power).rounded()
            : (number / power).rounded() * power
        return rounded.isFinite ? rounded : number
    }
}

extension TweakValue {
    /// The value as a number; `nil` for a Bool, a text or a colour.
    package var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .bool, .string, .color, .nothing: nil
        }
    }
}

/// A value for each axis.
package struct SearchPoint: Hashable, Sendable {
    package let values: [TweakValue]

    package init(_ values: [TweakValue]) { self.values = values }
}

/// Random numbers that are the same for the same seed.
///
/// The algorithm is SplitMix64 of Sebastiano Vigna, which is in the public domain: https://prng.di.unimi.it/splitmix64.c
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var result = state
        result = (result ^ (result >> 30)) &* 0xbf58_476d_1ce4_e5b9
        result = (result ^ (result >> 27)) &* 0x94d0_49bb_1331_11eb
        return result ^ (result >> 31)
    }
}
