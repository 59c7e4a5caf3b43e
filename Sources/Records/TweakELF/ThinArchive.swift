// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
internal import Glibc
internal import TweakSystem

/// An archive that refers to its members in separate files instead of containing them.
///
/// The format follows `ar(1)` and `bfd/archive.c` of GNU binutils: as in other archives, but only tables have content
/// after their headers. A member's name is `/` and its offset in the table `//`, where it ends with `/` and a newline;
/// `:` and a number after the offset refer to the member of another archive whose header is there.
enum ThinArchive {
    static let start = "!<thin>\n"
    /// The system's limit of a path's length.
    static let longestName = Int(PATH_MAX)
    /// The limit of nested archives, against cycles.
    static let deepestNesting = 8
    /// The limit of nested archives that are open at once.
    static let mostArchives = 256

    /// The names of the tables: symbols with 32 and with 64 bits, and long names.
    static let tables = ["/", "/SYM64/", "//"]

    /// A member, as listed in the archive.
    struct Member {
        /// The path of a file, relative to the archive's directory.
        let name: String
        /// The offset of its header in the archive at that path; `nil` if the file itself is the member.
        let origin: Int?
    }

    /// The text of a header field without its padding.
    static func text(_ field: ArraySlice<UInt8>) -> String {
        String(decoding: field.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }
}

extension ELFFile {
    /// Calls `body` with each member of a thin archive, and the members seen so far.
    func forEachThinMember(
        _ body: (ThinArchive.Member, inout ThinMembers) throws(ELFError) -> Void
    ) throws(ELFError) {
        var members = ThinMembers()
        var next = ThinArchive.start.utf8.count
        var lastNamed = 0
        while next < byteCount {
            let header = try thinHeader(at: next)
            if ThinArchive.tables.contains(header.name) {
                let table = bytes(at: header.content, count: min(header.size, ArchiveTable.mostBytes))
                lastNamed = max(lastNamed, ArchiveTable.lastMember(in: table, header.name))
            }
            if let member = try thinMember(at: &next) { try body(member, &members) }
        }
        try checkTable(lastNamed)
    }

    /// Reads the header of a member or a table of a thin archive.
    ///
    /// - Parameter offset: The offset of the header; advanced to the next one.
    /// - Returns: `nil` for a table.
    func thinMember(at offset: inout Int) throws(ELFError) -> ThinArchive.Member? {
        let header = try thinHeader(at: offset)
        offset = header.next
        guard !ThinArchive.tables.contains(header.name) else { return nil }
        guard header.name.hasPrefix("/") else {
            let name = header.name.hasSuffix("/") ? String(header.name.dropLast()) : header.name
            return ThinArchive.Member(name: name, origin: nil)
        }
        let names = try thinNames()
        let places = header.name.dropFirst().split(separator: ":", omittingEmptySubsequences: false).map {
            Int($0)
        }
        guard let first = places.first, let place = first, names.indices.contains(place), places.count <= 2,
            let origin = places.count > 1 ? places[1] : 0, origin >= 0
        else { throw .broken(path: path, reason: "there is no name \(header.name)") }
        var name = names[place...].prefix(ThinArchive.longestName + 1).prefix { $0 != UInt8(ascii: "\n") }
        if name.last == UInt8(ascii: "/") { name.removeLast() }
        guard !name.isEmpty, name.count < ThinArchive.longestName, !name.contains(0) else {
            throw .broken(path: path, reason: "the name \(header.name) is not a path")
        }
        return ThinArchive.Member(
            name: String(decoding: name, as: UTF8.self), origin: places.count > 1 ? origin : nil)
    }

    /// The table of long names, read once because each member may need it.
    private func thinNames() throws(ELFError) -> [UInt8] {
        if let thinNameTable { return thinNameTable }
        var names: [UInt8] = []
        var next = ThinArchive.start.utf8.count
        // Tables precede all members.
        while next < byteCount {
            let header = try thinHeader(at: next)
            guard ThinArchive.tables.contains(header.name) else { break }
            if header.name == "//" { names = bytes(at: header.content, count: header.next - header.content) }
            next = header.next
        }
        thinNameTable = names
        return names
    }

