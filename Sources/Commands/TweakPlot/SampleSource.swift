// SPDX-License-Identifier: BSD-3-Clause
/// A source of samples: a running program, the memory of a process, or a test.
package protocol SampleSource<Problem> {
    /// The error that ends the samples.
    associatedtype Problem: Error

    /// The sampled series, in the order of the values. It does not change.
    var series: [PlotSeries] { get }

    /// The samples since the last call.
    ///
    /// - Parameter seconds: How long to wait if there are none. A signal may end the wait earlier.
    /// - Returns: `nil` if there are none. Not called again after a batch that ``SampleBatch/hasEnded``.
    mutating func next(within seconds: Double) throws(Problem) -> SampleBatch?
}

/// The samples since the last batch.
package struct SampleBatch: Sendable, Equatable {
    /// The times of the samples in seconds since 1970, ascending.
    package var times: [Double]
    /// The values at each time, in the order of the series; `nil` or missing at the end for no value. Bools are 0 and
    /// 1, and a choice is the value of its ``PlotSeries/State``.
    package var values: [[Double?]]
    /// Events in between, such as changes of tweaks, by time.
    package var marks: [SampleMark]
    /// The number of samples lost because the reader was too slow. They were due before those in this batch.
    package var dropped: Int
    /// Whether this is the last batch, for example because the program has ended.
    package var hasEnded: Bool

    package init(
        times: [Double] = [], values: [[Double?]] = [], marks: [SampleMark] = [], dropped: Int = 0,
        hasEnded: Bool = false
    ) {
        (self.times, self.values, self.marks) = (times, values, marks)
        (self.dropped, self.hasEnded) = (dropped, hasEnded)
    }
}

/// An event that is shown beside the samples.
package struct SampleMark: Sendable, Equatable {
    /// The time in seconds since 1970.
    package var time: Double
    /// The event, such as `Spring/Physics/Stiffness: 120 → 600 (control)`. May contain text of others.
    package var label: String

    package init(time: Double, label: String) { (self.time, self.label) = (time, label) }
}

/// A sampled series and how it is drawn.
package struct PlotSeries: Sendable, Equatable {
    /// A value with a name.
    package struct State: Sendable, Equatable {
        package var value: Double
        package var name: String

        package init(_ value: Double, _ name: String) { (self.value, self.name) = (value, name) }
    }

    /// The name, such as `Spring/Physics/Position`. It, the unit and the names of states may contain text of others.
    package var name: String
    package var unit: String?
    /// The number of decimals; `nil` for as many as tell a value from its neighbours in the picture.
    package var precision: Int?
    /// The range of the scale; `nil` to follow the values.
    package var range: ClosedRange<Double>?
    /// If there are any, the series is drawn in steps, with these names as its scale.
    package var states: [State]

    package init(
        name: String, unit: String? = nil, precision: Int? = nil, range: ClosedRange<Double>? = nil,
        states: [State] = []
    ) {
        (self.name, self.unit, self.precision) = (name, unit, precision)
        (self.range, self.states) = (range, states)
    }
}

extension [PlotSeries.State] {
    /// The states of a switch.
    package static var switched: Self { [.init(0, "off"), .init(1, "on")] }

    /// The states of a value that is an index of these names.
    package static func indices(of names: some Sequence<String>) -> Self {
        names.enumerated().map { .init(Double($0.offset), $0.element) }
    }
}
