// SPDX-License-Identifier: BSD-3-Clause
/// A parser for event streams.
///
/// Source: "Server-sent events" in the HTML Living Standard.
package struct EventStreamParser {
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    /// Whether the last byte was a carriage return, which a newline may follow.
    private var isAfterReturn = false
    /// Whether the event has no name, or the name `message`.
    private var isMessage = true
    private var isFirstLine = true

    /// The maximum length of a line, and of the data of one event.
    package static let longest = 1 << 16

    package init() {}

    /// The error for an event that is too long.
    package struct TooLong: Error {}

    /// Parses received bytes.
    ///
    /// - Returns: The data of the messages that end in them.
    package mutating func take(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        for byte in bytes {
            defer { isAfterReturn = byte == 0x0D }
            guard byte == 0x0A || byte == 0x0D else {
                guard line.count < Self.longest else { throw TooLong() }
                line.append(byte)
                continue
            }
            if byte == 0x0A, isAfterReturn { continue }
            if let message = try endLine() { messages.append(message) }
        }
        return messages
    }

    private mutating func endLine() throws(TooLong) -> [UInt8]? {
        var ended = line[...]
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine, ended.starts(with: [0xEF, 0xBB, 0xBF]) { ended = ended.dropFirst(3) }
        isFirstLine = false
        guard !ended.isEmpty else {
            defer { (data, hasData, isMessage) = ([], false, true) }
            return hasData && isMessage ? data : nil
        }
        let name = ended.prefix { $0 != UInt8(ascii: ":") }
        var value = ended.dropFirst(name.count + 1)
        if value.first == 0x20 { value = value.dropFirst() }
        if name.elementsEqual("data".utf8) {
            guard data.count + value.count < Self.longest else { throw TooLong() }
            if hasData { data.append(0x0A) }
            data += value
            hasData = true
        } else if name.elementsEqual("event".utf8) {
            isMessage = value.isEmpty || value.elementsEqual("message".utf8)
        }
        return nil
    }
}
