// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A clock of the server, at whose ticks values are sampled. The raw value is its number in XCP.
package enum XCPEvent: Int, CaseIterable, Sendable {
    case everyMillisecond
    case every2Milliseconds
    case every10Milliseconds
    case every100Milliseconds

    /// The milliseconds between samples.
    fileprivate var period: UInt8 {
        switch self {
        case .everyMillisecond: 1
        case .every2Milliseconds: 2
        case .every10Milliseconds: 10
        case .every100Milliseconds: 100
        }
    }

    /// The samples per second.
    package var rate: Double { 1000 / Double(period) }

    fileprivate var name: String { "\(period) ms" }
}

/// Lists of values that a client wants to be sent again and again, in XCP DAQ lists. Each is sent as some tables, each of
/// them a packet: ODTs, whose entries are values.
struct XCPLists {
    /// The numbers of lists, of tables of one list, and of tables and entries of all, at most. The number of a table is
    /// below those that begin other packets.
    private static let mostLists = 255
    private static let mostTablesOfList = 0xFC
    private static let (mostTables, mostEntries) = (1024, 16_384)
    /// The bytes of an entry, at most. A table has at most 255 entries, which with the numbers of the list and the table
    /// and the time never exceed a packet.
    static let mostEntryBytes = 8

    private struct List {
        /// The entries of each table. One that is not written yet has no parts.
        var tables: [[[XCPPart]]] = []
        var event: XCPEvent?
        /// Every how many samples of the event the list is sent.
        var divider: UInt8 = 1
        var hasTime = false
        var isSelected = false
        var isRunning = false
        /// The number of samples until it is sent.
        var rest: UInt8 = 0
        /// The bytes of samples that the tables consist of, while it runs.
        var copies: [[Range<Int>]] = []
    }

    private var lists: [List] = []
    /// The objects that are sampled at each event, each once.
    private var sampled = [[Int]](repeating: [], count: XCPEvent.allCases.count)
    /// The entry that is written next.
    private var place: (list: Int, table: Int, entry: Int)?

    var count: Int { lists.count }
    var areRunning: Bool { lists.contains(where: \.isRunning) }

    // MARK: - Making lists

    /// Makes lists without tables. There must be none.
    mutating func allocate(lists count: Int) throws(XCPError) {
        guard lists.isEmpty else { throw .outOfOrder }
        guard count <= Self.mostLists else { throw .memoryOverflow }
        lists = Array(repeating: List(), count: count)
    }

    /// Makes the tables of a list, without entries.
    mutating func allocate(tables count: Int, of list: Int) throws(XCPError) {
        try check(list)
        guard lists[list].tables.isEmpty else { throw .outOfOrder }
        let all = lists.reduce(count) { $0 + $1.tables.count }
        guard count <= Self.mostTablesOfList, all <= Self.mostTables else { throw .memoryOverflow }
        lists[list].tables = Array(repeating: [], count: count)
    }

    /// Makes the entries of a table.
    mutating func allocate(entries count: Int, of table: Int, in list: Int) throws(XCPError) {
        try check(list, table)
        guard lists[list].tables[table].isEmpty else { throw .outOfOrder }
        let all = lists.reduce(count) { $1.tables.reduce($0) { $0 + $1.count } }
        guard all <= Self.mostEntries else { throw .memoryOverflow }
        lists[list].tables[table] = Array(repeating: [], count: count)
    }

    /// Chooses the entry that is written next.
    mutating func point(at entry: Int, of table: Int, in list: Int) throws(XCPError) {
        try check(list, table)
        guard entry < lists[list].tables[table].count else { throw .outOfRange }
        place = (list, table, entry)
    }

    /// Writes an entry, and moves on to the next one of its table.
    mutating func write(_ parts: [XCPPart]) throws(XCPError) {
        guard let (list, table, entry) = place else { throw .outOfOrder }
        try check(list, table)
        guard entry < lists[list].tables[table].count else { throw .outOfRange }
        lists[list].tables[table][entry] = parts
        place = (list, table, entry + 1)
    }

    private func check(_ list: Int, _ table: Int? = nil) throws(XCPError) {
        guard list < lists.count, table.map({ $0 < lists[list].tables.count }) ?? true else {
            throw .outOfRange
        }
        guard !areRunning else { throw .sampling }
    }

    /// Decides when a list is sent.
    mutating func set(
        _ list: Int, at event: XCPEvent, divider: UInt8, hasTime: Bool
    ) throws(XCPError) {
        guard list < lists.count, divider > 0 else { throw .outOfRange }
        guard !lists[list].isRunning else { throw .sampling }
        (lists[list].event, lists[list].divider, lists[list].hasTime) = (event, divider, hasTime)
    }

