// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TweakELF
import TweakMemory
import TweakRecords

/// One object with the bytes of its records, from a file, or from the memory of a process or a core. Records are
/// decoded whenever they are needed, because a decoded record takes ten times the memory.
struct ImageDump {
    let path: String
    let architecture: String
    let buildID: String?
    let byteOrder: ByteOrder
    let sections: [Section]
    /// The tweaks to show.
    private let selection: Selection
    /// Whether it has no records, although it uses the library.
    let lacksRecords: Bool
    /// Whether its code uses the store of the process, also without records.
    let usesStore: Bool
    /// Where macros are defined as tweaks, if that was asked for.
    private(set) var definitions: Definitions?
    /// Whether to show all tweaks. Asking the selection takes a tenth of the time of decoding a record.
    let isWhole: Bool

    /// A part of an image that holds records.
    struct Section {
        /// The records. In those from memory, the cells contain the current values.
        let bytes: [UInt8]
        /// The current values, by the offsets of their records, to which the index in an array is added; `nil` if only a
        /// running program knows them.
        var values: [Int: TweakValue]?
        /// The offsets of records to which nothing in the file refers, if that was asked for.
        fileprivate(set) var unread: Set<Int> = []
        /// The addresses of the values in a linked file; `nil` in an object file and in memory.
        fileprivate(set) var addresses: CellAddresses?
    }

    /// The position of a record.
    struct Place {
        /// Packed, because there may be millions.
        private let packedSection, start, count: UInt32
        /// The index of the tweak in the record, which is 0 unless it is an element of an array.
        fileprivate var element: UInt32 = 0

        fileprivate init(section: Int, range: Range<Int>) {
            // An image has at most 256 MB of records.
            packedSection = UInt32(clamping: section)
            start = UInt32(clamping: range.lowerBound)
            count = UInt32(clamping: range.count)
        }

        fileprivate var section: Int { Int(packedSection) }
        fileprivate var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
        /// The range of its texts.
        fileprivate var text: Range<Int> {
            min(range.lowerBound + RecordLayout.textOffset, range.upperBound)..<range.upperBound
        }
    }

    /// A tweak of the image.
    struct Tweak {
        let declaration: TweakDeclaration
        /// The current value, if known.
        let value: TweakValue?
        let place: Place
    }

    /// Whether the current values of some tweaks are known.
    var hasValues: Bool { sections.contains { $0.values != nil } }

    init(
        path: String, architecture: String, buildID: String?, byteOrder: ByteOrder, sections: [Section],
        lacksRecords: Bool = false, usesStore: Bool = false, _ selection: Selection
    ) {
        self.path = path
        self.architecture = architecture
        self.buildID = buildID
        self.byteOrder = byteOrder
        self.sections = sections
        self.lacksRecords = lacksRecords
        self.usesStore = usesStore
        self.selection = selection
        isWhole = selection.isEverything
    }

    /// An object in a file.
    ///
    /// - Parameters:
    ///   - findsUnread: Whether to find the records to which nothing refers.
    ///   - readsSources: Whether to find the macros that are defined as tweaks.
    init(
        _ object: ELFObject, _ selection: Selection, findsUnread: Bool, readsSources: Bool = false,
        noting note: (UnusableSection) -> Void
    ) throws(ELFError) {
        var sections: [Section] = []
        // First, because nothing else is reliable in a file with debug information only.
        let ranges = try object.recordRanges(noting: note)
        for range in ranges {
            let (bytes, addresses) = try object.cells(in: range)
            sections.append(Section(bytes: bytes, addresses: object.isLinked ? addresses : nil))
        }
        if findsUnread {
            var found: [(section: Int, offset: Int)] = []
            let areRead = try object.areRead(in: ranges) { section in
                let records = Self.records(in: sections[section].bytes, object.byteOrder)
                found += records.map { (section, $0.lowerBound) }
                return records
            }
            for (place, isRead) in zip(found, areRead) where !isRead {
                sections[place.section].unread.insert(place.offset)
            }
        }
        let buildID = try object.buildID()?.hexadecimal
        self.init(
            path: object.path, architecture: object.architecture, buildID: buildID,
            byteOrder: object.byteOrder, sections: sections,
            lacksRecords: sections.allSatisfy(\.bytes.isEmpty) && object.usesLibrary(),
            usesStore: try object.usesStore(), selection)
        if readsSources { definitions = try Definitions(object, ranges) }
    }

