// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakPlot

/// The Python with NumPy that `tools/test` installs.
private let python = "\(Locations.package)/.build/python/bin/python3"

@Suite struct `A statistic` {
    @Test(
        arguments: [
            ("mean", 3.75), ("min", 1), ("max", 8), ("last", 4), ("p50", 3), ("p95", 7.4), ("p0", 1),
            ("p100", 8),
            ("p12.5", 1.375), ("rms", 85.0.squareRoot() / 2), ("sd", (28.75 / 3).squareRoot()), ("iae", 18.5),
        ] as [(String, Double)])
    func `is the one of NumPy`(name: String, expected: Double) throws {
        let statistic = try #require(Statistic(name: name))
        #expect(abs(statistic([1, 2, 8, 4], at: [0, 1, 2, 4]) - expected) <= 1e-15 * expected)
    }

    /// NumPy computes the same statistics of the same samples.
    @Test(.enabled(if: access(python, X_OK) == 0, "needs the Python of tools/test"))
    func `agrees with NumPy`() throws {
        var generator = SeededGenerator(seed: 7)
        var lines: [String] = []
        var all: [[Double]] = []
        for count in [1, 2, 3, 10, 101, 1000, 20_000] {
            for (offset, width) in [(0.0, 1.0), (-3, 1e-6), (1e9, 5), (0, 1e150)] {
                let values = (0..<count).map { _ in
                    offset + width * Double.random(in: -1...1, using: &generator)
                }
                var time = 0.0
                let times = (0..<count).map { _ in
                    time += Double.random(in: 0...1, using: &generator)
                    return time
                }
                all.append(Statistic.usualNames.map { Statistic(name: $0)?(values, at: times) ?? .nan })
                lines += [values, times].map { $0.map(\.description).joined(separator: " ") }
            }
        }
        let judge = """
            import sys, numpy
            lines = [numpy.array(line.split(), float) for line in sys.stdin]
            for v, t in zip(lines[::2], lines[1::2]):
                print(numpy.mean(v), v.min(), v.max(), v[-1], *numpy.percentile(v, [50, 95, 99]),
                      numpy.sqrt(numpy.mean(v ** 2)),
                      numpy.std(v, ddof=1) if len(v) > 1 else "nan", numpy.trapezoid(numpy.abs(v), t))
            """
        let home = try TemporaryDirectory()
        try home.write("samples", lines.joined(separator: "\n") + "\n")
        let result = try run(
            "/bin/sh",
            ["-c", "exec '\(python)' -c \"$0\" < samples", judge],
            home: home, in: home.path)
        try #require(result.succeeded, "\(result.error)")
        let judged = result.output.split(separator: "\n").map {
            $0.split(separator: " ").map { Double($0) ?? .nan }
        }
        try #require(judged.count == all.count)
        for (ours, theirs) in zip(all, judged) {
            for (name, (our, their)) in zip(Statistic.usualNames, zip(ours, theirs)) {
                // Both lose digits of a deviation that is small beside the mean.
                let tolerance = abs(their) * 1e-12 + (name == "sd" ? abs(ours[0]) * 1e-15 : 0)
                #expect(
                    our.isNaN && their.isNaN || abs(our - their) <= tolerance, "\(name): \(our), \(their)")
            }
        }
    }

    @Test func `takes a percentile as it takes the absolute value, without order`() throws {
        let values = [3, -1, 2.0], times = [10, 10.5, 11]
        #expect(Statistic.integralOfAbsolute(values, at: times) == 1.75)
        #expect(Statistic.percentile(50)(values, at: times) == 2)
    }

    @Test(arguments: Statistic.usualNames) func `is NaN if a sample is, or if there is none`(name: String)
        throws
    {
        let statistic = try #require(Statistic(name: name))
        #expect(statistic([1, .nan], at: [0, 1]).isNaN)
        #expect(statistic([], at: []).isNaN)
    }

    @Test func `of one sample is the sample, and its standard deviation is unknown`() {
        #expect(Statistic.mean([5], at: [0]) == 5 && Statistic.percentile(95)([5], at: [0]) == 5)
        #expect(Statistic.standardDeviation([5], at: [0]).isNaN)
        #expect(Statistic.integralOfAbsolute([5], at: [0]) == 0)
    }

    @Test func `is exact with many samples and infinite with infinite ones`() {
        let many = [Double](repeating: 0.1, count: 100_000)
        #expect(Statistic.mean(many, at: many) == 0.1)
        #expect(Statistic.mean([1e100, 1, -1e100], at: [0, 1, 2]) == 1.0 / 3)
        #expect(Statistic.mean([1, .infinity], at: [0, 1]) == .infinity)
        #expect(Statistic.percentile(75)([.infinity, .infinity], at: [0, 1]) == .infinity)
    }

    @Test(
        arguments: [
            ("mean", 1), ("last", 1), ("p0", 1), ("p100", 1), ("p50", 2), ("sd", 2), ("iae", 2), ("p95", 20),
            ("p5", 20), ("p99", 100), ("p99.9", 1000), ("p1e-300", 999_999_999_000_000),
        ])
    func `needs samples on both sides`(name: String, count: Int) throws {
        #expect(try #require(Statistic(name: name)).neededCount == count)
    }

    @Test(arguments: ["", "p", "p101", "p-1", "pnan", "average", "P50"])
    func `has a name`(name: String) { #expect(Statistic(name: name) == nil) }
}
