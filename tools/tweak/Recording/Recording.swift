// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords

/// The program, at the start of a recording. Scripts rely on the keys.
struct RecordedProgram: Codable {
    let application: String
    let executable: String?
    /// The build id of the executable, in hexadecimal digits.
    let buildID: String?
    let pid: Int32?
    let host: String
    /// The start of the recording, in seconds since 1970.
    let time: Double
    /// The start on the monotonic clock of the machine.
    let monotonicTime: Double
}

extension RecordedProgram {
    init(
        _ program: any Program, at start: (time: Double, monotonicTime: Double)
    ) throws(Failure) {
        let description = try program.description
        let host = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
            name.initialize(repeating: 0)
            guard let start = name.baseAddress, gethostname(start, name.count - 1) == 0 else { return "" }
            return String(cString: start)
        }
        self.init(
            application: description.application, executable: description.program,
            buildID: description.program.flatMap(TweakClient.buildID), pid: program.pid, host: host,
            time: start.time, monotonicTime: start.monotonicTime)
    }
}

/// A recording, as MCAP or as lines of JSON.
struct Recording: SampleSink {
    /// The file name extension of MCAP.
    static let suffix = ".mcap"

    private enum Channel: UInt16, CaseIterable {
        case program = 1, snapshot, changes, tweaks, monitors

        var topic: String { "/\(self)" }
    }

    private let file: RecordingFile
    private let isMCAP: Bool
    private let monitors: [String]
    private var sequences: [UInt32] = Array(repeating: 0, count: Channel.allCases.count + 1)
    private(set) var changes = 0
    private(set) var samples = 0

    /// Writes the program and the values and defaults of all tweaks.
    ///
    /// - Parameter monitors: The names of the sampled monitors and tweaks.
    init(
        to path: String, of program: RecordedProgram, _ tweaks: [JSONTweak], monitors: [String]
    ) throws(Failure) {
        isMCAP = path.hasSuffix(Self.suffix)
        self.monitors = monitors
        file = try RecordingFile(path: path, endingWith: isMCAP ? MCAP.ending : [])
        var part: [UInt8] = []
        if isMCAP {
            part += MCAP.header()
            let tweakNames = tweaks.filter { $0.value?.plotted != nil }.map(\.declaration.key)
            for channel in Channel.allCases {
                let schema =
                    switch channel {
                    case .tweaks: Self.schema(of: tweakNames)
                    case .monitors: Self.schema(of: monitors.compactMap { TweakKey($0) })
                    case .program, .snapshot, .changes: JSONValue.object(["type": .scalar("object")])
                    }
                part += MCAP.channel(
                    channel.rawValue, topic: channel.topic, schema: "tweaks.\(channel)", try json(schema))
            }
        }
        part += try line(.program, "program", at: program.time, program)
        part += try line(.snapshot, "snapshot", at: program.time, ["tweaks": tweaks])
        if isMCAP {
            let values = tweaks.compactMap { tweak in
                tweak.value?.plotted.map { (tweak.declaration.key, $0) }
            }
            part += try line(.tweaks, "", at: program.time, Self.nested(values))
        }
        try file.append(part)
    }

    /// Appends changes and samples.
    mutating func add(_ new: [ListHistory.Change], _ batch: SampleBatch) throws(Failure) {
        var part: [UInt8] = []
        for change in new {
            part += try line(.changes, "change", at: change.time, change)
            if isMCAP, let value = change.newValue.tweakValue?.plotted, change.isPending != true {
                part += try line(.tweaks, "", at: change.time, Self.nested([(change.tweak, value)]))
            }
        }
        for (time, values) in zip(batch.times, batch.values) {
            var object: JSONObject = [:]
            var nested: [(TweakKey, JSONValue)] = []
            for (name, value) in zip(monitors, values) {
                guard let value else { continue }
                let number =
                    Int64(exactly: value).map { JSONValue.scalar(.integer(Int128($0))) }
                    ?? .scalar(.double(value))
                if isMCAP, let key = TweakKey(name) {
                    nested.append((key, number))
                } else {
                    object[name] = number
                }
            }
            part +=
                isMCAP
                ? try line(.monitors, "", at: time, Self.nested(nested))
                : try line(.monitors, "sample", at: time, Sample(time: time, values: .object(object)))
        }
        if batch.dropped > 0, !isMCAP {
            part += try json(Dropped(type: "dropped", samples: batch.dropped)) + [10]
        }
        guard !part.isEmpty else { return }
        try file.append(part)
        changes += new.count
        samples += batch.times.count
    }

    mutating func add(_ batch: SampleBatch, _ changes: [ChangedTweaks.Change]) throws(Failure) {
        try add(changes.map(ListHistory.Change.init), batch)
    }

    private struct Sample: Encodable {
        let time: Double
        let values: JSONValue
    }

    private struct Dropped: Encodable {
        let type: String
        let samples: Int
    }

    private mutating func line(
        _ channel: Channel, _ type: String, at time: Double, _ content: some Encodable
    ) throws(Failure) -> [UInt8] {
        guard isMCAP else { return try json(Typed(type: type, content: content)) + [UInt8(ascii: "\n")] }
        let index = Int(channel.rawValue)
        defer { sequences[index] &+= 1 }
        return MCAP.message(channel.rawValue, sequences[index], at: time, try json(content))
    }

    /// An object with its type.
    private struct Typed<Content: Encodable>: Encodable {
        let type: String
        let content: Content

        private enum CodingKeys: CodingKey { case type }

        func encode(to encoder: any Encoder) throws {
            try content.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(type, forKey: .type)
        }
    }

    /// Values by category, collection and name, as viewers show them.
    private static func nested(_ values: [(TweakKey, JSONValue)]) -> JSONValue {
        var all: [ByteText: [ByteText: JSONObject]] = [:]
        for (key, value) in values {
            all[ByteText(key.category), default: [:]][ByteText(key.collection), default: [:]][key.name] =
                value
        }
        return .object(all.mapValues { .object($0.mapValues { .object($0) }) })
    }

    private static func schema(of keys: [TweakKey]) -> JSONValue {
        func object(_ properties: JSONObject) -> JSONValue {
            .object(["type": .scalar("object"), "properties": .object(properties)])
        }
        var all: [ByteText: [ByteText: JSONObject]] = [:]
        for key in keys {
            all[ByteText(key.category), default: [:]][ByteText(key.collection), default: [:]][key.name] =
                .object(["type": .scalar("number")])
        }
        return object(all.mapValues { object($0.mapValues { object($0) }) })
    }
}

private func json(_ value: some Encodable) throws(Failure) -> [UInt8] {
    try failing { try encodeJSON(value) }
}

extension TweakValue {
    /// The value as a point of a curve; `nil` for texts and colours.
    fileprivate var plotted: JSONValue? {
        switch self {
        case .bool(let flag): .scalar(.integer(flag ? 1 : 0))
        case .integer: .scalar(self)
        case .double(let number): number.isFinite ? .scalar(self) : nil
        case .string, .color, .nothing: nil
        }
    }
}