    /// Whether it has no records, or is linked, so that these have addresses.
    var hasAddresses: Bool { sections.allSatisfy { $0.addresses != nil } }

    /// The address of a tweak's value, to which a process adds the load bias; `nil` if the image does not contain it, or
    /// has no addresses.
    func address(of tweak: Tweak) -> UInt64? {
        let section = sections[tweak.place.section]
        return section.addresses?.address(
            ofRecord: tweak.place.range.lowerBound, element: Int(tweak.place.element), tweak.declaration,
            in: section.bytes)
    }

    /// Returns whether the record is known not to be read by any code.
    func isUnread(at place: Place) -> Bool {
        sections[place.section].unread.contains(place.range.lowerBound)
    }

    /// Decodes the records.
    ///
    /// - Parameters:
    ///   - invalid: Called with the error of each invalid record.
    ///   - body: Called with each valid record of the selection.
    /// - Returns: Whether a record is invalid.
    func forEachTweak(invalid: (RecordError) -> Void, _ body: (Tweak) -> Void) -> Bool {
        forEachPlace(invalid: invalid) { (place) throws(RecordError) in try visit(place, body) }
    }

    /// Decodes the records sorted by name, and records of the same name by their other texts, so that the order does
    /// not depend on compilers and linkers.
    ///
    /// - Parameter body: Called with each valid record of the selection.
    /// - Returns: The errors of invalid records.
    func forEachTweakByName(_ body: (Tweak) -> Void) -> [RecordError] {
        var places: [Place] = []
        var errors: [RecordError] = []
        _ = forEachPlace(invalid: { errors.append($0) }) { places.append($0) }
        sort(&places)
        for place in places {
            do throws(RecordError) { try visit(place, body) } catch { errors.append(error) }
        }
        return errors
    }

    /// Iterates over the records. Errors of `body` count as errors of the record.
    private func forEachPlace(
        invalid: (RecordError) -> Void, _ body: (Place) throws(RecordError) -> Void
    ) -> Bool {
        var isInvalid = false
        for (number, section) in sections.enumerated() {
            var walk = RecordWalk()
            while true {
                do throws(RecordError) {
                    guard let range = try walk.next(in: section.bytes.span.bytes, byteOrder: byteOrder) else {
                        break
                    }
                    try body(Place(section: number, range: range))
                } catch {
                    isInvalid = true
                    invalid(error)
                }
            }
        }
        return isInvalid
    }

    /// The valid records of a section, in their order, except those of variables, which code reads without them.
    private static func records(in section: [UInt8], _ byteOrder: ByteOrder) -> [Range<Int>] {
        var (records, walk): ([Range<Int>], RecordWalk) = ([], RecordWalk())
        while true {
            do throws(RecordError) {
                guard let record = try walk.next(in: section.span.bytes, byteOrder: byteOrder) else { break }
                let kind = section[record.lowerBound + RecordLayout.kindOffset]
                if kind != RecordLayout.variableKind { records.append(record) }
            } catch {
                // It is reported where its tweak is decoded.
                continue
            }
        }
        return records
    }

    /// The reason why no tweak is shown.
    ///
    /// - Returns: The number of tweaks that were left out, and an option that would show some, if one is near.
    func emptiness() -> (leftOut: Int, nearest: String?) {
        var keys: [TweakKey] = []
        _ = forEachPlace(invalid: { _ in }) { (place) throws(RecordError) in
            keys += try decode(place).map(\.declaration.key)
        }
        return (keys.count, selection.nearest(of: keys))
    }

    private func visit(_ place: Place, _ body: (Tweak) -> Void) throws(RecordError) {
        for tweak in try decode(place) where isWhole || selection.contains(tweak.declaration) { body(tweak) }
    }

    /// Finds the records that programs of this version ignore. There are none with a selection, because nothing is
    /// known of them.
    func forEachUnknownRecord(_ body: (_ offset: Int, _ version: UInt8, _ kind: UInt8) -> Void) {
        guard isWhole else { return }
        for section in sections {
            var walk = RecordWalk()
            while true {
                let next: RecordWalk.Record?
                // The errors were found with the other records.
                do throws(RecordError) {
                    next = try walk.nextOfAnyKind(in: section.bytes.span.bytes, byteOrder: byteOrder)
                } catch { continue }
                guard let next else { break }
                // Kind 0 is padding.
                if !next.isUnderstood, next.kind != 0 {
                    body(next.range.lowerBound, next.version, next.kind)
                }
            }
        }
    }

