internal import Glibc
package import TweakRecords

/// What an executable or library says in its program headers and notes, as they are in memory or in a file.
package struct ImageHeaders: Sendable {
    package struct Segment: Sendable {
        package let type, flags: UInt32
        package let offset, address, fileSize, memorySize, alignment: UInt64

        package var isLoaded: Bool { type == UInt32(PT_LOAD) }
        package var isWritable: Bool { flags & UInt32(PF_W) != 0 && flags & UInt32(PF_R) != 0 }
    }

    package let is64Bit: Bool
    package let byteOrder: ByteOrder
    /// The kind of file and the machine, as in elf(5).
    package let type, machine: UInt16
    package let segments: [Segment]
    /// How many bytes at the beginning hold what is above.
    package let byteCount: Int
    package private(set) var buildID: [UInt8]?
    /// The addresses between which the records are, before the image is moved, by its note.
    package private(set) var records: Range<UInt64>?
    /// Whether it is, or holds, the Tweaks library.
    package private(set) var hasLibrary = false
    /// What it calls the program that it is in.
    package private(set) var application: String?
}

extension ImageHeaders {
    /// How many bytes are read at first; nearly always all is there.
    static let usualBytes = 4096
    /// More are not those of an image that is loaded.
    private static let mostSegments = 1024
    private static let mostNotes: UInt64 = 1 << 20

    /// Reads headers.
    ///
    /// - Parameters:
    ///   - start: The first bytes, more than the headers perhaps.
    ///   - read: Gives bytes of a segment: those in its file, or in memory if only there.
    /// - Returns: `nil` if they are not those of an image.
    package init?(_ start: [UInt8], read: (Segment) -> [UInt8]?) {
        let bytes = start.span.bytes
        guard start.starts(with: [0x7F, 0x45, 0x4C, 0x46]), let format = ELFFormat(start),
            let header = format.header(in: bytes),
            Int32(header.type) == ET_EXEC || Int32(header.type) == ET_DYN,
            header.segmentCount > 0, header.segmentCount <= Self.mostSegments,
            header.segmentSize == format.segmentSize
        else { return nil }
        // A table far from the beginning is that of an object, not of what a kernel or dynamic linker loads.
        let tableSize = header.segmentCount * format.segmentSize
        guard header.segments <= UInt64(start.count), tableSize <= start.count - Int(header.segments) else {
            return nil
        }
        var segments: [Segment] = []
        for index in 0..<header.segmentCount {
            guard
                let segment = format.segment(in: bytes, at: Int(header.segments) + index * format.segmentSize)
            else { return nil }
            segments.append(segment)
        }
        (is64Bit, byteOrder, type, machine) = (format.is64Bit, format.byteOrder, header.type, header.machine)
        self.segments = segments
        byteCount = max(format.headerSize, Int(header.segments) + tableSize)

        var total: UInt64 = 0
        for segment in segments where segment.type == UInt32(PT_NOTE) {
            guard segment.fileSize <= Self.mostNotes - total else { continue }
            total += segment.fileSize
            if segment.offset <= UInt64(start.count), segment.fileSize <= UInt64(start.count) - segment.offset
            {
                let range = Int(segment.offset)..<Int(segment.offset + segment.fileSize)
                readNotes(of: segment, bytes.extracting(range))
            } else if let notes = read(segment) {
                readNotes(of: segment, notes.span.bytes)
            }
        }
    }

    private mutating func readNotes(of segment: Segment, _ bytes: RawSpan) {
        var notes = ELFNotes(alignment: segment.alignment, byteOrder: byteOrder)
        while let note = notes.next(in: bytes) {
            let content = bytes.extracting(note.content)
            if note.type == UInt32(NT_GNU_BUILD_ID), note.name == "GNU" {
                buildID = content.withUnsafeBytes { Array($0) }
                continue
            }
            guard note.name == "FBTweak" else { continue }
            switch note.type {
            case 1:
                guard let start: Int32 = content.number(at: 0, byteOrder),
                    let stop: Int32 = content.number(at: 4, byteOrder)
                else { continue }
                // The distances are from the fields themselves.
                let address = segment.address &+ UInt64(note.content.lowerBound)
                let first = wrapped(address &+ UInt64(bitPattern: Int64(start)))
                let last = wrapped(address &+ 4 &+ UInt64(bitPattern: Int64(stop)))
                if first <= last { records = first..<last }
            case 2 where content.byteCount >= 4: hasLibrary = true
            case 3 where application == nil:
                let text = content.withUnsafeBytes { Array($0) }
                application = text.firstIndex(of: 0).map { String(decoding: text[..<$0], as: UTF8.self) }
            default: continue
            }
        }
    }

    private func wrapped(_ address: UInt64) -> UInt64 { is64Bit ? address : address & 0xFFFF_FFFF }

    /// How far the image was moved, from where the first bytes of its file are in memory.
    ///
    /// - Returns: `nil` if these bytes are not loaded.
    package func bias(ofStart address: UInt64) -> UInt64? {
        guard
            let first = segments.first(where: { $0.isLoaded && $0.offset <= $0.address && $0.offset < 4096 })
        else {
            return nil
        }
        return address &- (first.address - first.offset)
    }

