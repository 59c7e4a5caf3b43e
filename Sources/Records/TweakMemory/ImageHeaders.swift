// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakELF
package import TweakRecords

/// The program headers and notes of an executable or library, from memory or its file.
package struct ImageHeaders: Sendable {
    package let is64Bit: Bool
    package let byteOrder: ByteOrder
    /// The kind of file and the machine, as in elf(5).
    package let type, machine: UInt16
    package let segments: [ImageSegment]
    /// The size of the headers, from the start.
    package let byteCount: Int
    package private(set) var notes = ImageNotes()
}

extension ImageHeaders {
    /// The number of bytes to read first, which nearly always suffices.
    static let usualBytes = 4096
    /// The limit for loaded images.
    private static let mostSegments = 1024
    private static let mostNotes: UInt64 = 1 << 20

    /// Reads headers.
    ///
    /// - Parameters:
    ///   - start: The first bytes, at least the ELF header.
    ///   - readTable: Reads bytes at an offset of the file: the program headers, which tools that rewrite programs move to
    ///     the end.
    ///   - read: Reads a segment, from its file or from memory.
    /// - Returns: `nil` if they are not the headers of an image.
    package init?(
        _ start: [UInt8], readTable: (_ offset: UInt64, _ count: Int) -> [UInt8]?,
        read: (ImageSegment) -> [UInt8]?
    ) {
        let bytes = start.span.bytes
        guard start.starts(with: [0x7F, 0x45, 0x4C, 0x46]), let format = ELFFormat(start),
            let header = format.header(in: bytes),
            Int32(header.type) == ET_EXEC || Int32(header.type) == ET_DYN,
            header.segmentCount > 0, header.segmentCount <= Self.mostSegments,
            header.segmentSize == format.segmentSize
        else { return nil }
        let tableSize = header.segmentCount * format.segmentSize
        let isNear = header.segments <= UInt64(start.count) && tableSize <= start.count - Int(header.segments)
        let distant = isNear ? [] : readTable(header.segments, tableSize)
        guard let distant, isNear || distant.count == tableSize else { return nil }
        var segments: [ImageSegment] = []
        for index in 0..<header.segmentCount {
            let offset = index * format.segmentSize
            let segment =
                isNear
                ? format.segment(in: bytes, at: Int(header.segments) + offset)
                : format.segment(in: distant.span.bytes, at: offset)
            guard let segment else { return nil }
            segments.append(segment)
        }
        (is64Bit, byteOrder, type, machine) = (format.is64Bit, format.byteOrder, header.type, header.machine)
        self.segments = segments
        byteCount = isNear ? max(format.headerSize, Int(header.segments) + tableSize) : format.headerSize

        var total: UInt64 = 0
        for segment in segments where segment.type == UInt32(PT_NOTE) {
            guard segment.fileSize <= Self.mostNotes - total else { continue }
            total += segment.fileSize
            if segment.offset <= UInt64(start.count), segment.fileSize <= UInt64(start.count) - segment.offset
            {
                let range = Int(segment.offset)..<Int(segment.offset + segment.fileSize)
                self.notes.read(bytes.extracting(range), of: segment, is64Bit: is64Bit, byteOrder)
            } else if let notes = read(segment) {
                self.notes.read(notes.span.bytes, of: segment, is64Bit: is64Bit, byteOrder)
            }
        }
    }

    /// The load bias, from the address of the file's first bytes.
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

    /// The file offset of addresses; `nil` if they are not in one segment of the file.
    package func fileOffset(of addresses: Range<UInt64>) -> UInt64? {
        segments.lazy.filter(\.isLoaded).compactMap {
            $0.fileOffset(of: addresses.lowerBound, size: addresses.size)
        }.first
    }
}

// MARK: - The format

/// The sizes and offsets of the headers for a class and byte order. Source: elf(5).
struct ELFFormat {
    let is64Bit: Bool
    let byteOrder: ByteOrder

    struct Header {
        let type, machine: UInt16
        let segments: UInt64
        let segmentSize, segmentCount: Int
        /// The offset of the section headers: the first has the number of segments if that is too large for the ELF
        /// header.
        let sections: UInt64
    }

    /// - Parameter start: The start of a file.
    /// - Returns: `nil` if the class or byte order is invalid.
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

    /// A number of the size of an address.
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

    func segment(in bytes: RawSpan, at offset: Int) -> ImageSegment? {
        let word = wordSize
        guard let type: UInt32 = bytes.number(at: offset, byteOrder),
            let flags: UInt32 = bytes.number(at: offset + (is64Bit ? 4 : 24), byteOrder),
            let place = self.word(in: bytes, at: offset + word),
            let address = self.word(in: bytes, at: offset + 2 * word),
            let fileSize = self.word(in: bytes, at: offset + 4 * word),
            let memorySize = self.word(in: bytes, at: offset + 5 * word),
            let alignment = self.word(in: bytes, at: offset + (is64Bit ? 48 : 28))
        else { return nil }
        return ImageSegment(
            type: type, flags: flags, offset: place, address: address, fileSize: fileSize,
            memorySize: memorySize,
            alignment: alignment)
    }
}
