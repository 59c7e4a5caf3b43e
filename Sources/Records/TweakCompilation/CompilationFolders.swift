// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
package import TweakELF
internal import TweakRecords

/// The working directories of the compiler of an object.
package struct CompilationFolders: Sendable {
    /// All, each once.
    package var all: [String] = []
    /// The folders of the units that define variables, by the variables' addresses.
    package var ofVariables: [UInt64: String] = [:]
}

extension ELFObject {
    /// Debug sections above this size are not read.
    private static let largestDebugSection: UInt64 = 512 << 20

    /// Whether it has debug information, and not only refers to it.
    package func hasDebugInformation() throws(ELFError) -> Bool {
        var isFound = false
        try forEachSection { (section, _) throws(ELFError) in
            guard !isFound, section.sh_type != UInt32(SHT_NOBITS) else { return }
            isFound = [".debug_info", ".zdebug_info"].contains(name(of: section))
        }
        return isFound
    }

    /// The working directories of the compiler, from the debug information.
    ///
    /// Source of the format: the DWARF standard, versions 2 to 5. Information that is missing, broken or of another
    /// version counts as none.
    ///
    /// - Parameter variables: The addresses of variables whose units are looked up.
    package func compilationFolders(
        ofVariablesAt variables: Set<UInt64> = []
    ) throws(ELFError) -> CompilationFolders {
        guard !isRelocatable, try expandedBytes() <= Self.mostExpandedBytes(ofFile: UInt64(byteCount)) else {
            return CompilationFolders()
        }
        var sections: [String: [UInt8]] = [:]
        try forEachSection { (section, index) throws(ELFError) in
            guard let name = name(of: section), CompilationUnits.sections.contains(name) else { return }
            sections[name] = content(ofSection: index, section.sh_size)
        }
        return CompilationUnits(sections: sections, byteOrder: byteOrder).folders(ofVariablesAt: variables)
    }

    /// In an object file the references between debug sections are relocations.
    private var isRelocatable: Bool { header.e_type == UInt16(ET_REL) }

    private func name(of section: GElf_Shdr) -> String? {
        var index = 0
        guard elf_getshdrstrndx(elf, &index) == 0, let name = elf_strptr(elf, index, Int(section.sh_name))
        else {
            return nil
        }
        return String(cString: name)
    }

    /// The bytes of a section, decompressed.
    private func content(ofSection index: Int, _ size: UInt64) -> [UInt8]? {
        guard size <= Self.largestDebugSection, let section = elf_getscn(elf, index) else { return nil }
        var header = GElf_Chdr()
        if gelf_getchdr(section, &header) != nil {
            guard header.ch_size <= Self.largestDebugSection, elf_compress(section, 0, 0) == 1 else {
                return nil
            }
        }
        guard let data = elf_rawdata(section, nil) ?? elf_getdata(section, nil),
            let bytes = data.pointee.d_buf
        else {
            return nil
        }
        return Array(UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size))
    }
}

/// The compilation units in debug information.
private struct CompilationUnits {
    static let sections = [
        ".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets", ".debug_addr",
    ]

    private let information, abbreviations, strings, lineStrings, offsets, addresses: [UInt8]
    private let byteOrder: ByteOrder

    init(sections: [String: [UInt8]], byteOrder: ByteOrder) {
        information = sections[".debug_info"] ?? []
        abbreviations = sections[".debug_abbrev"] ?? []
        strings = sections[".debug_str"] ?? []
        lineStrings = sections[".debug_line_str"] ?? []
        offsets = sections[".debug_str_offsets"] ?? []
        addresses = sections[".debug_addr"] ?? []
        self.byteOrder = byteOrder
    }

    /// The folders, in the order of the units.
    func folders(ofVariablesAt wanted: Set<UInt64>) -> CompilationFolders {
        var folders = CompilationFolders()
        var known: Set<String> = []
        var tables: [Int: [UInt64: Abbreviation]] = [:]
        var units: [(range: Range<Int>, folder: String)] = []
        var origins: [(address: UInt64, origin: Int)] = []
        var start = 0
        while let unit = Unit(information, at: start, byteOrder) {
            if let (folder, addressBase) = root(of: unit) {
                if known.insert(folder).inserted { folders.all.append(folder) }
                units.append((start..<unit.end, folder))
                if !wanted.isEmpty {
                    let table = tables[unit.abbreviations] ?? table(at: unit.abbreviations)
                    tables[unit.abbreviations] = table
                    for variable in variables(of: unit, table, addressBase)
                    where wanted.contains(variable.address) {
                        folders.ofVariables[variable.address] = folder
                        if let origin = variable.origin { origins.append((variable.address, origin)) }
                    }
                }
            }
            start = unit.end
        }
        // With link-time optimization the unit of the linker has the address, and that of the compiler the rest.
        for (address, origin) in origins {
            folders.ofVariables[address] = units.first { $0.range.contains(origin) }?.folder
        }
        return folders
    }

    /// The header of a unit.
    private struct Unit {
        let end: Int
        /// The offset of its first entry.
        let entry: Int
        let abbreviations: Int
        let addressSize: Int
        let version: UInt16
        /// Whether offsets have 8 bytes.
        let isLong: Bool

