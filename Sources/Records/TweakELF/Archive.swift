// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
internal import Glibc
internal import TweakRecords

/// A member of a regular archive.
///
/// Source of the format: ar(5), and `llvm/lib/Object/ArchiveWriter.cpp` for the form of BSD, in which `#1/` and a size
/// instead of a name tell how many bytes of the content are the name.
struct ArchiveMember {
    let name: String
    /// The offset of its content in the file.
    let start: Int
    let byteCount: Int
    /// The offset of the next header.
    let next: Int
    /// Whether the name is in the content, which libelf does not know.
    fileprivate let isOfBSD: Bool

    /// A larger member with a name of BSD is not read, because it is read as a whole.
    fileprivate static let mostBytes = 256 << 20
    fileprivate static let startOfBSD = "#1/"
}

extension ELFFile {
    func forEachMember(
        of archive: OpaquePointer, noting note: (ELFError) throws(ELFError) -> Void,
        _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        var next = Int(SARMAG)
        var lastNamed = 0
        while next < byteCount {
            let member = try member(of: archive, at: next)
            if ArchiveTable.names.contains(member.name) {
                let table = bytes(at: member.start, count: min(member.byteCount, ArchiveTable.mostBytes))
                lastNamed = max(lastNamed, ArchiveTable.lastMember(in: table, member.name))
            } else {
                try visit(member, of: archive, at: next, "\(path)(\(member.name))", noting: note, body)
            }
            next = member.next
        }
        try checkTable(lastNamed)
    }

    /// Throws if the table of symbols names a member beyond the end, so that some were cut off.
    func checkTable(_ lastNamed: Int) throws(ELFError) {
        guard lastNamed < byteCount else {
            throw .broken(
                path: path, reason: "its table names a member at \(lastNamed), beyond its end at \(byteCount)"
            )
        }
    }

    /// Calls `body` with the object of the member whose header is at an offset.
    func visitMember(
        of archive: OpaquePointer, at offset: Int, noting note: (ELFError) throws(ELFError) -> Void,
        title: (String) -> String, _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        let member = try member(of: archive, at: offset)
        guard !ArchiveTable.names.contains(member.name) else { return }
        try visit(member, of: archive, at: offset, title(member.name), noting: note, body)
    }

    /// The member whose header is at an offset. libelf does not distinguish the end of an archive from a broken one.
    private func member(of archive: OpaquePointer, at offset: Int) throws(ELFError) -> ArchiveMember {
        guard offset >= Int(SARMAG), offset <= byteCount - MemoryLayout<ar_hdr>.size,
            elf_rand(archive, offset) == offset, let elf = begin(memberOf: archive)
        else {
            throw .broken(path: path, reason: "no member begins at \(offset): \(Self.lastError())")
        }
        defer { elf_end(elf) }
        guard let header = elf_getarhdr(elf), let name = header.pointee.ar_name else {
            throw .broken(path: path, reason: Self.lastError())
        }
        // Many members may share a name, which can be long.
        guard strnlen(name, ThinArchive.longestName + 1) <= ThinArchive.longestName else {
            throw .broken(path: path, reason: "the name of the member at \(offset) is too long")
        }
        // libelf cuts the size of a member that is beyond the end.
        let raw = bytes(at: offset, count: MemoryLayout<ar_hdr>.size)
        let start = offset + MemoryLayout<ar_hdr>.size
        guard raw.count == MemoryLayout<ar_hdr>.size, let size = Int(ThinArchive.text(raw[48..<58])),
            size >= 0
        else { throw .broken(path: path, reason: "no member begins at \(offset)") }
        guard size <= byteCount - start else {
            throw .broken(
                path: path,
                reason: "member \(String(cString: name)), \(size) bytes, is beyond its end at \(byteCount)")
        }
        // The member ends inside the file, so this does not overflow.
        let next = start + size + size % 2
        let rawName = ThinArchive.text(raw[..<16])
        guard rawName.hasPrefix(ArchiveMember.startOfBSD) else {
            var text = String(cString: name)
            while text.hasSuffix(" ") { text.removeLast() }
            return ArchiveMember(name: text, start: start, byteCount: size, next: next, isOfBSD: false)
        }
        guard let length = Int(rawName.dropFirst(ArchiveMember.startOfBSD.count)),
            0...min(size, ThinArchive.longestName) ~= length
        else {
            throw .broken(path: path, reason: "the name of the member at \(offset) is beyond its end")
        }
        let text = String(decoding: bytes(at: start, count: length).prefix { $0 != 0 }, as: UTF8.self)
        return ArchiveMember(
            name: text, start: start + length, byteCount: size - length, next: next, isOfBSD: true)
    }