    // MARK: - Sending lists

    mutating func select(_ list: Int) throws(XCPError) {
        guard list < lists.count else { throw .outOfRange }
        lists[list].isSelected = true
    }

    var selected: [Int] { lists.indices.filter { lists[$0].isSelected } }

    mutating func endSelection() {
        for list in lists.indices { lists[list].isSelected = false }
    }

    /// The state in which some lists are sent.
    ///
    /// - Throws: ``XCPError/invalidLists`` if one has no event.
    func starting(_ started: [Int]) throws(XCPError) -> XCPLists {
        var new = self
        for list in started {
            guard list < lists.count else { throw .outOfRange }
            guard lists[list].event != nil else { throw .invalidLists }
            new.lists[list].isRunning = true
            new.lists[list].rest = 0
        }
        new.prepare()
        return new
    }

    /// The state in which some lists are not sent.
    func stopping(_ stopped: [Int]) throws(XCPError) -> XCPLists {
        var new = self
        for list in stopped {
            guard list < lists.count else { throw .outOfRange }
            new.lists[list].isRunning = false
        }
        new.prepare()
        return new
    }

    var all: [Int] { Array(lists.indices) }

    /// The objects that are sampled at an event, in the order of their values in samples.
    func objects(at event: XCPEvent) -> [Int] { sampled[event.rawValue] }

    /// Notes which objects are sampled, and where in samples the bytes of tables are.
    private mutating func prepare() {
        for event in XCPEvent.allCases {
            let running = lists.indices.filter { lists[$0].isRunning && lists[$0].event == event }
            var objects: Set<Int> = []
            for list in running {
                for entry in lists[list].tables.joined() { objects.formUnion(entry.map(\.object)) }
            }
            sampled[event.rawValue] = objects.sorted()
            // The time comes first.
            let places = Dictionary(
                uniqueKeysWithValues: sampled[event.rawValue].enumerated().map { ($1, 8 * ($0 + 1)) })
            for list in running {
                lists[list].copies = lists[list].tables.map { table in
                    table.joined().compactMap { part in
                        places[part.object].map {
                            $0 + part.bytes.lowerBound..<$0 + part.bytes.upperBound
                        }
                    }
                }
            }
        }
    }

    /// Appends the packets for a sample.
    ///
    /// - Parameters:
    ///   - sample: The time in seconds since 1970 as a Double, then eight bytes for each object of the event.
    ///   - time: The time in answers.
    mutating func append(
        _ sample: ArraySlice<UInt8>, at event: XCPEvent, time: UInt32, _ order: ByteOrder,
        to output: inout XCPOutput
    ) {
        for list in lists.indices where lists[list].isRunning && lists[list].event == event {
            guard lists[list].rest == 0 else {
                lists[list].rest -= 1
                continue
            }
            lists[list].rest = lists[list].divider - 1
            let hasTime = lists[list].hasTime
            let start = sample.startIndex
            for (table, copies) in lists[list].copies.enumerated() {
                output.append { packet in
                    packet += [UInt8(truncatingIfNeeded: table), UInt8(truncatingIfNeeded: list)]
                    if table == 0, hasTime { packet.append(time, order) }
                    for copy in copies { packet += sample[start + copy.lowerBound..<start + copy.upperBound] }
                }
            }
        }
    }
}

