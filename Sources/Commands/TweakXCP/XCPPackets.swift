// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// The packets of XCP: what a client sends, what a server answers, and how both travel through TCP.
///
/// Source: ASAM MCD-1 XCP 1.1, parts 2 (protocol layer) and 3 (transport layer, Ethernet).
package enum XCPPackets {
    /// The size of a command or an answer in bytes, at most.
    package static let mostCommandBytes = 255
    /// The size of a packet with samples in bytes, at most.
    package static let mostSampleBytes = 2048
    /// The bytes before each packet: its length and a counter, both little-endian numbers of 16 bits.
    static let headerSize = 4

    static let answer: UInt8 = 0xFF
    static let error: UInt8 = 0xFE
    static let event: UInt8 = 0xFD
    /// The event that samples were lost.
    static let samplesLost: [UInt8] = [event, 0x06]
    /// The event that the server ends the session.
    package static let sessionEnded: [UInt8] = [event, 0x07]
}

/// The reason why a command is refused, in an answer.
package enum XCPError: UInt8, Error, Sendable {
    /// The answer to `SYNCH`.
    case synchronized = 0x00
    case busy = 0x10
    /// The list of values to sample cannot change while samples are taken.
    case sampling = 0x11
    case unknownCommand = 0x20
    case malformed = 0x21
    case outOfRange = 0x22
    case writeProtected = 0x23
    case accessDenied = 0x24
    case invalidMode = 0x27
    case outOfOrder = 0x29
    /// The lists of values to sample are not complete.
    case invalidLists = 0x2A
    case memoryOverflow = 0x30
    case unavailable = 0x33
}

/// Splits the bytes of a connection into packets.
package struct XCPInput {
    private var bytes: [UInt8] = []

    package init() {}

    package mutating func append(_ bytes: some Sequence<UInt8>) { self.bytes += bytes }

    /// Removes the next whole packet.
    ///
    /// - Throws: ``XCPError/malformed`` if it is empty or longer than a command. Nothing behind it can be trusted.
    package mutating func next() throws(XCPError) -> [UInt8]? {
        guard bytes.count >= XCPPackets.headerSize else { return nil }
        let length = Int(bytes[0]) | Int(bytes[1]) << 8
        guard 1...XCPPackets.mostCommandBytes ~= length else { throw .malformed }
        let end = XCPPackets.headerSize + length
        guard bytes.count >= end else { return nil }
        defer { bytes.removeFirst(end) }
        return Array(bytes[XCPPackets.headerSize..<end])
    }
}

/// The packets that wait to be sent.
package struct XCPOutput {
    /// The number of waiting bytes from which on the reader is too slow.
    package static let most = 4 << 20

    private var bytes: [UInt8] = []
    private var start = 0
    private var counter: UInt16 = 0

    package init() {}

    /// The bytes to send, in order.
    package var unsent: ArraySlice<UInt8> { bytes[start...] }
    package var isFull: Bool { unsent.count >= Self.most }

    /// Appends a packet of at most 65,535 bytes.
    ///
    /// - Parameter write: Appends the bytes of the packet.
    package mutating func append(_ write: (inout [UInt8]) -> Void) {
        let header = bytes.count
        bytes += [0, 0, UInt8(truncatingIfNeeded: counter), UInt8(truncatingIfNeeded: counter >> 8)]
        counter &+= 1
        write(&bytes)
        let length = bytes.count - header - XCPPackets.headerSize
        (bytes[header], bytes[header + 1]) = (
            UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)
        )
    }

    package mutating func append(_ packet: [UInt8]) { append { $0 += packet } }

    /// Removes bytes that were sent.
    package mutating func removeFirst(_ count: Int) {
        start += count
        // Rarely, because moving the rest takes longer than sending it.
        guard start == bytes.count || start > Self.most else { return }
        bytes.removeFirst(start)
        start = 0
    }
}

/// Reads the parameters of a command.
struct XCPParameters {
    let bytes: [UInt8]
    let byteOrder: ByteOrder

    func byte(_ offset: Int) throws(XCPError) -> UInt8 { try number(offset) }

    func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ offset: Int, as _: Number.Type = Number.self
    ) throws(XCPError) -> Number {
        guard let number: Number = bytes.span.bytes.number(at: offset, byteOrder) else { throw .malformed }
        return number
    }

    /// The address in a command, whose extension precedes it.
    func address(_ offset: Int) throws(XCPError) -> XCPAddress {
        try XCPAddress(image: byte(offset), offset: number(offset + 1))
    }
}

extension [UInt8] {
    /// Appends a number of an answer.
    mutating func append<Number: FixedWidthInteger>(_ number: Number, _ order: ByteOrder) {
        Swift.withUnsafeBytes(of: order == .native ? number : number.byteSwapped) { self += $0 }
    }
}
