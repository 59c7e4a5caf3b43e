internal import CLibELF
internal import Glibc
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
    /// The number of its section; `nil` if a note tells where it is.
    public var section: Int?
}

/// Why a section has the name of those with records, and cannot hold any.
public struct UnusableSection: Hashable, Sendable {
    /// Its number.
    public let section: Int
    /// What is wrong with it.
    public let reason: String
}

extension UnusableSection: CustomStringConvertible {
    /// The section and the reason, on one line.
    public var description: String { "section \(section), \(recordSectionName): \(reason)" }
}

extension ELFObject {
    /// More would be a million tweaks, or a file made to fill our memory.
    private static let mostBytes: UInt64 = 256 << 20

    /// Where the records are: from the section headers, or in a file without any from the FBTweak note.
    ///
    /// An object file has a section for each tweak if the compiler was told so, a linked one usually has one. No byte is
    /// in two of them, so to read all of them takes no longer than to read the file.
    ///
    /// - Parameter note: Is told of sections of that name that cannot hold records, and are left out.
    /// - Throws: ``ELFError/broken(path:reason:)`` if the headers contradict the file, or sections overlap;
    ///   ``ELFError/skipped(path:reason:)`` for a file that has only the debug information of another one.
    public func recordRanges(
        noting note: (UnusableSection) -> Void = { _ in }
    ) throws(ELFError) -> [RecordRange] {
        let ranges =
            hasSectionHeaders
            ? try recordSections(noting: note) : try notes().records.flatMap(fileRange).map { [$0] } ?? []
        var total: UInt64 = 0
        var last: RecordRange?
        for range in ranges.sorted(by: { $0.offset < $1.offset }) where range.size > 0 {
            try checkBounds(offset: range.offset, count: range.size, of: "section \(recordSectionName)")
            // The last one has passed the check too, so it ends inside.
            if let last, last.offset + last.size > range.offset {
                let numbers = [last, range].compactMap(\.section).sorted().map { "\($0)" }
                throw broken(
                    "sections \(numbers.joined(separator: " and ")), both \(recordSectionName), overlap at offset"
                        + " \(range.offset)")
            }
            last = range
            // All are in the file, and none is in another.
            total += range.size
            guard total <= Self.mostBytes else {
                throw broken(
                    "section \(recordSectionName) has \(total) bytes or more; at most \(Self.mostBytes) are read"
                )
            }
        }
        return ranges
    }

    /// The bytes of one range.
    ///
    /// - Throws: ``ELFError/broken(path:reason:)`` if the file is shorter than its headers say.
    public func bytes(of range: RecordRange) throws(ELFError) -> [UInt8] {
        try bytes(at: range.offset, count: range.size, of: "section \(recordSectionName)")
    }

    /// Decodes the records of one range.
    ///
    /// - Throws: ``ELFError/broken(path:reason:)`` if the file is shorter than its headers say.
    public func records(in range: RecordRange) throws(ELFError) -> RecordSection {
        let bytes = try bytes(of: range)
        return RecordSection(bytes.span.bytes, byteOrder: byteOrder)
    }

    /// The linker's id of this very build, if it wrote one.
    public func buildID() throws(ELFError) -> [UInt8]? { try notes().buildID }

    /// Whether an image in memory was loaded from this very file, and not from another one of the same name.
    ///
    /// - Parameters:
    ///   - file: The file of the object.
    ///   - buildID: The build id in memory.
    ///   - header: The first bytes in memory, which tell if there are no build ids.
    package func isSource(
        in file: ELFFile, of buildID: (some Sequence<UInt8>)?, header: some Collection<UInt8>
    ) throws(ELFError) -> Bool {
        switch (try self.buildID(), buildID) {
        case (let own?, let other?): return own.elementsEqual(other)
        case (nil, nil):
            return headerSize <= header.count
                && file.bytes(at: 0, count: headerSize).elementsEqual(header.prefix(headerSize))
        default: return false
        }
    }

    /// What the object calls the program that it is in; `nil` if it says nothing.
    public func application() throws(ELFError) -> String? { try notes().application }

    /// Whether the library is in the object: it is libtweaks.so, or a program that has the library inside.
    package func hasLibrary() throws(ELFError) -> Bool { try notes().hasLibrary }

    private func recordSections(noting note: (UnusableSection) -> Void) throws(ELFError) -> [RecordRange] {
        let wanted = Array(recordSectionName.utf8) + [0]
        // Read when the first section needs them, and once.
        var names: [UInt8] = []
        var segments: [ImageSegment]?
        var ranges: [RecordRange] = []
        try forEachSection { (section, index) throws(ELFError) in
            let isEmptied = isLinked && section.sh_type == UInt32(SHT_NOBITS)
            guard isEmptied || section.sh_type == UInt32(SHT_PROGBITS) else { return }
            if names.isEmpty { names = try sectionNames() }
            guard section.sh_name < names.count else {
                throw broken("section \(index): its name is beyond the names of sections")
            }
            guard names[Int(section.sh_name)...].starts(with: wanted) else { return }
            guard !isEmptied else {
                throw .skipped(
                    path: path, reason: "a separate debug file; the tweaks are in the file that it belongs to"
                )
            }
            try checkBounds(
                offset: section.sh_offset, count: section.sh_size, of: "section \(recordSectionName)")
            if segments == nil { segments = try loadedSegments() }
            if let reason = unusability(of: section, in: segments ?? []) {
                return note(UnusableSection(section: index, reason: reason))
            }
            ranges.append(
                RecordRange(
                    address: section.sh_addr, offset: section.sh_offset, size: section.sh_size, section: index
                ))
        }
        return ranges
    }

