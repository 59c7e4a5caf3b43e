// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
internal import Glibc
package import TweakRecords

/// A relocation of a pointer, see elf(5): the address of the pointer, or in an object file its offset in the section; the
/// symbol; and the addend, `nil` if it is in the pointer.
private typealias Relocation = (place: UInt64, symbol: Int, addend: UInt64?)

/// The fields of a symbol that lead to an object, see elf(5).
private typealias ObjectSymbol = (section: UInt16, value: UInt64)

extension ELFObject {
    /// The bytes of one range, with the initial values of variables noted in their records.
    ///
    /// - Parameter note: Called for each variable of a linked file with the offset of its record and the address of its
    ///   object. In a process the load bias is added.
    /// - Throws: ``ELFError/broken(path:reason:)`` if the file is inconsistent with its headers.
    package func bytesWithInitialValues(
        of range: RecordRange, notingObjects note: (_ record: Int, _ address: UInt64) -> Void = { _, _ in }
    ) throws(ELFError) -> [UInt8] {
        var bytes = try bytes(of: range)
        try noteInitialValues(in: &bytes, of: range, note)
        return bytes
    }

    /// Decodes the records of one range.
    ///
    /// - Throws: ``ELFError/broken(path:reason:)`` if the file is inconsistent with its headers.
    package func records(in range: RecordRange) throws(ELFError) -> RecordSection {
        let bytes = try bytesWithInitialValues(of: range)
        return RecordSection(bytes.span.bytes, byteOrder: byteOrder)
    }

    /// Notes the initial values of variables in their records, as the library does in a process. Those of objects in
    /// other files are not known.
    private func noteInitialValues(
        in bytes: inout [UInt8], of range: RecordRange, _ note: (_ record: Int, _ address: UInt64) -> Void
    ) throws(ELFError) {
        let objects = RecordSection.objects(in: bytes.span.bytes, byteOrder: byteOrder)
        guard !objects.isEmpty else { return }
        let start = isLinked ? range.address : 0
        // One for each object, because a dictionary would take more code in the library.
        var found = [Relocation?](repeating: nil, count: objects.count)
        let symbols = try relocations(of: range.section) { relocation in
            // The objects are in the order of their records.
            var (low, high) = (0, objects.count)
            while low < high {
                let middle = (low + high) / 2
                let pointer = start &+ UInt64(objects[middle].offset + RecordLayout.cellOffset)
                if pointer == relocation.place { return found[middle] = relocation }
                if pointer < relocation.place { low = middle + 1 } else { high = middle }
            }
        }
        let segments = isLinked ? try loadedSegments(withRelocated: true) : []
        for index in objects.indices {
            let object = objects[index]
            var address = object.address(in: bytes.span.bytes, byteOrder, is64Bit: is64Bit) ?? 0
            var symbol: ObjectSymbol = (0, 0)
            if let relocation = found[index] {
                address = relocation.addend ?? address
                if relocation.symbol != 0 {
                    guard let defined = self.symbol(relocation.symbol, in: symbols),
                        defined.section != UInt16(SHN_UNDEF)
                    else { continue }
                    symbol = defined
                    address &+= symbol.value
                }
            } else if !isLinked {
                continue
            }
            let count = object.byteCount
            let content =
                isLinked
                ? try content(of: segments, at: address, count: count)
                : try content(ofSection: symbol.section, at: address, count: count)
            guard let content else { continue }
            bytes.withUnsafeMutableBytes { object.note(content, in: $0) }
            if isLinked { note(object.offset, address) }
        }
    }

    /// The content that a linked file has for an address that a program can write.
    private func content(
        of segments: [ImageSegment], at address: UInt64, count: Int
    ) throws(ELFError) -> [UInt8]? {
        let (end, overflows) = address.addingReportingOverflow(UInt64(count))
        guard !overflows, segments.canBeWritten(address..<end, pageSize: ImageSegment.leastPageSize) else {
            return nil
        }
        return try segments.content(at: address, count: count) { (offset, count) throws(ELFError) in
            try bytes(at: offset, count: UInt64(count), of: "the initial value of a variable")
        }
    }

    /// The content of a section of an object file.
    private func content(
        ofSection number: UInt16, at offset: UInt64, count: Int
    ) throws(ELFError) -> [UInt8]? {
        let zeros = [UInt8](repeating: 0, count: count)
        if number == UInt16(SHN_COMMON) { return zeros }
        var section = GElf_Shdr()
        guard number < UInt16(SHN_LORESERVE), gelf_getshdr(elf_getscn(elf, Int(number)), &section) != nil,
            section.sh_flags & UInt64(SHF_WRITE) != 0, section.sh_flags & UInt64(SHF_TLS) == 0,
            offset <= section.sh_size, UInt64(count) <= section.sh_size - offset
        else { return nil }
        if section.sh_type == UInt32(SHT_NOBITS) { return zeros }
        let (start, overflows) = section.sh_offset.addingReportingOverflow(offset)
        return overflows
            ? nil : try bytes(at: start, count: UInt64(count), of: "the initial value of a variable")
    }

