// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
internal import Glibc
package import TweakRecords

/// Finds out which tweaks no code reads, see ``ELFObject/isReferred(_:)``, from the files of a program.
package final class UnreadRecords {
    private let matcher: RecordMatcher
    private var (read, unread): (Set<TweakKey>, Set<TweakKey>) = ([], [])
    private let end: ContinuousClock.Instant

    /// The time after which no further file is searched: a process may have mapped any number.
    private static let mostTime: Duration = .seconds(1)

    package init(of keys: Set<TweakKey>) {
        (matcher, end) = (RecordMatcher(Array(keys)), .now + Self.mostTime)
    }

    /// The tweaks with records none of which code reads, in no order, with the sentence that says so.
    package var warnings: [(tweak: TweakKey, message: String)] {
        unread.compactMap {
            read.contains($0)
                ? nil : ($0, $0.description + ": no code reads it; " + TweakDeclaration.reasonWhyUnread)
        }
    }

    /// Looks for records of the tweaks in a file, and for code that reads them. Files that cannot be read, and those of
    /// more than 256 MiB, which may be made to waste time, are not searched.
    ///
    /// - Parameter isMeant: Returns whether to search an object in the file.
    package func search(
        _ path: String, where isMeant: (ELFFile, ELFObject) throws(ELFError) -> Bool = { _, _ in true }
    ) {
        guard .now < end, let file = try? ELFFile(path: path) else { return }
        try? file.forEachObject { (object) throws(ELFError) in
            guard object.byteCount <= ELFObject.mostBytes, try isMeant(file, object) else { return }
            let ranges = try object.recordRanges()
            var sections: [[UInt8]] = []
            for range in ranges { sections.append(try object.bytes(of: range)) }
            var found: [TweakKey] = []
            let areRead = try object.areRead(in: ranges) { section in
                var records: [Range<Int>] = []
                sections[section].withUnsafeBytes { bytes in
                    matcher.forEachMatch(in: bytes, byteOrder: object.byteOrder) { record, key in
                        let declaration = try? TweakDeclaration(
                            record: bytes.bytes, in: record, byteOrder: object.byteOrder)
                        // Code reads a variable without its record.
                        let isVariable =
                            bytes[record.lowerBound + RecordLayout.kindOffset] == RecordLayout.variableKind
                        guard let declaration, declaration.type != .action, !isVariable else { return }
                        found.append(key)
                        records.append(record)
                    }
                }
                return records
            }
            for (index, isRead) in areRead.enumerated() {
                if isRead { read.insert(found[index]) } else { unread.insert(found[index]) }
            }
        }
    }
}

extension ELFObject {
    /// Finds out whether code reads records, see ``isReferred(_:)``.
    ///
    /// - Parameters:
    ///   - ranges: The ranges of records.
    ///   - records: Returns the records to look at in a range, ascending.
    /// - Returns: Whether code reads each of these records, in their order; nothing if that is not known, as where the ranges
    ///   are not ascending, which no linker makes.
    package func areRead(
        in ranges: [RecordRange], _ records: (_ range: Int) -> [Range<Int>]
    ) throws(ELFError) -> [Bool] {
        var addresses: [Range<UInt64>] = []
        for (index, range) in ranges.enumerated() where range.address > 0 {
            guard range.address >= addresses.last?.upperBound ?? 0 else { return [] }
            for record in records(index) {
                // Both are inside the section, and the section in memory.
                guard UInt64(record.upperBound) <= .max - range.address else { break }
                addresses.append(
                    range.address + UInt64(record.lowerBound)..<range.address + UInt64(record.upperBound))
            }
        }
        return try isReferred(addresses) ?? []
    }

    /// Bytes that are searched at once.
    private static let chunkSize = 1 << 20

