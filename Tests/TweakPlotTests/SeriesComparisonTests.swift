// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakPlot

@Suite struct `A comparison of two series` {
    /// A hundred samples a second.
    private func series(_ count: Int = 200, from start: Double = 0, _ value: (Double) -> Double)
        -> SampledSeries
    {
        var series = SampledSeries()
        for index in 0..<count {
            let time = start + Double(index) / 100
            series.append(value(time), at: time)
        }
        return series
    }

    private func compare(
        _ actual: SampledSeries, with expected: SampledSeries, _ tolerance: Tolerance = .relative(0.05),
        shift: Double = 0.011
    ) -> SeriesComparison { SeriesComparison(actual, with: expected, tolerance, shift: shift) }

    @Test func `holds for the same series, sampled at other moments`() {
        let expected = series { $0 < 1 ? 0 : 5 }
        #expect(compare(expected, with: expected).deviation == 0)
        let result = compare(series(from: 0.004) { $0 < 1.004 ? 0 : 5 }, with: expected, .absolute(0))
        #expect(result.holds && result.compared == 200 && result.expected == 200)
    }

    @Test func `tells the largest deviation and its time`() throws {
        let expected = series { $0 }
        let result = compare(series { $0 + ($0 == 1.5 ? 0.4 : 0.2) }, with: expected)
        #expect(!result.holds && result.hasEnoughSamples)
        #expect(try abs(#require(result.deviation) - 0.39) < 1e-9)
        #expect(result.time == 1.5)
        #expect(abs(result.allowed - 0.05 * 1.99) < 1e-9)
    }

    @Test func `finds a peak of one sample in either series, whatever is around it`() {
        let (flat, peaked) = (series { _ in 1 }, series { $0 == 0.5 ? 3 : 1 })
        for result in [compare(peaked, with: flat), compare(flat, with: peaked)] {
            #expect(!result.holds && result.deviation == 2 && result.time == 0.5)
        }
    }

    @Test func `allows what is later by the shift, and no more`() {
        let expected = series { $0 < 1 ? 0 : 1 }
        let late = series { $0 < 1.055 ? 0 : 1 }
        #expect(compare(late, with: expected, shift: 0.061).holds)
        #expect(!compare(late, with: expected, shift: 0.041).holds)
        let early = series { $0 < 0.945 ? 0 : 1 }
        #expect(compare(early, with: expected, shift: 0.061).holds)
        #expect(!compare(early, with: expected, shift: 0.041).holds)
    }

    @Test(
        arguments: [
            (.absolute(0.5), 10, 20, 0.5), (.relative(0.05), 10, 20, 0.5), (.relative(0.05), -4, -4, 0.2),
            (.relative(0.05), 0, 0, 0),
        ] as [(Tolerance, Double, Double, Double)])
    func `has a tolerance relative to the range, or to a value that never changes`(
        tolerance: Tolerance, first: Double, last: Double, allowed: Double
    ) {
        let expected = series { $0 < 1 ? first : last }
        #expect(abs(tolerance.allowed(for: expected) - allowed) < 1e-12)
    }

    @Test func `needs nearly all samples`() {
        let expected = series { _ in 1 }
        let few = compare(series(150) { _ in 1 }, with: expected)
        #expect(!few.holds && !few.hasEnoughSamples && few.deviation == 0 && few.compared == 151)
        #expect(compare(series(195) { _ in 1 }, with: expected).holds)
        let none = compare(SampledSeries(), with: expected)
        #expect(!none.holds && none.deviation == nil && none.compared == 0)
        // What follows the end of the recording is not compared.
        #expect(compare(series(400) { $0 < 2.5 ? 1 : 9 }, with: expected).holds)
    }

    @Test func `takes NaN and infinities for values of their own`() {
        let expected = series { $0 < 0.5 ? .nan : $0 < 1 ? .infinity : 1 }
        #expect(compare(expected, with: expected, .absolute(0)).holds)
        let other = compare(series { _ in 1 }, with: expected)
        #expect(other.deviation == .infinity && other.time == 0 && !other.holds)
    }

    @Test func `agrees with a search through all pairs`() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<50 {
            func noise() -> SampledSeries {
                var (series, time) = (SampledSeries(), 0.0)
                for _ in 0..<100 {
                    time += Double.random(in: 0.001...0.05, using: &generator)
                    series.append(Double.random(in: 0...1, using: &generator), at: time)
                }
                return series
            }
            let (one, other, shift) = (noise(), noise(), Double.random(in: 0.001...0.2, using: &generator))
            var largest = -1.0
            for (samples, others) in [(one, other), (other, one)] {
                for (time, value) in zip(samples.times, samples.values) {
                    let near = zip(others.times, others.values).filter {
                        $0.0 >= time - shift && $0.0 <= time + shift
                    }.map(\.1)
                    guard let low = near.min(), let high = near.max() else { continue }
                    largest = max(largest, low - value, value - high, 0)
                }
            }
            #expect(compare(one, with: other, shift: shift).deviation == largest)
        }
    }

    @Test func `ignores samples out of order, and keeps those until a time`() {
        var series = SampledSeries()
        for (value, time) in [(1, 1), (2, 3), (9, 2), (9, 3), (3, 4), (4, 9)] as [(Double, Double)] {
            series.append(value, at: time)
        }
        #expect(series.values == [1, 2, 3, 4] && series.times == [1, 3, 4, 9])
        #expect(series.period == 2)
        #expect(series.prefix(until: 4).values == [1, 2, 3])
        #expect(series.prefix(until: 0).period == nil)
    }
}