    /// Whether records may be at addresses, as they are before the image is moved: in one segment that is loaded and can
    /// be written, also when the dynamic linker has made what it relocated read-only.
    package func canHoldRecords(_ addresses: Range<UInt64>, pageSize: UInt64) -> Bool {
        guard addresses.lowerBound % 8 == 0 else { return false }
        let isInside = segments.contains {
            guard $0.isLoaded, $0.isWritable, addresses.lowerBound >= $0.address else { return false }
            let start = addresses.lowerBound - $0.address
            return start <= $0.memorySize && addresses.size <= $0.memorySize - start
        }
        let isProtected = segments.contains { segment in
            guard segment.type == UInt32(PT_GNU_RELRO), pageSize > 0 else { return false }
            let (end, overflows) = segment.address.addingReportingOverflow(segment.memorySize)
            let first = segment.address - segment.address % pageSize
            return !overflows && first < end - end % pageSize
                && addresses.overlaps(first..<end - end % pageSize)
        }
        return isInside && !isProtected
    }

    /// Where in the file the content of addresses is; `nil` if it is not in one segment of it.
    package func fileOffset(of addresses: Range<UInt64>) -> UInt64? {
        for segment in segments where segment.isLoaded && addresses.lowerBound >= segment.address {
            let start = addresses.lowerBound - segment.address
            if start <= segment.fileSize, addresses.size <= segment.fileSize - start {
                return segment.offset &+ start
            }
        }
        return nil
    }
}

// MARK: - The format

/// The sizes and places of the headers of one class and byte order. Source: elf(5).
struct ELFFormat {
    let is64Bit: Bool
    let byteOrder: ByteOrder

    struct Header {
        let type, machine: UInt16
        let segments: UInt64
        let segmentSize, segmentCount: Int
        /// Where the section headers are: the first has the number of segments, if there are too many for a header.
        let sections: UInt64
    }

    /// - Parameter start: The beginning of a file.
    /// - Returns: `nil` if it is of neither.
    init?(_ start: [UInt8]) {
        guard start.count > Int(EI_DATA), 1...2 ~= start[Int(EI_CLASS)], 1...2 ~= start[Int(EI_DATA)] else {
            return nil
        }
        is64Bit = start[Int(EI_CLASS)] == 2
        byteOrder = start[Int(EI_DATA)] == 1 ? .little : .big
    }

    var headerSize: Int { is64Bit ? 64 : 52 }
    var segmentSize: Int { is64Bit ? 56 : 32 }
    var wordSize: Int { is64Bit ? 8 : 4 }

    /// A number as wide as an address.
    func word(in bytes: RawSpan, at offset: Int) -> UInt64? {
        is64Bit
            ? bytes.number(at: offset, byteOrder)
            : (bytes.number(at: offset, byteOrder) as UInt32?).map(UInt64.init)
    }

    func header(in bytes: RawSpan) -> Header? {
        guard bytes.byteCount >= headerSize, let type: UInt16 = bytes.number(at: 16, byteOrder),
            let machine: UInt16 = bytes.number(at: 18, byteOrder),
            let segments = word(in: bytes, at: is64Bit ? 32 : 28),
            let sections = word(in: bytes, at: is64Bit ? 40 : 32),
            let size: UInt16 = bytes.number(at: is64Bit ? 54 : 42, byteOrder),
            let count: UInt16 = bytes.number(at: is64Bit ? 56 : 44, byteOrder)
        else { return nil }
        return Header(
            type: type, machine: machine, segments: segments, segmentSize: Int(size),
            segmentCount: Int(count),
            sections: sections)
    }

    func segment(in bytes: RawSpan, at offset: Int) -> ImageHeaders.Segment? {
        let word = wordSize
        guard let type: UInt32 = bytes.number(at: offset, byteOrder),
            let flags: UInt32 = bytes.number(at: offset + (is64Bit ? 4 : 24), byteOrder),
            let place = self.word(in: bytes, at: offset + word),
            let address = self.word(in: bytes, at: offset + 2 * word),
            let fileSize = self.word(in: bytes, at: offset + 4 * word),
            let memorySize = self.word(in: bytes, at: offset + 5 * word),
            let alignment = self.word(in: bytes, at: offset + (is64Bit ? 48 : 28))
        else { return nil }
        return ImageHeaders.Segment(
            type: type, flags: flags, offset: place, address: address, fileSize: fileSize,
            memorySize: memorySize,
            alignment: alignment)
    }
}

/// Steps through notes, each of which is the sizes of its name and its content, its type, the name and the content, padded
/// to 4 bytes; that of properties in a segment aligned to 8 to 8: gABI and the x86 psABI. mold puts others behind it into
/// the same segment, which keep their 4. What does not fit ends them.
struct ELFNotes {
    let alignment: UInt64
    let byteOrder: ByteOrder
    private var offset = 0

    struct Note {
        let type: UInt32
        let name: String
        let content: Range<Int>
    }

    init(alignment: UInt64, byteOrder: ByteOrder) {
        (self.alignment, self.byteOrder) = (alignment, byteOrder)
    }

    mutating func next(in bytes: RawSpan) -> Note? {
        guard let nameSize: UInt32 = bytes.number(at: offset, byteOrder),
            let contentSize: UInt32 = bytes.number(at: offset + 4, byteOrder),
            let type: UInt32 = bytes.number(at: offset + 8, byteOrder)
        else { return nil }
        let isOfProperties = type == UInt32(NT_GNU_PROPERTY_TYPE_0) && nameSize == 4
        let padding = alignment == 8 && isOfProperties ? 8 : 4
        // Three times 32 bits more than an offset, so there is no overflow.
        let name = offset + 12
        let content = (name + Int(nameSize) + padding - 1) & -padding
        let end = content + Int(contentSize)
        guard end <= bytes.byteCount else { return nil }
        offset = (end + padding - 1) & -padding
        // The names that are looked for are short.
        let text = bytes.extracting(name..<name + min(Int(nameSize), 16)).withUnsafeBytes {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        return Note(type: type, name: nameSize <= 16 ? text : "", content: content..<end)
    }
}