    /// Finds the ranges of addresses, such as those of records, to which nothing in a linked file refers: no instruction,
    /// no pointer and no relocation.
    ///
    /// If an inline function is compiled with tweaks in one file and without in another, the linker keeps one of them, and
    /// all records. Instructions are not decoded: any four bytes that can be a distance count, so a range may seem to be
    /// referred to by chance, but never the reverse.
    ///
    /// - Parameter ranges: Ascending ranges of addresses that do not overlap.
    /// - Returns: Whether something refers to each range; `nil` if that is not known: in an object file, whose functions the
    ///   linker has not chosen yet, without section headers, and on other machines than x86-64.
    package func isReferred(_ ranges: [Range<UInt64>]) throws(ELFError) -> [Bool]? {
        guard isLinked, hasSectionHeaders, header.e_machine == UInt16(EM_X86_64), is64Bit,
            byteOrder == .little,
            let first = ranges.first, let last = ranges.last
        else { return nil }
        var references = References(
            ranges, first.lowerBound..<last.upperBound, isFixed: header.e_type == UInt16(ET_EXEC),
            offsetTables: try offsetTables())
        var total: UInt64 = 0
        try forEachSection { (section, index) throws(ELFError) in
            guard section.sh_type != UInt32(SHT_NOBITS), !references.areAllFound else { return }
            // Sections that overlap would take any time.
            guard section.sh_size <= UInt64(byteCount) - total else {
                throw broken("its sections have more bytes than the \(byteCount) of the file")
            }
            total += section.sh_size
            if section.sh_type == UInt32(SHT_RELA) {
                return try addRelocations(of: section, index, &references)
            }
            guard section.sh_flags & UInt64(SHF_ALLOC) != 0 else { return }
            let isCode = section.sh_flags & UInt64(SHF_EXECINSTR) != 0
            guard isCode || section.sh_flags & UInt64(SHF_WRITE) != 0 else { return }
            var done: UInt64 = 0
            while done < section.sh_size, !references.areAllFound {
                // The chunks overlap by a number, and the byte in front of it.
                let count = min(section.sh_size - done, UInt64(Self.chunkSize) + 8)
                let (offset, overflows) = section.sh_offset.addingReportingOverflow(done)
                guard !overflows else { throw broken("section \(index) is beyond its end") }
                let chunk = try bytes(at: offset, count: count, of: "section \(index)")
                let address = section.sh_addr &+ done
                if isCode {
                    references.addDistances(in: chunk, at: address)
                } else {
                    references.addPointers(in: chunk, at: address)
                }
                done += UInt64(Self.chunkSize)
            }
        }
        return references.found
    }

    /// The addresses that code of the large model has distances from.
    private func offsetTables() throws(ELFError) -> [UInt64] {
        var index = 0
        guard elf_getshdrstrndx(elf, &index) == 0 else { return [] }
        var tables: [UInt64] = []
        try forEachSection { (section, _) throws(ELFError) in
            guard section.sh_flags & UInt64(SHF_WRITE) != 0, tables.count < 2,
                let name = elf_strptr(elf, index, Int(section.sh_name)), strncmp(name, ".got", 4) == 0
            else { return }
            tables.append(section.sh_addr)
        }
        return tables
    }

    /// Adds the targets of relocations by the dynamic linker.
    private func addRelocations(
        of section: GElf_Shdr, _ index: Int, _ references: inout References
    ) throws(ELFError) {
        var header = GElf_Shdr()
        var symbols: [UInt8] = []
        if section.sh_link != 0, gelf_getshdr(elf_getscn(elf, Int(section.sh_link)), &header) != nil,
            header.sh_type == UInt32(SHT_DYNSYM), header.sh_size <= UInt64(byteCount)
        {
            symbols = try bytes(at: header.sh_offset, count: header.sh_size, of: "the symbols")
        }
        let table = try bytes(at: section.sh_offset, count: section.sh_size, of: "section \(index)")
        let (entries, values) = (table.span.bytes, symbols.span.bytes)
        for entry in stride(from: 0, through: table.count - 24, by: 24) {
            // As in elf(5): the place, the symbol and the kind, the addend; a symbol has its value after 8 bytes.
            guard let symbol: UInt32 = entries.number(at: entry + 12, .little),
                let addend: UInt64 = entries.number(at: entry + 16, .little)
            else { return }
            let value: UInt64 = symbol == 0 ? 0 : values.number(at: Int(symbol) * 24 + 8, .little) ?? 0
            references.add(value &+ addend)
        }
    }
}

