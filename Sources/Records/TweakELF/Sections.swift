// SPDX-License-Identifier: BSD-3-Clause
package import CLibELF
internal import Glibc
internal import TweakRecords

/// The name of the section that holds records.
package let recordSectionName = "fbtweak"

/// A part of an object that holds records.
package struct RecordRange: Hashable, Sendable {
    /// The address in the object; 0 in an object file. In a process the load bias is added.
    package var address: UInt64
    /// The offset in the file.
    package var offset: UInt64
    /// The size in bytes.
    package var size: UInt64
    /// The index of the section; `nil` if a note locates the records.
    package var section: Int?
}

/// A section with the name of the record section that cannot hold records.
package struct UnusableSection: Hashable, Sendable {
    /// The section's index.
    package let section: Int
    /// The problem.
    package let reason: String
}

extension UnusableSection: CustomStringConvertible {
    /// The section and the reason, on one line.
    package var description: String { "section \(section), \(recordSectionName): \(reason)" }
}

extension ELFObject {
    /// A limit of a million tweaks, and of what is searched and summed up, against files made to exhaust memory.
    static let mostBytes: UInt64 = 256 << 20

    /// Locates the records: by the section headers, or without any by the FBTweak note.
    ///
    /// An object file may have one section per tweak if so compiled; a linked file usually has one in total. Sections
    /// do not overlap, so reading all of them takes no longer than reading the file.
    ///
    /// - Parameter note: Called for sections of that name that cannot hold records and are skipped.
    /// - Throws: ``ELFError/broken(path:reason:)`` if the headers are inconsistent with the file, or sections overlap;
    ///   ``ELFError/debugOnly(path:)`` for a file that contains only the debug information of another one,
    ///   ``ELFError/core(path:)`` for a core.
    package func recordRanges(
        noting note: (UnusableSection) -> Void = { _ in }
    ) throws(ELFError) -> [RecordRange] {
        guard !isCore else { throw .core(path: path) }
        let ranges =
            hasSectionHeaders
            ? try recordSections(noting: note) : try notes().records.flatMap(fileRange).map { [$0] } ?? []
        var total: UInt64 = 0
        var last: RecordRange?
        for range in ranges.sorted(by: { $0.offset < $1.offset }) where range.size > 0 {
            try checkBounds(offset: range.offset, count: range.size, of: "section \(recordSectionName)")
            // The last range has passed the check, too, so its end does not overflow.
            if let last, last.offset + last.size > range.offset {
                let numbers = [last, range].compactMap { $0.section }.sorted().map { "\($0)" }
                throw broken(
                    "sections \(numbers.joined(separator: " and ")), both \(recordSectionName), overlap at offset"
                        + " \(range.offset)")
            }
            last = range
            // All ranges are inside the file, and none overlap.
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
    /// - Throws: ``ELFError/broken(path:reason:)`` if the file is shorter than in its headers.
    package func bytes(of range: RecordRange) throws(ELFError) -> [UInt8] {
        try bytes(at: range.offset, count: range.size, of: "section \(recordSectionName)")
    }

    /// The build id, or `nil`.
    package func buildID() throws(ELFError) -> [UInt8]? { try notes().buildID }

    /// What tells this build from others: the build id; without one, the checksum that elfutils computes from everything
    /// that stripping keeps, if it has at most 256 MiB. `nil` if there is neither.
    package func identity() throws(ELFError) -> [UInt8]? {
        if let id = try buildID(), !id.isEmpty { return id }
        guard isLinked, hasSectionHeaders, byteCount <= Self.mostBytes else { return nil }
        let sum = gelf_checksum(elf)
        guard sum != -1 else { return nil }
        return withUnsafeBytes(of: UInt32(truncatingIfNeeded: sum).bigEndian) { Array($0) }
    }

    /// The number of bytes of a checksum, which a build id rarely has.
    package static var checksumSize: Int { MemoryLayout<UInt32>.size }

    /// Returns whether an image in memory was loaded from this file, and not from another one at the same path.
    ///
    /// - Parameters:
    ///   - file: The file of the object.
    ///   - buildID: The build id in memory.
    ///   - header: The first bytes in memory, compared if there are no build ids.
    package func isSource(
        in file: ELFFile, of buildID: [UInt8]?, header: RawSpan
    ) throws(ELFError) -> Bool {
        let own = try self.buildID()
        guard own == nil, buildID == nil else { return own == buildID }
        return headerSize <= header.byteCount
            && file.bytes(at: 0, count: headerSize) == header.withUnsafeBytes { Array($0[..<headerSize]) }
    }

    /// The program's name in the object, or `nil`.
    package func application() throws(ELFError) -> String? { try notes().application }

    /// Returns whether the object contains the library, as libtweaks.so and some programs do.
    package func hasLibrary() throws(ELFError) -> Bool { try notes().hasLibrary }

    /// Returns whether code in the object uses the store of the process, with or without records.
    package func usesStore() throws(ELFError) -> Bool {
        if isLinked { return try notes().usesStore }
        var sections: [ImageSegment] = []
        try forEachSection { (section, _) throws(ELFError) in
            guard section.sh_type == UInt32(SHT_NOTE) else { return }
            sections.append(
                ImageSegment(
                    type: UInt32(PT_NOTE), flags: UInt32(PF_R), offset: section.sh_offset,
                    address: section.sh_addr, fileSize: section.sh_size, memorySize: section.sh_size,
                    alignment: section.sh_addralign))
        }
        return try notes(in: sections).usesStore
    }

    private func recordSections(noting note: (UnusableSection) -> Void) throws(ELFError) -> [RecordRange] {
        let wanted = Array(recordSectionName.utf8) + [0]
        // Read once, when the first section needs them.
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
                throw .debugOnly(path: path)
            }
            try checkBounds(
                offset: section.sh_offset, count: section.sh_size, of: "section \(recordSectionName)")
            if segments == nil { segments = try loadedSegments() }
            // GCC leaves an empty one in object files in C++, without flags.
            if section.sh_size > 0,
                let reason = section.unusability(isLinked: isLinked, in: segments ?? [])
            {
                return note(UnusableSection(section: index, reason: reason))
            }
            ranges.append(
                RecordRange(
                    address: section.sh_addr, offset: section.sh_offset, size: section.sh_size, section: index
                ))
        }
        return ranges
    }