    /// The gates in the order of their records, and the errors of others. There are none with a selection.
    func gates() -> (gates: [Gate], errors: [RecordError]) {
        var gates: [Gate] = []
        var errors: [RecordError] = []
        for section in sections where isWhole {
            var walk = RecordWalk()
            while true {
                do throws(RecordError) {
                    let bytes = section.bytes.span.bytes
                    guard let record = try walk.nextOfAnyKind(in: bytes, byteOrder: byteOrder) else { break }
                    guard record.isGate else { continue }
                    let gate = try Gate(record: bytes, in: record.range, byteOrder: byteOrder)
                    gates.append(gate)
                } catch .badGate(let offset) {
                    errors.append(.badGate(offset: offset))
                } catch {
                    // Other errors are found with the tweaks.
                    continue
                }
            }
        }
        return (gates, errors)
    }

    /// Returns whether the texts of a record are UTF-8.
    func isUTF8(at place: Place) -> Bool {
        let section = sections[place.section].bytes
        let object = try? RecordedObject(section.span.bytes, in: place.range, byteOrder: byteOrder)
        let bytes = section[place.text.lowerBound..<(object?.textEnd ?? place.text.upperBound)]
        guard let tweak = tweak(at: place) else { return true }
        // The values of choices follow the texts, unless those of an array do.
        let choices =
            tweak.declaration.type.isNumeric && object?.textEnd == nil ? tweak.declaration.choices.count : 0
        let texts = bytes.dropLast(RecordLayout.choiceSize * choices)
        return texts.allSatisfy { $0 < 0x80 } || String(validating: texts, as: UTF8.self) != nil
    }

    /// Sorts by the texts of records, which begin with the names. A NUL, which ends a name, precedes all other bytes.
    private func sort(_ places: inout [Place]) {
        // Comparing bytes in place takes a tenth of the time of comparing names.
        guard let first = sections.first else { return }
        let joined = sections.count == 1 ? first.bytes : sections.flatMap(\.bytes)
        let starts = sections.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.bytes.count) }
        let textOffset = RecordLayout.textOffset
        var texts = places.indices.map { index in
            let range = places[index].range
            let start = min(range.lowerBound + textOffset, range.upperBound)
            let shift = starts[places[index].section]
            return Text(
                start: UInt32(clamping: shift + start), end: UInt32(clamping: shift + range.upperBound),
                place: UInt32(clamping: index))
        }
        joined.withUnsafeBytes { bytes in
            texts.sort { left, right in
                let order = bytes.compare(left, right)
                return order != 0 ? order < 0 : left.start < right.start
            }
        }
        places = texts.map { places[Int($0.place)] }
    }

    /// The texts of a record in the joined bytes of all sections, and the record's position.
    fileprivate struct Text {
        let start, end, place: UInt32
    }

    /// Decodes a tweak of a valid record.
    func tweak(at place: Place) -> Tweak? { (try? decode(place))?[Int(place.element)] }

    /// Decodes the tweaks of a record.
    private func decode(_ place: Place) throws(RecordError) -> [Tweak] {
        // Positions come from these sections.
        let section = sections[place.section]
        let all = try TweakDeclaration.all(
            record: section.bytes.span.bytes, in: place.range, byteOrder: byteOrder)
        return all.enumerated().map { element, declaration in
            var place = place
            place.element = UInt32(element)
            return Tweak(
                declaration: declaration, value: section.values?[place.range.lowerBound + element],
                place: place)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares two texts in the bytes; negative if the first precedes the second.
    fileprivate func compare(_ left: ImageDump.Text, _ right: ImageDump.Text) -> Int {
        guard let start = baseAddress, left.end <= count, right.end <= count else { return 0 }
        let (leftCount, rightCount) = (Int(left.end - left.start), Int(right.end - right.start))
        let order = memcmp(
            start + Int(left.start), start + Int(right.start), Swift.min(leftCount, rightCount))
        return order != 0 ? Int(order) : leftCount - rightCount
    }
}
