// SPDX-License-Identifier: BSD-3-Clause
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

    /// The page size of a file that may run on any machine. With larger pages, less is read-only.
    package static let leastPageSize: UInt64 = 4096

    package var isLoaded: Bool { type == UInt32(PT_LOAD) }
    /// Whether it is readable and writable until the dynamic linker has relocated the image.
    package var isWritable: Bool { flags & UInt32(PF_R | PF_W) == UInt32(PF_R | PF_W) }

    /// The file offset of some bytes of the segment; `nil` if not all of them are in the file.
    package func fileOffset(of start: UInt64, size: UInt64) -> UInt64? {
        holds(start, size, upTo: fileSize) ? offset &+ (start - address) : nil
    }

    fileprivate func holds(_ start: UInt64, _ size: UInt64, upTo end: UInt64) -> Bool {
        start >= address && start - address <= end && size <= end - (start - address)
    }
}

extension [ImageSegment] {
    /// The content at an address, before relocation; zeros where the file has none, as for `.bss`.
    ///
    /// - Parameter read: Reads bytes of the file.
    package func content<Failure>(
        at address: UInt64, count: Int, read: (_ offset: UInt64, _ count: Int) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8]? {
        for segment in self where segment.isLoaded && address >= segment.address {
            let start = address - segment.address
            guard start < segment.memorySize, UInt64(count) <= segment.memorySize - start else { continue }
            let inFile =
                start < segment.fileSize ? Int(Swift.min(segment.fileSize - start, UInt64(count))) : 0
            let bytes = inFile > 0 ? try read(segment.offset &+ start, inFile) : []
            return bytes + [UInt8](repeating: 0, count: count - bytes.count)
        }
        return nil
    }

    /// Returns whether addresses, before relocation, can hold records: they are a multiple of 8 and can be written.
    ///
    /// `fbtweak__image_can_hold_records` does the same for the images of a running process.
    package func canHoldRecords(_ addresses: Range<UInt64>, pageSize: UInt64) -> Bool {
        addresses.lowerBound % RecordRange.alignment == 0 && canBeWritten(addresses, pageSize: pageSize)
    }

    /// Returns whether a program can write to addresses, before relocation: they are in one loaded and writable
    /// segment, and in no page that the dynamic linker makes read-only after relocation.
    package func canBeWritten(_ addresses: Range<UInt64>, pageSize: UInt64) -> Bool {
        let size = addresses.upperBound - addresses.lowerBound
        guard
            contains(where: {
                $0.isLoaded && $0.isWritable && $0.holds(addresses.lowerBound, size, upTo: $0.memorySize)
            })
        else { return false }
        return !contains { segment in
            guard segment.type == UInt32(PT_GNU_RELRO), pageSize > 0 else { return false }
            let (end, overflows) = segment.address.addingReportingOverflow(segment.memorySize)
            // Both ends are rounded down to a page, as in the dynamic linker.
            let first = segment.address - segment.address % pageSize
            return !overflows && first < end - end % pageSize
                && addresses.overlaps(first..<end - end % pageSize)
        }
    }
}

/// The notes of an image, see `RecordFormat.md`. `images.c` reads those of a running process.
package struct ImageNotes: Sendable {
    /// The build id.
    package private(set) var buildID: [UInt8]?
    /// The address of the build id, before relocation.
    package private(set) var buildIDAddress: UInt64?
    /// The address range of the records, before relocation.
    package private(set) var records: Range<UInt64>?
    /// Whether the image is, or contains, the Tweaks library.
    package private(set) var hasLibrary = false
    /// Whether the image uses the store of the process also without records: it makes tweaks or has features.
    package private(set) var usesStore = false
    /// The program's name in the image.
    package private(set) var application: String?

    package init() {}

    /// Reads the notes of a segment.
    ///
    /// A note consists of the sizes of its name and its content, its type, the name and the content, both padded to 4
    /// bytes. A property note in a segment aligned to 8 is padded to 8: gABI and the x86 psABI. mold puts other notes
    /// into the same segment, which keep their 4. Reading stops at a note that does not fit.
    package mutating func read(_ bytes: RawSpan, of segment: ImageSegment, is64Bit: Bool, _ order: ByteOrder)
    {
        var offset = 0
        while let nameSize: UInt32 = bytes.number(at: offset, order),
            let contentSize: UInt32 = bytes.number(at: offset + 4, order),
            let type: UInt32 = bytes.number(at: offset + 8, order)
        {
            let isOfProperties = type == UInt32(NT_GNU_PROPERTY_TYPE_0) && nameSize == 4
            let padding = segment.alignment == 8 && isOfProperties ? 8 : 4
            // The sum of an offset and three 32-bit numbers does not overflow.
            let name = offset + 12
            let start = (name + Int(nameSize) + padding - 1) & -padding
            let end = start + Int(contentSize)
            guard end <= bytes.byteCount else { return }
            offset = (end + padding - 1) & -padding
            let content = bytes.extracting(start..<end)
            let names = bytes.extracting(name..<name + Int(nameSize))
            if type == UInt32(NT_GNU_BUILD_ID), names.elementsEqual("GNU\0") {
                buildID = content.withUnsafeBytes { Array($0) }
                buildIDAddress = segment.address &+ UInt64(start)
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
            // Distances are relative to their own fields.
            let first = (address &+ UInt64(bitPattern: Int64(start))) & mask
            let last = (address &+ 4 &+ UInt64(bitPattern: Int64(stop))) & mask
            if first <= last { records = first..<last }
        case .library: hasLibrary = hasLibrary || content.byteCount >= 4
        case .variables: break
        case .use: usesStore = true
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
