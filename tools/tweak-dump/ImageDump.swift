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

    /// A part of an image that holds records.
    struct Section {
        /// The records. In those of memory the cells hold what the tweaks are set to.
        let bytes: [UInt8]
        /// What the tweaks are set to, each by where its record begins; `nil` if only a program that runs knows.
        var values: [Int: TweakValue]?
    }

    /// Where a record is.
    struct Place {
        fileprivate let section: Int
        fileprivate let range: Range<Int>
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

    init(path: String, architecture: String, buildID: String?, byteOrder: ByteOrder, sections: [Section]) {
        self.path = path
        self.architecture = architecture
        self.buildID = buildID
        self.byteOrder = byteOrder
        self.sections = sections
    }

    /// The object of a file.
    init(_ object: ELFObject, noting note: (UnusableSection) -> Void) throws(ELFError) {
        let buildID = try object.buildID()?.map { $0.digits(2, radix: 16) }.joined()
        var sections: [Section] = []
        for range in try object.recordRanges(noting: note) {
            sections.append(Section(bytes: try object.bytes(of: range)))
        }
        self.init(
            path: object.path, architecture: object.architecture, buildID: buildID,
            byteOrder: object.byteOrder, sections: sections)
    }

    /// Decodes all records.
    ///
    /// - Parameters:
    ///   - invalid: Is called with what is wrong with those that are invalid.
    ///   - body: Is called with the others.
    func forEachTweak(invalid: (RecordError) -> Void = { _ in }, _ body: (Tweak) -> Void) {
        for (number, section) in sections.enumerated() {
            var walk = RecordWalk()
            while true {
                do throws(RecordError) {
                    guard let range = try walk.next(in: section.bytes.span.bytes, byteOrder: byteOrder) else {
                        break
                    }
                    body(try decode(Place(section: number, range: range)))
                } catch {
                    invalid(error)
                }
            }
        }
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
