// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
internal import Glibc
internal import TweakRecords
internal import TweakSystem

/// The file of an image of this process, read without libelf.
///
/// A process with tweaks looks into the files of all its images when it starts, and libelf would take more time and
/// memory than the rest of that. Only 64-bit files in the byte order of this machine are read.
package final class LoadedFile {
    private let descriptor: CInt
    private let byteCount: UInt64
    /// The first bytes, with the headers and in most files the notes.
    private let start: [UInt8]
    private let header: Elf64_Ehdr
    private var segments: [ImageSegment] = []

    private static let startSize = 4096

    /// Opens a file.
    ///
    /// - Returns: `nil` if it cannot be read, or is not an executable or a library.
    package init?(path: String) {
        // Only regular files are opened, because opening some devices has side effects.
        guard let before = stat(path: path), before.isRegularFile else { return nil }
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.isRegularFile
        let start = isRegular ? ELFFile.bytes(of: descriptor, at: 0, count: Self.startSize) : []
        guard let header: Elf64_Ehdr = start.structure(at: 0), header.isOfThisMachine else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        byteCount = UInt64(status.st_size)
        self.start = start
        self.header = header

        let size = MemoryLayout<Elf64_Phdr>.size
        guard header.e_phnum <= ELFObject.mostSegments,
            let table = bytes(at: header.e_phoff, count: UInt64(header.e_phnum) * UInt64(size))
        else { return nil }
        var offset = 0
        while let segment: Elf64_Phdr = table.structure(at: offset) {
            segments.append(ImageSegment(segment))
            offset += size
        }
    }

    deinit { close(descriptor) }

    /// Returns whether an image in memory was loaded from this file, as ``ELFObject/isSource(in:of:header:)`` does.
    package func isSource(of buildID: [UInt8]?, header memory: RawSpan) -> Bool {
        var notes = ImageNotes()
        var rest = ELFObject.mostNotes
        for segment in segments where segment.type == UInt32(PT_NOTE) && segment.fileSize <= rest {
            rest -= segment.fileSize
            guard let bytes = bytes(at: segment.offset, count: segment.fileSize) else { return false }
            notes.read(bytes.span.bytes, of: segment, is64Bit: true, .native)
        }
        guard notes.buildID == nil, buildID == nil else { return notes.buildID == buildID }
        let (size, overflows) = header.e_phoff.addingReportingOverflow(
            UInt64(segments.count * MemoryLayout<Elf64_Phdr>.size))
        guard !overflows, size <= UInt64(memory.byteCount), let own = bytes(at: 0, count: size) else {
            return false
        }
        return memory.withUnsafeBytes { $0.starts(with: own) }
    }

    /// The addresses of the records in the file, as ``ELFObject/recordRanges(noting:)`` finds them.
    ///
    /// - Returns: `nil` if the section headers are inconsistent with the file.
    package func recordRanges() -> [Range<UInt>]? {
        guard let sections = sections(), let names = names(sections) else { return nil }
        let wanted = Array(recordSectionName.utf8) + [0]
        var ranges: [Range<UInt>] = []
        var total: UInt64 = 0
        var offset = 0
        while let section: Elf64_Shdr = sections.structure(at: offset) {
            offset += MemoryLayout<Elf64_Shdr>.size
            let isEmptied = section.sh_type == UInt32(SHT_NOBITS)
            guard isEmptied || section.sh_type == UInt32(SHT_PROGBITS) else { continue }
            guard section.sh_name < names.count else { return nil }
            guard names[Int(section.sh_name)...].starts(with: wanted) else { continue }
            // The file has the debug information of another one.
            guard !isEmptied, holds(section.sh_offset, section.sh_size) else { return nil }
            let (end, overflows) = section.sh_addr.addingReportingOverflow(section.sh_size)
            guard section.sh_size > 0, !overflows,
                section.unusability(isLinked: true, in: segments.filter { $0.isLoaded }) == nil
            else { continue }
            let range = UInt(section.sh_addr)..<UInt(end)
            // All are inside the file, so the sum does not overflow if none overlap.
            guard !ranges.contains(where: range.overlaps) else { return nil }
            ranges.append(range)
            total += section.sh_size
        }
        return total <= ELFObject.mostBytes ? ranges : nil
    }

    // Structures are read one by one, because the metadata of an array of them takes longer to make than all the rest.

    /// The table of section headers; `nil` if there is none.
    private func sections() -> [UInt8]? {
        let size = MemoryLayout<Elf64_Shdr>.size
        guard header.e_shoff > 0, Int(header.e_shentsize) == size else { return nil }
        var count = UInt64(header.e_shnum)
        if count == 0 {
            // The first header has a number that does not fit.
            guard let first = bytes(at: header.e_shoff, count: UInt64(size)),
                let section: Elf64_Shdr = first.structure(at: 0)
            else { return nil }
            count = section.sh_size
        }
        guard count > 0, count <= ELFObject.mostBytes else { return nil }
        return bytes(at: header.e_shoff, count: count * UInt64(size))
    }

    /// The names of all sections, as one table.
    private func names(_ sections: [UInt8]) -> [UInt8]? {
        var number = UInt32(header.e_shstrndx)
        if number == UInt32(SHN_XINDEX) {
            let first: Elf64_Shdr? = sections.structure(at: 0)
            number = first?.sh_link ?? 0
        }
        guard let table: Elf64_Shdr = sections.structure(at: Int(number) * MemoryLayout<Elf64_Shdr>.size),
            table.sh_type == UInt32(SHT_STRTAB)
        else { return nil }
        return bytes(at: table.sh_offset, count: table.sh_size)
    }

    private func holds(_ offset: UInt64, _ count: UInt64) -> Bool {
        offset <= byteCount && count <= byteCount - offset
    }

    /// Reads bytes; `nil` if the file does not have all of them, or they are too many.
    private func bytes(at offset: UInt64, count: UInt64) -> [UInt8]? {
        guard holds(offset, count), count <= ELFObject.mostBytes else { return nil }
        if offset + count <= UInt64(start.count) {
            return Array(start[Int(offset)..<Int(offset + count)])
        }
        let bytes = ELFFile.bytes(of: descriptor, at: Int(offset), count: Int(count))
        return bytes.count == Int(count) ? bytes : nil
    }
}

extension Elf64_Ehdr {
    /// Whether it begins an executable or a library for this kind of machine.
    fileprivate var isOfThisMachine: Bool {
        let data = ByteOrder.native == .little ? ELFDATA2LSB : ELFDATA2MSB
        return (e_ident.0, e_ident.1, e_ident.2, e_ident.3) == (0x7F, 0x45, 0x4C, 0x46)
            && e_ident.4 == UInt8(ELFCLASS64) && e_ident.5 == UInt8(data)
            && (e_type == UInt16(ET_EXEC) || e_type == UInt16(ET_DYN))
            && Int(e_phentsize) == MemoryLayout<Elf64_Phdr>.size
    }
}

extension [UInt8] {
    /// A structure of C in the byte order of this machine; `nil` if it does not end before the bytes do.
    fileprivate func structure<Structure: BitwiseCopyable>(at offset: Int) -> Structure? {
        guard offset >= 0, offset <= count, MemoryLayout<Structure>.size <= count - offset else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Structure.self) }
    }
}
