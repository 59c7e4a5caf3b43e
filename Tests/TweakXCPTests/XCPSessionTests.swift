// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords
import TweakXCP

/// Values in memory. The first two are tweaks, the others monitors.
struct TestValues: XCPValues {
    var values: [[UInt8]]
    /// The objects that are sampled, and the error for the next ones.
    var sampled: [XCPEvent: [Int]] = [:]
    var problem: XCPError?
    let now = 1_700_000_000.5

    func bytes(of object: Int) throws(XCPError) -> [UInt8] { values[object] }

    mutating func change(_ object: Int, to bytes: [UInt8]) throws(XCPError) {
        guard object < 2 else { throw .writeProtected }
        guard bytes.first != 0xEE else { throw .outOfRange }
        values[object] = bytes
    }

    func canSample(_ object: Int) -> Bool { object != 1 }

    mutating func sample(_ objects: [Int], at event: XCPEvent) throws(XCPError) {
        if let problem, !objects.isEmpty { throw problem }
        sampled[event] = objects.isEmpty ? nil : objects
    }
}

typealias TestSession = XCPSession<TestValues>

extension TestSession {
    /// A session with four bytes at 0x10, two at 0x14 and eight at 0x40 in the first image, and one byte at 0x10 in the
    /// third.
    static func made(_ order: ByteOrder = .little) -> Self {
        let places: [(image: UInt8, offset: UInt32, count: Int)] = [
            (0, 0x10, 4), (0, 0x14, 2), (0, 0x40, 8), (2, 0x10, 1),
        ]
        return TestSession(
            XCPMemory(
                places.map {
                    XCPMemory.Object(at: XCPAddress(image: $0.image, offset: $0.offset), byteCount: $0.count)
                }),
            TestValues(values: [[1, 2, 3, 4], [5, 6], [10, 11, 12, 13, 14, 15, 16, 17], [9]]),
            XCPIdentity(name: "motor (1)", file: "motor", description: "ASAP2", buildID: "c0ffee"),
            byteOrder: order)
    }

    static func connected(_ order: ByteOrder = .little) -> Self {
        var session = made(order)
        _ = session.answer([0xFF, 0])
        return session
    }
}

@Suite struct `Packets of XCP` {
    @Test func `A server answers only clients that have connected`() {
        var session = TestSession.made()
        #expect(session.answer([0xFD]) == nil)
        #expect(session.answer([0xF4, 4, 0, 0, 0x10, 0, 0, 0]) == nil)
        #expect(session.answer([0xFF, 1]) == [0xFE, 0x22])
        #expect(session.answer([0xFF]) == [0xFE, 0x21])
        #expect(session.answer([0xFD]) == nil)
        #expect(session.answer([0xFF, 0])?.count == 8)
        #expect(session.answer([0xFD]) == [0xFF, 0, 0, 0, 0, 0])
        #expect(session.answer([0xFE]) == [0xFF])
        #expect(session.answer([0xFD]) == nil)
    }

    @Test func `A client learns the byte order and the sizes of packets`() {
        var session = TestSession.made()
        let answer = session.answer([0xFF, 0]) ?? []
        #expect(answer[2] & 1 == 0)
        #expect(answer[3...] == [255, 0, 8, 1, 1])
        var other = TestSession.made(.big)
        let swapped = other.answer([0xFF, 0]) ?? []
        #expect(swapped[2] & 1 == 1)
        #expect(swapped[3...] == [255, 8, 0, 1, 1])
        #expect(session.answer([0xFB])?.count == 8)
    }

    @Test func `Unknown commands and SYNCH have the errors of the standard`() {
        var session = TestSession.connected()
        #expect(session.answer([0xFC]) == [0xFE, 0x00])
        for command: UInt8 in [0xEB, 0xEE, 0xF1, 0xC7, 0x00] {
            #expect(session.answer([command, 0, 0, 0, 0, 0, 0, 0]) == [0xFE, 0x20])
        }
    }

    @Test func `Values are read at once and piece by piece`() {
        var session = TestSession.connected()
        #expect(session.answer([0xF4, 4, 0, 0, 0x10, 0, 0, 0]) == [0xFF, 1, 2, 3, 4])
        #expect(session.answer([0xF5, 2]) == [0xFF, 5, 6])
        #expect(session.answer([0xF6, 0, 0, 0, 0x42, 0, 0, 0]) == [0xFF])
        #expect(session.answer([0xF5, 2]) == [0xFF, 12, 13])
        #expect(session.answer([0xF5, 4]) == [0xFF, 14, 15, 16, 17])
        #expect(session.answer([0xF4, 1, 0, 2, 0x10, 0, 0, 0]) == [0xFF, 9])
        #expect(session.answer([0xF4, 5, 0, 0, 0x11, 0, 0, 0]) == [0xFF, 2, 3, 4, 5, 6])
        var other = TestSession.connected(.big)
        #expect(other.answer([0xF4, 4, 0, 0, 0, 0, 0, 0x10]) == [0xFF, 1, 2, 3, 4])
    }

    @Test func `Addresses beside values are not accessible`() {
        var session = TestSession.connected()
        for (count, image, address): (UInt8, UInt8, [UInt8]) in [
            (1, 0, [0x0F, 0, 0, 0]), (8, 0, [0x10, 0, 0, 0]), (1, 0, [0x16, 0, 0, 0]),
            (1, 0, [0x48, 0, 0, 0]),
            (4, 1, [0x10, 0, 0, 0]), (2, 2, [0x10, 0, 0, 0]), (8, 0, [0xFF, 0xFF, 0xFF, 0xFF]),
            (254, 0, [0x40, 0, 0, 0]),
        ] {
            #expect(session.answer([0xF4, count, 0, image] + address) == [0xFE, 0x24])
        }
        for count: UInt8 in [0, 255] {
            #expect(session.answer([0xF4, count, 0, 0, 0x10, 0, 0, 0]) == [0xFE, 0x22])
        }
        var fresh = TestSession.connected()
        #expect(fresh.answer([0xF5, 1]) == [0xFE, 0x29])
        #expect(fresh.answer([0xF0, 1, 0]) == [0xFE, 0x24])
    }

