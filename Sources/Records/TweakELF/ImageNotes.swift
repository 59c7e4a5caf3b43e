internal import Glibc
package import TweakRecords

/// A program header of an executable or a library, see elf(5).
package struct ImageSegment: Sendable {
    package let type, flags: UInt32
    package let offset, address, fileSize, memorySize, alignment: UInt64

    package init(
        type: UInt32, flags: UInt32, offset: UInt64, address: UInt64, fileSize: UInt64, memorySize: UInt64,
        alignment: UInt64
    ) {
        (self.type, self.flags, self.offset, self.address) = (type, flags, offset, address)
        (self.fileSize, self.memorySize, self.alignment) = (fileSize, memorySize, alignment)
    }

    package var isLoaded: Bool { type == UInt32(PT_LOAD) }
    /// Whether a program can read and write it, until the dynamic linker has relocated the image.
    package var isWritable: Bool { flags & UInt32(PF_R | PF_W) == UInt32(PF_R | PF_W) }

    /// Where in the file some bytes of the segment are; `nil` if not all of them are in the file.
    package func fileOffset(of start: UInt64, size: UInt64) -> UInt64? {
        holds(start, size, upTo: fileSize) ? offset &+ (start - address) : nil
    }

    fileprivate func holds(_ start: UInt64, _ size: UInt64, upTo end: UInt64) -> Bool {
        start >= address && start - address <= end && size <= end - (start - address)
    }
}

extension [ImageSegment] {
    /// Whether records may be at addresses, as they are before the image is moved: at a multiple of 8, in one segment that is
    /// loaded and writable, and in no page that the dynamic linker makes read-only when it has relocated the image.
    ///
    /// `fbtweak__image_can_hold_records` says the same of the images of a running process.
    package func canHoldRecords(_ addresses: Range<UInt64>, pageSize: UInt64) -> Bool {
        let size = addresses.upperBound - addresses.lowerBound
        guard addresses.lowerBound % RecordRange.alignment == 0,
            contains(where: {
                $0.isLoaded && $0.isWritable && $0.holds(addresses.lowerBound, size, upTo: $0.memorySize)
            })
        else { return false }
        return !contains { segment in
            guard segment.type == UInt32(PT_GNU_RELRO), pageSize > 0 else { return false }
            let (end, overflows) = segment.address.addingReportingOverflow(segment.memorySize)
            // Both ends are rounded down to a page, as the dynamic linker does.
            let first = segment.address - segment.address % pageSize
            return !overflows && first < end - end % pageSize
                && addresses.overlaps(first..<end - end % pageSize)
        }
    }
}

/// The contents of the notes of an image, see `RecordFormat.md`. `images.c` reads those of the images of a running process.
package struct ImageNotes: Sendable {
    /// The linker's id of this very build.
    package private(set) var buildID: [UInt8]?
    /// The addresses between which the records are, before the image is moved.
    package private(set) var records: Range<UInt64>?
    /// Whether the image is, or contains, the Tweaks library.
    package private(set) var hasLibrary = false
    /// What the image calls the program that it is in.
    package private(set) var application: String?

    package init() {}

    /// Reads the notes of a segment.
    ///
    /// A note is the sizes of its name and its content, its type, the name and the content, both padded to 4 bytes. A note of
    /// properties in a segment aligned to 8 is padded to 8: gABI and the x86 psABI. mold puts others behind it into the same
    /// segment, which keep their 4. A note that does not fit ends them.
    package mutating func read(_ bytes: RawSpan, of segment: ImageSegment, is64Bit: Bool, _ order: ByteOrder)
    {
        var offset = 0
        while let nameSize: UInt32 = bytes.number(at: offset, order),
            let contentSize: UInt32 = bytes.number(at: offset + 4, order),
            let type: UInt32 = bytes.number(at: offset + 8, order)
        {
            let isOfProperties = type == UInt32(NT_GNU_PROPERTY_TYPE_0) && nameSize == 4
            let padding = segment.alignment == 8 && isOfProperties ? 8 : 4
            // Three times 32 bits more than an offset, so there is no overflow.
            let name = offset + 12
            let start = (name + Int(nameSize) + padding - 1) & -padding
            let end = start + Int(contentSize)
            guard end <= bytes.byteCount else { return }
            offset = (end + padding - 1) & -padding
            let content = bytes.extracting(start..<end)
            let names = bytes.extracting(name..<name + Int(nameSize))
            if type == UInt32(NT_GNU_BUILD_ID), names.elementsEqual("GNU\0") {
                buildID = content.withUnsafeBytes { Array($0) }
            } else if let type = NoteType(rawValue: type), names.elementsEqual("FBTweak\0") {
                read(type, content, at: segment.address &+ UInt64(start), is64Bit: is64Bit, order)
            }
        }
    }

    private mutating func read(
        _ type: NoteType, _ content: RawSpan, at address: UInt64, is64Bit: Bool, _ order: ByteOrder
    ) {
        switch type {
        case .image:
            guard let start: Int32 = content.number(at: 0, order),
                let stop: Int32 = content.number(at: 4, order)
            else { return }
            let mask: UInt64 = is64Bit ? .max : 0xFFFF_FFFF
            // The distances are from the fields themselves.
            let first = (address &+ UInt64(bitPattern: Int64(start))) & mask
            let last = (address &+ 4 &+ UInt64(bitPattern: Int64(stop))) & mask
            if first <= last { records = first..<last }
        case .library: hasLibrary = hasLibrary || content.byteCount >= 4
        case .application:
            let text = content.withUnsafeBytes { Array($0) }
            guard application == nil, let end = text.firstIndex(of: 0) else { return }
            application = String(decoding: text[..<end], as: UTF8.self)
        }
    }
}

extension RawSpan {
    fileprivate func elementsEqual(_ text: String) -> Bool { withUnsafeBytes { $0.elementsEqual(text.utf8) } }
}
