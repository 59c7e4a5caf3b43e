// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Samples as rows of a growing table, where no picture can be drawn: one row per interval, and one for each mark.
package struct PlainRows: Sendable {
    private let series: [PlotSeries]
    private let isUnicode: Bool
    private let interval: Double
    private let titles: [String]
    private let widths: [Int]
    /// The time of the first sample, from which others are counted.
    private var start: Double?
    /// The time of the next row.
    private var due = -Double.infinity

    /// - Parameters:
    ///   - interval: The shortest time between two rows, in seconds.
    ///   - unicode: Whether the terminal shows Unicode.
    package init(_ series: [PlotSeries], interval: Double = 1, unicode: Bool) {
        (self.series, self.interval, isUnicode) = (series, interval, unicode)
        titles = series.map { series in
            (series.name + (series.unit.map { " (\($0))" } ?? "")).shown(isUnicode: unicode)
        }
        widths = zip(series, titles).map { series, title in
            // As wide as a double with its exponent.
            max(12, title.columns, series.states.map { $0.name.shown(isUnicode: unicode).columns }.max() ?? 0)
        }
    }

    /// The names above the columns.
    package var header: String { row("seconds", titles) }

    /// The rows of a batch. Samples between rows are not shown.
    package mutating func rows(of batch: SampleBatch) -> [String] {
        var rows: [String] = []
        var marks = batch.marks[...]
        for (time, values) in zip(batch.times, batch.values) {
            while let mark = marks.first, mark.time < time {
                rows.append(text(of: mark))
                marks.removeFirst()
            }
            // The clock may have been set back.
            guard time >= due || time < due - 2 * interval else { continue }
            due = time + interval
            rows.append(
                row(seconds(time), series.indices.map { text(of: $0 < values.count ? values[$0] : nil, $0) }))
        }
        for mark in marks { rows.append(text(of: mark)) }
        if batch.dropped > 0 { rows.append("  " + "\(batch.dropped) samples were dropped") }
        return rows
    }

    private func row(_ first: String, _ cells: [String]) -> String {
        zip([10] + widths, [first] + cells).map { $1.padded(to: $0, atStart: true) }.joined(separator: "  ")
    }

    private mutating func seconds(_ time: Double) -> String {
        let from = start ?? time
        start = from
        return NumberForm(precision: 3).text(of: time - from)
    }

    private mutating func text(of mark: SampleMark) -> String {
        "\(seconds(mark.time).padded(to: 10, atStart: true))  * \(mark.label.shown(isUnicode: isUnicode))"
    }

    private func text(of value: Double?, _ index: Int) -> String {
        guard let value else { return "-" }
        if let state = series[index].states.first(where: { $0.value == value }) {
            return state.name.shown(isUnicode: isUnicode)
        }
        guard let precision = series[index].precision else {
            // As many digits as a scale of this size would show.
            return Int64(exactly: value).map(String.init)
                ?? NumberForm(resolution: abs(value) / 10_000, largest: abs(value)).text(of: value)
        }
        return NumberForm(precision: precision).text(of: value)
    }
}