    // MARK: - Relocations

    /// Calls `body` with the relocations of an object file's section, or those by the dynamic linker.
    ///
    /// - Returns: The bytes of the table of symbols.
    private func relocations(
        of section: Int?, _ body: (Relocation) -> Void
    ) throws(ELFError) -> [UInt8] {
        isLinked ? try dynamicRelocations(body) : try relocations(ofSection: section ?? 0, body)
    }

    private func relocations(
        ofSection number: Int, _ body: (Relocation) -> Void
    ) throws(ELFError) -> [UInt8] {
        var symbols: [UInt8] = []
        try forEachSection { (section, index) throws(ELFError) in
            let hasAddends = section.sh_type == UInt32(SHT_RELA)
            guard hasAddends || section.sh_type == UInt32(SHT_REL), section.sh_info == UInt32(number) else {
                return
            }
            var table = GElf_Shdr()
            guard gelf_getshdr(elf_getscn(elf, Int(section.sh_link)), &table) != nil,
                table.sh_type == UInt32(SHT_SYMTAB), max(table.sh_size, section.sh_size) <= Self.mostBytes
            else { return }
            symbols = try bytes(at: table.sh_offset, count: table.sh_size, of: "the symbols")
            let entries = try bytes(at: section.sh_offset, count: section.sh_size, of: "section \(index)")
            visit(entries, hasAddends: hasAddends, body)
        }
        return symbols
    }

    /// By the program headers, which are there without section headers, too.
    private func dynamicRelocations(_ body: (Relocation) -> Void) throws(ELFError) -> [UInt8] {
        // The values of the tags that are looked for, all below this.
        var tables = [UInt64](repeating: 0, count: Int(DT_RELENT))
        let segments = try loadedSegments()
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.type == UInt32(PT_DYNAMIC), segment.fileSize <= Self.mostBytes else { return }
            let entries = try bytes(at: segment.offset, count: segment.fileSize, of: "the dynamic section")
            let size = is64Bit ? 8 : 4
            for entry in stride(from: 0, through: entries.count - 2 * size, by: 2 * size) {
                let tag = number(entries, at: entry)
                guard tag != UInt64(DT_NULL) else { return }
                if tag < tables.count { tables[Int(tag)] = number(entries, at: entry + size) }
            }
        }
        let read = { (tag: Int32, size: UInt64) throws(ELFError) -> [UInt8] in
            guard size > 0, size <= Self.mostBytes else { return [] }
            for segment in segments {
                if let offset = segment.fileOffset(of: tables[Int(tag)], size: size) {
                    return try self.bytes(at: offset, count: size, of: "the relocations")
                }
            }
            return []
        }
        var last = 0
        let visited = { (relocation: Relocation) in
            last = max(last, relocation.symbol)
            body(relocation)
        }
        visit(try read(DT_RELA, tables[Int(DT_RELASZ)]), hasAddends: true, visited)
        visit(try read(DT_REL, tables[Int(DT_RELSZ)]), hasAddends: false, visited)
        // The table has no size of its own.
        return last == 0 ? [] : try read(DT_SYMTAB, UInt64(symbolSize) * UInt64(last + 1))
    }

    private func visit(_ entries: [UInt8], hasAddends: Bool, _ body: (Relocation) -> Void) {
        let size = is64Bit ? 8 : 4
        let step = size * (hasAddends ? 3 : 2)
        for entry in stride(from: 0, through: entries.count - step, by: step) {
            let info = number(entries, at: entry + size)
            body(
                (
                    number(entries, at: entry), Int(is64Bit ? info >> 32 : info >> 8),
                    hasAddends ? number(entries, at: entry + 2 * size) : nil
                ))
        }
    }

    private var symbolSize: Int { is64Bit ? 24 : 16 }

    private func symbol(_ index: Int, in table: [UInt8]) -> ObjectSymbol? {
        let start = index * symbolSize
        guard start + symbolSize <= table.count,
            let section: UInt16 = table.span.bytes.number(at: start + (is64Bit ? 6 : 14), byteOrder)
        else { return nil }
        return (section, number(table, at: start + (is64Bit ? 8 : 4)))
    }
}
