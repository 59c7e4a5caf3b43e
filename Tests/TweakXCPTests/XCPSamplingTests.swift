// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords
import TweakXCP

extension TestSession {
    /// The results of commands, all of which must succeed.
    mutating func results(_ commands: [UInt8]...) -> [[UInt8]] {
        commands.map { command in
            let answer = self.answer(command) ?? []
            #expect(answer.first == 0xFF, "\(command)")
            return Array(answer.dropFirst())
        }
    }

    /// Makes two lists: the first has a table with four bytes at 0x10 and one with two bytes at 0x42; the other has a table
    /// with the byte of the third image.
    mutating func makeLists() {
        _ = results(
            [0xD6], [0xD5, 0, 2, 0], [0xD4, 0, 0, 0, 2], [0xD4, 0, 1, 0, 1], [0xD3, 0, 0, 0, 0, 1],
            [0xD3, 0, 0, 0, 1, 1], [0xD3, 0, 1, 0, 0, 1], [0xE2, 0, 0, 0, 0, 0],
            [0xE1, 0xFF, 4, 0, 0x10, 0, 0, 0], [0xE2, 0, 0, 0, 1, 0], [0xE1, 0xFF, 2, 0, 0x42, 0, 0, 0],
            [0xE2, 0, 1, 0, 0, 0], [0xE1, 0xFF, 1, 2, 0x10, 0, 0, 0])
    }

    /// The packets for samples, each without its header.
    mutating func packets(
        _ samples: [(time: Double, values: [[UInt8]])], lost: Int = 0,
        at event: XCPEvent = .every2Milliseconds
    ) -> (packets: [[UInt8]], lost: Int) {
        var output = XCPOutput()
        let bytes = samples.flatMap { sample in
            [withUnsafeBytes(of: sample.time) { Array($0) }] + sample.values
        }.joined()
        let all = append(Array(bytes), lost: lost, at: event, to: &output)
        var packets: [[UInt8]] = []
        var rest = output.unsent
        while let length = rest.first {
            packets.append(Array(rest.dropFirst(4).prefix(Int(length))))
            rest = rest.dropFirst(4 + Int(length))
        }
        return (packets, all)
    }
}

@Suite struct `Samples of XCP` {
    private static let cells: [[UInt8]] = [[1, 2, 3, 4, 0, 0, 0, 0], [10, 11, 12, 13, 14, 15, 16, 17]]

    @Test func `A client learns what can be sampled, and when`() {
        var session = TestSession.connected()
        #expect(session.results([0xDA]) == [[0x93, 0, 0, 4, 0, 0, 0x40]])
        #expect(session.results([0xD9]) == [[1, 8, 1, 0, 0x34, 1, 0]])
        #expect(session.results([0xD7, 0, 2, 0]) == [[4, 0xFF, 5, 10, 6, 0]])
        #expect(session.results([0xF5, 5]) == [Array("10 ms".utf8)])
        #expect(session.answer([0xD7, 0, 4, 0]) == [0xFE, 0x22])
        // The low bits of the microseconds.
        let ticks = UInt32(truncatingIfNeeded: 1_700_000_000_500_000 as UInt64)
        let bytes = withUnsafeBytes(of: ticks.littleEndian) { Array($0) }
        #expect(session.results([0xDC]) == [[0, 0, 0] + bytes])
    }