    /// Whether this is an object file with code that only the linker compiles: GCC's intermediate code, and no other.
    ///
    /// Source: `lto-streamer.h` of GCC, `struct lto_section`, and `elf.c` of GNU binutils, which reads it alike.
    func isUncompiled() throws(ELFError) -> Bool {
        guard !isLinked, hasSectionHeaders else { return false }
        let flagged = Array(".gnu.lto_.lto.".utf8)
        var names: [UInt8] = []
        var isUncompiled = false
        try forEachSection { (section, index) throws(ELFError) in
            guard section.sh_type == UInt32(SHT_PROGBITS), !isUncompiled else { return }
            if names.isEmpty { names = try sectionNames() }
            guard section.sh_name < names.count else { return }
            guard names[Int(section.sh_name)...].starts(with: flagged) else { return }
            // Two versions with 16 bits, then the flag.
            let start = try bytes(
                at: section.sh_offset, count: min(section.sh_size, 5), of: "section \(index)")
            isUncompiled = start.count < 5 || start[4] != 0
        }
        return isUncompiled
    }

    /// The names of all sections, as one table.
    private func sectionNames() throws(ELFError) -> [UInt8] {
        var index = 0
        var header = GElf_Shdr()
        guard elf_getshdrstrndx(elf, &index) == 0, gelf_getshdr(elf_getscn(elf, index), &header) != nil else {
            throw broken(ELFFile.lastError())
        }
        return try strings(of: header, index)
    }

    /// The content of a string table.
    func strings(of section: GElf_Shdr, _ index: Int) throws(ELFError) -> [UInt8] {
        guard section.sh_type == UInt32(SHT_STRTAB) else {
            throw broken("section \(index) is not a string table")
        }
        guard section.sh_size <= Self.mostBytes else {
            throw broken("section \(index) has \(section.sh_size) bytes; at most \(Self.mostBytes) are read")
        }
        return try bytes(at: section.sh_offset, count: section.sh_size, of: "section \(index)")
    }

