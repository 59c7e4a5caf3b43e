// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Samples as comma-separated values, which spreadsheets, PlotJuggler and pandas read.
///
/// A line has the time, the values, and a mark:
///
///     time,Spring/Physics/Position,Spring/Physics/Stiffness,mark
///     1700000000.000000,12.25,120,
///     1700000000.004000,,,"Spring/Physics/Stiffness: 120 → 600 (control)"
///
/// The time is in seconds since 1970 and never goes back. Missing values are empty. Numbers have a decimal point and as
/// many digits as they need; NaN and Inf are written as pandas, R and Julia read them. Fields are quoted as in RFC
/// 4180, and lines end with a newline.
package struct SampleCSV: Sendable {
    private let names: [String]
    private var lastTime = -Double.infinity

    /// - Parameter names: The names of the series, in the order of the values.
    package init(names: [String]) { self.names = names }

    /// The line with the names.
    package var header: [UInt8] {
        Array((["time"] + names + ["mark"]).map(\.csvField).joined(separator: ",").utf8) + [Self.newline]
    }

    /// The lines of a batch, with its marks between the samples.
    package mutating func lines(of batch: SampleBatch) -> [UInt8] {
        var bytes: [UInt8] = []
        var marks = batch.marks[...]
        for (time, values) in zip(batch.times, batch.values) {
            while let mark = marks.first, mark.time < time {
                add(mark, to: &bytes)
                marks.removeFirst()
            }
            add(time, to: &bytes)
            bytes.append(addingCapacity: names.count * (Self.widestNumber + 1) + 2) { line in
                for index in names.indices {
                    line.append(Self.comma)
                    if index < values.count, let value = values[index] { Self.add(value, to: &line) }
                }
                line.append(Self.comma)
                line.append(Self.newline)
            }
        }
        for mark in marks { add(mark, to: &bytes) }
        return bytes
    }

    private mutating func add(_ mark: SampleMark, to bytes: inout [UInt8]) {
        add(mark.time, to: &bytes)
        for _ in 0...names.count { bytes.append(Self.comma) }
        bytes += Array(mark.label.csvField.utf8)
        bytes.append(Self.newline)
    }

    /// Writes microseconds, the resolution of a double for a time since 1970.
    private mutating func add(_ time: Double, to bytes: inout [UInt8]) {
        if time > lastTime { lastTime = time }
        guard let whole = Int64(exactly: (lastTime * 1_000_000).rounded()) else { return }
        bytes += "\(whole / 1_000_000).".utf8
        var part = (whole % 1_000_000).magnitude
        for digit in [100_000, 10_000, 1_000, 100, 10, 1] as [UInt64] {
            bytes.append(UInt8(ascii: "0") + UInt8(part / digit))
            part %= digit
        }
    }

    /// The length of the longest number, such as -2.2250738585072014e-308.
    private static let widestNumber = 24

    private static func add(_ value: Double, to line: inout OutputSpan<UInt8>) {
        // Most values are whole, and faster to write as integers.
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
            if whole < 0 { line.append(UInt8(ascii: "-")) }
            add(whole.magnitude, to: &line)
        } else if value.isFinite {
            for character in value.description.utf8 { line.append(character) }
        } else {
            for character in (value.isNaN ? "NaN" : value < 0 ? "-Inf" : "Inf").utf8 {
                line.append(character)
            }
        }
    }

    private static func add(_ whole: UInt64, to line: inout OutputSpan<UInt8>) {
        let (rest, pair) = whole.quotientAndRemainder(dividingBy: 100)
        if rest > 0 { add(rest, to: &line) }
        if whole > 9 { line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: pair / 10)) }
        line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: pair % 10))
    }

    private static let comma = UInt8(ascii: ",")
    private static let newline = UInt8(ascii: "\n")
}
