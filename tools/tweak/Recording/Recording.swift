// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSystem

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
struct Recording {
    /// The file name extension of MCAP.
    static let suffix = ".mcap"

    private enum Channel: UInt16, CaseIterable {
        case program = 1, snapshot, changes, tweaks, monitors, marks

        var topic: String { "/\(self)" }
    }

    private let file: RecordingFile
    private let isMCAP: Bool
    private let monitors: [String]
    /// `nil` if notifications of changes are recorded instead.
    private var history: NewHistory?
    private var sequences: [UInt32] = Array(repeating: 0, count: Channel.allCases.count + 1)
    private(set) var changes = 0
    private(set) var samples = 0
    /// The number of changes that are missing, because the program's history overflowed.
    var lostChanges: Int { history?.lost ?? 0 }

    /// Starts a recording: writes the program and the values and defaults of all tweaks.
    ///
    /// - Parameter samples: The samples that will be added, and the changes. Those that the program announces are taken
    ///   from its history instead, if it has one.
    init(
        to path: String, of running: any Program, _ samples: some SampleSource & ChangeSource
    ) throws(Failure) {
        var source = running
        if let live = running as? LiveProgram {
            // On the other connection, the requests would lose samples.
            let inquiry = try live.again()
            if samples is LiveSamples { history = NewHistory(of: inquiry) }
            source = inquiry
        }
        let tweaks = try source.tweaks()
        let program = try RecordedProgram(
            source, at: (Duration.since1970 / .seconds(1), secondsOfMonotonicClock()))
        isMCAP = path.hasSuffix(Self.suffix)
        monitors = samples.series.map(\.name)
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
                    case .program, .snapshot, .changes, .marks: JSONValue.object(["type": .scalar("object")])
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

    /// Appends samples, and what the history has since the last call.
    ///
    /// - Parameters:
    ///   - announced: The changes of which the program has notified, which are recorded if it has no history.
    ///   - isLast: Whether the recording ends.
    mutating func add(
        _ batch: SampleBatch = SampleBatch(), _ announced: [ChangedTweaks.Change] = [], isLast: Bool = false
    ) throws(Failure) {
        let (changes, marks) =
            try history?.next(isDue: !announced.isEmpty || isLast)
            ?? (announced.map(ListHistory.Change.init), [])
        var part: [UInt8] = []
        for change in changes {
            part += try line(.changes, "change", at: change.time, change)
            if isMCAP, let value = change.newValue.tweakValue?.plotted, change.isPending != true {
                part += try line(.tweaks, "", at: change.time, Self.nested([(change.tweak, value)]))
            }
        }
        for mark in marks { part += try line(.marks, "mark", at: mark.time, mark) }
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
        self.changes += changes.count
        samples += batch.times.count
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

extension LiveProgram {
    /// Another connection to the program.
    func again() throws(Failure) -> LiveProgram {
        if let program = try LiveProgram(running) { return program }
        throw ConnectionError.refused.failure(of: title)
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
