internal import TweakRecords

/// A picture of samples as lines of text, which moves with the time.
///
/// It has no clock and writes nothing: the last sample is at the right edge. Any numbers and any size are taken.
package struct Plot: Sendable {
    package enum Layout: Sendable {
        /// Each series has a picture with a scale of its own.
        case stacked
        /// All are in one.
        case together
    }

    package let series: [PlotSeries]
    package let layout: Layout
    /// The first of the series that are shown where there is no room for all of them.
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
    /// - Parameter window: How many seconds it shows.
    package init(_ series: [PlotSeries], window: Double = 10, layout: Layout = .stacked) {
        (self.series, self.layout) = (series, layout)
        history = PlotHistory(seriesCount: series.count, window: window)
    }

    /// How many seconds are shown, from 0.1 to a day. What is gone does not come back when there are more.
    package var window: Double {
        get { history.window }
        set {
            history.setWindow(newValue)
            forgetMarks()
        }
    }

    /// Adds a sample, with the values in the order of the series. What is missing, or is not finite, leaves a gap.
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

    /// Adds a batch. Where samples were dropped there is a gap.
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

    /// The picture as it is now.
    ///
    /// - Parameters:
    ///   - columns: How wide it is.
    ///   - rows: How many lines come back.
    ///   - unicode: Whether characters beside ASCII can be shown.
    ///   - color: Whether there are sequences for colours in it.
    /// - Returns: The lines, none of which is wider, or ends with a blank.
    package func frame(columns: Int, rows: Int, unicode: Bool, color: Bool) -> [String] {
        guard rows > 0 else { return [] }
        var frame = PlotFrame(
            self, columns: min(max(columns, 0), 2000), rows: min(rows, 1000), isUnicode: unicode,
            isColored: color)
        let lines = frame.draw()
        return lines.prefix(rows) + Array(repeating: "", count: max(0, rows - lines.count))
    }
}
