// SPDX-License-Identifier: BSD-3-Clause
package import CLibELF
package import TweakRecords

/// One ELF object: an executable, a shared library, an object file, or a member of an archive.
package struct ELFObject {
    package let elf: OpaquePointer
    private let file: ELFFile
    /// Its offset in the file.
    private let start: Int
    /// The file's path, followed by `(member)` for a member of an archive.
    package let path: String
    package let byteCount: Int
    package let header: GElf_Ehdr
    let sectionCount: Int

    init(
        elf: OpaquePointer, file: ELFFile, path: String, start: Int, byteCount: Int
    ) throws(ELFError) {
        var header = GElf_Ehdr()
        guard gelf_getehdr(elf, &header) != nil else {
            throw .broken(path: path, reason: ELFFile.lastError())
        }
        var sectionCount = 0
        guard elf_getshdrnum(elf, &sectionCount) == 0 else {
            throw .broken(path: path, reason: ELFFile.lastError())
        }
        // libelf reports truncated headers as absent.
        sectionCount = max(sectionCount, header.e_shoff == 0 ? 0 : Int(max(header.e_shnum, 1)))
        let (tableSize, overflows) = UInt64(clamping: sectionCount)
            .multipliedReportingOverflow(by: UInt64(header.e_shentsize))
        guard sectionCount >= 0, header.e_shoff <= UInt64(byteCount), !overflows,
            tableSize <= UInt64(byteCount) - header.e_shoff
        else {
            throw .broken(
                path: path,
                reason:
                    "\(sectionCount) section headers at offset \(header.e_shoff) are beyond its end at \(byteCount)"
            )
        }
        self.elf = elf
        self.file = file
        self.start = start
        self.path = path
        self.byteCount = byteCount
        self.header = header
        self.sectionCount = header.e_shoff == 0 ? 0 : sectionCount
    }

    /// The byte order of its numbers.
    package var byteOrder: ByteOrder {
        header.e_ident.5 == UInt8(ELFDATA2MSB) ? .big : .little
    }

    /// Whether it is an executable or a library, which have addresses and segments.
    package var isLinked: Bool { header.e_type == UInt16(ET_EXEC) || header.e_type == UInt16(ET_DYN) }

    /// Whether it is a core, which has the memory of a process.
    var isCore: Bool { header.e_type == UInt16(ET_CORE) }

    /// Whether it has a first instruction, as programs have and most libraries have not.
    package var hasEntry: Bool { header.e_entry != 0 }

    /// Whether its addresses have 64 bits.
    package var is64Bit: Bool { header.e_ident.4 == UInt8(ELFCLASS64) }

    /// Whether the file has section headers, which may be stripped.
    package var hasSectionHeaders: Bool { sectionCount > 0 }

    /// The size of the ELF header and the program headers after it, from the start of the file.
    package var headerSize: Int {
        let (size, overflows) = header.e_phoff.addingReportingOverflow(
            UInt64(header.e_phnum) * UInt64(header.e_phentsize))
        let end = overflows ? UInt64(byteCount) : min(size, UInt64(byteCount))
        return max(Int(header.e_ehsize), Int(clamping: end))
    }

    /// Returns whether another object is for the same kind of machine.
    package func runs(with other: ELFObject) -> Bool {
        header.e_machine == other.header.e_machine && is64Bit == other.is64Bit && byteOrder == other.byteOrder
    }

    /// The machine, as named by `uname -m`.
    package var architecture: String {
        architectureName(machine: header.e_machine, is64Bit: is64Bit, byteOrder: byteOrder)
    }

    /// Calls `body` with the object, unless it is not compiled yet and has no records.
    func visit(
        noting note: (ELFError) throws(ELFError) -> Void, _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        if try isUncompiled() {
            try note(.unread(path: path, reason: Content.uncompiled("GCC's intermediate code")))
            guard try !recordRanges().isEmpty else { return }
        }
        try body(self)
    }

    /// Reads bytes of the object.
    ///
    /// - Parameter part: A name for the part, for error messages.
    func bytes(at offset: UInt64, count: UInt64, of part: @autoclosure () -> String) throws(ELFError)
        -> [UInt8]
    {
        try checkBounds(offset: offset, count: count, of: part())
        // Both are inside the object, and the object is inside the file.
        let bytes = file.bytes(at: start + Int(offset), count: Int(count))
        guard bytes.count == Int(count) else { throw broken("\(part()) cannot be read") }
        return bytes
    }

    /// Throws unless the bytes are inside the object.
    func checkBounds(
        offset: UInt64, count: UInt64, of part: @autoclosure () -> String
    ) throws(ELFError) {
        guard offset <= UInt64(byteCount), count <= UInt64(byteCount) - offset else {
            throw broken("\(part()), \(count) bytes at offset \(offset), is beyond its end at \(byteCount)")
        }
    }

    func broken(_ reason: String) -> ELFError { .broken(path: path, reason: reason) }
}

/// The name of a machine in `uname -m`.
///
/// - Parameter machine: Its number in the ELF header.
package func architectureName(machine: UInt16, is64Bit: Bool, byteOrder: ByteOrder) -> String {
    switch Int32(machine) {
    case EM_X86_64: is64Bit ? "x86_64" : "x32"
    case EM_386: "i686"
    case EM_AARCH64: byteOrder == .big ? "aarch64_be" : "aarch64"
    case EM_ARM: byteOrder == .big ? "armeb" : "arm"
    case EM_RISCV: is64Bit ? "riscv64" : "riscv32"
    case EM_S390: is64Bit ? "s390x" : "s390"
    case EM_PPC64: byteOrder == .big ? "ppc64" : "ppc64le"
    case EM_PPC: "ppc"
    case EM_MIPS: (is64Bit ? "mips64" : "mips") + (byteOrder == .big ? "" : "el")
    // EM_LOONGARCH, which elf.h of Debian 11 and of musl 1.2.3 lacks.
    case 258: is64Bit ? "loongarch64" : "loongarch32"
    case EM_SPARCV9: "sparc64"
    default: "machine \(machine)"
    }
}