/// The ranges to which something refers.
private struct References {
    private let ranges: [Range<UInt64>]
    /// From the first range to the last.
    private let whole: Range<UInt64>
    /// Whether code may also have addresses, because the file is loaded where it was linked to.
    private let isFixed: Bool
    /// The addresses from which numbers with 64 bits count.
    private let origins: [UInt64]
    private(set) var found: [Bool]
    private var left: Int
    var areAllFound: Bool { left == 0 }

    init(_ ranges: [Range<UInt64>], _ whole: Range<UInt64>, isFixed: Bool, offsetTables: [UInt64]) {
        (self.ranges, self.whole, self.isFixed) = (ranges, whole, isFixed)
        origins = [0] + offsetTables
        found = ranges.map { _ in false }
        left = ranges.count
    }

    /// - Parameters:
    ///   - first: The number of bytes at the start of a range that do not count.
    ///   - last: The number of bytes at its end.
    mutating func add(_ address: UInt64, after first: UInt64 = 0, before last: UInt64 = 0) {
        guard whole.contains(address) else { return }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= address { low = middle + 1 } else { high = middle }
        }
        guard low < ranges.count, ranges[low].contains(address), !found[low] else { return }
        if address - ranges[low].lowerBound >= first, ranges[low].upperBound - address > last {
            found[low] = true
            left -= 1
        }
    }

    /// Adds aligned words, except those of the ranges themselves.
    mutating func addPointers(in bytes: [UInt8], at address: UInt64) {
        let start = Int(truncatingIfNeeded: (8 - address % 8) % 8)
        for offset in stride(from: start, through: bytes.count - 8, by: 8) {
            let word = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
            guard whole.contains(word), !whole.contains(address &+ UInt64(offset)) else { continue }
            add(word)
        }
    }

    /// Adds distances from the end of an instruction, which may be up to four bytes behind.
    ///
    /// A variable beside a range is not taken for a part of it: no code reads the last bytes of a record, the padding of its
    /// texts, and none whose instruction has a constant the first ones.
    mutating func addDistances(in bytes: [UInt8], at address: UInt64) {
        let (lowest, size) = (whole.lowerBound &- 4, whole.upperBound - whole.lowerBound + 4)
        bytes.withUnsafeBytes { buffer in
            // In front of a distance is a ModRM byte that says so: Intel 64 Manual, volume 2, 2.2.1.6.
            for offset in 1..<max(1, buffer.count - 3) {
                let isDistance = buffer[offset - 1] & 0xC7 == 0x05
                // MOV of 64 bits into a register.
                if buffer[offset - 1] & 0xF8 == 0xB8, offset + 8 <= buffer.count {
                    let number = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    for origin in origins { add(number &+ origin, before: 4) }
                }
                guard isDistance || isFixed else { continue }
                let number = buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self)
                let target = address &+ UInt64(offset) &+ 4 &+ UInt64(bitPattern: Int64(number))
                // One comparison excludes nearly all.
                if isDistance, target &- lowest < size {
                    for behind: UInt64 in [0, 1, 2, 4] {
                        add(target &+ behind, after: behind == 0 ? 0 : 4, before: 4)
                    }
                }
                let absolute = UInt64(UInt32(bitPattern: number))
                if isFixed, absolute &- whole.lowerBound < size { add(absolute, before: 4) }
            }
        }
    }
}
