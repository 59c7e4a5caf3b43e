// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
internal import TweakRecords

extension ELFObject {
    /// The limit of bytes that the compressed sections of files of some size may expand to. Those of compilers expand to
    /// four times their size, and of hostile files to a thousand times.
    package static func mostExpandedBytes(ofFile byteCount: UInt64) -> UInt64 {
        let (most, overflows) = byteCount.multipliedReportingOverflow(by: 16)
        return overflows ? .max : max(most, 64 << 20)
    }

    /// The number of bytes that all compressed sections expand to, by their headers, which libelf allocates at once.
    package func expandedBytes() throws(ELFError) -> UInt64 {
        var total: UInt64 = 0
        try forEachSection { (section, _) throws(ELFError) in
            guard section.sh_type != UInt32(SHT_NOBITS) else { return }
            let size =
                section.sh_flags & UInt64(SHF_COMPRESSED) != 0
                ? expandedSize(at: section.sh_offset) : formerExpandedSize(of: section)
            let (sum, overflows) = total.addingReportingOverflow(size)
            total = overflows ? .max : sum
        }
        return total
    }

    /// The size in the header of a compressed section, see elf(5); 0 if it is broken, because then nothing is expanded.
    private func expandedSize(at offset: UInt64) -> UInt64 {
        // The type, in 64-bit objects four reserved bytes, and the size.
        guard let bytes = try? bytes(at: offset, count: is64Bit ? 16 : 8, of: "a compressed section") else {
            return 0
        }
        let header = bytes.span.bytes
        return is64Bit
            ? header.number(at: 8, byteOrder) ?? 0
            : (header.number(at: 4, byteOrder) as UInt32?).map(UInt64.init) ?? 0
    }

    /// The size of a section `.zdebug_…`: after `ZLIB`, always with the most significant byte first.
    private func formerExpandedSize(of section: GElf_Shdr) -> UInt64 {
        guard section.sh_type == UInt32(SHT_PROGBITS), section.sh_flags & UInt64(SHF_ALLOC) == 0,
            section.sh_size >= 12,
            let bytes = try? bytes(at: section.sh_offset, count: 12, of: "a compressed section"),
            bytes.starts(with: "ZLIB".utf8)
        else { return 0 }
        return bytes.span.bytes.number(at: 4, .big) ?? 0
    }
}