    private func visit(
        _ member: ArchiveMember, of archive: OpaquePointer, at offset: Int, _ path: String,
        noting note: (ELFError) throws(ELFError) -> Void, _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        let start = bytes(at: member.start, count: min(member.byteCount, Content.startSize))
        switch Content(start: start) {
        case .object: break
        case .bitcode: return try note(.unread(path: path, reason: Content.uncompiled("LLVM bitcode")))
        case .archive, .thinArchive: return try note(.unread(path: path, reason: "an archive in an archive"))
        case .empty: return try note(.unread(path: path, reason: "it is empty"))
        case .other: return try note(.unread(path: path, reason: "not an ELF file"))
        }
        guard member.isOfBSD else {
            guard elf_rand(archive, offset) == offset, let elf = begin(memberOf: archive) else {
                return try note(.broken(path: path, reason: Self.lastError()))
            }
            defer { elf_end(elf) }
            return try visit(elf, of: member, path, noting: note, body)
        }
        guard member.byteCount <= ArchiveMember.mostBytes else {
            return try note(
                .unread(
                    path: path,
                    reason: "it has \(member.byteCount) bytes; at most \(ArchiveMember.mostBytes) are read"))
        }
        let size = member.byteCount
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes(at: member.start, count: size))
        guard let elf = elf_memory(copy.baseAddress?.assumingMemoryBound(to: CChar.self), size) else {
            return try note(.broken(path: path, reason: Self.lastError()))
        }
        defer { elf_end(elf) }
        try visit(elf, of: member, path, noting: note, body)
    }

    private func visit(
        _ elf: OpaquePointer, of member: ArchiveMember, _ path: String,
        noting note: (ELFError) throws(ELFError) -> Void, _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        guard elf_kind(elf) == ELF_K_ELF else {
            return try note(.broken(path: path, reason: "it is truncated"))
        }
        let object: ELFObject
        do throws(ELFError) {
            object = try ELFObject(
                elf: elf, file: self, path: path, start: member.start, byteCount: member.byteCount)
        } catch {
            return try note(error)
        }
        try object.visit(noting: note, body)
    }
}

/// The tables in an archive.
enum ArchiveTable {
    /// Symbols with 32 and with 64 bits, and long names; then the symbols of BSD.
    static let names =
        ThinArchive.tables + ["__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64", "__.SYMDEF_64 SORTED"]

    /// A limit against files made to exhaust memory; the rest of a larger table is not checked.
    static let mostBytes = 256 << 20

    /// The largest offset of a member that a table of symbols names, or 0.
    static func lastMember(in table: [UInt8], _ name: String) -> Int {
        switch name {
        case "/": last(in: table, as: UInt32.self)
        case "/SYM64/": last(in: table, as: UInt64.self)
        case "//": 0
        case _ where name.hasSuffix("_64") || name.hasSuffix("_64 SORTED"):
            lastOfBSD(in: table, as: UInt64.self)
        default: lastOfBSD(in: table, as: UInt32.self)
        }
    }

    /// The size of the table, then the offsets of the name and the member of each symbol, in the byte order of the machine.
    private static func lastOfBSD<Number: FixedWidthInteger & BitwiseCopyable>(
        in table: [UInt8], as _: Number.Type
    ) -> Int {
        let bytes = table.span.bytes
        let size = MemoryLayout<Number>.size
        for order in [ByteOrder.little, .big] {
            guard let total: Number = bytes.number(at: 0, order), total >= 0, total <= table.count - size,
                Int(total) % (2 * size) == 0
            else { continue }
            var last: Number = 0
            for index in 0..<Int(total) / (2 * size) {
                guard let offset: Number = bytes.number(at: size * (2 * index + 2), order) else { break }
                last = max(last, offset)
            }
            return Int(clamping: last)
        }
        return 0
    }

    /// The number of symbols, then the offset of the member of each, all big endian.
    private static func last<Number: FixedWidthInteger & BitwiseCopyable>(
        in table: [UInt8], as _: Number.Type
    ) -> Int {
        let bytes = table.span.bytes
        let size = MemoryLayout<Number>.size
        guard let count: Number = bytes.number(at: 0, .big) else { return 0 }
        var last: Number = 0
        // Not more than the table has.
        for index in 0..<min(Int(clamping: count), table.count / size) {
            guard let offset: Number = bytes.number(at: size * (index + 1), .big) else { break }
            last = max(last, offset)
        }
        return Int(clamping: last)
    }
}