        init?(_ bytes: [UInt8], at start: Int, _ order: ByteOrder) {
            var reader = Reader(bytes, at: start, order)
            guard var length = reader.number(4) else { return nil }
            isLong = length == 0xFFFF_FFFF
            if isLong { length = reader.number(8) ?? .max }
            guard length <= UInt64(bytes.count - reader.offset) else { return nil }
            end = reader.offset + Int(length)
            guard end > start, let version = reader.number(2),
                let next = reader.number(version >= 5 ? 1 : isLong ? 8 : 4)
            else { return nil }
            self.version = UInt16(version)
            if version >= 5 {
                // Then it was the type of the unit; those of skeletons have an identifier behind the header.
                addressSize = Int(reader.number(1) ?? 0)
                abbreviations = Int(clamping: reader.number(isLong ? 8 : 4) ?? .max)
                if next == 4 || next == 5 { _ = reader.number(8) }
                // Type units.
                if next == 2 || next == 6 { _ = reader.skip(isLong ? 16 : 12) }
            } else {
                abbreviations = Int(clamping: next)
                addressSize = Int(reader.number(1) ?? 0)
            }
            entry = reader.offset
        }
    }

    /// The folder in the first entry of a unit, and where its addresses begin.
    private func root(of unit: Unit) -> (folder: String, addressBase: Int)? {
        guard 2...5 ~= unit.version else { return nil }
        var entry = Reader(information, at: unit.entry, byteOrder)
        guard let code = entry.leb(), code != 0, var forms = attributes(of: code, at: unit.abbreviations)
        else { return nil }
        var folder: Value?
        var base = unit.isLong ? 16 : 8
        var addressBase = base
        while let attribute = forms.leb(), let form = forms.leb(), attribute != 0 || form != 0 {
            if form == 0x21 { _ = forms.leb() }
            guard let value = value(of: form, &entry, unit) else { return nil }
            if attribute == 0x1B { folder = value }
            if attribute == 0x72, case .number(let offset) = value { base = Int(clamping: offset) }
            if attribute == 0x73, case .number(let offset) = value { addressBase = Int(clamping: offset) }
        }
        switch folder {
        case .text(let text): return (text, addressBase)
        case .index(let index):
            let width = unit.isLong ? 8 : 4
            let (place, overflows) = Int(clamping: index).multipliedReportingOverflow(by: width)
            guard !overflows, place <= offsets.count - min(base, offsets.count) else { return nil }
            var reader = Reader(offsets, at: base + place, byteOrder)
            return reader.number(width).flatMap { text(strings, $0) }.map { ($0, addressBase) }
        case .number, nil: return nil
        }
    }

    // MARK: - Variables

    /// The tag, attributes and forms of entries.
    private struct Abbreviation {
        let tag: UInt64
        var attributes: [(name: UInt64, form: UInt64)] = []
    }

    private func table(at start: Int) -> [UInt64: Abbreviation] {
        var table: [UInt64: Abbreviation] = [:]
        var reader = Reader(abbreviations, at: start, byteOrder)
        while let number = reader.leb(), number != 0, let tag = reader.leb(), reader.skip(1) {
            var abbreviation = Abbreviation(tag: tag)
            while let name = reader.leb(), let form = reader.leb(), name != 0 || form != 0 {
                if form == 0x21 { _ = reader.leb() }
                abbreviation.attributes.append((name, form))
            }
            table[number] = abbreviation
        }
        return table
    }

    /// The addresses of the variables of a unit, and the places of their entries in other units.
    private func variables(
        of unit: Unit, _ table: [UInt64: Abbreviation], _ addressBase: Int
    ) -> [(address: UInt64, origin: Int?)] {
        var found: [(UInt64, Int?)] = []
        var reader = Reader(information, at: unit.entry, byteOrder)
        while reader.offset < unit.end, let code = reader.leb() {
            // The end of a list of children.
            if code == 0 { continue }
            guard let abbreviation = table[code] else { break }
            var place: UInt64?
            var origin: Int?
            for (name, form) in abbreviation.attributes {
                var value = reader
                guard skip(form, &reader, unit) else { return found }
                guard abbreviation.tag == 0x34 else { continue }
                if name == 0x02, [0x09, 0x0A, 0x18].contains(form) {
                    _ = form == 0x0A ? value.number(1) : value.leb()
                    place = address(&value, unit, addressBase)
                } else if name == 0x31, form == 0x10, unit.version > 2 {
                    origin = value.number(unit.isLong ? 8 : 4).map { Int(clamping: $0) }
                }
            }
            if let place { found.append((place, origin)) }
        }
        return found
    }

    /// The address in a location that begins with one, or with an index of one.
    private func address(_ location: inout Reader, _ unit: Unit, _ base: Int) -> UInt64? {
        switch location.number(1) {
        case 0x03: return location.number(unit.addressSize)
        case 0xA1, 0xFB:
            guard let index = location.leb(),
                case let (place, overflows) = Int(clamping: index).multipliedReportingOverflow(
                    by: unit.addressSize),
                !overflows, place <= addresses.count - min(base, addresses.count)
            else { return nil }
            var reader = Reader(addresses, at: base + place, byteOrder)
            return reader.number(unit.addressSize)
        default: return nil
        }
    }

