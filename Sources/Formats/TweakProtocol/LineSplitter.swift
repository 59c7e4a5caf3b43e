// SPDX-License-Identifier: BSD-3-Clause
/// Splits received bytes into messages, one per line.
package struct LineSplitter: Sendable {
    package enum Line: Hashable, Sendable {
        /// The message, without the newline.
        case message([UInt8])
        /// A message exceeded the limit and was dropped. Returned once, before its end has arrived.
        case tooLong
    }

    private let limit: Int
    private var bytes: [UInt8] = []
    /// The start of the first message, and the end of the bytes searched for a newline: `start <= searched <=
    /// bytes.count`.
    private var start = 0
    private var searched = 0
    private var isSkipping = false

    /// - Parameter limit: The maximum size of a message in bytes, including its newline.
    package init(limit: Int = ControlLimits.requestSize) { self.limit = limit }

    /// The number of bytes that were not returned yet.
    package var byteCount: Int { bytes.count - start }

    /// Appends received bytes.
    package mutating func append(_ read: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: read)
    }

    /// The next line, or `nil` if it is incomplete.
    package mutating func next() -> Line? {
        while true {
            let newline = bytes[searched...].firstIndex(of: UInt8(ascii: "\n"))
            searched = newline.map { $0 + 1 } ?? bytes.count
            let isTooLong = searched - start > limit || (newline == nil && searched - start == limit)
            guard let newline else {
                guard isTooLong || isSkipping else {
                    // An idle client does not keep the memory of its longest message.
                    if bytes.count == start { self = LineSplitter(limit: limit) }
                    return nil
                }
                let isFirst = !isSkipping
                self = LineSplitter(limit: limit)
                isSkipping = true
                return isFirst ? .tooLong : nil
            }
            let line = Line.message(isTooLong || isSkipping ? [] : Array(bytes[start..<newline]))
            let wasSkipping = isSkipping
            (start, isSkipping) = (searched, false)
            // The memory of a long message is not kept while the next one is awaited.
            if start == bytes.count { self = LineSplitter(limit: limit) }
            if !wasSkipping { return isTooLong ? .tooLong : line }
        }
    }
}
