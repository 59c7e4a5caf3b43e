/// Makes messages of what comes through a socket: each is a line.
package struct LineSplitter: Sendable {
    package enum Line: Hashable, Sendable {
        /// Without the newline.
        case message([UInt8])
        /// It has more bytes than a message may have, and they are gone. Said once, before its end has come.
        case tooLong
    }

    private let limit: Int
    private var bytes: [UInt8] = []
    /// Where the first message begins, and up to where there is no newline: the first is at most the second, and that at
    /// most the number of bytes.
    private var start = 0
    private var searched = 0
    private var isSkipping = false

    /// - Parameter limit: The most bytes of a message, with its newline.
    package init(limit: Int = ControlLimits.requestSize) { self.limit = limit }

    /// Takes what has been read.
    package mutating func append(_ read: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: read)
    }

    /// The next line; `nil` if it has not ended.
    package mutating func next() -> Line? {
        while true {
            let newline = bytes[searched...].firstIndex(of: UInt8(ascii: "\n"))
            searched = newline.map { $0 + 1 } ?? bytes.count
            let isTooLong = searched - start > limit || (newline == nil && searched - start == limit)
            guard let newline else {
                guard isTooLong || isSkipping else {
                    // An idle client shall not keep the memory of its longest message.
                    if bytes.count == start { self = LineSplitter(limit: limit) }
                    return nil
                }
                let isFirst = !isSkipping
                self = LineSplitter(limit: limit)
                isSkipping = true
                return isFirst ? .tooLong : nil
            }
            let line = bytes[start..<newline]
            start = searched
            if isSkipping {
                isSkipping = false
            } else {
                return isTooLong ? .tooLong : .message(Array(line))
            }
        }
    }
}