    package func forEachSection(_ body: (GElf_Shdr, Int) throws(ELFError) -> Void) throws(ELFError) {
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

extension GElf_Shdr {
    /// The reason why the section cannot hold cells of a running program, or `nil`.
    func unusability(isLinked: Bool, in segments: [ImageSegment]) -> String? {
        let has = { (flag: Int32) in sh_flags & UInt64(flag) != 0 }
        if has(SHF_TLS) { return "it is thread-local" }
        if !has(SHF_ALLOC) { return "it is not loaded" }
        if !has(SHF_WRITE) { return "it is not writable" }
        if has(SHF_COMPRESSED) { return "it is compressed" }
        guard isLinked, sh_size > 0 else { return nil }
        let isInside = segments.contains {
            $0.isWritable && $0.fileOffset(of: sh_addr, size: sh_size) == sh_offset
        }
        if !isInside { return "it is not inside a loaded, writable segment" }
        return sh_addr % RecordRange.alignment == 0
            ? nil : "its address is not a multiple of \(RecordRange.alignment)"
    }
}

extension RecordRange {
    /// The alignment of a record in a process.
    static let alignment: UInt64 = 8
}

extension ELFObject {
    /// A limit: files with more notes are cores, or made to waste time.
    static let mostNotes: UInt64 = 1 << 20

    /// About the kernel's limit.
    static let mostSegments = 1024

    func notes() throws(ELFError) -> ImageNotes {
        var segments: [ImageSegment] = []
        try forEachSegment { (segment) throws(ELFError) in
            if segment.type == UInt32(PT_NOTE) { segments.append(segment) }
        }
        return try notes(in: segments)
    }

    private func notes(in segments: [ImageSegment]) throws(ELFError) -> ImageNotes {
        var notes = ImageNotes()
        var total: UInt64 = 0
        for segment in segments where segment.fileSize <= Self.mostNotes - total {
            // The condition keeps the sum below the limit.
            total += segment.fileSize
            let bytes = try bytes(at: segment.offset, count: segment.fileSize, of: "a segment with notes")
            notes.read(bytes.span.bytes, of: segment, is64Bit: is64Bit, byteOrder)
        }
        return notes
    }

    /// The location in the file of an address range; `nil` if it is not in a loaded, writable segment.
    func fileRange(_ addresses: Range<UInt64>) throws(ELFError) -> RecordRange? {
        let size = addresses.upperBound - addresses.lowerBound
        for segment in try loadedSegments() where segment.isWritable {
            if let offset = segment.fileOffset(of: addresses.lowerBound, size: size) {
                return RecordRange(address: addresses.lowerBound, offset: offset, size: size)
            }
        }
        return nil
    }

    /// The segments that are mapped when the object is loaded.
    ///
    /// - Parameter withRelocated: Whether to add those that are read-only after relocation.
    func loadedSegments(withRelocated: Bool = false) throws(ELFError) -> [ImageSegment] {
        var segments: [ImageSegment] = []
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.isLoaded || withRelocated && segment.type == UInt32(PT_GNU_RELRO) else { return }
            guard segments.count < Self.mostSegments else {
                throw broken("more than \(Self.mostSegments) segments are loaded")
            }
            segments.append(segment)
        }
        return segments
    }

    /// The program's dynamic linker; `nil` if it is static or not a program.
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

    func forEachSegment(_ body: (ImageSegment) throws(ELFError) -> Void) throws(ELFError) {
        var count = 0
        guard elf_getphdrnum(elf, &count) == 0 else { throw broken(ELFFile.lastError()) }
        for index in 0..<max(0, count) {
            var segment = GElf_Phdr()
            guard gelf_getphdr(elf, CInt(clamping: index), &segment) != nil else {
                throw broken("program header \(index): \(ELFFile.lastError())")
            }
            try body(ImageSegment(segment))
        }
    }
}

extension ImageSegment {
    init(_ segment: GElf_Phdr) {
        self.init(
            type: segment.p_type, flags: segment.p_flags, offset: segment.p_offset, address: segment.p_vaddr,
            fileSize: segment.p_filesz, memorySize: segment.p_memsz, alignment: segment.p_align)
    }
}