    private func thinHeader(
        at offset: Int
    ) throws(ELFError) -> (name: String, content: Int, size: Int, next: Int) {
        // As in ar.h: 16 bytes of name, 32 unused, 10 of size, 2 constant.
        let header = bytes(at: offset, count: MemoryLayout<ar_hdr>.size)
        guard header.count == MemoryLayout<ar_hdr>.size, header.suffix(2).elementsEqual("`\n".utf8),
            // The header has 60 bytes here.
            let size = Int(ThinArchive.text(header[48..<58])), size >= 0
        else { throw .broken(path: path, reason: "no member begins at \(offset)") }
        let name = ThinArchive.text(header[..<16])
        // The file extends to there, so this does not overflow.
        let content = offset + header.count
        guard ThinArchive.tables.contains(name) else { return (name, content, 0, content) }
        guard size <= byteCount - content else {
            throw .broken(
                path: path, reason: "table \(name), \(size) bytes, is beyond its end at \(byteCount)")
        }
        return (name, content, size, content + size + size % 2)
    }
}

/// The members of a thin archive seen so far, so that each file is read once however often it is listed.
struct ThinMembers {
    private struct Place: Hashable {
        let file: ELFFile.Identity
        let origin: Int?
    }

    private var seen: Set<Place> = []
    /// The archives that contain members.
    private var archives: [String: ELFFile] = [:]

    /// Calls `body` with a member's object.
    mutating func visit(
        _ member: ThinArchive.Member, of archive: ELFFile,
        noting note: (ELFError) throws(ELFError) -> Void, _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        let title = "\(archive.path)(\(member.name))"
        let file: ELFFile
        let origin: Int?
        do throws(ELFError) {
            (file, origin) = try find(member, of: archive, depth: 0)
        } catch .notELF {
            return try note(.unread(path: title, reason: "not an ELF file"))
        } catch .unread(_, let reason) {
            return try note(.unread(path: title, reason: reason))
        } catch .cannotOpen(_, let reason) {
            return try note(.cannotOpen(path: title, reason: reason))
        }
        guard seen.insert(Place(file: file.identity, origin: origin)).inserted else {
            return try note(.skipped(path: title, reason: "it is listed twice"))
        }
        switch file.kind {
        case .object(let elf):
            let object: ELFObject
            do throws(ELFError) {
                object = try ELFObject(
                    elf: elf, file: file, path: title, start: 0, byteCount: file.byteCount)
            } catch {
                return try note(error)
            }
            try object.visit(noting: note, body)
        case .archive(let elf):
            guard let origin else {
                return try note(.unread(path: title, reason: "an archive in an archive"))
            }
            try file.visitMember(
                of: elf, at: origin, noting: note,
                title: { "\(archive.path)(\(member.name)(\($0)))" }, body)
        case .thinArchive:
            try note(.unread(path: title, reason: "an archive in an archive"))
        }
    }

    /// Finds a member's file, or the archive that contains it and the offset there.
    private mutating func find(
        _ member: ThinArchive.Member, of archive: ELFFile, depth: Int
    ) throws(ELFError) -> (file: ELFFile, origin: Int?) {
        guard depth < ThinArchive.deepestNesting else {
            throw .broken(
                path: archive.path,
                reason: "more than \(ThinArchive.deepestNesting) archives are nested")
        }
        let path = resolvedPath(member.name, relativeTo: archive.path)
        guard var origin = member.origin else { return (try ELFFile(path: path), nil) }
        let inner = try self.archive(path)
        switch inner.kind {
        case .archive: return (inner, origin)
        case .object: throw .broken(path: archive.path, reason: "\(member.name) is not an archive")
        case .thinArchive:
            guard let innerMember = try inner.thinMember(at: &origin) else {
                throw .broken(path: inner.path, reason: "no member begins at \(origin)")
            }
            return try find(innerMember, of: inner, depth: depth + 1)
        }
    }

    /// An archive that contains members; it stays open for others.
    private mutating func archive(_ path: String) throws(ELFError) -> ELFFile {
        if let archive = archives[path] { return archive }
        guard archives.count < ThinArchive.mostArchives else {
            throw .broken(
                path: path, reason: "members of more than \(ThinArchive.mostArchives) archives are named")
        }
        do throws(ELFError) {
            let archive = try ELFFile(path: path)
            archives[path] = archive
            return archive
        } catch .notELF(_, let reason) {
            // Members of other kinds are noted, but a broken archive that contains members is an error.
            throw .broken(path: path, reason: reason)
        }
    }
}
