// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import TweakSearch

/// Does what a sweep asks for with a function in place of a program.
struct Experiment {
    var sweep: Sweep
    private(set) var asked: [(purpose: Trials.Purpose, numbers: [Double])] = []

    init(_ axes: [SearchAxis], from start: [Double], _ change: (inout Sweep.Options) -> Void = { _ in })
        throws
    {
        var options = Sweep.Options()
        change(&options)
        sweep = try #require(Sweep(axes, from: SearchPoint(start.map { .double($0) }), options))
    }

    /// - Parameter result: Returns the result of numbers at a time, or `nil` for none.
    mutating func run(_ result: ([Double], Double) -> Double?) {
        while let (purpose, point) = sweep.next() {
            let numbers = point.values.map { $0.number ?? 0 }
            let time = Double(asked.count)
            asked.append((purpose, numbers))
            sweep.add(result(numbers, time), at: time)
        }
    }

    func tried(_ purpose: Trials.Purpose = .trial) -> [[Double]] {
        asked.filter { $0.purpose == purpose }.map(\.numbers)
    }

    var best: [Double] { sweep.best?.values.map { $0.number ?? 0 } ?? [] }
}

extension SeededGenerator {
    /// A number of the normal distribution.
    mutating func normal() -> Double {
        let (radius, angle) = (
            Double.random(in: 1e-12...1, using: &self), Double.random(in: 0...1, using: &self)
        )
        return (-2 * log(radius)).squareRoot() * cos(2 * .pi * angle)
    }
}
