// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSystem

/// The content of a recording, in either form.
struct RecordedRun {
    private var program: RecordedProgram?
    /// The tweaks at the start, with leases and ramps of that moment.
    private(set) var tweaks: [JSONTweak] = []
    private(set) var changes: [ListHistory.Change] = []
    private(set) var marks: [ListHistory.Mark] = []
    /// The monitors and tweaks that were sampled, with times since the start; empty if they were not to be read.
    private(set) var samples: [TweakKey: SampledSeries] = [:]
    /// The time of the last change, mark or sample, in seconds since the start.
    private(set) var duration = 0.0
    private let readsSamples: Bool

    /// The maximum size of a line or record, such as the snapshot of a program with many tweaks.
    private static let largest = 256 << 20

    /// - Parameter readingSamples: Whether to read the samples, which may be many.
    init(path: String, readingSamples: Bool) throws(Failure) {
        readsSamples = readingSamples
        var input = try RecordedBytes(path: path)
        if try input.next(MCAP.magic.count) == MCAP.magic {
            try readMCAP(&input, path)
        } else {
            input.rewind()
            try readLines(&input, path)
        }
        _ = try start(path)
    }

    /// The start on both clocks, with which every recording begins.
    private func start(_ path: String) throws(Failure) -> RecordedProgram {
        guard let program else { throw Failure("\(path): it is not a recording by tweak record", .invalid) }
        return program
    }

    // MARK: Content

    private mutating func add(_ change: ListHistory.Change, _ path: String) throws(Failure) {
        changes.append(change)
        noteTime(seconds(of: change, since: try start(path)))
    }

    private mutating func add(_ mark: ListHistory.Mark, _ path: String) throws(Failure) {
        marks.append(mark)
        noteTime(mark.time - (try start(path)).time)
    }

    /// - Parameter time: In seconds since 1970.
    private mutating func addSample(
        at time: Double, _ path: String, _ values: () throws(Failure) -> [(TweakKey, JSONValue)]
    ) throws(Failure) {
        let time = time - (try start(path)).time
        noteTime(time)
        guard readsSamples else { return }
        for (key, value) in try values() {
            // Infinities and NaN are texts.
            guard let number = value.tweakValue?.number ?? value.value(of: .double)?.number else { continue }
            samples[key, default: SampledSeries()].append(number, at: time)
        }
    }

    private mutating func noteTime(_ time: Double) { if time.isFinite { duration = max(duration, time) } }

    /// The time of a change in seconds since the start.
    func time(of change: ListHistory.Change) -> Double {
        program.map { seconds(of: change, since: $0) } ?? 0
    }

    /// The time of a mark in seconds since the start.
    func time(of mark: ListHistory.Mark) -> Double { max(0, mark.time - (program?.time ?? mark.time)) }

    private func seconds(of change: ListHistory.Change, since start: RecordedProgram) -> Double {
        max(0, change.monotonicTime - start.monotonicTime)
    }

    // MARK: Forms

    /// An unfinished record or line at the end, as after a crash, is not an error.
    private mutating func readMCAP(_ input: inout RecordedBytes, _ path: String) throws(Failure) {
        // The topics of the channels.
        var topics: [UInt16: String] = [:]
        while let head = try input.next(9), let opcode = head.first {
            let length = head.dropFirst().reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard opcode != MCAP.Opcode.footer else { return }
            guard length <= UInt64(Self.largest) else {
                throw Failure(
                    "\(path): a record has \(length) bytes; at most \(Self.largest) are read", .invalid)
            }
            guard let content = try input.next(Int(length)) else { return }
            switch opcode {
            case MCAP.Opcode.chunk:
                throw Failure("\(path): it has chunks, which tweak record does not write", .invalid)
            case MCAP.Opcode.channel:
                guard content.count >= 8 else { throw Failure("\(path): a channel is too short", .invalid) }
                let topic = content.dropFirst(8).prefix(Int(content.integer(at: 4, 4)))
                topics[UInt16(content.integer(at: 0, 2))] = String(decoding: topic, as: UTF8.self)
            case MCAP.Opcode.message:
                guard content.count >= 22 else { throw Failure("\(path): a message is too short", .invalid) }
                let json = Array(content.dropFirst(22))
                switch topics[UInt16(content.integer(at: 0, 2))] {
                case "/program": program = try decoded(json, path)
                case "/snapshot": tweaks = try decodedSnapshot(json, path)
                case "/changes": try add(decoded(json, path) as ListHistory.Change, path)
                case "/marks": try add(decoded(json, path) as ListHistory.Mark, path)
                case "/monitors":
                    let nanoseconds = content[6..<14].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                    try addSample(at: Double(nanoseconds) / 1e9, path) { () throws(Failure) in
                        (try decoded(json, path) as JSONValue).nestedValues
                    }
                default: break
                }
            default: break
            }
        }
    }

