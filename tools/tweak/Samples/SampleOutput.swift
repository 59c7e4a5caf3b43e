// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSystem

/// A file, an output or a receiver of samples.
protocol SampleSink {
    /// - Parameter changes: The changes that the marks of the batch stand for.
    mutating func add(_ batch: SampleBatch, _ changes: [ChangedTweaks.Change]) throws(Failure)
}

/// Writes samples. Each batch is flushed, so that nothing is lost however the command ends.
struct SampleOutput: SampleSink {
    private let descriptor: CInt
    private let name: String
    private var form: Form

    private enum Form {
        case rows(PlainRows)
        case csv(SampleCSV)
        case json(names: [String])
    }

    /// - Parameters:
    ///   - path: The path; `nil` for standard output.
    ///   - rate: The samples per second.
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/cannotCreate``.
    init(
        to path: String?, as format: WatchFormat, of series: [PlotSeries], rate: Double, isUnicode: Bool
    ) throws(Failure) {
        name = path ?? "standard output"
        descriptor =
            path.map { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o666) } ?? STDOUT_FILENO
        guard descriptor >= 0 else { throw Failure("\(name): \(systemMessage())", .cannotCreate) }
        switch format {
        case .table:
            let rows = PlainRows(series, interval: 0.5 / rate, unicode: isUnicode)
            form = .rows(rows)
            try write(Array((rows.header + "\n").utf8))
        case .csv:
            let csv = SampleCSV(names: series.map(\.name))
            form = .csv(csv)
            try write(csv.header)
        case .json:
            form = .json(names: series.map(\.name))
        }
    }

    mutating func add(_ batch: SampleBatch, _ changes: [ChangedTweaks.Change]) throws(Failure) {
        switch form {
        case .rows(var rows):
            let lines = rows.rows(of: batch)
            form = .rows(rows)
            try write(Array(lines.map { $0 + "\n" }.joined().utf8))
        case .csv(var csv):
            let lines = csv.lines(of: batch)
            form = .csv(csv)
            try write(lines)
        case .json(let names):
            var lines: [UInt8] = []
            for (time, values) in zip(batch.times, batch.values) {
                lines += line(SampleForm(time: time, names: names, values: values))
            }
            for change in changes { lines += line(change) }
            if batch.dropped > 0 { lines += line(["dropped": batch.dropped]) }
            try write(lines)
        }
    }

    private func line(_ form: some Encodable) -> [UInt8] {
        // Numbers and texts can be encoded.
        ((try? encodeJSON(form)) ?? []) + [UInt8(ascii: "\n")]
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("\(name): \(systemMessage())", .inputOutput) }
            written += count
        }
    }
}

/// The JSON form of a sample; missing values have no key. Scripts rely on the keys.
private struct SampleForm: Encodable {
    let time: Double
    let names: [String]
    let values: [Double?]

    private enum CodingKeys: CodingKey { case time, values }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        var object: JSONObject = [:]
        for (name, value) in zip(names, values) {
            object[name] = value.map { value in
                Int64(exactly: value).map { .scalar(.integer(Int128($0))) } ?? .scalar(.double(value))
            }
        }
        try container.encode(JSONValue.object(object), forKey: .values)
    }
}
