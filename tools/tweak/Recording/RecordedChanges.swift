// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakJSON
import TweakProtocol
import TweakRecords
import TweakSystem

/// The changes in a recording, in either form.
struct RecordedChanges {
    /// The start of the recording; `nil` if the file does not have it.
    private(set) var program: RecordedProgram?
    private(set) var changes: [ListHistory.Change] = []

    /// The maximum size of a line or record, such as the snapshot of a program with many tweaks.
    private static let largest = 256 << 20

    init(path: String) throws(Failure) {
        var input = try RecordedBytes(path: path)
        if try input.next(MCAP.magic.count) == MCAP.magic {
            try readMCAP(&input, path)
        } else {
            input.rewind()
            try readLines(&input, path)
        }
        guard program != nil else {
            throw Failure("\(path): it is not a file of tweak record", .invalid)
        }
    }

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
                case "/changes": changes.append(try decoded(json, path))
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
                case "change": changes.append(try decoded(bytes, path))
                default: break
                }
            }
        }
    }

    private func decoded<Value: Decodable>(_ json: [UInt8], _ path: String) throws(Failure) -> Value {
        do throws(JSONError) { return try decodeJSON(from: json) } catch {
            throw Failure("\(path): it is not a file of tweak record: \(error)", .invalid)
        }
    }
}

private struct RecordedType: Decodable {
    let type: String
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
