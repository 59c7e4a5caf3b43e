// SPDX-License-Identifier: BSD-3-Clause
/// The samples of a time window: the smallest and largest value of each series in each short part of it, so that no
/// peak is lost however many samples there are.
struct PlotHistory: Sendable {
    /// The range of a series in a part of the time.
    struct Extent: Sendable, Equatable {
        /// NaN if there were no values.
        var minimum = Double.nan
        var maximum = Double.nan

        var isEmpty: Bool { minimum.isNaN }

        mutating func add(_ value: Double) {
            minimum = .minimum(minimum, value)
            maximum = .maximum(maximum, value)
        }

        mutating func add(_ other: Extent) {
            // The minimum of NaN and a number is the number.
            minimum = .minimum(minimum, other.minimum)
            maximum = .maximum(maximum, other.maximum)
        }

        /// The value in the extent that is nearest to another one.
        func nearest(to value: Double) -> Double { .minimum(.maximum(value, minimum), maximum) }
    }

    /// A part of the time.
    struct Part: Sendable {
        let start, end: Double
        var extents: [Extent]

        var middle: Double { start + (end - start) / 2 }
    }

    static let windows = 0.1...86_400.0
    /// Later dates leave too few digits for fractions of a second.
    private static let dates = -1e11...1e11

    private let seriesCount: Int
    /// The parts, oldest first; those before `first` are dropped.
    private var stored: [Part] = []
    private var first = 0
    /// The time of the last sample.
    private(set) var newest: Double?
    /// The values of the last sample.
    private(set) var latest: [Double?]
    /// The time that is kept before the last sample, in seconds.
    private(set) var window: Double

    init(seriesCount: Int, window: Double) {
        self.seriesCount = seriesCount
        self.window = Self.windows.nearest(to: window)
        latest = Array(repeating: nil, count: seriesCount)
    }

    var parts: ArraySlice<Part> { stored[first...] }

    /// Finer than the dots of a picture, unless there are many series.
    private var partCount: Int { min(2048, max(256, 400_000 / max(1, seriesCount))) }
    private var partLength: Double { window / Double(partCount) }

    mutating func append(time: Double, values: some Collection<Double?>) {
        guard Self.dates.contains(time) else { return }
        if let newest, time < newest { forget(after: time) }
        newest = time
        if stored.count == first || time >= stored[stored.count - 1].end {
            let start = (time / partLength).rounded(.down) * partLength
            stored.append(
                Part(
                    start: start, end: start + partLength,
                    extents: Array(repeating: Extent(), count: seriesCount)))
        }
        let last = stored.count - 1
        var index = 0
        for value in values.prefix(seriesCount) {
            if let value, value.isFinite { stored[last].extents[index].add(value) }
            latest[index] = value
            index += 1
        }
        while index < seriesCount {
            latest[index] = nil
            index += 1
        }
        trim()
    }

    /// Drops later parts after the clock was set back.
    private mutating func forget(after time: Double) {
        while stored.count > first, stored[stored.count - 1].start > time { stored.removeLast() }
    }

    /// Changes the time that is kept. Dropped samples do not come back, and the resolution does not improve.
    mutating func setWindow(_ seconds: Double) {
        window = Self.windows.nearest(to: seconds)
        var merged: [Part] = []
        for part in parts {
            guard let last = merged.last, part.end - last.start <= partLength else {
                merged.append(part)
                continue
            }
            var whole = Part(start: last.start, end: part.end, extents: last.extents)
            for index in 0..<seriesCount { whole.extents[index].add(part.extents[index]) }
            merged[merged.count - 1] = whole
        }
        (stored, first) = (merged, 0)
        trim()
    }

    private mutating func trim() {
        guard let newest else { return }
        // The last part before the window stays, because a line leads from it into the picture.
        while first < stored.count - 1,
            stored[first + 1].end < newest - window || stored.count - first > 2 * partCount
        {
            // Its memory is freed at once, its place when there are many.
            stored[first].extents = []
            first += 1
        }
        if first > partCount {
            stored.removeFirst(first)
            first = 0
        }
    }

    /// The range of a series in the window.
    func extent(of series: Int) -> Extent {
        var extent = Extent()
        let start = (newest ?? 0) - window
        for part in parts where part.end >= start && part.extents.indices.contains(series) {
            extent.add(part.extents[series])
        }
        return extent
    }
}

extension ClosedRange<Double> {
    /// The number in the range that is nearest to another one; the lower bound for NaN.
    func nearest(to number: Double) -> Double {
        number.isNaN ? lowerBound : Swift.min(Swift.max(number, lowerBound), upperBound)
    }
}