    /// Why a section can hold no cells that a program reads and writes; `nil` if it can.
    private func unusability(of section: GElf_Shdr, in segments: [ImageSegment]) -> String? {
        let has = { (flag: Int32) in section.sh_flags & UInt64(flag) != 0 }
        if has(SHF_TLS) { return "it is thread-local" }
        if !has(SHF_ALLOC) { return "it is not loaded" }
        if !has(SHF_WRITE) { return "it cannot be written" }
        if has(SHF_COMPRESSED) { return "it is compressed" }
        guard isLinked, section.sh_size > 0 else { return nil }
        let isInside = segments.contains {
            $0.isWritable && $0.fileOffset(of: section.sh_addr, size: section.sh_size) == section.sh_offset
        }
        if !isInside { return "it is not inside a segment that is loaded and can be written" }
        return section.sh_addr % RecordRange.alignment == 0
            ? nil : "its address is not a multiple of \(RecordRange.alignment)"
    }

    /// The names of all sections, one after the other.
    private func sectionNames() throws(ELFError) -> [UInt8] {
        var index = 0
        var header = GElf_Shdr()
        guard elf_getshdrstrndx(elf, &index) == 0, gelf_getshdr(elf_getscn(elf, index), &header) != nil else {
            throw broken(ELFFile.lastError())
        }
        return try strings(of: header, index)
    }

    /// The texts of a section that has such.
    func strings(of section: GElf_Shdr, _ index: Int) throws(ELFError) -> [UInt8] {
        guard section.sh_type == UInt32(SHT_STRTAB) else {
            throw broken("section \(index) is not a table of texts")
        }
        guard section.sh_size <= Self.mostBytes else {
            throw broken("section \(index) has \(section.sh_size) bytes; at most \(Self.mostBytes) are read")
        }
        return try bytes(at: section.sh_offset, count: section.sh_size, of: "section \(index)")
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

extension RecordRange {
    /// What the address of a record is a multiple of, in a process.
    static let alignment: UInt64 = 8
}

extension ELFObject {
    /// More notes are those of a core file, or made to take our time.
    private static let mostNotes: UInt64 = 1 << 20

    /// About as many as the kernel takes.
    private static let mostSegments = 1024

    func notes() throws(ELFError) -> ImageNotes {
        var notes = ImageNotes()
        var total: UInt64 = 0
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.type == UInt32(PT_NOTE), segment.fileSize <= Self.mostNotes - total else { return }
            // The condition keeps it below the most.
            total += segment.fileSize
            let bytes = try bytes(at: segment.offset, count: segment.fileSize, of: "a segment with notes")
            notes.read(bytes.span.bytes, of: segment, is64Bit: is64Bit, byteOrder)
        }
        return notes
    }

    /// Where addresses of the object are in its file; `nil` if they are in no loadable segment that can be written.
    func fileRange(_ addresses: Range<UInt64>) throws(ELFError) -> RecordRange? {
        let size = addresses.upperBound - addresses.lowerBound
        for segment in try loadedSegments() where segment.isWritable {
            if let offset = segment.fileOffset(of: addresses.lowerBound, size: size) {
                return RecordRange(address: addresses.lowerBound, offset: offset, size: size)
            }
        }
        return nil
    }

    /// The segments that are in memory when the object is loaded.
    func loadedSegments() throws(ELFError) -> [ImageSegment] {
        var segments: [ImageSegment] = []
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.isLoaded else { return }
            guard segments.count < Self.mostSegments else {
                throw broken("more than \(Self.mostSegments) segments are loaded")
            }
            segments.append(segment)
        }
        return segments
    }

    /// The dynamic linker that the kernel starts the program with; `nil` if it is linked statically, or no program.
    package func dynamicLinker() throws(ELFError) -> String? {
        var linker: String?
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.type == UInt32(PT_INTERP), linker == nil else { return }
            let bytes = try bytes(
                at: segment.offset, count: min(segment.fileSize, UInt64(PATH_MAX)),
                of: "the name of the dynamic linker")
            linker = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return linker
    }

    private func forEachSegment(_ body: (ImageSegment) throws(ELFError) -> Void) throws(ELFError) {
        var count = 0
        guard elf_getphdrnum(elf, &count) == 0 else { throw broken(ELFFile.lastError()) }
        for index in 0..<max(0, count) {
            var segment = GElf_Phdr()
            guard gelf_getphdr(elf, CInt(clamping: index), &segment) != nil else {
                throw broken("program header \(index): \(ELFFile.lastError())")
            }
            try body(
                ImageSegment(
                    type: segment.p_type, flags: segment.p_flags, offset: segment.p_offset,
                    address: segment.p_vaddr, fileSize: segment.p_filesz, memorySize: segment.p_memsz,
                    alignment: segment.p_align))
        }
    }
}
