// SPDX-License-Identifier: BSD-3-Clause
import CTweakSystem
import CommandSupport
import Glibc
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSearch
import TweakSystem

/// The results of a sweep for people and for scripts.
struct SweepReport {
    let sweep: Sweep
    let axes: [SearchAxis]
    /// The name of the result: `p95(Motor/State/Error)`, or `sum of …` for several processes.
    let measure: String
    let isMaximizing: Bool
    /// In percent.
    let confidence: Double

    /// The points, the best one first, and those without a result at the end.
    private var points: [SearchPoint] {
        let ranking = [sweep.best].compactMap(\.self) + sweep.trials.ranking().filter { $0 != sweep.best }
        let ranked = Set(ranking)
        return ranking + sweep.trials.points.filter { !ranked.contains($0) }
    }

    /// Why nothing is kept.
    var reasonAgainst: String {
        "no point is better than the values before the sweep beyond the noise "
            + "(confidence \(Self.text(confidence)) %)"
    }

    // MARK: Table

    /// The lines of the table, without a newline at the end.
    var table: String {
        let names = axes.map(\.tweak.key.name)
        let headers = axes.map { axis in
            let isUnique = names.count { $0 == axis.tweak.key.name } == 1
            return (isUnique ? axis.tweak.key.name : "\(axis.tweak.key)")
        }
        let points = points
        let rows = points.map { point -> [String] in
            let summary = sweep.trials.summary(of: point)
            let again = sweep.trials.summary(of: point, .final)
            var row = zip(axes, point.values).map { $0.tweak.text(of: $1) }
            row += [summary.mean.map(Self.text) ?? "", summary.deviation.map(Self.text) ?? ""]
            row += ["\(summary.count)", again.mean.map(Self.text) ?? ""]
            row.append(sweep.difference(of: point).map(text) ?? "")
            let notes = [
                point == sweep.best ? "best" : nil, point == sweep.reference ? "before" : nil,
                summary.mean == nil ? "failed" : nil,
            ]
            row.append(notes.compactMap(\.self).joined(separator: ", "))
            return row
        }
        let table = TextTable(
            header: headers + ["RESULT", "SD", "RUNS", "AGAIN", "CHANGE", "NOTE"],
            emphasized: points.map { $0 == sweep.best }, rows: rows)
        return ([heading, table.text] + [driftText].compactMap(\.self)).joined(separator: "\n")
    }

    private var heading: String { printable("\(measure), \(isMaximizing ? "higher" : "lower") is better") }

    private var driftText: String? {
        guard let drift = sweep.trials.drift else { return nil }
        let last = sweep.trials.measurements.last?.time ?? 0
        return "The reference drifted by \(Self.text(drift.slope * (last - drift.start))) during the "
            + "sweep; the results are corrected."
    }

    /// A difference with its interval, in percent of the values before if they are not 0.
    private func text(of difference: Difference) -> String {
        let isRelative = sweep.level.isNormal
        let numbers = [difference.estimate, difference.low, difference.high].map { number in
            guard isRelative else { return Self.text(number) }
            let percent = number / abs(sweep.level) * 100
            return (percent > 0 ? "+" : "") + formatted("%.1f", percent)
        }
        return "\(numbers[0])\(isRelative ? " %" : "") [\(numbers[1]), \(numbers[2])]"
    }

    /// A number with the significant digits of a measurement.
    static func text(_ number: Double) -> String { formatted("%.5g", number) }

    // MARK: Pictures

    /// The results over each tweak that is a number.
    ///
    /// - Parameter columns: The width.
    func pictures(columns: Int, isUnicode: Bool) -> [String] {
        axes.indices.filter { axes[$0].isOrdered }.flatMap { index in
            let results = points.compactMap { point -> (x: Double, y: Double)? in
                // The values before the sweep may be far from the others.
                guard sweep.trials.summary(of: point, .trial).count > 0, let x = point.values[index].number,
                    let y = sweep.trials.summary(of: point).mean
                else {
                    return nil
                }
                return (x, y)
            }
            let unit = axes[index].tweak.unit.map { " (\($0))" } ?? ""
            let plot = PointPlot(results, title: measure, axis: "\(axes[index].tweak.key)\(unit)")
            let lines = plot.lines(columns: min(columns, 80), rows: 14, unicode: isUnicode)
            return lines.isEmpty ? [] : [""] + lines
        }
    }

    // MARK: JSON

    /// The JSON form. Scripts rely on its keys.
    struct Form: Encodable {
        let measure: String
        let isMaximizing, isComplete, isImproved: Bool
        /// In percent.
        let confidence: Double
        /// The point that is better beyond the noise.
        let best: Point?
        let reference: Point
        let points: [Point]
        /// The change of the reference per second, which was subtracted from the results.
        let drift: Double?

        struct Point: Encodable {
            let values: JSONValue
            let mean, deviation: Double?
            let runs: Int
            /// The mean of the runs after the selection, for the best points.
            let again: Double?
            /// The difference from the reference, for the points that were compared with it.
            let difference: Interval?
        }

        struct Interval: Encodable {
            let estimate, low, high: Double
        }
    }

    /// - Parameter isComplete: Whether the sweep ran to its end.
    func form(isComplete: Bool) -> Form {
        Form(
            measure: measure, isMaximizing: isMaximizing, isComplete: isComplete,
            isImproved: sweep.best != nil, confidence: confidence, best: sweep.best.map(form),
            reference: form(of: sweep.reference), points: points.map(form),
            drift: sweep.trials.drift?.slope)
    }

    private func form(of point: SearchPoint) -> Form.Point {
        var values: JSONObject = [:]
        for (axis, value) in zip(axes, point.values) { values["\(axis.tweak.key)"] = .scalar(value) }
        let summary = sweep.trials.summary(of: point)
        return Form.Point(
            values: .object(values), mean: summary.mean, deviation: summary.deviation, runs: summary.count,
            again: sweep.trials.summary(of: point, .final).mean,
            difference: sweep.difference(of: point).map {
                Form.Interval(estimate: $0.estimate, low: $0.low, high: $0.high)
            })
    }
}

/// Writes each measurement at once, so that nothing is lost however the command ends.
struct SweepCSV {
    private let descriptor: CInt
    private let name: String

    /// - Parameter path: The path; `nil` for standard output.
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/cannotCreate``.
    init(to path: String?, _ axes: [SearchAxis]) throws(Failure) {
        name = path ?? "standard output"
        descriptor =
            path.map { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o666) } ?? STDOUT_FILENO
        guard descriptor >= 0 else { throw Failure("\(name): \(systemMessage())", .cannotCreate) }
        try write(["time", "purpose"] + axes.map { "\($0.tweak.key)" } + ["result"])
    }

    func add(_ measurement: Trials.Measurement) throws(Failure) {
        let time = (measurement.time * 1000).rounded() / 1000
        try write(
            ["\(time)", measurement.purpose.rawValue] + measurement.point.values.map { "\($0)" }
                + [measurement.value.map { "\($0)" } ?? ""])
    }

    private func write(_ fields: [String]) throws(Failure) {
        let bytes = Array((fields.map(\.csvField).joined(separator: ",") + "\n").utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("\(name): \(systemMessage())", .inputOutput) }
            written += count
        }
    }
}
