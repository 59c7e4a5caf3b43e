internal import CLibELF
public import TweakRecords

/// The name of the section that holds records.
public let recordSectionName = "fbtweak"

/// A part of an object that holds records.
public struct RecordRange: Hashable, Sendable {
    /// Its address in the object; 0 in an object file. In a process the load bias is added.
    public var address: UInt64
    /// Its place in the file.
    public var offset: UInt64
    /// Its size in bytes.
    public var size: UInt64
}

extension ELFObject {
    /// More would be a million tweaks, or a file made to fill our memory.
    private static let largestRange: UInt64 = 256 << 20

    /// Where the records are: from the section headers, or in a file without any from the FBTweak note.
    ///
    /// An object file has a section for each tweak if the compiler was told so, a linked one usually has one.
    ///
    /// - Throws: ``ELFError/broken(path:reason:)`` if the headers contradict the file.
    public func recordRanges() throws(ELFError) -> [RecordRange] {
        let ranges =
            hasSectionHeaders
            ? try recordSections() : try notes().bounds.flatMap(fileRange).map { [$0] } ?? []
        for range in ranges {
            guard range.offset <= UInt64(byteCount), range.size <= UInt64(byteCount) - range.offset else {
                throw broken(
                    "section \(recordSectionName), \(range.size) bytes at offset \(range.offset), is beyond its end"
                        + " at \(byteCount)")
            }
            guard range.size <= Self.largestRange else {
                throw broken(
                    "section \(recordSectionName) has \(range.size) bytes; at most \(Self.largestRange) are read"
                )
            }
        }
        return ranges
    }

    /// Decodes the records of one range.
    ///
    /// - Throws: ``ELFError/broken(path:reason:)`` if the file is shorter than its headers say.
    public func records(in range: RecordRange) throws(ELFError) -> RecordSection {
        guard range.size > 0 else { return RecordSection(RawSpan(), byteOrder: byteOrder) }
        guard
            let data = elf_getdata_rawchunk(elf, Int64(clamping: range.offset), Int(range.size), ELF_T_BYTE),
            let bytes = data.pointee.d_buf
        else { throw broken(ELFFile.lastError()) }
        return RecordSection(
            UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size).bytes, byteOrder: byteOrder)
    }

    /// The linker's id of this very build, if it wrote one.
    public func buildID() throws(ELFError) -> [UInt8]? { try notes().buildID }

    private func recordSections() throws(ELFError) -> [RecordRange] {
        var nameTable = 0
        guard elf_getshdrstrndx(elf, &nameTable) == 0 else { throw broken(ELFFile.lastError()) }
        var ranges: [RecordRange] = []
        try forEachSection { (section, index) throws(ELFError) in
            guard section.sh_type == UInt32(SHT_PROGBITS) else { return }
            guard let name = elf_strptr(elf, nameTable, Int(section.sh_name)) else {
                throw broken("section \(index): \(ELFFile.lastError())")
            }
            if String(cString: name) == recordSectionName {
                ranges.append(
                    RecordRange(address: section.sh_addr, offset: section.sh_offset, size: section.sh_size))
            }
        }
        return ranges
    }

    func forEachSection(_ body: (GElf_Shdr, Int) throws(ELFError) -> Void) throws(ELFError) {
        var section: OpaquePointer?
        while let next = elf_nextscn(elf, section) {
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil else {
                throw broken("section \(elf_ndxscn(next)): \(ELFFile.lastError())")
            }
            try body(header, elf_ndxscn(next))
            section = next
        }
    }
}
