import Glibc
import TweakELF
import TweakRecords

/// One object, with the bytes of its records: of a file, or of what a process or a core has in memory. They are decoded
/// each time that they are needed: a record takes ten times the memory then.
struct ImageDump {
    let path: String
    let architecture: String
    let buildID: String?
    let byteOrder: ByteOrder
    let sections: [Section]
    /// Which tweaks of the image are meant.
    private let selection: Selection
    /// Whether all are. To ask the selection takes a tenth of the time that a record takes.
    let isWhole: Bool

    /// A part of an image that holds records.
    struct Section {
        /// The records. In those of memory the cells hold what the tweaks are set to.
        let bytes: [UInt8]
        /// What the tweaks are set to, each by where its record begins; `nil` if only a program that runs knows.
        var values: [Int: TweakValue]?
    }

    /// Where a record is.
    struct Place {
        /// There may be millions of them.
        private let packedSection, start, count: UInt32

        fileprivate init(section: Int, range: Range<Int>) {
            // An image has at most 256 MB of records.
            packedSection = UInt32(clamping: section)
            start = UInt32(clamping: range.lowerBound)
            count = UInt32(clamping: range.count)
        }

        fileprivate var section: Int { Int(packedSection) }
        fileprivate var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
        /// Where its texts are.
        fileprivate var text: Range<Int> {
            min(range.lowerBound + RecordLayout.textOffset, range.upperBound)..<range.upperBound
        }
    }

    /// A tweak of the image.
    struct Tweak {
        let declaration: TweakDeclaration
        /// What it is set to, if that is known.
        let value: TweakValue?
        let place: Place
    }

    /// Whether it is known of some tweaks what they are set to.
    var hasValues: Bool { sections.contains { $0.values != nil } }

    init(
        path: String, architecture: String, buildID: String?, byteOrder: ByteOrder, sections: [Section],
        _ selection: Selection
    ) {
        self.path = path
        self.architecture = architecture
        self.buildID = buildID
        self.byteOrder = byteOrder
        self.sections = sections
        self.selection = selection
        isWhole = selection.isEverything
    }

    /// The object of a file.
    init(
        _ object: ELFObject, _ selection: Selection, noting note: (UnusableSection) -> Void
    ) throws(ELFError) {
        var sections: [Section] = []
        // First, since of a file with debug information alone nothing else can be relied on.
        for range in try object.recordRanges(noting: note) {
            sections.append(Section(bytes: try object.bytes(of: range)))
        }
        let buildID = try object.buildID()?.hexadecimal
        self.init(
            path: object.path, architecture: object.architecture, buildID: buildID,
            byteOrder: object.byteOrder, sections: sections, selection)
    }

    /// Decodes the records.
    ///
    /// - Parameters:
    ///   - invalid: Is called with what is wrong with those that are invalid.
    ///   - body: Is called with the others that are meant.
    /// - Returns: Whether any is invalid.
    func forEachTweak(invalid: (RecordError) -> Void, _ body: (Tweak) -> Void) -> Bool {
        forEachPlace(invalid: invalid) { (place) throws(RecordError) in try visit(place, body) }
    }

    /// Decodes the records in the order of their names, and of one name in that of what else their texts say: wherever a
    /// compiler and a linker put them, this is the order.
    ///
    /// - Parameter body: Is called with those that are valid and meant.
    /// - Returns: What is wrong with the others.
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

    /// Steps through the records. What `body` throws is wrong with one too.
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

    private func visit(_ place: Place, _ body: (Tweak) -> Void) throws(RecordError) {
        let tweak = try decode(place)
        if isWhole || selection.contains(tweak.declaration) { body(tweak) }
    }

    /// Finds the records that a program of today passes over. With a selection there are none: nothing is known of them.
    func forEachUnknownRecord(_ body: (_ offset: Int, _ version: UInt8, _ kind: UInt8) -> Void) {
        guard isWhole else { return }
        for section in sections {
            var walk = RecordWalk()
            while true {
                let next: RecordWalk.Record?
                // What is broken was found with the others.
                do throws(RecordError) {
                    next = try walk.nextOfAnyKind(in: section.bytes.span.bytes, byteOrder: byteOrder)
                } catch { continue }
                guard let next else { break }
                // Of kind 0 is padding.
                if !next.isKnown, !next.isGate, !next.isSequence, next.kind != 0 {
                    body(next.range.lowerBound, next.version, next.kind)
                }
            }
        }
    }

    /// The gates in the order of their records, and what is wrong with others. With a selection there are none.
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
                    // What else is broken is found with the tweaks.
                    continue
                }
            }
        }
        return (gates, errors)
    }

    /// Whether the texts of a record are UTF-8.
    func isUTF8(at place: Place) -> Bool {
        let bytes = sections[place.section].bytes[place.text]
        guard let tweak = tweak(at: place) else { return true }
        // The values of choices are behind the texts.
        let choices = tweak.declaration.type.isNumeric ? tweak.declaration.choices.count : 0
        let texts = bytes.dropLast(RecordLayout.choiceSize * choices)
        return texts.allSatisfy { $0 < 0x80 } || String(validating: texts, as: UTF8.self) != nil
    }

    /// Sorts by the texts of records, which begin with the names. A NUL, with which a name ends, comes before all else.
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

    /// The texts of a record in the joined bytes of all sections, and which place that is.
    fileprivate struct Text {
        let start, end, place: UInt32
    }

    /// Decodes a record that was valid.
    func tweak(at place: Place) -> Tweak? { try? decode(place) }

    private func decode(_ place: Place) throws(RecordError) -> Tweak {
        // A place is made by the walk through these sections.
        let section = sections[place.section]
        let declaration = try TweakDeclaration(
            record: section.bytes.span.bytes, in: place.range, byteOrder: byteOrder)
        return Tweak(
            declaration: declaration, value: section.values?[place.range.lowerBound], place: place)
    }
}

extension UnsafeRawBufferPointer {
    /// Compares two texts in the bytes; the first is before the second if this is negative.
    fileprivate func compare(_ left: ImageDump.Text, _ right: ImageDump.Text) -> Int {
        guard let start = baseAddress, left.end <= count, right.end <= count else { return 0 }
        let (leftCount, rightCount) = (Int(left.end - left.start), Int(right.end - right.start))
        let order = memcmp(
            start + Int(left.start), start + Int(right.start), Swift.min(leftCount, rightCount))
        return order != 0 ? Int(order) : leftCount - rightCount
    }
}
