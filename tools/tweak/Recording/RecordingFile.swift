// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakJSON
import TweakRecords
import TweakSystem

/// A file that is complete after each write, so that it can be read whatever happens later.
///
/// The format's ending, if it has one, follows each part, and the next part replaces it.
final class RecordingFile {
    private let descriptor: CInt
    private let path: String
    private let ending: [UInt8]
    /// The bytes before the ending.
    private var size = 0

    /// - Throws: ``Failure`` of the kind ``Failure/Kind/cannotCreate``.
    init(path: String, endingWith ending: [UInt8]) throws(Failure) {
        descriptor = withPath(path) {
            open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o666)
        }
        (self.path, self.ending) = (path, ending)
        guard descriptor >= 0 else { throw Failure("\(path): \(systemMessage())", .cannotCreate) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isRegularFile else {
            throw Failure("\(path): it is not a regular file", .cannotCreate)
        }
    }

    deinit { close(descriptor) }

    /// Appends a part.
    ///
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/inputOutput``. The file ends before the part then.
    func append(_ part: [UInt8]) throws(Failure) {
        if let problem = write(part + ending, at: size) {
            // The former ending has already allocated this space.
            if size > 0 { _ = write(ending, at: size) }
            ftruncate(descriptor, off_t(size > 0 ? size + ending.count : 0))
            throw Failure("\(path): \(systemMessage(problem))", .inputOutput)
        }
        size += part.count
    }

    /// - Returns: The error, or `nil`.
    private func write(_ bytes: [UInt8], at start: Int) -> CInt? {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                pwrite(
                    descriptor, buffer.baseAddress.map { $0 + written }, bytes.count - written,
                    off_t(start + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? ENOSPC : errno }
            written += count
        }
        return nil
    }
}

/// The format of MCAP files: https://mcap.dev/spec.
enum MCAP {
    static let magic: [UInt8] = [0x89] + Array("MCAP0\r\n".utf8)

    enum Opcode {
        static let header: UInt8 = 1
        static let footer: UInt8 = 2
        static let schema: UInt8 = 3
        static let channel: UInt8 = 4
        static let message: UInt8 = 5
        static let chunk: UInt8 = 6
        static let dataEnd: UInt8 = 15
    }

    /// The records that end a file without a summary.
    static let ending =
        record(Opcode.dataEnd, integer(UInt32(0)))
        + record(Opcode.footer, integer(UInt64(0)) + integer(UInt64(0)) + integer(UInt32(0))) + magic

    static func header() -> [UInt8] {
        magic + record(Opcode.header, text("") + text("tweak \(libraryVersion)"))
    }

    /// A channel of JSON, with a schema of the same number.
    static func channel(_ number: UInt16, topic: String, schema name: String, _ schema: [UInt8]) -> [UInt8] {
        record(
            Opcode.schema,
            integer(number) + text(name) + text("jsonschema") + integer(UInt32(schema.count)) + schema)
            + record(
                Opcode.channel,
                integer(number) + integer(number) + text(topic) + text("json") + integer(UInt32(0)))
    }

    /// - Parameter time: In seconds since 1970.
    static func message(_ channel: UInt16, _ sequence: UInt32, at time: Double, _ json: [UInt8]) -> [UInt8] {
        let time = integer(UInt64(exactly: (time * 1e9).rounded()) ?? 0)
        return record(Opcode.message, integer(channel) + integer(sequence) + time + time + json)
    }

    private static func record(_ opcode: UInt8, _ content: [UInt8]) -> [UInt8] {
        [opcode] + integer(UInt64(content.count)) + content
    }

    private static func text(_ text: String) -> [UInt8] {
        integer(UInt32(text.utf8.count)) + Array(text.utf8)
    }

    private static func integer<Integer: FixedWidthInteger>(_ integer: Integer) -> [UInt8] {
        withUnsafeBytes(of: integer.littleEndian) { Array($0) }
    }
}
