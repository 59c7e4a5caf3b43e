/// Where samples come from: a running program, the memory of a process, or a test.
package protocol SampleSource<Problem> {
    /// What ends the samples before their time.
    associatedtype Problem: Error

    /// What is sampled, in the order of the values. It does not change.
    var series: [PlotSeries] { get }

    /// The samples that have come since the last call.
    ///
    /// - Parameter seconds: How long to wait for some if there are none. A signal may end the wait earlier.
    /// - Returns: `nil` if nothing has come. After a batch that ``SampleBatch/hasEnded`` it is not called again.
    mutating func next(within seconds: Double) throws(Problem) -> SampleBatch?
}

/// What was sampled since the last batch.
package struct SampleBatch: Sendable, Equatable {
    /// When the samples were taken, in seconds since 1970; rising.
    package var times: [Double]
    /// The values of each of the times, in the order of the series. `nil`, and what is missing at the end, is no value.
    /// False and true are 0 and 1, a choice is what its ``PlotSeries/State`` says.
    package var values: [[Double?]]
    /// What happened in between, such as changes of tweaks; rising in time.
    package var marks: [SampleMark]
    /// How many samples there would have been that were not delivered, because the reader was too slow. They were due
    /// before those that are here.
    package var dropped: Int
    /// Whether this is the last batch, as when the program has ended.
    package var hasEnded: Bool

    package init(
        times: [Double] = [], values: [[Double?]] = [], marks: [SampleMark] = [], dropped: Int = 0,
        hasEnded: Bool = false
    ) {
        (self.times, self.values, self.marks) = (times, values, marks)
        (self.dropped, self.hasEnded) = (dropped, hasEnded)
    }
}

/// Something that happened at a time, to be seen beside the samples.
package struct SampleMark: Sendable, Equatable {
    /// In seconds since 1970.
    package var time: Double
    /// What happened, as `Spring/Physics/Stiffness: 120 → 600 (control)`. It may hold what others wrote.
    package var label: String

    package init(time: Double, label: String) { (self.time, self.label) = (time, label) }
}

/// One of the things that are sampled, as it is drawn.
package struct PlotSeries: Sendable, Equatable {
    /// What the value says in words.
    package struct State: Sendable, Equatable {
        package var value: Double
        package var name: String

        package init(_ value: Double, _ name: String) { (self.value, self.name) = (value, name) }
    }

    /// The name, as `Spring/Physics/Position`. It may hold what others wrote, as may the unit and the names of states.
    package var name: String
    package var unit: String?
    /// How many decimals are shown of a value; `nil` for as many as tell it from its neighbours in the picture.
    package var precision: Int?
    /// The scale; `nil` for one that follows the values.
    package var range: ClosedRange<Double>?
    /// If there are any, the series is drawn in steps, and their names are its scale.
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
    /// Of a switch.
    package static var switched: Self { [.init(0, "off"), .init(1, "on")] }

    /// Of a value that is the index of one of these names.
    package static func indices(of names: some Sequence<String>) -> Self {
        names.enumerated().map { .init(Double($0.offset), $0.element) }
    }
}