/// Commands about lists.
extension XCPSession {
    /// - Returns: The result; `nil` if the command is another one.
    mutating func resultOfSampling(_ command: XCPParameters) throws(XCPError) -> [UInt8]? {
        switch try command.byte(0) {
        case 0xDA:
            // Lists are made by the client, have dividers and times, and an event tells of lost samples.
            var result: [UInt8] = [0x93]
            result.append(UInt16(clamping: lists.count), byteOrder)
            result.append(UInt16(XCPEvent.allCases.count), byteOrder)
            // No list is predefined. A packet begins with the numbers of the table and of the list, a byte each.
            return result + [0, 0x40]
        case 0xD9:
            // Entries have any size; there is no stimulation; a time has 4 bytes and counts microseconds.
            var result: [UInt8] = [1, UInt8(XCPLists.mostEntryBytes), 1, 0, 0x34]
            result.append(1 as UInt16, byteOrder)
            return result
        case 0xD7: return try event(command)
        case 0xDC:
            // The time is that of the answer.
            var result: [UInt8] = [0, 0, 0]
            result.append(ticks(values.now), byteOrder)
            return result
        case 0xD6: try change(to: XCPLists())
        case 0xD5: try lists.allocate(lists: list(command, 2))
        case 0xD4: try lists.allocate(tables: Int(command.byte(4)), of: list(command, 2))
        case 0xD3:
            try lists.allocate(
                entries: Int(command.byte(5)), of: Int(command.byte(4)), in: list(command, 2))
        case 0xE2:
            try lists.point(at: Int(command.byte(5)), of: Int(command.byte(4)), in: list(command, 2))
        case 0xE1: try write(command)
        case 0xE0: try setMode(command)
        case 0xDE:
            let list = try list(command, 2)
            switch try command.byte(1) {
            case 0: try change(to: lists.stopping([list]))
            case 1: try change(to: lists.starting([list]))
            case 2: try lists.select(list)
            default: throw .invalidMode
            }
            // The number of its first table.
            return [0]
        case 0xDD:
            switch try command.byte(1) {
            case 0: try change(to: lists.stopping(lists.all))
            case 1: try change(to: lists.starting(lists.selected))
            case 2: try change(to: lists.stopping(lists.selected))
            default: throw .invalidMode
            }
            lists.endSelection()
        default: return nil
        }
        return []
    }

    private func list(_ command: XCPParameters, _ offset: Int) throws(XCPError) -> Int {
        Int(try command.number(offset, as: UInt16.self))
    }

    private func event(number: UInt16) throws(XCPError) -> XCPEvent {
        guard let event = XCPEvent(rawValue: Int(number)) else { throw .outOfRange }
        return event
    }

    private mutating func event(_ command: XCPParameters) throws(XCPError) -> [UInt8] {
        let event = try event(number: command.number(2))
        let name = Array(event.name.utf8)
        offer(name)
        // Any number of lists; the period in units of 1 ms; and the priority.
        return [0x04, 0xFF, UInt8(name.count), event.period, 6, 0]
    }

    private mutating func write(_ command: XCPParameters) throws(XCPError) {
        let count = Int(try command.byte(2))
        // Entries of single bits are for stimulation.
        guard try command.byte(1) == 0xFF, 1...XCPLists.mostEntryBytes ~= count else { throw .outOfRange }
        let parts = try memory.parts(at: command.address(3), count: count)
        guard parts.allSatisfy({ values.canSample($0.object) }) else { throw .accessDenied }
        try lists.write(parts)
    }

    private mutating func setMode(_ command: XCPParameters) throws(XCPError) {
        let mode = try command.byte(1)
        // Only times can be chosen.
        guard mode & ~0x10 == 0 else { throw .invalidMode }
        try lists.set(
            list(command, 2), at: event(number: command.number(4)), divider: command.byte(6),
            hasTime: mode != 0)
    }

    /// Lets the program sample what other lists need. If it cannot, nothing changes.
    mutating func change(to new: XCPLists) throws(XCPError) {
        for event in XCPEvent.allCases {
            let objects = new.objects(at: event)
            if objects != lists.objects(at: event) { try values.sample(objects, at: event) }
        }
        lists = new
    }

    /// The low bits of the microseconds since 1970.
    ///
    /// - Parameter time: The seconds since 1970, which a program can have made up.
    private func ticks(_ time: Double) -> UInt32 {
        UInt32(truncatingIfNeeded: UInt64(exactly: (time * 1e6).rounded(.down)) ?? 0)
    }

    // MARK: - Samples

    /// Appends the packets for samples. If the client is too slow, they are lost.
    ///
    /// - Parameters:
    ///   - samples: Whole samples: the time in seconds since 1970 as a Double of this machine, then for each of the
    ///     objects of the event the eight bytes of its cell.
    ///   - lost: The number of samples that were lost before these.
    /// - Returns: The number of lost samples.
    package mutating func append(
        _ samples: [UInt8], lost: Int, at event: XCPEvent, to output: inout XCPOutput
    ) -> Int {
        let size = 8 * (lists.objects(at: event).count + 1)
        var lost = lost
        for start in stride(from: 0, through: samples.count - size, by: size) {
            guard !output.isFull else {
                lost += 1
                continue
            }
            let time: UInt64 = samples.span.bytes.number(at: start, .native) ?? 0
            lists.append(
                samples[start..<start + size], at: event, time: ticks(Double(bitPattern: time)), byteOrder,
                to: &output)
        }
        hasLost = hasLost || lost > 0
        if hasLost, !output.isFull {
            output.append(XCPPackets.samplesLost)
            hasLost = false
        }
        return lost
    }
}