    private mutating func readLines(_ input: inout RecordedBytes, _ path: String) throws(Failure) {
        var splitter = LineSplitter(limit: Self.largest)
        while let part = try input.nextPart() {
            part.withUnsafeBytes { splitter.append($0) }
            while let line = splitter.next() {
                guard case .message(let bytes) = line, !bytes.isEmpty else { continue }
                let type: RecordedType = try decoded(bytes, path)
                switch type.type {
                case "program": program = try decoded(bytes, path)
                case "snapshot": tweaks = try decodedSnapshot(bytes, path)
                case "change": try add(decoded(bytes, path) as ListHistory.Change, path)
                case "mark": try add(decoded(bytes, path) as ListHistory.Mark, path)
                case "sample":
                    guard let time = type.time else { continue }
                    try addSample(at: time, path) { () throws(Failure) in
                        (try decoded(bytes, path) as RecordedSample).values.members.compactMap {
                            name, value in
                            TweakKey(name.text).map { ($0, value) }
                        }
                    }
                default: break
                }
            }
        }
    }
}

private func decodedSnapshot(_ json: [UInt8], _ path: String) throws(Failure) -> [JSONTweak] {
    (try decoded(json, path) as RecordedSnapshot).tweaks.compactMap(\.tweak)
}

private func decoded<Value: Decodable>(_ json: [UInt8], _ path: String) throws(Failure) -> Value {
    do throws(JSONError) { return try decodeJSON(from: json) } catch {
        throw Failure("\(path): it is not a recording by tweak record: \(error)", .invalid)
    }
}

private struct RecordedType: Decodable {
    let type: String
    let time: Double?
}

private struct RecordedSample: Decodable {
    let values: JSONValue
}

private struct RecordedSnapshot: Decodable {
    let tweaks: [Known]

    /// A tweak; `nil` if another version has recorded it in a form that this one does not know.
    struct Known: Decodable {
        let tweak: JSONTweak?

        init(from decoder: any Decoder) { tweak = try? JSONTweak(from: decoder) }
    }
}

extension JSONValue {
    /// The members of an object; none of another value.
    fileprivate var members: JSONObject { if case .object(let members) = self { members } else { [:] } }

    /// The values by category, collection and name.
    fileprivate var nestedValues: [(TweakKey, JSONValue)] {
        members.flatMap { category, collections in
            collections.members.flatMap { collection, names in
                names.members.map { (TweakKey(category.text, collection.text, $0.text), $1) }
            }
        }
    }
}

extension Array<UInt8> {
    /// A little-endian number.
    fileprivate func integer(at start: Int, _ count: Int) -> UInt32 {
        dropFirst(start).prefix(count).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// A file that is read from its beginning to its end.
private struct RecordedBytes {
    private let descriptor: CInt
    private let path: String
    private var buffer: [UInt8] = []
    private var start = 0

    init(path: String) throws(Failure) {
        descriptor = withPath(path) { open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
        self.path = path
        guard descriptor >= 0 else { throw Failure("\(path): \(systemMessage())", .missing) }
    }

    /// The next bytes; `nil` if there are fewer.
    mutating func next(_ count: Int) throws(Failure) -> [UInt8]? {
        while buffer.count - start < count {
            guard try fill() else { return nil }
        }
        defer { start += count }
        return Array(buffer[start..<(start + count)])
    }

    /// The buffered bytes, or else more of the file; `nil` at the end.
    mutating func nextPart() throws(Failure) -> [UInt8]? {
        if start == buffer.count {
            guard try fill() else { return nil }
        }
        defer { start = buffer.count }
        return Array(buffer[start...])
    }

    /// Goes back to the beginning, if only the first bytes were read.
    mutating func rewind() { start = 0 }

    private mutating func fill() throws(Failure) -> Bool {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        let count = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { part in
            var count = 0
            repeat {
                count = read(descriptor, part.baseAddress, part.count)
            } while count < 0 && errno == EINTR
            if count > 0 { buffer += part.prefix(count) }
            return count
        }
        guard count >= 0 else { throw Failure("\(path): \(systemMessage())", .inputOutput) }
        return count > 0
    }
}