    /// Skips a value without reading the texts, which most entries have.
    private func skip(_ form: UInt64, _ reader: inout Reader, _ unit: Unit) -> Bool {
        switch form {
        case 0x08: reader.skipText()
        case 0x0E, 0x1F: reader.skip(unit.isLong ? 8 : 4)
        default: value(of: form, &reader, unit) != nil
        }
    }

    /// The attributes and forms of an abbreviation.
    private func attributes(of code: UInt64, at start: Int) -> Reader? {
        var reader = Reader(abbreviations, at: start, byteOrder)
        while let number = reader.leb(), number != 0 {
            guard reader.leb() != nil, reader.number(1) != nil else { return nil }
            if number == code { return reader }
            while let attribute = reader.leb(), let form = reader.leb(), attribute != 0 || form != 0 {
                if form == 0x21 { _ = reader.leb() }
            }
        }
        return nil
    }

    private enum Value {
        case text(String)
        /// An index into the offsets of strings.
        case index(UInt64)
        case number(UInt64)
    }

    /// Reads or skips a value; `nil` for an unknown form, or behind the end.
    private func value(of form: UInt64, _ reader: inout Reader, _ unit: Unit) -> Value? {
        let width = unit.isLong ? 8 : 4
        func skipped(_ count: UInt64?) -> Value? { count.flatMap { reader.skip($0) ? .number(0) : nil } }
        switch form {
        case 0x08: return reader.text().map { .text($0) }
        case 0x0E: return reader.number(width).flatMap { text(strings, $0) }.map { .text($0) }
        case 0x1F: return reader.number(width).flatMap { text(lineStrings, $0) }.map { .text($0) }
        case 0x1A: return reader.leb().map { .index($0) }
        case 0x25...0x28: return reader.number(Int(form - 0x24)).map { .index($0) }
        case 0x17: return reader.number(width).map { .number($0) }
        case 0x0B, 0x0C, 0x11, 0x29: return skipped(1)
        case 0x05, 0x12, 0x2A: return skipped(2)
        case 0x2B: return skipped(3)
        case 0x06, 0x13, 0x2C, 0x1C: return skipped(4)
        case 0x07, 0x14, 0x20: return skipped(8)
        case 0x1E: return skipped(16)
        case 0x1D: return skipped(UInt64(width))
        case 0x10: return skipped(UInt64(unit.version == 2 ? unit.addressSize : width))
        case 0x01: return skipped(UInt64(unit.addressSize))
        case 0x0D, 0x0F, 0x15, 0x1B, 0x22, 0x23: return reader.leb().map { .number($0) }
        case 0x0A: return skipped(reader.number(1))
        case 0x03: return skipped(reader.number(2))
        case 0x04: return skipped(reader.number(4))
        case 0x09, 0x18: return skipped(reader.leb())
        case 0x19, 0x21: return .number(0)
        default: return nil
        }
    }

    private func text(_ table: [UInt8], _ offset: UInt64) -> String? {
        var reader = Reader(table, at: Int(clamping: offset), byteOrder)
        return reader.text()
    }

    /// Reads numbers and texts one after the other; `nil` behind the end.
    private struct Reader {
        private let bytes: [UInt8]
        private(set) var offset: Int
        private let order: ByteOrder

        init(_ bytes: [UInt8], at offset: Int, _ order: ByteOrder) {
            (self.bytes, self.offset, self.order) = (bytes, offset, order)
        }

        mutating func skip(_ count: UInt64) -> Bool {
            guard offset <= bytes.count, count <= UInt64(bytes.count - offset) else { return false }
            offset += Int(count)
            return true
        }

        mutating func number(_ width: Int) -> UInt64? {
            let start = offset
            guard skip(UInt64(width)) else { return nil }
            var number: UInt64 = 0
            for index in start..<offset {
                let byte = bytes[order == .little ? offset - 1 - (index - start) : index]
                number = number << 8 | UInt64(byte)
            }
            return number
        }

        /// A number in the encoding LEB128; the sign of signed ones is of no use here.
        mutating func leb() -> UInt64? {
            var number: UInt64 = 0
            var shift: UInt64 = 0
            while let byte = self.number(1) {
                number |= shift < 64 ? (byte & 0x7F) << shift : 0
                shift += 7
                if byte & 0x80 == 0 { return number }
            }
            return nil
        }

        mutating func skipText() -> Bool {
            guard offset <= bytes.count, let end = bytes[offset...].firstIndex(of: 0) else { return false }
            offset = end + 1
            return true
        }

        mutating func text() -> String? {
            guard offset <= bytes.count, let end = bytes[offset...].firstIndex(of: 0) else { return nil }
            defer { offset = end + 1 }
            return String(decoding: bytes[offset..<end], as: UTF8.self)
        }
    }
}
