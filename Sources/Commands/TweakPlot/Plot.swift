// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A scrolling picture of samples as lines of text.
///
/// It has no clock and writes nothing: the last sample is at the right edge. It accepts any number and any size.
package struct Plot: Sendable {
    package enum Layout: Sendable {
        /// A panel with its own scale for each series.
        case stacked
        /// All series in one panel.
        case together
    }

    package let series: [PlotSeries]
    package let layout: Layout
    /// The first series to show if there is no room for all.
    package var firstPanel = 0
    var history: PlotHistory
    var marks: [Mark] = []
    private var nextLetter = 0

    struct Mark: Sendable {
        let time: Double
        let letter: Character
        let label: String
    }

    /// More would hide the picture.
    private static let mostMarks = 500

    /// Makes a picture without samples.
    ///
    /// - Parameter window: The time span of the picture in seconds.
    package init(_ series: [PlotSeries], window: Double = 10, layout: Layout = .stacked) {
        (self.series, self.layout) = (series, layout)
        history = PlotHistory(seriesCount: series.count, window: window)
    }

    /// The time span of the picture, from 0.1 s to a day. A longer span does not bring old samples back.
    package var window: Double {
        get { history.window }
        set {
            history.setWindow(newValue)
            forgetMarks()
        }
    }

    /// Adds a sample, with the values in the order of the series. Missing and non-finite values leave gaps.
    package mutating func append(time: Double, values: [Double?]) {
        history.append(time: time, values: values)
        forgetMarks()
    }

    /// Adds a vertical line with a letter, which the legend explains.
    package mutating func mark(time: Double, label: String) {
        guard time.isFinite else { return }
        let letter = Character(Unicode.Scalar(UInt8(ascii: "A") + UInt8(nextLetter % 26)))
        nextLetter = (nextLetter + 1) % 26
        marks.append(Mark(time: time, letter: letter, label: label))
        if marks.count > Self.mostMarks { marks.removeFirst(marks.count - Self.mostMarks) }
    }

    /// Adds a batch. Dropped samples leave a gap.
    package mutating func append(_ batch: SampleBatch) {
        if batch.dropped > 0, let time = batch.times.first { history.append(time: time, values: []) }
        for (time, values) in zip(batch.times, batch.values) { history.append(time: time, values: values) }
        for mark in batch.marks { self.mark(time: mark.time, label: mark.label) }
        forgetMarks()
    }

    private mutating func forgetMarks() {
        guard let newest = history.newest else { return }
        marks.removeAll { $0.time < newest - history.window }
    }

    /// The current picture.
    ///
    /// - Parameters:
    ///   - columns: The width.
    ///   - rows: The number of lines.
    ///   - unicode: Whether the terminal shows Unicode.
    ///   - color: Whether the lines contain colour sequences.
    /// - Returns: The lines, none of which is wider or ends with a blank.
    package func frame(columns: Int, rows: Int, unicode: Bool, color: Bool) -> [String] {
        guard rows > 0 else { return [] }
        var frame = PlotFrame(
            self, columns: min(max(columns, 0), 2000), rows: min(rows, 1000), isUnicode: unicode,
            isColored: color)
        let lines = frame.draw()
        return lines.prefix(rows) + Array(repeating: "", count: max(0, rows - lines.count))
    }
}