    @Test func `A write is one whole tweak`() {
        var session = TestSession.connected()
        #expect(session.answer([0xED, 4, 0, 0, 0x10, 0, 0, 0, 4, 3, 2, 1]) == [0xFF])
        #expect(session.values.values[0] == [4, 3, 2, 1])
        #expect(session.answer([0xF6, 0, 0, 0, 0x10, 0, 0, 0]) == [0xFF])
        #expect(session.answer([0xF0, 4, 7, 7, 7, 7]) == [0xFF])
        // The address has moved to the next one.
        #expect(session.answer([0xF0, 2, 8, 8]) == [0xFF])
        #expect(session.values.values[0...1] == [[7, 7, 7, 7], [8, 8]])
        for write: [UInt8] in [
            [0xED, 3, 0, 0, 0x10, 0, 0, 0, 1, 1, 1], [0xED, 6, 0, 0, 0x10, 0, 0, 0, 1, 1, 1, 1, 1, 1],
            [0xED, 2, 0, 0, 0x12, 0, 0, 0, 1, 1], [0xED, 4, 0, 1, 0x10, 0, 0, 0, 1, 1, 1, 1],
        ] {
            #expect(session.answer(write) == [0xFE, 0x24])
        }
        #expect(session.answer([0xED, 4, 0, 0, 0x10, 0, 0, 0, 1, 1, 1]) == [0xFE, 0x21])
        #expect(session.answer([0xED, 0, 0, 0, 0x10, 0, 0, 0]) == [0xFE, 0x21])
        #expect(session.values.values[0...1] == [[7, 7, 7, 7], [8, 8]])
    }

    @Test func `A refused value is an error, and the address stays`() {
        var session = TestSession.connected()
        _ = session.answer([0xF6, 0, 0, 0, 0x10, 0, 0, 0])
        #expect(session.answer([0xF0, 4, 0xEE, 0, 0, 0]) == [0xFE, 0x22])
        #expect(session.answer([0xF0, 4, 1, 0, 0, 0]) == [0xFF])
        #expect(session.answer([0xED, 1, 0, 2, 0x10, 0, 0, 0, 1]) == [0xFE, 0x23])
    }

    @Test func `The server says its name, its description and the build id`() {
        var session = TestSession.connected()
        for (kind, text): (UInt8, String) in [
            (0, "motor (1)"), (1, "motor"), (2, "motor.a2l"), (4, "ASAP2"), (5, "c0ffee"),
        ] {
            let count = UInt8(text.utf8.count)
            #expect(session.answer([0xFA, kind]) == [0xFF, 0, 0, 0, count, 0, 0, 0])
            #expect(session.answer([0xF5, count]) == [0xFF] + Array(text.utf8))
            #expect(session.answer([0xF5, 1]) == [0xFE, 0x22])
        }
        #expect(session.answer([0xFA, 3]) == [0xFF, 0, 0, 0, 0, 0, 0, 0])
        #expect(session.answer([0xFA]) == [0xFE, 0x21])
    }

    @Test func `Whatever a client sends, there is an answer`() {
        var session = TestSession.connected()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            let count = Int.random(in: 1...20, using: &generator)
            var packet = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Most numbers are small, so that commands get far.
            for index in packet.indices.dropFirst() where Bool.random() { packet[index] %= 3 }
            if packet[0] == 0xFE { continue }
            let answer = session.answer(packet)
            #expect(answer.map { 1...255 ~= $0.count } == true, "\(packet)")
        }
    }
}

@Suite struct `Bytes of XCP` {
    @Test func `Packets are found in pieces of any size`() throws {
        let stream: [UInt8] = [2, 0, 9, 9, 0xFF, 0, 1, 0, 0, 0, 0xFD, 1, 0, 0, 0, 0xFC]
        for size in 1...stream.count {
            var input = XCPInput()
            var packets: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                input.append(stream[start..<min(start + size, stream.count)])
                while let packet = try input.next() { packets.append(packet) }
            }
            #expect(packets == [[0xFF, 0], [0xFD], [0xFC]])
        }
    }

    @Test func `An impossible length ends the stream`() {
        for length: [UInt8] in [[0, 0], [0, 1], [0xFF, 0xFF]] {
            var input = XCPInput()
            input.append(length + [0, 0])
            #expect(throws: XCPError.malformed) { try input.next() }
        }
    }

    @Test func `Packets are counted, and what was sent is forgotten`() {
        var output = XCPOutput()
        output.append([0xFF])
        output.append([0xFE, 0x20])
        #expect(output.unsent == [1, 0, 0, 0, 0xFF, 2, 0, 1, 0, 0xFE, 0x20])
        output.removeFirst(5)
        #expect(output.unsent.elementsEqual([2, 0, 1, 0, 0xFE, 0x20]))
        output.removeFirst(6)
        #expect(output.unsent.isEmpty && !output.isFull)
        for _ in 0..<0x10000 { output.append([UInt8](repeating: 0, count: 100)) }
        #expect(output.isFull)
        output.removeFirst(output.unsent.count - 104)
        #expect(output.unsent.count == 104 && !output.isFull)
        #expect(output.unsent.prefix(4).elementsEqual([100, 0, 1, 0]))
    }
}