    @Test func `Samples are sent as tables, with the time in the first`() {
        var session = TestSession.connected()
        session.makeLists()
        _ = session.results([0xE0, 0x10, 0, 0, 1, 0, 1, 0], [0xDE, 2, 0, 0], [0xDD, 1])
        #expect(session.values.sampled == [.every2Milliseconds: [0, 2]])
        #expect(session.results([0xFD])[0][0] == 0x40)
        let (packets, lost) = session.packets([(0.000_258, Self.cells), (1, Self.cells)])
        #expect(
            packets == [
                [0, 0, 2, 1, 0, 0, 1, 2, 3, 4], [1, 0, 12, 13], [0, 0, 0x40, 0x42, 0x0F, 0, 1, 2, 3, 4],
                [1, 0, 12, 13],
            ])
        #expect(lost == 0)
        _ = session.results([0xDD, 0])
        #expect(session.values.sampled.isEmpty && session.results([0xFD])[0][0] == 0)
        #expect(session.packets([]).packets.isEmpty)
    }

    @Test func `Lists have events and dividers of their own, and share samples`() {
        var session = TestSession.connected()
        session.makeLists()
        _ = session.results(
            [0xE0, 0, 0, 0, 1, 0, 3, 0], [0xE0, 0, 1, 0, 1, 0, 1, 0], [0xDE, 1, 0, 0], [0xDE, 1, 1, 0])
        #expect(session.values.sampled == [.every2Milliseconds: [0, 2, 3]])
        let cells = Self.cells + [[9, 0, 0, 0, 0, 0, 0, 0]]
        let packets = session.packets(Array(repeating: (0, cells), count: 4)).packets
        #expect(packets.filter { $0 == [0, 1, 9] }.count == 4)
        #expect(packets.filter { $0 == [0, 0, 1, 2, 3, 4] }.count == 2)
        _ = session.results([0xDE, 0, 0, 0])
        #expect(session.values.sampled == [.every2Milliseconds: [3]])
        #expect(session.packets([(0, [[9, 0, 0, 0, 0, 0, 0, 0]])]).packets == [[0, 1, 9]])
        _ = session.results([0xFE])
        #expect(session.values.sampled.isEmpty)
    }

    @Test func `Lists are checked`() {
        var session = TestSession.connected()
        session.makeLists()
        for (command, error): ([UInt8], UInt8) in [
            ([0xD5, 0, 1, 0], 0x29), ([0xD4, 0, 0, 0, 1], 0x29), ([0xD4, 0, 2, 0, 1], 0x22),
            ([0xD3, 0, 0, 0, 0, 1], 0x29), ([0xD3, 0, 0, 0, 2, 1], 0x22), ([0xE2, 0, 0, 0, 0, 1], 0x22),
            ([0xE0, 2, 0, 0, 0, 0, 1, 0], 0x27), ([0xE0, 0, 0, 0, 0, 0, 0, 0], 0x22),
            ([0xE0, 0, 0, 0, 4, 0, 1, 0], 0x22), ([0xE0, 0, 2, 0, 0, 0, 1, 0], 0x22),
            ([0xDE, 1, 0, 0], 0x2A),
            ([0xDE, 3, 0, 0], 0x27), ([0xDE, 1, 2, 0], 0x22), ([0xDD, 3], 0x27),
            // Behind the last entry of a table.
            ([0xE1, 0xFF, 4, 0, 0x10, 0, 0, 0], 0x22),
        ] {
            #expect(session.answer(command) == [0xFE, error], "\(command)")
        }
        _ = session.results([0xE2, 0, 0, 0, 0, 0])
        for (entry, error): ([UInt8], UInt8) in [
            ([0xFF, 4, 0, 0x11, 1], 0x24), ([0xFF, 2, 0, 0x14, 0], 0x24), ([0xFF, 9, 0, 0x40, 0], 0x22),
            ([0xFF, 0, 0, 0x40, 0], 0x22), ([0, 4, 0, 0x10, 0], 0x22),
        ] {
            #expect(session.answer([0xE1] + entry + [0, 0]) == [0xFE, error], "\(entry)")
        }
        _ = session.results([0xE0, 0, 0, 0, 0, 0, 1, 0], [0xDE, 1, 0, 0])
        #expect(session.answer([0xE2, 0, 0, 0, 0, 0]) == [0xFE, 0x11])
        #expect(session.answer([0xE0, 0, 0, 0, 0, 0, 1, 0]) == [0xFE, 0x11])
        _ = session.results([0xD6])
        #expect(session.values.sampled.isEmpty && session.results([0xDA])[0][1] == 0)
    }

    @Test func `A client cannot make lists without end`() {
        var session = TestSession.connected()
        #expect(session.answer([0xD5, 0, 0, 1]) == [0xFE, 0x30])
        _ = session.results([0xD5, 0, 255, 0])
        #expect(session.answer([0xD4, 0, 0, 0, 253]) == [0xFE, 0x30])
        var tables: [UInt8?] = []
        for list in 0..<255 as Range<UInt8> { tables.append(session.answer([0xD4, 0, list, 0, 252])?.first) }
        #expect(tables.filter { $0 == 0xFF }.count == 4)
        var entries: [UInt8?] = []
        for table in 0..<252 as Range<UInt8> {
            entries.append(session.answer([0xD3, 0, 0, 0, table, 255])?.first)
        }
        #expect(entries.filter { $0 == 0xFF }.count == 64)
    }

    @Test func `If a program takes no samples, nothing changes`() {
        var session = TestSession.connected()
        session.makeLists()
        session.values.problem = .unavailable
        _ = session.results([0xE0, 0, 0, 0, 0, 0, 1, 0])
        #expect(session.answer([0xDE, 1, 0, 0]) == [0xFE, 0x33])
        #expect(session.results([0xFD])[0][0] == 0)
        session.values.problem = nil
        _ = session.results([0xDE, 1, 0, 0])
        #expect(session.values.sampled == [.everyMillisecond: [0, 2]])
    }

    @Test func `A client is told of lost samples`() {
        var session = TestSession.connected()
        session.makeLists()
        _ = session.results([0xE0, 0, 0, 0, 1, 0, 1, 0], [0xDE, 1, 0, 0])
        let (packets, lost) = session.packets([(0, Self.cells)], lost: 7)
        #expect(packets == [[0, 0, 1, 2, 3, 4], [1, 0, 12, 13], [0xFD, 6]])
        #expect(lost == 7)
        // A client that does not read.
        var output = XCPOutput()
        while !output.isFull { output.append([UInt8](repeating: 0, count: 2000)) }
        let size = output.unsent.count
        let sample = [UInt8](repeating: 0, count: 24)
        #expect(session.append(sample + sample, lost: 0, at: .every2Milliseconds, to: &output) == 2)
        #expect(output.unsent.count == size)
        output.removeFirst(size)
        #expect(session.append(sample, lost: 0, at: .every2Milliseconds, to: &output) == 0)
        #expect(output.unsent.suffix(2) == [0xFD, 6])
    }

    @Test(arguments: [Double.nan, .infinity, -1, 1e300]) func `Impossible times do not end the server`(
        time: Double
    ) {
        var session = TestSession.connected()
        session.makeLists()
        _ = session.results([0xE0, 0x10, 0, 0, 1, 0, 1, 0], [0xDE, 1, 0, 0])
        #expect(session.packets([(time, Self.cells)]).packets.first == [0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
    }
}
